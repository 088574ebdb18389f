"""A tree as an SQL expression: one rule for each leaf.

Rules side by side rather than one CASE inside the other, which SQLite's parser gives up on when a
tree is 30 levels deep.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from contree.export.category_sets import known_side, unwritable
from contree.export.wording import Wording, wording_of

QUOTES = {'"': ('"', '"'), "`": ("`", "`"), "[": ("[", "]")}


def to_sql(
    estimator: Any,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    quote: str = '"',
) -> str:
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
        backslashes in strings are doubled, because MySQL reads them as escapes.  With SQL Server's,
        bools are 1 and 0, and strings beyond ASCII begin with N.

    Returns
    -------
    sql : str
        An expression.  NULL is a missing value and goes where ``predict`` sends NaN.  Thresholds
        have all digits of their float64 value.  Categories are strings, numbers or ``TRUE`` and
        ``FALSE``; dates are strings such as ``'2020-01-31'``.  Values that no list has go where
        ``predict`` sends unknown categories.

    Examples
    --------
    >>> from contree import ConTreeClassifier
    >>> clf = ConTreeClassifier(max_depth=1).fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
    >>> print(clf.to_sql(feature_names=["dose"]))
    CASE
      WHEN "dose" <= 1.5 THEN 'no'
      WHEN ("dose" > 1.5 OR "dose" IS NULL) THEN 'yes'
    END
    """
    check_is_fitted(estimator, "tree_")
    if quote not in QUOTES:
        raise ValueError(f"quote must be one of {', '.join(map(repr, QUOTES))}; got {quote!r}.")
    tree, wording = estimator.tree_, wording_of(estimator, feature_names, class_names)

    lines = ["CASE"]
    for leaf in np.flatnonzero(tree.feature < 0).tolist():
        path = tree.path(leaf)
        conditions = [_condition(wording, node, below, quote) for node, below in pairwise(path)]
        result = _literal(wording.result(leaf), quote)
        if not conditions:
            return result
        lines.append(f"  WHEN {' AND '.join(conditions)} THEN {result}")
    return "\n".join([*lines, "END"])


def _condition(wording: Wording, node: int, below: int, quote: str) -> str:
    """Return what holds for the rows that go from a node to the one below it."""
    tree = wording.tree
    left = bool(below == tree.children_left[node])
    column = _identifier(wording.feature(node), quote)
    if tree.tests_categories(node):
        return _membership(wording, node, column, left, quote)
    if tree.threshold[node] == math.inf:
        return f"{column} IS {'NOT ' * left}NULL"
    condition = f"{column} {'<=' if left else '>'} {float(tree.threshold[node])!r}"
    if tree.missing_go_to_left[node] == left:
        return f"({condition} OR {column} IS NULL)"
    return condition


def _membership(wording: Wording, node: int, column: str, left: bool, quote: str) -> str:
    """Return the test for the one side of a set of categories; NULL is in no list."""
    codes, is_left = known_side(wording.tree, node)
    known = wording.tree.categories_of(node)
    values = ", ".join(_category(known[code], wording.feature(node), quote) for code in codes)
    if left == is_left:
        return f"{column} IN ({values})"
    return f"({column} NOT IN ({values}) OR {column} IS NULL)"


def _category(value: Any, column: str, quote: str) -> str:
    if isinstance(value, date):  # a time too
        return _literal(str(value), quote)
    if not isinstance(value, (str, int, float)):
        raise unwritable("to_sql", value, column)
    return _literal(value, quote)


def _identifier(name: str, quote: str) -> str:
    _check_no_zero(name)
    start, end = QUOTES[quote]
    return start + name.replace(end, end + end) + end


def _literal(value: Any, quote: str) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return str(int(value)) if quote == "[" else str(value).upper()  # SQL Server has bits
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
    national = "N" * (quote == "[" and not text.isascii())  # else SQL Server loses letters
    return f"{national}'" + text.replace("'", "''") + "'"


def _check_no_zero(text: str) -> None:
    if "\0" in text:
        raise ValueError(
            f"{text!r} contains the character NUL, which SQL cannot express. Use another name."
        )
