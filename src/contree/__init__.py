"""Provably optimal classification trees on continuous data."""

from importlib.metadata import version

from contree._classifier import ConTreeClassifier
from contree._fitted_tree import FittedTree
from contree._progress import Progress
from contree._report import Improvement, SearchReport
from contree._size_path import SizeErrorPath, size_error_path
from contree.export import export_text

__version__ = version("contree")

__all__ = [
    "ConTreeClassifier",
    "FittedTree",
    "Improvement",
    "Progress",
    "SearchReport",
    "SizeErrorPath",
    "__version__",
    "export_text",
    "size_error_path",
]
