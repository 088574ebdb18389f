"""The interactive page in a real browser: headless Chromium, driven by selenium.

Needs Debian's packages chromium and chromium-driver, and selenium from the extra test-tools; where
one is not installed, every test here is skipped and says so.  A browser that does not start is a
failure.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from contree import ConTreeClassifier

pytestmark = pytest.mark.browser

EVIL = '"><script>document.title="broken"</script></script>&amp;'


@pytest.fixture(scope="module")
def browser():
    try:
        from selenium import webdriver
    except ImportError as error:
        pytest.skip(f"NOT TESTED: selenium is not installed (extra test-tools): {error}")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip(
            "NOT TESTED: no browser; apt-get install -y chromium chromium-driver brings one"
        )
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--disable-gpu", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium's sandbox refuses root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    window = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    window.set_window_size(1300, 1000)
    yield window
    window.quit()


@pytest.fixture
def visit(browser, tmp_path):
    """Return a function that opens a classifier's page; afterwards the console must be empty."""

    def open_page(clf, **words):
        path = clf.to_html(tmp_path / "tree.html", **words)
        browser.get(path.as_uri())
        return browser

    yield open_page
    assert browser.get_log("browser") == []


def find(browser, selector: str):
    return browser.find_element("css selector", selector)


def box(browser, node: int):
    prefix = f'li[data-node="{node}"]'
    return find(browser, f"{prefix} > .ct-node, {prefix} > details > .ct-node")


def type_in(browser, selector: str, text: str):
    field = find(browser, selector)
    field.clear()
    field.send_keys(text)


@pytest.fixture(scope="module")
def cancer():
    data = load_breast_cancer()
    clf = ConTreeClassifier(3).fit(data.data, data.target_names[data.target])
    return clf, data


def test_a_node_folds_on_a_click(visit, cancer):
    clf, data = cancer
    browser = visit(clf, feature_names=data.feature_names, title="Breast cancer")
    assert browser.title == "Breast cancer"
    child = int(clf.tree_.children_left[1])
    assert box(browser, child).is_displayed()
    box(browser, 1).click()
    assert not box(browser, child).is_displayed()
    assert box(browser, int(clf.tree_.children_right[0])).is_displayed()
    box(browser, 1).click()
    assert box(browser, child).is_displayed()
    find(browser, "#ct-close").click()
    assert not box(browser, 1).is_displayed()
    find(browser, "#ct-open").click()
    assert box(browser, clf.tree_.node_count - 1).is_displayed()


def test_the_route_of_a_row_ends_in_its_leaf(visit, cancer):
    clf, data = cancer
    browser = visit(clf, feature_names=data.feature_names)
    leaves = clf.apply(data.data)
    for leaf in np.unique(leaves):
        row = data.data[np.flatnonzero(leaves == leaf)[0]]
        find(browser, "#ct-close").click()  # the route unfolds what it passes
        type_in(browser, "#ct-row", ", ".join(map(repr, row.tolist())))
        answer = find(browser, "#ct-answer")
        assert answer.get_attribute("data-leaf") == str(leaf)
        assert answer.text.startswith(clf.predict(row[np.newaxis])[0] + ":")
        route = browser.find_elements("css selector", "li.ct-route")
        assert [int(item.get_attribute("data-node")) for item in route] == clf.tree_.path(leaf)
        assert box(browser, leaf).is_displayed()
        lines = browser.find_elements("css selector", ".ct-line-of-route polyline")
        assert len(lines) == clf.tree_.node_depth[leaf]


def test_values_one_by_one_and_what_is_no_number(visit, cancer):
    clf, data = cancer
    browser = visit(clf, feature_names=data.feature_names)
    root = int(clf.tree_.feature[0])
    type_in(browser, f'input[data-feature="{root}"]', "-1e9")
    assert "To go on: " in find(browser, "#ct-answer").text
    nodes = [
        item.get_attribute("data-node")
        for item in browser.find_elements("css selector", "li.ct-route")
    ]
    assert nodes == ["0", "1"]
    type_in(browser, f'input[data-feature="{root}"]', "1,5")
    assert "not numbers" in find(browser, "#ct-answer").text
    assert not browser.find_elements("css selector", "li.ct-route")
    type_in(browser, "#ct-row", "1 2 3")
    assert "3 numbers of 30" in find(browser, "#ct-answer").text


