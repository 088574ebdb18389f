"""The page and the notebook's view, as text: whole, escaped, written atomically."""

from __future__ import annotations

import json
import os
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from contree import ConTreeClassifier, SearchReport
from contree._report import Improvement
from contree.export.certificate import certificate
from contree.export.chart import history_chart
from scale import scaled

EVIL = "</script><script>alert(1)</script><!-- \"'><img src=x onerror=alert(1)>&lt;"
VOID = {"meta", "link", "input", "img", "br"}


class Outline(HTMLParser):
    """Collect the tags and texts of a page, and check that tags are closed in their order."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.texts, self.attributes = [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        if tag == "wbr":  # a place where a name may be broken, of which some have more
            return
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def clf():
    iris = load_iris()
    return ConTreeClassifier(3).fit(iris.data, iris.target_names[iris.target])


def page(clf, tmp_path, **words) -> str:
    return clf.to_html(tmp_path / "tree.html", **words).read_text(encoding="utf-8")


def test_the_page_is_whole_and_alone(clf, tmp_path):
    text = page(clf, tmp_path, title="Iris")
    outline = Outline(text)
    assert outline.tags.count("li") == clf.tree_.node_count
    assert outline.tags.count("svg") == 1
    assert certificate(clf) in text
    links = [v for k, v in outline.attributes if k in ("src", "href", "action", "data")]
    assert links == ["data:,"]
    without_namespaces = text.replace("http://www.w3.org/2000/svg", "")
    assert not re.search(r"https?://|url\(|@import|fetch\(|XMLHttp", without_namespaces)
    assert "default-src 'none'" in text


@pytest.mark.parametrize("weight", [None, 0.75])
def test_counts_and_weights_have_commas(tmp_path, weight):
    rng = np.random.default_rng(0)
    X, y = rng.random((3000, 2)), rng.integers(0, 2, 3000)
    weights = None if weight is None else np.full(3000, weight) * rng.integers(1, 9, 3000)
    one = ConTreeClassifier(1).fit(X, y, sample_weight=weights)
    text = page(one, tmp_path)
    data = json.loads(text.split('id="ct-data">')[1].split("</script>")[0])
    shares = [share[1] for node in data["shares"] for share in node["shown"]]
    facts = text.split('class="ct-facts">')[1].split("</p>")[0]
    words = [*data["rows"], *data["losses"], *shares, facts, certificate(one)]
    assert "3,000 rows" in facts
    assert not re.search(r"(?<![\d.])\d{4}", " ".join(words))


def test_names_cannot_break_the_page(clf, tmp_path):
    plain = Outline(page(clf, tmp_path))
    text = page(
        clf,
        tmp_path,
        feature_names=[f"{EVIL}{f}" for f in range(4)],
        class_names=[f"{EVIL}{c}" for c in range(3)],
        title=EVIL,
    )
    evil = Outline(text)
    data = text.split('id="ct-data">')[1].split("</script>")[0]
    assert f"{EVIL}0" in json.loads(data)["predictions"]
    assert not set("<>&") & set(data)
    assert evil.tags == plain.tags
    assert any(EVIL in text for text in evil.texts)
    assert not any(name.startswith("on") for name, _ in evil.attributes)


@settings(max_examples=scaled(25))
@given(st.text(min_size=1), st.text(min_size=1))
@example(EVIL, EVIL)
def test_no_name_breaks_the_notebook(feature, label):
    one = ConTreeClassifier(1).fit([[1.0], [2.0]], [label, label + "x"])
    one.feature_names_in_ = np.array([feature], dtype=object)
    same = ConTreeClassifier(1).fit([[1.0], [2.0]], ["a", "b"])
    assert Outline(one._repr_html_()).tags == Outline(same._repr_html_()).tags


def test_notebooks_show_the_diagram_then_the_tree(clf):
    before, after = clone(clf), clf
    assert "ct-tree" not in before._repr_html_()
    assert "sk-" in before._repr_html_()
    for text in (after._repr_html_(), after._repr_mimebundle_()["text/html"]):
        outline = Outline(text)
        assert outline.tags.count("li") == clf.tree_.node_count
        assert "script" not in outline.tags
        assert "setosa" in text
    assert after._repr_mimebundle_()["text/plain"] == repr(clf)
    with config_context(display="text"):
        assert not hasattr(after, "_repr_html_")
        assert set(after._repr_mimebundle_()) == {"text/plain"}
    iris = load_iris(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), ConTreeClassifier(1)).fit(*iris)
    assert "ConTreeClassifier" in pipe._repr_html_()


def test_deep_trees_start_folded():
    X = np.arange(400.0)[:, np.newaxis]
    deep = ConTreeClassifier(7, search="paper", time_limit=2.0).fit(X, np.arange(400) // 3 % 2)
    text = deep._repr_html_()
    assert "<details open>" in text
    assert "<details>" in text


def test_written_atomically(clf, tmp_path, monkeypatch):
    target = tmp_path / "tree.html"
    target.write_text("old")

    def fail(*_):
        raise OSError("disk full")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="disk full"):
            clf.to_html(target)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["tree.html"]
    assert clf.to_html(str(target)) == target
    assert target.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    assert os.listdir(tmp_path) == ["tree.html"]
    fresh = tmp_path / "fresh"
    fresh.touch()
    assert target.stat().st_mode == fresh.stat().st_mode


def test_a_missing_folder_is_an_error(clf, tmp_path):
    with pytest.raises(FileNotFoundError):
        clf.to_html(tmp_path / "none" / "tree.html")


def test_it_needs_a_fit(tmp_path):
    with pytest.raises(NotFittedError):
        ConTreeClassifier().to_html(tmp_path / "tree.html")
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    "history",
    [
        [],
        [(0.0, 0, 0)],
        [(0.5, 7, 7)],
        [(1e-6, 900, 0), (0.1, 30, 2), (90.0, 30, 30)],
        [(0.0, 5, 0), (0.0, 5, 5)],
    ],
)
@pytest.mark.parametrize("seconds", [0.0, 1.0, 100.0])
def test_chart_of_any_history(history, seconds):
    report = SearchReport(
        seconds, {}, tuple(Improvement(*step) for step in history), "paper", "scalar", 1
    )
    chart = history_chart(report)
    Outline(chart)
    assert "nan" not in chart
    assert "inf" not in chart
    if history:
        numbers = [float(v) for v in re.findall(r"[\d.]+(?=,)|(?<=,)[\d.]+", chart)]
        assert min(numbers) >= 0
        assert max(numbers) <= 520


def test_certificate_says_what_is_proved():
    X, y = load_iris(return_X_y=True)
    proved = certificate(ConTreeClassifier(2).fit(X, y))
    assert "no tree of depth 2 or less, with any thresholds, makes fewer than 6 errors" in proved
    gap = certificate(ConTreeClassifier(2, max_gap=50, feature_tolerance=0.01).fit(X, y))
    assert "values 0.01 apart" in gap
    assert "this one makes" in gap or "fewer than" in gap
