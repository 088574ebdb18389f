"""A tree as an SQL expression: one rule for each leaf.

Rules side by side rather than one CASE inside the other, which SQLite's parser gives up on when a
tree is 30 levels deep.
"""

from __future__ import annotations

import math
from itertools import pairwise
from numbers import Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from contree.export.category_wording import refuse_categories
from contree.export.wording import Wording, wording_of

QUOTES = {'"': ('"', '"'), "`": ("`", "`"), "[": ("[", "]")}


def to_sql(estimator, feature_names=None, class_names=None, quote='"') -> str:
    """Return a ``CASE`` expression that gives the prediction for a row of a table.

    Parameters
    ----------
    estimator : ConTreeClassifier or ConTreeRegressor
        A fitted estimator.
    feature_names : sequence of str, default=None
        The name of the table's column for each feature.  None: the names seen in ``fit``, or
        ``feature_0``, ...
    class_names : sequence, default=None
        The value of the expression for each class, a string or number, in the order of
        ``classes_``.  None: the labels themselves.  It must be None for a regressor, whose values
        are numbers with all their digits.
    quote : {'"', '`', '['}, default='"'
        The quote around column names: the standard's, MySQL's or SQL Server's.  With MySQL's,
        backslashes in strings are doubled, because MySQL reads them as escapes.

    Returns
    -------
    sql : str
        An expression.  NULL is a missing value and goes where ``predict`` sends NaN.  Thresholds
        have all digits of their float64 value.
    """
    check_is_fitted(estimator, "tree_")
    refuse_categories(estimator, "to_sql")
    if quote not in QUOTES:
        raise ValueError(f"quote must be one of {', '.join(map(repr, QUOTES))}; got {quote!r}.")
    tree, wording = estimator.tree_, wording_of(estimator, feature_names, class_names)

    lines = ["CASE"]
    for leaf in np.flatnonzero(tree.feature < 0):
        path = tree.path(leaf)
        conditions = [_condition(wording, node, below, quote) for node, below in pairwise(path)]
        result = _literal(wording.result(int(leaf)), quote)
        if not conditions:
            return result
        lines.append(f"  WHEN {' AND '.join(conditions)} THEN {result}")
    return "\n".join([*lines, "END"])


def _condition(wording: Wording, node: int, below: int, quote: str) -> str:
    """Return what holds for the rows that go from a node to the one below it."""
    tree = wording.tree
    left = bool(below == tree.children_left[node])
    column = _identifier(wording.feature(node), quote)
    if tree.threshold[node] == math.inf:
        return f"{column} IS {'NOT ' * left}NULL"
    condition = f"{column} {'<=' if left else '>'} {float(tree.threshold[node])!r}"
    if tree.missing_go_to_left[node] == left:
        return f"({condition} OR {column} IS NULL)"
    return condition


def _identifier(name: str, quote: str) -> str:
    _check_no_zero(name)
    start, end = QUOTES[quote]
    return start + name.replace(end, end + end) + end


def _literal(value, quote: str) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, Real):
        if not math.isfinite(value):
            raise ValueError(
                f"class_names has {value!r}, which SQL cannot express. Use a finite number."
            )
        return repr(value)
    text = str(value)
    _check_no_zero(text)
    if quote == "`":
        text = text.replace("\\", "\\\\")
    return "'" + text.replace("'", "''") + "'"


def _check_no_zero(text: str) -> None:
    if "\0" in text:
        raise ValueError(
            f"{text!r} contains the character NUL, which SQL cannot express. Use another name."
        )
