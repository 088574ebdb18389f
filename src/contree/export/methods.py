"""The estimator's methods that hand the tree on: each a thin door to its own module."""

from __future__ import annotations

from contree.export.sklearn import to_sklearn
from contree.export.text import export_text


class ExportMixin:
    """Methods of a fitted classifier that turn its tree into something else."""

    def export_text(self, feature_names=None, class_names=None, decimals=None) -> str:
        """Return the tree as text; see :func:`contree.export_text`."""
        return export_text(self, feature_names, class_names, decimals)

    def to_sklearn(self):
        """Return a fitted DecisionTreeClassifier; see :func:`contree.export.to_sklearn`."""
        return to_sklearn(self)
