"""What a checkpoint must match: the rows, the labels, the weights and some parameters of a fit."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from contree._categories import Categories, category_counts
from contree._target import Target

if TYPE_CHECKING:
    from contree._estimator import TreeEstimator

# These parameters decide which tree is best.  All others only decide when a search ends: see
# `docs/scaling.md`.
PARAMETERS = (
    "max_depth",
    "max_leaf_nodes",
    "ccp_alpha",
    "minimize_leaves",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "class_weight",
    "max_gap",
    "feature_tolerance",
    "search",
)
NOT_OF_THE_PROBLEM = ("n_jobs", "memory_limit", "seed")  # integer options that may change


@dataclass(frozen=True)
class Problem:
    """One optimisation problem, as far as a checkpoint must be of the same one.

    Attributes
    ----------
    data : dict of str to str
        Hashes of the rows, the labels, the weights and the numbers of categories.
    parameters : dict of str to object
        The estimator's `PARAMETERS`, in a form that JSON can hold.
    counted : dict of str to int
        The same as the integers of the core.  A bound in other units is not a bound here.
    """

    data: dict[str, str]
    parameters: dict[str, Any]
    counted: dict[str, int]

    @classmethod
    def of(cls, estimator: TreeEstimator, data: dict[str, str], options: dict[str, Any]) -> Problem:
        """Return a fit's problem: `data` by `fingerprints`, `options` as the core gets them."""
        counted = {
            name: value
            for name, value in options.items()
            if isinstance(value, int) and name not in NOT_OF_THE_PROBLEM
        }
        weights = options["weights"]
        counted["weight"] = 0 if weights is None else int(weights.sum())
        known = estimator.get_params()
        parameters = {name: _as_json(known[name]) for name in PARAMETERS if name in known}
        return cls(data, parameters, counted)

    def differences(self, stored: Problem) -> list[str]:
        """Return one phrase for each difference between a file's problem and this one."""
        found = [
            f"{name} differs"
            for name in sorted(self.data | stored.data)
            if stored.data.get(name) != self.data.get(name)
        ]
        found += [
            f"{name} is {stored.parameters.get(name)!r} there and {value!r} here"
            for name, value in self.parameters.items()
            if stored.parameters.get(name) != value
        ]
        if not found and stored.counted != self.counted:
            found = ["another version of contree counted in other units"]
        return found


def fingerprints(
    X: np.ndarray,
    target: Target,
    sample_weight: np.ndarray | None,
    categories: Categories | None,
) -> dict[str, str]:
    """Return hashes of the checked rows, of what is learnt, of the weights and the categories."""

    def hashed(array: np.ndarray, prefix: bytes = b"") -> str:
        digest = hashlib.sha256(prefix)
        if array.size:
            digest.update(np.ascontiguousarray(array).data.cast("B"))
        return digest.hexdigest()

    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    counts = category_counts(categories)  # files of numbers say nothing of categories
    return {
        "X": hashed(X.T, str(X.shape).encode()),
        "y": hashlib.sha256(target.fingerprint()).hexdigest(),
        "sample_weight": "none" if weights is None else hashed(weights),
        **({} if counts is None else {"categorical_features": hashed(counts)}),
    }


def _as_json(value: Any) -> Any:
    """Return a parameter in a form that JSON can hold; equal parameters have equal forms."""
    if isinstance(value, dict):
        return sorted([repr(_as_json(label)), float(weight)] for label, weight in value.items())
    return value.item() if isinstance(value, np.generic) else value
