"""What a JSON text says of one kind of leaf; `ClassJson` and `NumberJson` are the two kinds."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from contree.export import json_check as check


class JsonLeaf(ABC):
    """Writes and reads what depends on the leaves."""

    schema: ClassVar[str]
    version: ClassVar[int]
    certificate_names: ClassVar[tuple[str, ...]]
    arrays: ClassVar[tuple[str, ...]]  # of the tree, in their order

    @staticmethod
    @abstractmethod
    def learnt(estimator: Any) -> dict[str, Any]:
        """Return the members on what is learnt."""

    @staticmethod
    def written_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters in a form that JSON can hold."""
        given = parameters.get("categorical_features")
        if given is None or isinstance(given, str):
            return parameters
        return parameters | {"categorical_features": [plain(one) for one in given]}

    @staticmethod
    def read_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
        """Return them in their own form again."""
        return parameters

    @classmethod
    def tree(cls, tree: Any) -> dict[str, Any]:
        """Return the members of a tree."""
        arrays = {name: getattr(tree, name).tolist() for name in cls.arrays}
        for name in check.MAY_BE_INFINITE:
            arrays[name] = _written(arrays[name])
        return {**arrays, "weight_unit": fraction(tree.weight_unit)}

    @classmethod
    @abstractmethod
    def read(cls, data: dict[str, Any], estimator: Any) -> None:
        """Set what is learnt, the tree and the certificate of an estimator."""


def fraction(number: Any) -> int | list[int]:
    """Return an integer, or the numerator and denominator of a fraction."""
    return number if isinstance(number, int) else [number.numerator, number.denominator]


def _written(value: Any) -> Any:
    if isinstance(value, list):
        return [_written(one) for one in value]
    if value != value:
        return None
    return "inf" if value == math.inf else value


def plain(value: Any, whose: str = "") -> Any:
    """Return a value of Python's own types that JSON can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, float) and math.isinf(value):
        return None  # a time limit that never ends
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise ValueError(f"JSON cannot hold {whose}{value!r} of type {type(value).__name__}.")
