"""Provably optimal decision trees on continuous data.

The names below are loaded when they are first used, so that the command line answers at once.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contree import export
    from contree._classifier import ConTreeClassifier
    from contree._classifier_cv import ConTreeClassifierCV
    from contree._fitted_tree import FittedTree
    from contree._progress import Progress
    from contree._regressor import ConTreeRegressor
    from contree._regressor_cv import ConTreeRegressorCV
    from contree._report import Improvement, SearchReport
    from contree._size_path import SizeErrorPath, size_error_path
    from contree.export import export_text

__all__ = [
    "ConTreeClassifier",
    "ConTreeClassifierCV",
    "ConTreeRegressor",
    "ConTreeRegressorCV",
    "FittedTree",
    "Improvement",
    "Progress",
    "SearchReport",
    "SizeErrorPath",
    "__version__",
    "export",
    "export_text",
    "size_error_path",
]

_HOMES = {
    "ConTreeClassifier": "contree._classifier",
    "ConTreeClassifierCV": "contree._classifier_cv",
    "ConTreeRegressor": "contree._regressor",
    "ConTreeRegressorCV": "contree._regressor_cv",
    "FittedTree": "contree._fitted_tree",
    "Improvement": "contree._report",
    "Progress": "contree._progress",
    "SearchReport": "contree._report",
    "SizeErrorPath": "contree._size_path",
    "export_text": "contree.export",
    "size_error_path": "contree._size_path",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        value = import_module("importlib.metadata").version("contree")
    elif name == "export":
        value = import_module("contree.export")
    elif name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
