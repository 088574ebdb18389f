"""A tree as HTML: nested lists that fold without a script.

Used by the notebook's view and by the interactive page.  Everything that comes from the user is
escaped here; styles get numbers and our own colours only.
"""

from __future__ import annotations

import re
from functools import cache
from html import escape
from importlib.resources import files

from contree.export.names import JOINTS, shortened
from contree.export.wording import Wording


@cache
def asset(name: str) -> str:
    """Return the text of a style sheet or script of this package."""
    return files("contree.export").joinpath(name).read_text(encoding="utf-8")


def tree_markup(wording: Wording, open_levels: int, titles: bool) -> str:
    """Return the tree as nested lists.

    Parameters
    ----------
    wording : Wording
        The names.
    open_levels : int
        Tests from this depth on start folded.
    titles : bool
        Whether each node has a title, which browsers show when the mouse rests on it.
    """
    tree = wording.tree
    fill = wording.fills()
    out: list[str] = []
    # Text to write, or a node with its branch, the next one last: deep trees need no recursion.
    pending: list[str | tuple[int, str]] = ["</ul></div>", (0, ""), '<div class="ct-tree"><ul>']
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            out.append(item)
            continue
        node, branch = item
        word = f'<span class="ct-branch">{branch}</span>' if branch else ""
        out.append(f'<li data-node="{node}">{word}')
        box = _box(wording, node, titles)
        if tree.feature[node] < 0:
            out.append(
                f'<div class="ct-node ct-leaf" tabindex="0" {_style(fill[node])}{box}</div></li>'
            )
            continue
        state = " open" if tree.node_depth[node] < open_levels else ""
        out.append(
            f'<details{state}><summary class="ct-node" {_style(fill[node])}{box}</summary><ul>'
        )
        pending += [
            "</ul></details></li>",
            (int(tree.children_right[node]), wording.no(node)),
            (int(tree.children_left[node]), "yes"),
        ]
    return "".join(out)


def legend_markup(wording: Wording) -> str:
    """Return what the colours mean."""
    return (
        '<p class="ct-legend">'
        + "".join(
            f'<span><i style="background:{colour}"></i>{escape(name)}</span>'
            for colour, name in wording.legend()
        )
        + "</p>"
    )


def _style(fill: str) -> str:
    return f'style="background:{fill}"'


def breakable(name: str) -> str:
    """Return a name, escaped, that may be broken after its joints."""
    return re.sub(rf"([{JOINTS}]+)(?=[^\s{JOINTS}])", r"\1<wbr>", escape(name))


def _box(wording: Wording, node: int, titles: bool) -> str:
    """Return the end of a node's opening tag, and what stands in its box."""
    tree = wording.tree
    note = f"<small>{wording.rows(node)}</small>"
    if tree.feature[node] < 0:
        head = f"<b>{breakable(shortened(wording.prediction(node)))}</b>"
        note += f"<small>{wording.loss(node)}</small>"  # leaves make the width of a tree
    else:
        name = breakable(shortened(wording.feature(node)))
        kind = " ct-set" * tree.tests_categories(node)
        relation = escape(wording.short_relation(node, "≤"))
        head = f'{name} <span class="ct-test{kind}">{relation}</span>'
    bars, end = [], 0.0
    for bar in wording.bars(node):
        if bar.left > end + 1e-9:  # a part of the histogram without rows
            bars.append(f'<i style="width:{100 * (bar.left - end):.4g}%"></i>')
        high = "" if bar.height == 1 else f"height:{100 * bar.height:.4g}%;"
        bars.append(f'<i style="width:{100 * bar.width:.4g}%;{high}background:{bar.colour}"></i>')
        end = bar.left + bar.width
    title = ""
    if titles:
        parts = [f"{one.name}: {one.number}" for one in wording.shares(node)]
        lines = [wording.whole_test(node), *parts]
        title = f' title="{escape(chr(10).join(filter(None, lines)))}"'
    kind = "" if wording.foot < 1 else " ct-histogram"
    return f'{title}>{head}{note}<span class="ct-bar{kind}">{"".join(bars)}</span>'
