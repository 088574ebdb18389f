"""A tree as one interactive page: a file that needs no network and no other file.

The tree folds, shows a node's rows under the mouse, and follows a row that is typed in.  The tree
itself is HTML made here; the script only adds the route and the hover, from numbers in a JSON
element.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from contree._draft import write_whole
from contree._fitted_tree import FittedTree
from contree.export.certificate import certificate
from contree.export.chart import history_chart
from contree.export.markup import asset, breakable, legend_markup, tree_markup
from contree.export.names import category_word
from contree.export.wording import Share, Wording, amount, counted, wording_of

OPEN_LEVELS = 6
MOST_SHARES = 12
WIDEST = 2**53  # of the integers that JavaScript has

# The page may not load anything from anywhere, whatever gets into it.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def to_html(
    estimator: Any,
    path: str | PathLike[str],
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    decimals: int | None = None,
    title: str = "Decision tree",
) -> Path:
    """Write the tree of a fitted estimator as one self-contained, interactive page.

    Parameters
    ----------
    estimator : ConTreeClassifier or ConTreeRegressor
        A fitted estimator.
    path : str or path-like
        The file to write.  It is never half written.
    feature_names, class_names, decimals
        As in :func:`contree.export_text`.
    title : str, default="Decision tree"
        The page's title.

    Returns
    -------
    path : Path
        The file.

    Examples
    --------
    >>> from contree import ConTreeClassifier
    >>> clf = ConTreeClassifier(max_depth=1).fit([[1.0], [2.0], [3.0]], ["no", "yes", "yes"])
    >>> path = clf.to_html("tree.html", feature_names=["dose"])
    """
    target = Path(path)
    write_whole(target, page(estimator, feature_names, class_names, decimals, title))
    return target


def page(
    estimator: Any,
    feature_names: Sequence[str] | None = None,
    class_names: Sequence[Any] | None = None,
    decimals: int | None = None,
    title: str = "Decision tree",
) -> bytes:
    """Return the page that `to_html` writes."""
    check_is_fitted(estimator, "tree_")
    wording = wording_of(estimator, feature_names, class_names, decimals)
    return _markup(estimator, wording, str(title)).encode("utf-8", errors="backslashreplace")


def _markup(estimator: Any, wording: Wording, title: str) -> str:
    tree, report = wording.tree, estimator.search_report_
    rows = int(tree.n_node_samples[0])
    counters = "".join(
        f"<tr><td>{escape(name)}</td><td>{amount(count)}</td></tr>"
        for name, count in report.counters.items()
    )
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>{escape(title)}</title>
<style>
{asset("tree.css")}
{asset("page.css")}
</style>
</head>
<body class="contree">
<h1>{escape(title)}</h1>
<p class="ct-certificate">{escape(certificate(estimator))}</p>
<p class="ct-facts">{counted(rows, "row")}, {counted(estimator.n_features_in_, "feature")},
{wording.facts()};
{tree.n_leaves:,} {"leaf" if tree.n_leaves == 1 else "leaves"}, depth {tree.max_depth};
searched for {report.seconds:.3g} s.</p>
{legend_markup(wording)}
<p class="ct-tools"><button type="button" id="ct-open">Unfold all</button>
<button type="button" id="ct-close">Fold all</button>
Click a test to fold it; rest on a node to see its rows.</p>
{tree_markup(wording, OPEN_LEVELS, titles=False)}
<h2>Where does a row go?</h2>
<form id="ct-form" autocomplete="off">
{_inputs(wording)}
<p id="ct-answer" role="status"></p>
</form>
<h2>The search</h2>
{history_chart(report, "objective" if estimator.ccp_alpha > 0 else wording.measure())}
<details class="ct-counters"><summary>Counters</summary>
<table>{counters}</table></details>
<div id="ct-tip" role="tooltip" hidden></div>
<script type="application/json" id="ct-data">{_data(wording)}</script>
<script>
{asset("page.js")}
</script>
</body>
</html>
"""


