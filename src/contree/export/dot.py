"""A tree in Graphviz' DOT language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.utils.validation import check_is_fitted

from contree.export.wording import Wording, wording_of


def to_dot(
    estimator: Any,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    decimals: int | None = None,
) -> str:
    """Return the tree of a fitted estimator as a graph for Graphviz.

    Parameters
    ----------
    estimator : ConTreeClassifier or ConTreeRegressor
        A fitted estimator.
    feature_names, class_names, decimals
        As in :func:`contree.export_text`.

    Returns
    -------
    dot : str
        A digraph; node numbers are those of ``tree_``.  Draw it with ``dot -Tsvg``.

    Examples
    --------
    >>> from contree import ConTreeClassifier
    >>> clf = ConTreeClassifier(max_depth=1).fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
    >>> print(clf.to_dot(feature_names=["dose"]).splitlines()[0])
    digraph tree {
    """
    check_is_fitted(estimator, "tree_")
    tree, wording = estimator.tree_, wording_of(estimator, feature_names, class_names, decimals)
    fill = wording.fills()
    lines = [
        "digraph tree {",
        '  node [shape=box, style="filled,rounded", fontname="Helvetica"];',
        '  edge [fontname="Helvetica", fontsize=10];',
    ]
    for node in range(tree.node_count):
        lines.append(
            f"  {node} [label={_label(wording, node)}, "
            f'{_tooltip(wording, node)}fillcolor="{fill[node]}"];'
        )
        if tree.feature[node] >= 0:
            lines.append(f'  {node} -> {tree.children_left[node]} [label="yes"];')
            lines.append(f'  {node} -> {tree.children_right[node]} [label="{wording.no(node)}"];')
    return "\n".join([*lines, "}"]) + "\n"


def _label(wording: Wording, node: int) -> str:
    if wording.tree.feature[node] < 0:
        first = wording.head(node)
    else:
        first = f"{wording.feature(node)} {wording.short_relation(node)}"
    return _quoted(first) + f' + "\\n{wording.rows(node)}\\n{_under(wording, node)}"'


def _tooltip(wording: Wording, node: int) -> str:
    """Return a test of categories whole as an attribute; pictures in SVG show it."""
    text = wording.whole_test(node)
    return f"tooltip={_quoted(text)}, " if text else ""


def _under(wording: Wording, node: int) -> str:
    return wording.details(node) if wording.table else wording.loss(node)


def _quoted(text: str) -> str:
    r"""Return a DOT string that shows the text as it is.

    In DOT a backslash starts an escape (``\N`` is the node's name), and ``&amp;`` is decoded as in
    HTML.
    """
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("&", "&amp;"), ("\0", "\\\\0")):
        text = text.replace(plain, escaped)
    return '"' + "\\n".join(text.splitlines() or [""]) + '"'
