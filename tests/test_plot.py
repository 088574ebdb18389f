"""The drawn tree: everything is there, nothing overlaps, and every text is inside its box."""

from __future__ import annotations

import io
import re
import runpy
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris, make_classification
from sklearn.exceptions import NotFittedError

from contree import ConTreeClassifier
from contree._class_tree import ClassTree
from contree.export.layout import centres
from contree.export.names import shortened
from contree.export.palette import class_colours, node_colours
from contree.export.plot import _wrapped
from scale import scaled

matplotlib = pytest.importorskip(
    "matplotlib", reason="NOT TESTED: plot() needs matplotlib, which is not installed"
)
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.patches import FancyBboxPatch  # noqa: E402

LONG = "a rather long name of a quantity, in $units^2$ per <second> & more, and more, and more"


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def parts(ax):
    """Return the boxes, and the texts, as rectangles on the screen."""
    ax.figure.canvas.draw()
    boxes = [p.get_window_extent() for p in ax.patches if isinstance(p, FancyBboxPatch)]
    return boxes, [(text.get_text(), text.get_window_extent()) for text in ax.texts]


def apart(a, b, slack=0.5) -> bool:
    return (
        a.x1 <= b.x0 + slack or b.x1 <= a.x0 + slack or a.y1 <= b.y0 + slack or b.y1 <= a.y0 + slack
    )


def within(inner, outer, slack=1.0) -> bool:
    return (
        outer.x0 - slack <= inner.x0
        and inner.x1 <= outer.x1 + slack
        and outer.y0 - slack <= inner.y0
        and inner.y1 <= outer.y1 + slack
    )


def check_picture(ax, clf):
    boxes, texts = parts(ax)
    assert len(boxes) == clf.tree_.node_count
    for a, b in combinations(boxes, 2):
        assert apart(a, b)
    for text, extent in texts:
        assert within(extent, ax.figure.bbox), text
        inside = [box for box in boxes if within(extent, box)]
        assert len(inside) == 1 or all(apart(extent, box) for box in boxes), text
    for (text, a), (other, b) in combinations(texts, 2):
        assert apart(a, b, slack=4.0), (text, other)
    return [text for text, _ in texts]


