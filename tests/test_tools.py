"""Tools made for scikit-learn's trees run on ours, through ``to_sklearn``.

scikit-learn's own always run.  The others come with the extra ``test-tools``, which ``make test``
installs where it can; without one of them its test is skipped, and says so.
"""

from __future__ import annotations

import importlib
import shutil

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import export_graphviz, export_text, plot_tree

from contree import ConTreeClassifier

pytestmark = [
    pytest.mark.tools,
    # Their warnings are theirs; what is asserted here is what they make of our trees.
    pytest.mark.filterwarnings("ignore"),
]


def tool(name: str):
    """Import an optional tool, or skip loudly."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        pytest.skip(f"NOT TESTED: {name} is not installed (extra test-tools): {error}")


@pytest.fixture(scope="module")
def iris():
    return load_iris()


@pytest.fixture(scope="module")
def clf(iris):
    return ConTreeClassifier(3).fit(iris.data, iris.target)


@pytest.fixture
def cart(clf):
    return clf.to_sklearn()


def test_sklearn_export_text(clf, cart):
    text = export_text(cart, show_weights=True)
    assert text.count("class:") == clf.get_n_leaves()


def test_sklearn_export_graphviz(clf, cart):
    dot = export_graphviz(cart, filled=True)
    assert dot.count(" -> ") == clf.tree_.node_count - 1


def test_sklearn_plot_tree(clf, cart):
    tool("matplotlib").use("Agg")
    plt = tool("matplotlib.pyplot")
    figure, ax = plt.subplots()
    drawn = plot_tree(cart, ax=ax, filled=True)
    plt.close(figure)
    nodes = [text for text in drawn if "samples" in text.get_text()]
    assert len(nodes) == clf.tree_.node_count


def test_dtreeviz(iris, cart, clf):
    tool("matplotlib").use("Agg")
    dtreeviz = tool("dtreeviz")
    if shutil.which("dot") is None:
        pytest.skip("NOT TESTED: dtreeviz draws with Graphviz, and `dot` is not installed")
    model = dtreeviz.model(
        cart,
        X_train=iris.data,
        y_train=iris.target,
        feature_names=iris.feature_names,
        target_name="species",
        class_names=list(iris.target_names),
    )
    assert "<svg" in model.view().svg()
    leaf = model.shadow_tree.predict_path(iris.data[70])[-1]
    assert leaf.id == clf.apply(iris.data[70:71])[0]


def test_supertree(iris, cart, tmp_path):
    supertree = tool("supertree")
    page = tmp_path / "page.html"
    names = iris.feature_names, list(iris.target_names)
    supertree.SuperTree(cart, iris.data, iris.target, *names).save_html(str(page))
    assert "petal" in page.read_text()


def test_onnx(iris, cart, clf):
    skl2onnx, onnxruntime = tool("skl2onnx"), tool("onnxruntime")
    rows = iris.data.astype(np.float32)
    model = skl2onnx.to_onnx(cart, rows[:1], options={"zipmap": False})
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    labels, probabilities = session.run(None, {"X": rows})
    assert (labels == clf.predict(iris.data)).all()
    np.testing.assert_allclose(probabilities, clf.predict_proba(iris.data), atol=1e-6)


def test_shap(iris, cart, clf):
    explainer = tool("shap").TreeExplainer(cart)
    values = np.asarray(explainer.shap_values(iris.data))
    total = values.sum(axis=1) + explainer.expected_value
    np.testing.assert_allclose(total, clf.predict_proba(iris.data), atol=1e-9)