def _inputs(wording: Wording) -> str:
    """Return a field for each feature that the tree tests, and one for a whole row."""
    used = sorted({int(f) for f in wording.tree.feature if f >= 0})
    fields = "".join(
        f"<label>{breakable(wording.features[f])}{_field(wording, f)}</label>" for f in used
    )
    has_sets = wording.tree.categories is not None
    row = counted(len(wording.features), "value" if has_sets else "number")
    between = (
        "commas or semicolons between; a value that has one needs double quotes"
        if has_sets
        else "commas, semicolons or spaces between"
    )
    return (
        f'<div class="ct-fields">{fields}</div>'
        f'<label class="ct-row">or a whole row of {row}, with {between}'
        '<input type="text" id="ct-row"></label>'
        f"{_lacking(wording, used)}"
    )


def _field(wording: Wording, f: int) -> str:
    """Return the input for a feature: for a number a line of text, for categories a selector."""
    known = _categories(wording, f)
    if known is None:
        return f'<input type="text" inputmode="decimal" data-feature="{f}">'
    options = "".join(
        f'<option value="{code}">{escape(category_word(one))}</option>'
        for code, one in enumerate(known)
    )
    return (
        f'<select data-feature="{f}"><option value=""></option>{options}'
        '<option value="missing">(missing or another)</option></select>'
    )


def _categories(wording: Wording, f: int) -> tuple[Any, ...] | None:
    categories = wording.tree.categories
    return None if categories is None else categories[f]


def _lacking(wording: Wording, used: list[int]) -> str:
    """Return how to say that a value is missing, where the training rows lacked some."""
    tree = wording.tree
    if not tree.knows_missing:
        return ""
    lacking = {int(f) for f in tree.feature[tree.n_node_missing > 0]}
    names = ", ".join(escape(wording.features[f]) for f in used if f in lacking)
    return f"<p>An empty field is a missing value: {names}. Elsewhere, type NaN.</p>"


def _most(shares: list[Share], by_size: bool) -> dict[str, Any]:
    """Return the parts of a node's rows that the note beside it has room for, and how many not."""
    if not by_size:
        return {"shown": shares, "others": 0}
    largest = sorted(shares, key=lambda one: -one.share)
    return {"shown": largest[:MOST_SHARES], "others": max(0, len(largest) - MOST_SHARES)}


def _codes_left(tree: FittedTree, node: int) -> list[int] | None:
    """Return the codes of the categories that go left at a node; None if it tests none."""
    if not tree.tests_categories(node):
        return None
    codes: list[int] = np.flatnonzero(tree.codes_go_left(node)).tolist()
    return codes


def _written_categories(wording: Wording) -> dict[int, list[str | float]] | None:
    """Return the categories of each tested feature as they are typed; None if X has none.

    Numbers are numbers, because 1.0 may be typed for 1.
    """
    if wording.tree.categories is None:
        return None
    used = sorted({int(f) for f in wording.tree.feature if f >= 0})
    known = {f: _categories(wording, f) for f in used}
    return {f: [_written(one) for one in all_] for f, all_ in known.items() if all_ is not None}


def _written(category: Any) -> str | float:
    is_number = isinstance(category, (int, float)) and not isinstance(category, bool)
    return category if is_number and abs(category) <= WIDEST else str(category)


def _data(wording: Wording) -> str:
    tree, nodes = wording.tree, range(wording.tree.node_count)
    text = json.dumps(
        {
            "left": tree.children_left.tolist(),
            "right": tree.children_right.tolist(),
            "feature": tree.feature.tolist(),
            # JSON has no infinity; null is the test for missing values.
            "threshold": [t if math.isfinite(t) else None for t in tree.threshold.tolist()],
            "categoriesLeft": [_codes_left(tree, node) for node in nodes],
            "categories": _written_categories(wording),
            "missingLeft": tree.missing_go_to_left.tolist(),
            "mayLack": sorted({int(f) for f in tree.feature[tree.n_node_missing > 0]}),
            "features": wording.features,
            "tests": [wording.whole_test(node) for node in nodes],
            "predictions": [wording.prediction(node) for node in nodes],
            "rows": [wording.rows(node) for node in nodes],
            "losses": [wording.loss(node) for node in nodes],
            "shares": [_most(wording.shares(node), wording.table is not None) for node in nodes],
        },
        allow_nan=False,
    )
    # "</script>" and "<!--" would end the element; JSON can write their first letter otherwise.
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
