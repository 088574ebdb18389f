"""The parameters of the estimators, one row each: the one place that says which values are allowed.

The estimators make their constraints from these tables, and the command line its flags.  A test
compares ``docs/options.md`` with it.  This file imports nothing slow, because ``contree --help``
reads it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True)
class Range:
    """The integers or floats between two ends."""

    kind: type[int] | type[float]
    low: float | None = None
    high: float | None = None
    closed: str = "left"  # the ends that are included: left, right, both, neither

    def __contains__(self, number: float) -> bool:
        above = self.low is None or (
            number >= self.low if self.closed in ("left", "both") else number > self.low
        )
        below = self.high is None or (
            number <= self.high if self.closed in ("right", "both") else number < self.high
        )
        return above and below and not math.isnan(number)


SEED = Range(int, 0, 2**32 - 1, "both")  # scikit-learn's random_state as a number


@dataclass(frozen=True)
class Parameter:
    """One parameter of an estimator; most are also a flag of ``contree fit``."""

    name: str
    default: object
    allowed: tuple[Any, ...]  # of Range, strings, None, and the types bool, dict, list and str
    values: str  # the allowed values in words
    meaning: str  # one short line; docs/options.md may continue it
    instead: str = ""  # for parameters of CART without effect here, not flags: what to use instead

    @property
    def is_flag(self) -> bool:
        return not self.instead and list not in self.allowed

    @property
    def flag(self) -> str:
        return "--" + self.name.replace("_", "-")


PARAMETERS = (
    Parameter(
        "max_depth",
        3,
        (Range(int, 0), None),
        "int, 0 and up; None",
        "the largest number of tests",
    ),
    Parameter(
        "max_leaf_nodes",
        None,
        (Range(int, 1), None),
        "int, 1 and up; None",
        "the largest number of leaves",
    ),
    Parameter(
        "ccp_alpha",
        0.0,
        (Range(float, 0.0),),
        "0 and up",
        "the cost of a leaf",
    ),
    Parameter(
        "minimize_leaves",
        False,
        (bool,),
        "bool",
        "the smallest of the best trees",
    ),
    Parameter(
        "min_samples_leaf",
        1,
        (Range(int, 1), Range(float, 0, 1, "neither")),
        "int, 1 and up; float in (0, 1)",
        "the least number of training rows",
    ),
    Parameter(
        "min_weight_fraction_leaf",
        0.0,
        (Range(float, 0.0, 0.5, "both"),),
        "float in [0, 0.5]",
        "the least share of all weight",
    ),
    Parameter(
        "categorical_features",
        "from_dtype",
        ("from_dtype", list, None),
        '"from_dtype"; mask, indices or names; None',
        "the columns of categories",
    ),
    Parameter(
        "class_weight",
        None,
        (dict, "balanced", None),
        'dict; "balanced"; None',
        "the cost of an error by label",
    ),
    Parameter(
        "max_gap",
        0,
        (Range(int, 0), Range(float, 0, 1)),
        "int, 0 and up; float in [0, 1)",
        "how far from the optimum",
    ),
    Parameter(
        "time_limit",
        None,
        (Range(float, 0, None, "both"), None),
        "seconds, 0 to inf; None",
        "when to stop with the best tree so far",
    ),
    Parameter(
        "feature_tolerance",
        0.0,
        (Range(float, 0),),
        "0 and up",
        "values closer than this count as equal",
    ),
    Parameter(
        "n_jobs",
        None,
        (Range(int, None, -1, "right"), Range(int, 1, 65_536, "both"), None),
        "int up to 65536, not 0; None",
        "threads: none is 1, -1 all processors",
    ),
    Parameter(
        "memory_limit",
        None,
        (Range(int, 1), str, None),
        'bytes, 1 and up; "500MB", "2GiB", ...; None',
        "memory for the search's cache",
    ),
    Parameter(
        "random_state",
        None,
        (SEED, None),
        "int, 0 to 2**32 - 1; RandomState; None",
        "the seed of the heuristics",
    ),
    Parameter(
        "warm_start",
        False,
        (bool,),
        "bool",
        "begin with the tree of the last fit",
    ),
    Parameter(
        "on_interrupt",
        "raise",
        ("raise", "return"),
        '"raise", "return"',
        "what Ctrl-C does",
    ),
    Parameter(
        "search",
        "best_first",
        ("best_first", "paper"),
        '"best_first", "paper"',
        "the order of the search",
    ),
    Parameter(
        "search_options",
        None,
        (dict, None),
        "dict; None",
        "options of the search, by name",
    ),
    Parameter(
        "verbose",
        0,
        (Range(int, 0), bool),
        "int, 0 and up",
        "1 shows a live line on a terminal",
    ),
    Parameter(
        "criterion",
        "gini",
        ("gini", "entropy", "log_loss"),
        '"gini", "entropy", "log_loss"',
        "the impurity that is shown",
        "It only selects the impurity that tree_ and feature_importances_ show",
    ),
    Parameter(
        "splitter",
        "best",
        ("best",),
        '"best"',
        "the search considers all thresholds of all features",
        "For random splits use sklearn.tree.ExtraTreeClassifier",
    ),
    Parameter(
        "min_samples_split",
        2,
        (Range(int, 2), Range(float, 0, 1, "neither")),
        "int, 2 and up; float in (0, 1)",
        "at most 2 * min_samples_leaf",
        "Use min_samples_leaf, which the search obeys",
    ),
    Parameter(
        "max_features",
        None,
        (None,),
        "None",
        "every test considers all features",
        "Every test considers all features; drop columns of X instead",
    ),
    Parameter(
        "min_impurity_decrease",
        0.0,
        (0.0,),
        "0.0",
        "use ccp_alpha",
        "Use ccp_alpha, which says how many errors a leaf must save",
    ),
    Parameter(
        "monotonic_cst",
        None,
        (None,),
        "None",
        "monotonic constraints are not supported",
        "Monotonic constraints are not supported; use sklearn.tree.DecisionTreeClassifier",
    ),
)

_OF_NUMBERS = {
    "search": Parameter(
        "search",
        "best_first",
        ("best_first",),
        '"best_first"',
        "the order of the search",
        "The published search is for classes",
    ),
    "criterion": Parameter(
        "criterion",
        "squared_error",
        ("squared_error",),
        '"squared_error"',
        "the sum of squared errors is minimised",
        "For other criteria use sklearn.tree.DecisionTreeRegressor",
    ),
    "minimize_leaves": Parameter(
        "minimize_leaves",
        False,
        (False,),
        "False",
        "is for classes",
        "Squared errors are rounded, so equal ones cannot be told from nearly equal ones. "
        "Use a small ccp_alpha, or size_error_path",
    ),
    "min_impurity_decrease": Parameter(
        "min_impurity_decrease",
        0.0,
        (0.0,),
        "0.0",
        "splits pay in squared error",
        "Use ccp_alpha, which says how much squared error a leaf must save",
    ),
}

# Those of a regressor: the same, but for the classes.
REGRESSOR_PARAMETERS = tuple(
    _OF_NUMBERS.get(one.name)
    or replace(one, instead=one.instead.replace("Classifier", "Regressor"))
    for one in PARAMETERS
    if one.name != "class_weight"
)

# The parameters that a cross-validation passes to all of its searches.
OF_EVERY_FOLD = (
    "minimize_leaves",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "categorical_features",
    "class_weight",
    "time_limit",
    "feature_tolerance",
    "memory_limit",
    "search_options",
)
OF_EVERY_FOLD_OF_NUMBERS = tuple(name for name in OF_EVERY_FOLD if name != "class_weight")
