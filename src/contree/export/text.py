"""A tree as text, for people.

The layout is that of ``sklearn.tree.export_text``, with what certifies a leaf beside it: its rows,
its errors and its class counts.
"""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from contree._fitted_tree import FittedTree


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
    tree = classifier.tree_
    n_features = classifier.n_features_in_
    if feature_names is None:
        feature_names = getattr(classifier, "feature_names_in_", None)
    if feature_names is None:
        feature_names = [f"feature_{f}" for f in range(n_features)]
    if class_names is None:
        class_names = classifier.classes_
    _check_length("feature_names", feature_names, n_features, "features")
    _check_length("class_names", class_names, classifier.n_classes_, "classes")

    lines: list[str] = []

    # (node, depth, the line that leads to it), the next one to print last.
    pending = [(0, 0, "")]
    while pending:
        node, depth, condition = pending.pop()
        if condition:
            lines.append(_indent(depth - 1) + condition)
        if tree.feature[node] < 0:
            lines.append(_indent(depth) + _leaf(tree, node, class_names))
            continue
        name = feature_names[tree.feature[node]]
        threshold = _threshold_text(tree, node, decimals)
        pending.append((tree.children_right[node], depth + 1, f"{name} >  {threshold}"))
        pending.append((tree.children_left[node], depth + 1, f"{name} <= {threshold}"))
    return "\n".join(lines) + "\n"


def _indent(depth: int) -> str:
    return "|   " * depth + "|--- "


def _leaf(tree: FittedTree, node: int, class_names) -> str:
    rows, errors = int(tree.n_node_samples[node]), int(tree.node_errors[node])
    return (
        f"class: {class_names[tree.majority[node]]}  "
        f"({rows} row{'s' * (rows != 1)}, {errors} error{'s' * (errors != 1)}, "
        f"counts {tree.class_counts[node].tolist()})"
    )


def _threshold_text(tree: FittedTree, node: int, decimals: int | None) -> str:
    threshold = float(tree.threshold[node])
    if decimals is not None:
        return f"{threshold:.{decimals}f}"
    below, above = tree.threshold_gap[node]
    for digits in range(4, 17):
        text = f"{threshold:.{digits}g}"
        if below <= float(text) < above:
            return _plain(text)
    return _plain(repr(threshold))


def _plain(text: str) -> str:
    """Write 1.2e+02 as 120, but leave the exponents that help."""
    value = float(text)
    if "e" in text and 1e-4 <= abs(value) < 1e16:
        return f"{value:.0f}" if value.is_integer() else repr(value)
    return text


def _check_length(name: str, names, expected: int, what: str) -> None:
    if len(names) != expected:
        raise ValueError(
            f"{name} must have one name for each of the {expected} {what}; got {len(names)}."
        )
