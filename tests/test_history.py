"""The road of a search, drawn: two curves as the history says, their ends, the status."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from contree import ConTreeClassifier, Improvement
from test_limits import hard_set

matplotlib = pytest.importorskip(
    "matplotlib", reason="NOT TESTED: plot_history() needs matplotlib, which is not installed"
)
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def iris():
    return ConTreeClassifier(2).fit(*load_iris(return_X_y=True))


def with_history(clf, seconds, *steps):
    """Return the classifier with another history, as a longer search might have had."""
    last = steps[-1]
    clf.search_report_ = dataclasses.replace(
        clf.search_report_, seconds=seconds, history=tuple(Improvement(*step) for step in steps)
    )
    clf.status_ = "optimal" if last[1] == last[2] else "time_limit"
    clf.errors_ = clf.objective_ = last[1]
    clf.lower_bound_ = last[2]
    return clf


def curves(ax) -> dict:
    return {
        line.get_label(): (line.get_xdata(), line.get_ydata())
        for line in ax.lines
        if not line.get_label().startswith("_")
    }


LONG = ((0.01, 400, 0), (0.1, 300, 20), (1.0, 250, 90), (9.0, 240, 170))


def test_the_curves_are_the_history(iris):
    ax = with_history(iris, 60.0, *LONG).plot_history()
    drawn = curves(ax)
    assert list(drawn) == ["best tree", "proved lower bound"]
    seconds, objective = drawn["best tree"]
    assert seconds.tolist() == [0.01, 0.1, 1.0, 9.0, 60.0]  # up to the end of the search
    assert objective.tolist() == [400, 300, 250, 240, 240]
    assert drawn["proved lower bound"][1].tolist() == [0, 20, 90, 170, 170]
    assert {line.get_drawstyle() for line in ax.lines} == {"steps-post"}
    assert ax.get_title() == "time_limit: 240 errors, gap 70 after 60 s"
    assert [text.get_text() for text in ax.texts] == ["240", "170"]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale()) == ("seconds", "errors", "log")
    (shaded,) = ax.collections  # the gap
    assert shaded.get_paths()[0].get_extents().extents.tolist() == [0.01, 0, 60, 400]


def test_a_short_search_has_an_even_time_axis(iris):
    ax = with_history(iris, 0.004, (0.002, 9, 1), (0.003, 6, 6)).plot_history()
    assert ax.get_xscale() == "linear"
    assert ax.get_xlim() == (0.0, 4.0)
    assert ax.get_xlabel() == "milliseconds"
    assert ax.get_title() == "optimal: 6 errors, proved in 4 ms"
    assert [text.get_text() for text in ax.texts] == ["6"]  # the curves have met


@pytest.mark.parametrize("bound", [0, 230, 239, 240])
@pytest.mark.parametrize("size", [(5.6, 3.2), (3, 2)])
def test_nothing_leaves_the_picture_or_overlaps(iris, bound, size):
    with_history(iris, 60.0, *LONG[:3], (9.0, 240, bound))
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    assert iris.plot_history(ax) is ax
    figure.canvas.draw()
    texts = [*ax.texts, ax.title, ax.xaxis.label, ax.yaxis.label]
    boxes = [text.get_window_extent() for text in texts]
    for text, box in zip(texts[: len(ax.texts)], boxes, strict=False):
        assert box.x1 <= figure.bbox.x1, text
        assert box.y0 >= 0
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert not a.overlaps(b)


@pytest.mark.parametrize("depth", [0, 1, 5])
def test_any_search_can_be_drawn(depth):
    clf = ConTreeClassifier(depth, time_limit=0.3).fit(*hard_set(n=500, p=4))
    ax = clf.plot_history()
    assert ax.get_title().startswith(f"{clf.status_}: {clf.errors_} errors, ")
    best, bound = curves(ax).values()
    assert best[1][-1] == clf.objective_
    assert bound[1][-1] == clf.lower_bound_
    assert (np.diff(best[1]) <= 0).all()
    assert (np.diff(bound[1]) >= 0).all()
    read = ConTreeClassifier.from_json(clf.to_json())
    assert read.plot_history().get_title() == ax.get_title()


def test_one_error_is_one_error(iris):
    ax = with_history(iris, 1.0, (0.5, 1, 1)).plot_history()
    assert ax.get_title() == "optimal: 1 error, proved in 1 s"


def test_it_needs_a_fit():
    with pytest.raises(NotFittedError):
        ConTreeClassifier().plot_history()


def test_without_matplotlib_the_extra_is_named():
    program = """
import sys
sys.modules["matplotlib"] = None
from contree import ConTreeClassifier
clf = ConTreeClassifier(1).fit([[0.0], [1.0]], [0, 1])
try:
    clf.plot_history()
except ImportError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "pip install 'contree[plot]'" in done.stdout, done.stderr
