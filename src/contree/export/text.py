"""A tree as text, for people.

The layout is that of ``sklearn.tree.export_text``.  Each leaf also shows its rows, with errors and
class counts for classes, and with spread (standard deviation) and squared error for numbers.  If
rows have weights, it shows weights instead.  Branches name missing values if the training data
had some.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from contree.export.wording import Wording, wording_of


def export_text(
    estimator: Any,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    decimals: int | None = None,
) -> str:
    """Return the tree of a fitted estimator as text.

    Parameters
    ----------
    estimator : ConTreeClassifier or ConTreeRegressor
        A fitted estimator.
    feature_names : sequence of str, default=None
        One name for each feature.  None: the names seen in ``fit``, or ``feature_0``, ...
    class_names : sequence of str, default=None
        One name for each class, in the order of ``classes_``.  None: the labels themselves.  For a
        regressor None.
    decimals : int, default=None
        Digits after the point of a threshold.  None: all that it has.

    Returns
    -------
    text : str
        One line for each branch and each leaf.

    Examples
    --------
    >>> from contree import ConTreeClassifier
    >>> clf = ConTreeClassifier(max_depth=1).fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
    >>> print(clf.export_text(feature_names=["dose"]), end="")
    |--- dose <= 1.5
    |   |--- class: no  (1 row, 0 errors, counts [1, 0])
    |--- dose >  1.5
    |   |--- class: yes  (2 rows, 0 errors, counts [0, 2])
    """
    check_is_fitted(estimator, "tree_")
    tree, wording = estimator.tree_, wording_of(estimator, feature_names, class_names, decimals)
    lines: list[str] = []

    # (node, depth, the line that leads to it), the next one to print last.
    pending = [(0, 0, "")]
    while pending:
        node, depth, condition = pending.pop()
        if condition:
            lines.append(_indent(depth - 1) + condition)
        if tree.feature[node] < 0:
            lines.append(_indent(depth) + _leaf(node, wording))
            continue
        name = _on_one_line(wording.feature(node))
        pending.append((tree.children_right[node], depth + 1, f"{name} {wording.opposite(node)}"))
        pending.append((tree.children_left[node], depth + 1, f"{name} {wording.relation(node)}"))
    return "\n".join(lines) + "\n"


def _on_one_line(name: str) -> str:
    """Return a name with line breaks and other marks that are not printed as escapes."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in name)


def _indent(depth: int) -> str:
    return "|   " * depth + "|--- "


def _leaf(node: int, wording: Wording) -> str:
    return (
        f"{_on_one_line(wording.head(node))}  "
        f"({wording.rows(node)}, {wording.loss(node)}, {wording.details(node)})"
    )