@pytest.mark.parametrize("classes", [2, 7])
@pytest.mark.parametrize("depth", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("names", [None, LONG])
def test_nothing_overlaps(classes, depth, names):
    X, y = make_classification(
        300, 6, n_informative=6, n_redundant=0, n_classes=classes, n_clusters_per_class=1,
        random_state=3,
    )  # fmt: skip
    clf = ConTreeClassifier(depth, time_limit=1.0).fit(X, y)
    words = {}
    if names:
        words["feature_names"] = [f"{names} {f}" for f in range(6)]
        words["class_names"] = [f"class {c} {names}" for c in range(classes)]
    shown = check_picture(clf.plot(**words), clf)
    assert shown.count("yes") == shown.count("no") == clf.get_n_leaves() - 1
    assert "300 rows" in shown


@pytest.mark.parametrize("depth", [1, 3])
def test_words_on_branches_have_room(depth):
    """The boxes of short labels are narrower than what is said of missing values."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] > 0) + (X[:, 1] > 0) * (X[:, 2] > 0) * 1
    X[(X > 0.5) & (rng.random(X.shape) < 0.3)] = np.nan
    clf = ConTreeClassifier(depth).fit(X, y)
    assert "no or missing" in check_picture(clf.plot(), clf)


def test_what_it_says():
    X = np.repeat(np.arange(6.0), 8)[:, None] + 0.125
    y = np.repeat(["setosa", "versicolor", "virginica"], 16)
    y[0] = "virginica"  # the only row that no tree gets right; the two thresholds are the only ones
    clf = ConTreeClassifier(2).fit(X, y)
    shown = check_picture(clf.plot(feature_names=["a"]), clf)
    assert shown[:4] == ["yes", "no"] * 2
    assert {"a ≤ 1.625", "a ≤ 3.625", "setosa", "48 rows", "16 rows", "1 error"} <= set(shown)
    plain = clf.plot(class_names=["x", "y", "z"], decimals=1, legend=False)
    shown = check_picture(plain, clf)
    assert {"feature_0 ≤ 1.6", "feature_0 ≤ 3.6", "x", "y", "z"} <= set(shown)
    assert shown.count("z") == 1


def test_on_given_axes():
    iris = load_iris()
    clf = ConTreeClassifier(2).fit(iris.data, iris.target)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3))
    assert clf.plot(ax=left) is left
    check_picture(left, clf)
    assert not right.patches
    assert plt.get_fignums() == [figure.number]


def test_negative_thresholds_and_odd_characters():
    clf = ConTreeClassifier(1).fit([[-5.0], [-3.0]], ["$a_1$ \\x\n", "\0"])
    shown = check_picture(clf.plot(feature_names=["$x^2$\t_{y}"]), clf)
    assert any("≤ −4" in text for text in shown)
    clf.plot().figure.savefig(io.BytesIO(), format="svg")


def test_the_legend_tells_long_names_apart():
    names = ["the same beginning of a name, one", "the same beginning of a name, two"]
    clf = ConTreeClassifier(1).fit([[-2e-20], [-4e-20]], names)
    shown = check_picture(clf.plot(feature_names=["half \ud800"]), clf)
    assert set(names) <= set(shown)
    assert "half \N{REPLACEMENT CHARACTER} ≤ −3e−20" in shown


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        (
            "ratio_of_average_customer_contacts_per_month",
            ["ratio_of_average_", "customer_contacts_per_", "month"],
        ),
        ("sensor.left-front/wheel.speed", ["sensor.left-front/", "wheel.speed"]),
        ("a name of several words, snake_case", ["a name of several", "words, snake_case"]),
        ("x" * 30, ["x" * 22, "x" * 8]),
        ("two\nlines", ["two", "lines"]),
        ("", [" "]),
    ],
)
def test_names_break_between_their_parts(name, lines):
    assert _wrapped(name) == lines


@pytest.mark.parametrize("middle", ["_average_", " average ", "x", "-\n"])
def test_long_names_that_differ_at_the_end_stay_apart(middle):
    names = [f"the_first_{middle * 90}_{end}" for end in ("north", "south")]
    clf = ConTreeClassifier(2).fit([[0.0, 0], [0, 1], [1, 0], [1, 1]], names[:1] * 3 + names[1:])
    shown = "".join(check_picture(clf.plot(feature_names=names), clf))
    assert {"north", "south"} <= set(re.findall("north|south", shown))
    assert "the_first_" in shown
    assert "…" in shown
    boxes = [_wrapped(name) for name in names]
    assert boxes[0] != boxes[1]
    assert all(len(box) <= 4 and max(map(len, box)) <= 22 for box in boxes)
    page = clf._repr_html_()
    assert "the_<wbr>first_" in page
    assert shortened(names[0]) != shortened(names[1])
    assert all(shortened(name) in page.replace("<wbr>", "") for name in names)


@pytest.mark.parametrize("size", [0, -1.0, np.nan, np.inf, "9", None])
def test_font_sizes_refused(size):
    clf = ConTreeClassifier(1).fit([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match="font_size must be a number of points above 0"):
        clf.plot(font_size=size)


def test_without_matplotlib_the_error_names_the_extra(monkeypatch):
    clf = ConTreeClassifier(0).fit([[0.0]], [0])
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"contree\[plot\]"):
        clf.plot()


def test_it_needs_a_fit():
    with pytest.raises(NotFittedError):
        ConTreeClassifier().plot()


def random_tree(rng, nodes: int) -> ClassTree:
    """Return a tree of any shape with so many inner nodes."""
    left, right = [], []

    def grow(inner):
        node = len(left)
        left.append(-1)
        right.append(-1)
        if inner:
            share = int(rng.integers(inner))
            left[node] = grow(share)
            right[node] = grow(inner - 1 - share)
        return node

    grow(nodes)
    feature = np.where(np.array(left) < 0, -2, 0)
    ones = np.ones((len(left), 2), dtype=int)
    return ClassTree(left, right, feature, feature * 1.0, ones, np.zeros((len(left), 2)))


@settings(max_examples=scaled(40))
@given(st.integers(0, 2**32 - 1), st.integers(0, 30))
def test_layout_of_any_tree(seed, inner):
    rng = np.random.default_rng(seed)
    tree = random_tree(rng, inner)
    widths = rng.uniform(1, 50, tree.node_count)
    words = rng.uniform(0, 30, tree.node_count)
    x = centres(tree, widths, gap=2.0, words=words)
    assert (x - widths / 2).min() == pytest.approx(0)
    for depth in range(tree.max_depth + 1):
        level = np.flatnonzero(tree.node_depth == depth)
        ends, starts = x[level] + widths[level] / 2, x[level] - widths[level] / 2
        assert (starts[1:] - ends[:-1] >= 2.0 - 1e-9).all()
    for node in np.flatnonzero(tree.feature >= 0):
        middle = (x[tree.children_left[node]] + x[tree.children_right[node]]) / 2
        assert x[node] == pytest.approx(middle)
        assert middle - x[tree.children_left[node]] >= words[node] - 1e-9


def test_colours():
    assert len(set(class_colours(40))) == 40
    clf = ConTreeClassifier(1).fit([[0.0], [1.0], [2.0]], [0, 1, 1])
    colours = node_colours(clf.tree_)
    assert all(len(c) == 7 and c.startswith("#") for c in colours)
    mixed, pure = colours[0], colours[2]
    assert int(mixed[5:], 16) > int(pure[5:], 16)  # the same class, paler


def test_the_picture_in_the_readme_is_made_by_its_script(tmp_path, capsys):
    script = Path(__file__).parents[1] / "docs" / "figures" / "make_tree.py"
    runpy.run_path(str(script))["main"](tmp_path / "tree.png")
    assert "optimal, 9 errors" in capsys.readouterr().out
    size = (tmp_path / "tree.png").stat().st_size
    stored = script.with_name("tree.png")
    assert (
        f"({stored.relative_to(script.parents[2])})"
        in (script.parents[2] / "README.md").read_text()
    )
    assert 10_000 < size < 200_000
    assert stored.stat().st_size < 200_000


def test_matplotlib_is_imported_only_when_it_draws():
    check = "import contree, sys; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", check], check=True)