def test_thresholds_are_exact_in_the_page(visit):
    low = 0.1
    clf = ConTreeClassifier(1).fit([[low], [np.nextafter(low, 1.0)]], ["low", "high"])
    browser = visit(clf)
    for value in (low, float(np.nextafter(low, 1.0))):
        type_in(browser, 'input[data-feature="0"]', repr(value))
        assert find(browser, "#ct-answer").text.startswith(clf.predict([[value]])[0])


def test_hover_shows_the_counts(visit):
    from selenium.webdriver import ActionChains

    iris = load_iris()
    clf = ConTreeClassifier(2).fit(iris.data, iris.target_names[iris.target])
    browser = visit(clf)
    assert not find(browser, "#ct-tip").is_displayed()
    ActionChains(browser).move_to_element(box(browser, 0)).perform()
    shown = find(browser, "#ct-tip").text
    for part in ("Node 0: 150 rows", "setosa", "50 (33.3 %)", "virginica"):
        assert part in shown


def test_evil_names_are_only_text(visit):
    clf = ConTreeClassifier(1).fit([[1.0], [2.0]], [EVIL, EVIL + "2"])
    browser = visit(clf, feature_names=[EVIL], title=EVIL)
    assert browser.title == EVIL
    assert EVIL in box(browser, 0).text
    type_in(browser, "#ct-row", "2")
    assert find(browser, "#ct-answer").text.startswith(EVIL + "2:")


def test_a_leaf_alone(visit):
    browser = visit(ConTreeClassifier(0).fit([[1.0], [2.0], [3.0]], [0, 1, 1]))
    assert find(browser, "#ct-answer").text == "1: leaf 0, 3 rows, 1 error"


def test_a_classifier_from_json(visit, cancer):
    clf, data = cancer
    browser = visit(ConTreeClassifier.from_json(clf.to_json()))
    type_in(browser, "#ct-row", " ".join(map(repr, data.data[0].tolist())))
    leaf = find(browser, "#ct-answer").get_attribute("data-leaf")
    assert leaf == str(clf.apply(data.data[:1])[0])


def test_an_empty_field_is_a_missing_value(visit):
    X = np.array([[1.0, 5.0], [2.0, 5.0], [np.nan, 5.0], [np.nan, 6.0], [np.nan, np.nan]])
    clf = ConTreeClassifier(2).fit(X, ["x", "x", "y", "z", "z"], [1, 1, 2.5, 1, 1])
    assert np.isinf(clf.tree_.threshold).any()
    browser = visit(clf, feature_names=["a", "b"])
    assert "An empty field is a missing value" in browser.page_source
    rows = [*X.tolist(), [9.0, np.nan]]
    for row in rows:
        text = ["" if value != value else repr(value) for value in row]
        for word in ("", "NaN"):
            type_in(browser, "#ct-row", ",".join(value or word for value in text))
            leaf = clf.apply([row])[0]
            assert find(browser, "#ct-answer").get_attribute("data-leaf") == str(leaf)
    type_in(browser, "#ct-row", ",5")
    answer = find(browser, "#ct-answer").text
    assert answer.startswith("y: leaf ")
    assert answer.endswith(", 1 row of weight 2.5, errors of weight 0")


def test_the_words_on_the_branches_are_whole(visit):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 3))
    y = (X[:, 0] > 0) + (X[:, 1] > 0) * (X[:, 2] > 0) * 1
    X[(X > 0.5) & (rng.random(X.shape) < 0.3)] = np.nan
    clf = ConTreeClassifier(3).fit(X, y)
    browser = visit(clf, feature_names=list("abc"))
    find(browser, "#ct-open").click()
    words = browser.find_elements("css selector", ".ct-branch")
    assert "no or missing" in [word.text for word in words]
    for word, after in pairwise(sorted((w.rect for w in words), key=lambda r: (r["y"], r["x"]))):
        assert word["height"] < 20  # one line
        assert word["y"] != after["y"] or word["x"] + word["width"] <= after["x"]


