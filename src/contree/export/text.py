"""A tree as text, for people.

The layout is that of ``sklearn.tree.export_text``, with what certifies a leaf beside it: its rows,
its errors and its class counts.
"""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from contree._fitted_tree import FittedTree
from contree.export.wording import Wording


def export_text(classifier, feature_names=None, class_names=None, decimals=None) -> str:
    """Return the tree of a fitted classifier as text.

    Parameters
    ----------
    classifier : ConTreeClassifier
        A fitted classifier.
    feature_names : sequence of str, default=None
        One name for each feature.  None: the names seen in ``fit``, or ``feature_0``, ...
    class_names : sequence of str, default=None
        One name for each class, in the order of ``classes_``.  None: the labels themselves.
    decimals : int, default=None
        Digits after the point of a threshold.  None: four significant digits, and more where they
        are needed for every training row to take the same way, so that the text is short and true.

    Returns
    -------
    text : str
        One line for each branch and each leaf.
    """
    check_is_fitted(classifier, "tree_")
    tree, wording = classifier.tree_, Wording(classifier, feature_names, class_names, decimals)
    lines: list[str] = []

    # (node, depth, the line that leads to it), the next one to print last.
    pending = [(0, 0, "")]
    while pending:
        node, depth, condition = pending.pop()
        if condition:
            lines.append(_indent(depth - 1) + condition)
        if tree.feature[node] < 0:
            lines.append(_indent(depth) + _leaf(tree, node, wording))
            continue
        name, threshold = wording.feature(node), wording.threshold(node)
        pending.append((tree.children_right[node], depth + 1, f"{name} >  {threshold}"))
        pending.append((tree.children_left[node], depth + 1, f"{name} <= {threshold}"))
    return "\n".join(lines) + "\n"


def _indent(depth: int) -> str:
    return "|   " * depth + "|--- "


def _leaf(tree: FittedTree, node: int, wording: Wording) -> str:
    rows, errors = int(tree.n_node_samples[node]), int(tree.node_errors[node])
    return (
        f"class: {wording.majority(node)}  "
        f"({rows} row{'s' * (rows != 1)}, {errors} error{'s' * (errors != 1)}, "
        f"counts {tree.class_counts[node].tolist()})"
    )
