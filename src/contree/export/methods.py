"""The estimator's methods that hand the tree on: each a thin door to its own module."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from typing import Any, Self

from sklearn import get_config

from contree.export.c import to_c
from contree.export.dot import to_dot
from contree.export.history import plot_history
from contree.export.json import read_json, to_json
from contree.export.notebook import notebook_html
from contree.export.page import to_html
from contree.export.plot import plot
from contree.export.python import to_python
from contree.export.sklearn import to_sklearn
from contree.export.sql import to_sql
from contree.export.text import export_text


class ExportMixin:
    """Methods of a fitted classifier that turn its tree into something else."""

    def export_text(
        self,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[Any] | None = None,
        decimals: int | None = None,
    ) -> str:
        """Return the tree as text; see :func:`contree.export_text`."""
        return export_text(self, feature_names, class_names, decimals)

    def to_sklearn(self) -> Any:
        """Return a fitted DecisionTreeClassifier; see :func:`contree.export.to_sklearn`."""
        return to_sklearn(self)

    def to_dot(
        self,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[Any] | None = None,
        decimals: int | None = None,
    ) -> str:
        """Return the tree as a graph for Graphviz; see :func:`contree.export.to_dot`."""
        return to_dot(self, feature_names, class_names, decimals)

    def to_json(self, indent: int | None = None) -> str:
        """Return the fitted classifier as JSON; see :func:`contree.export.to_json`."""
        return to_json(self, indent)

    @classmethod
    def from_json(cls, text: str) -> Self:
        """Return the fitted classifier that ``to_json`` wrote; runs no code from the text.

        Parameters
        ----------
        text : str
            JSON.

        Returns
        -------
        classifier : ConTreeClassifier
            Predicts, exports and draws as the one that was written.

        Raises
        ------
        ValueError
            If the text is damaged or of an unknown version; the message names what is wrong.
        """
        read: Self = read_json(cls, text)
        return read

    def to_sql(
        self,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[Any] | None = None,
        quote: str = '"',
    ) -> str:
        """Return the prediction as an SQL expression; see :func:`contree.export.to_sql`."""
        return to_sql(self, feature_names, class_names, quote)

    def to_python(
        self,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[Any] | None = None,
        name: str = "predict",
    ) -> str:
        """Return the source of a Python function; see :func:`contree.export.to_python`."""
        return to_python(self, feature_names, class_names, name)

    def to_c(
        self,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[Any] | None = None,
        name: str = "contree_predict",
    ) -> str:
        """Return the source of a C function; see :func:`contree.export.to_c`."""
        return to_c(self, feature_names, class_names, name)

    def plot(
        self,
        ax: Any = None,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[Any] | None = None,
        decimals: int | None = None,
        font_size: float = 9.0,
        legend: bool = True,
    ) -> Any:
        """Draw the tree with matplotlib; see :func:`contree.export.plot`."""
        return plot(self, ax, feature_names, class_names, decimals, font_size, legend)

    def plot_history(self, ax: Any = None) -> Any:
        """Draw how the search went; see :func:`contree.export.plot_history`."""
        return plot_history(self, ax)

    def to_html(
        self,
        path: str | PathLike[str],
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[Any] | None = None,
        decimals: int | None = None,
        title: str = "Decision tree",
    ) -> Any:
        """Write one self-contained interactive page; see :func:`contree.export.to_html`."""
        return to_html(self, path, feature_names, class_names, decimals, title)

    def _repr_html_inner(self) -> str:
        """Return what notebooks show: scikit-learn's diagram, or the tree once there is one."""
        if hasattr(self, "tree_"):
            return notebook_html(self)
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        return diagram

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)  # type: ignore[misc]
        if get_config()["display"] == "diagram":
            bundle["text/html"] = self._repr_html_inner()
        return bundle
