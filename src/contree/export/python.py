"""A tree as a function in Python that needs nothing else."""

from __future__ import annotations

import keyword
import math
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from contree._fitted_tree import FittedTree
from contree.export.category_sets import known_side, unwritable
from contree.export.functions import categorical_tests, columns, counts, is_name, starts
from contree.export.wording import Wording, wording_of


def to_python(
    estimator: Any,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    name: str = "predict",
) -> str:
    """Return the source of a Python function that predicts one row as the estimator does.

    Parameters
    ----------
    estimator : ConTreeClassifier or ConTreeRegressor
        A fitted estimator.
    feature_names : sequence of str, default=None
        Names for the comments, as in :func:`contree.export_text`.
    class_names : sequence, default=None
        The value that the function returns for each class, in the order of ``classes_``: strings or
        numbers.  None: the labels themselves.
    name : str, default="predict"
        The name of the function.

    Returns
    -------
    source : str
        Defines ``name(x)``, for a sequence ``x`` of the features' values.  It imports nothing, but
        for ``datetime`` where categories are dates.  Thresholds are exact.  A missing value, None
        or NaN, and an unknown category go where ``predict`` sends them.

    Examples
    --------
    >>> from contree import ConTreeClassifier
    >>> clf = ConTreeClassifier(max_depth=1).fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
    >>> program = {}
    >>> exec(clf.to_python(), program)
    >>> program["predict"]([9.0])
    'yes'
    """
    check_is_fitted(estimator, "tree_")
    if not is_name(name) or keyword.iskeyword(name):
        raise ValueError(f"name must be a name that Python allows, in ASCII; got {name!r}.")
    tree, wording = estimator.tree_, wording_of(estimator, feature_names, class_names)

    def write(node: int, depth: int) -> list[str]:
        indent = "    " * depth
        if node in own and depth > 1:
            return [f"{indent}return _{name}_{node}(x)"]
        if tree.feature[node] < 0:
            result = _python_literal(wording.result(node))
            return [f"{indent}return {result}  # {counts(wording, node)}"]
        return [
            f"{indent}if {_python_condition(wording, node)}:  # {wording.feature(node)!a}",
            *write(int(tree.children_left[node]), depth + 1),
            f"{indent}else:",
            *write(int(tree.children_right[node]), depth + 1),
        ]

    own = starts(tree)
    lines: list[str] = []
    for node in reversed(own):  # preorder backwards: what is called comes first
        lines += ["", "", f"def {name if node == 0 else f'_{name}_{node}'}(x):"]
        if node == 0:
            what = "value" if wording.table is None else "class"
            lines.append(f'    """Return the {what} of a row of {columns(wording)}."""')
        lines += write(node, 1)
    source = "\n".join(lines[2:]) + "\n"
    return f"import datetime\n\n\n{source}" if _has_dates(tree) else source


def _has_dates(tree: FittedTree) -> bool:
    return any(
        isinstance(one, date) for n in categorical_tests(tree) for one in tree.categories_of(n)
    )


def _python_literal(label: Any) -> str:
    """Return a label as source text that means it without any import."""
    value = label.item() if isinstance(label, np.generic) else label
    if not _is_plain(value):
        raise ValueError(
            f"to_python can return only strings and finite numbers; the class {label!r} "
            "is neither. Give class_names."
        )
    return ascii(value)


def _is_plain(value: Any) -> bool:
    """Tell whether a value's own text is Python source for it."""
    plain = type(value) in (str, int, bool, type(None))
    return plain or (type(value) is float and math.isfinite(value))


def _python_category(value: Any, column: str) -> str:
    if isinstance(value, datetime) and value.tzinfo is None and not getattr(value, "nanosecond", 0):
        parts = value.year, value.month, value.day, value.hour, value.minute, value.second
        return f"datetime.datetime({', '.join(map(str, (*parts, value.microsecond)))})"
    if type(value) is date:
        return repr(value)
    if not _is_plain(value):
        raise unwritable("to_python", value, column)
    return ascii(value)


# Every comparison with NaN is false: how a test is put decides where it goes.


def _python_condition(wording: Wording, node: int) -> str:
    tree = wording.tree
    value, threshold = f"x[{int(tree.feature[node])}]", float(tree.threshold[node])
    if tree.tests_categories(node):
        codes, is_left = known_side(tree, node)
        known, column = tree.categories_of(node), wording.feature(node)
        words = ", ".join(_python_category(known[code], column) for code in codes)
        return f"{value} {'in' if is_left else 'not in'} {{{words}}}"
    if threshold == math.inf:
        return f"{value} is not None and {value} == {value}"
    if tree.missing_go_to_left[node]:
        return f"{value} is None or not {value} > {threshold!r}"
    return f"{value} is not None and {value} <= {threshold!r}"