@pytest.mark.parametrize("lacks", [False, True])
def test_categories_are_chosen_or_typed(visit, lacks):
    """Every category, others and missing ones go where predict sends them."""
    from selenium.webdriver.support.ui import Select

    known = ["red", "light, blue", 'it\'s "green"', "größe\n日本", EVIL, "", " e", "nan", 2, 2.5]
    rng = np.random.default_rng(0)
    codes, size = rng.integers(len(known), size=200), rng.integers(10, size=200) / 4
    colour, town = np.empty(200, dtype=object), rng.choice(["x", "y"], 200).astype(object)
    colour[:] = [known[code] for code in codes]
    y = (codes % 3 == 0) ^ (size > 1)
    if lacks:
        colour[:20], y[:15] = None, True
    X = np.column_stack([size.astype(object), town, colour])
    clf = ConTreeClassifier(2, categorical_features=[1, 2]).fit(X, y)
    browser = visit(clf, feature_names=["size", "town", "colour"])
    selector = Select(find(browser, 'select[data-feature="2"]'))
    assert len(selector.options) == len(known) + 2
    answer = find(browser, "#ct-answer")

    def check(value, typed):
        leaf = clf.apply(np.array([[typed, "x", value]], dtype=object))[0]
        assert answer.get_attribute("data-leaf") == str(leaf)

    type_in(browser, 'input[data-feature="0"]', "0.5")
    for code, category in enumerate(clf.categories_[2]):
        selector.select_by_value(str(code))
        check(category, 0.5)
    selector.select_by_value("missing")
    check("unknown", 0.5)
    selector.select_by_value("")
    if lacks:
        check(None, 0.5)
    else:
        assert answer.text == "To go on: colour"
    for value in (*clf.categories_[2], "pink", 3):
        text = str(value).replace('"', '""')
        if "\n" not in text:  # a line of text has none
            type_in(browser, "#ct-row", f'2.0; "x", "{text}"')
            check(value, 2.0)
    type_in(browser, "#ct-row", "0.5, x, 2.50")
    check(2.5, 0.5)
    type_in(browser, "#ct-row", "0.5, x, light, blue")
    assert answer.text == "4 values of 3."


WIDE = ["standard_error_of_fractal_dimension_per_patient", "x", "log(income)", "days since"]
PLACES = """
const all = (selector) => [...document.querySelectorAll(selector)];
const place = (box) => { const at = box.getBoundingClientRect(); return [at.left, at.right, at.bottom]; };
return {
  frame: place(document.querySelector(".ct-tree")),
  scrolls: all(".ct-tree").some((frame) => frame.scrollWidth > frame.clientWidth),
  zoom: getComputedStyle(document.querySelector(".ct-tree > ul")).zoom,
  boxes: all(".ct-node").map(place),
  fields: all("input[data-feature]").map(place),
  ends: all(".ct-line-of-route polyline").map(place),
  route: all("li.ct-route").map((one) => place(one.querySelector(".ct-node"))),
};
"""  # noqa: E501


def test_a_tree_that_fits_is_as_large_as_it_is(visit):
    browser = visit(ConTreeClassifier(1).fit([[0.0], [1.0]], [0, 1]))
    assert float(browser.execute_script(PLACES)["zoom"]) == 1


def test_a_wide_tree_is_made_smaller_to_fit(visit):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 1000, size=(300, 4)).astype(float)
    clf = ConTreeClassifier(4, time_limit=1).fit(X, rng.integers(0, 3, size=300))
    browser = visit(clf, feature_names=WIDE, class_names=["versicolor", "canadensis", "setosa"])
    type_in(browser, "#ct-row", "1e9 1e9 1e9 1e9")
    seen = browser.execute_script(PLACES)
    assert len(seen["boxes"]) == clf.tree_.node_count > 25
    assert not seen["scrolls"]
    left, right, _ = seen["frame"]
    assert min(start for start, _, _ in seen["boxes"]) >= left - 1
    assert max(stop for _, stop, _ in seen["boxes"]) <= right + 1
    # Fields stand in one line, however long the names above them are.
    assert len({bottom for _, _, bottom in seen["fields"]}) == 1
    # The line of the route goes from box to box, as large as these are.
    assert len(seen["ends"]) == len(seen["route"]) - 1 > 2
    for (_, end, _), (start, stop, _) in zip(seen["ends"], seen["route"][1:], strict=True):
        assert end == pytest.approx((start + stop) / 2, abs=3)


def test_a_word_for_missing_where_none_was_seen(visit, cancer):
    clf, data = cancer
    browser = visit(clf, feature_names=data.feature_names)
    row = np.full(30, np.nan)
    type_in(browser, "#ct-row", " ".join(["nan"] * 30))
    leaf = clf.apply(row[np.newaxis])[0]
    assert find(browser, "#ct-answer").get_attribute("data-leaf") == str(leaf)


def test_a_browser_that_does_not_start_is_a_failure(tmp_path):
    pytest.importorskip("selenium", reason="NOT TESTED: selenium is not installed")
    for name in ("chromium", "chromedriver"):
        (tmp_path / name).write_text("#!/bin/sh\nexit 1\n")
        (tmp_path / name).chmod(0o755)
    one = f"{__file__}::test_a_node_folds_on_a_click"
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", one],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 1, result.stdout
    assert "1 error" in result.stdout
