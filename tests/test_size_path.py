"""The path of sizes: every point against exhaustive search, its alphas, and its picture."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.tree import DecisionTreeClassifier

from contree import ConTreeClassifier, size_error_path
from oracle import check_tree, size_front
from scale import scaled
from test_general_oracle import draw, kept
from test_objective import CASES


@pytest.fixture(scope="module")
def path():
    X, y = load_breast_cancer(return_X_y=True)
    return size_error_path(X, y, max_depth=3)


@pytest.mark.parametrize("name", ["both", "weights", "all"])
def test_against_exhaustive_search(name):
    rng = np.random.default_rng([7, *name.encode()])
    for _ in range(scaled(25)):
        X, y, weights, least = draw(rng, CASES[name][1])
        depth = int(rng.integers(0, 4))
        found = size_error_path(
            X,
            y,
            depth,
            sample_weight=weights,
            min_samples_leaf=least,
            n_jobs=int(rng.choice([1, 2])),
        )
        front = size_front(X, y, depth, weights, least)
        assert found.status == "optimal"
        assert found.leaves.tolist() == list(range(1, len(front) + 1))
        assert found.errors.tolist() == found.lower_bounds.tolist() == [float(e) for e in front]
        assert found.proved.all()
        rows, labels, exact = kept(X, y, weights)
        for size, clf in zip(found.leaves, found.trees, strict=True):
            check_tree(clf, rows, labels, exact, least)
            assert clf.status_ == "optimal"
            assert clf.max_leaf_nodes == size
            assert found.tree(size) is clf


def test_alphas_are_where_the_optimum_changes():
    rng = np.random.default_rng(8)
    for _ in range(scaled(15)):
        X, y, *_ = draw(rng, CASES["both"][1])
        found = size_error_path(X, y, 3)
        alphas, sizes = found.exact_alphas, found.ccp_leaves.tolist()
        assert alphas[0] == 0
        assert list(alphas) == sorted(set(alphas))
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[-1] == 1
        assert found.ccp_alphas.tolist() == [float(alpha) for alpha in alphas]

        total = len(y)

        def best(alpha, path=found, total=total):
            scores = [
                int(e) + alpha * total * int(k)
                for k, e in zip(path.leaves, path.errors, strict=True)
            ]
            return {k for k, score in enumerate(scores, start=1) if score == min(scores)}

        for i, size in enumerate(sizes):
            assert size in best(alphas[i])
            if i > 0:
                assert sizes[i - 1] in best(alphas[i])
            upper = alphas[i + 1] if i + 1 < len(alphas) else alphas[i] + 1
            assert best((alphas[i] + upper) / 2) == {size}


def test_a_fit_between_two_alphas_finds_the_same_tree(path):
    X, y = load_breast_cancer(return_X_y=True)
    middles = [(a + b) / 2 for a, b in itertools.pairwise(path.ccp_alphas)]
    for alpha, leaves in zip(middles, path.ccp_leaves, strict=False):
        clf = ConTreeClassifier(3, ccp_alpha=alpha).fit(X, y)
        assert (clf.get_n_leaves(), clf.errors_) == (leaves, path.errors[leaves - 1])


def test_trees_predict_as_a_fit_does(path):
    X, y = load_breast_cancer(return_X_y=True)
    for clf, errors in zip(path.trees, path.errors, strict=True):
        assert (clf.predict(X) != y).sum() == errors == clf.errors_ == clf.objective_
    assert path.tree(1000) is path.trees[-1]
    with pytest.raises(ValueError, match="max_leaf_nodes"):
        path.tree(0)


def test_limits_give_honest_bounds():
    X, y = load_breast_cancer(return_X_y=True)
    full = size_error_path(X, y, 3)
    for limit in (0.0, 0.05):
        found = size_error_path(X, y, 3, time_limit=limit)
        assert (np.diff(found.errors) <= 0).all()
        for k, errors, bound in zip(found.leaves, found.errors, found.lower_bounds, strict=True):
            best = full.errors[min(k, len(full.errors)) - 1]
            assert bound <= best <= errors
        cart = DecisionTreeClassifier(max_depth=3, max_leaf_nodes=6, random_state=0).fit(X, y)
        assert found.tree(6).errors_ <= (cart.predict(X) != y).sum()
    few = size_error_path(X, y, 3, max_leaf_nodes=4)
    assert few.errors.tolist() == full.errors[:4].tolist()
    near = size_error_path(X, y, 2, max_gap=3)
    assert (near.errors - near.lower_bounds <= 3).all()


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_a_deeper_path_is_not_worse_even_without_time(task):
    """The core's test_budgets.cpp has the same for any amount of work."""
    X, y = load_breast_cancer(return_X_y=True)
    if task == "regression":
        y = X[:, 0]
    paths = [size_error_path(X, y, depth, task=task, time_limit=0.0) for depth in (1, 2, 3, 4)]
    for shallow, deep in itertools.pairwise(paths):
        errors = [deep.tree(int(size)).objective_ for size in shallow.leaves]
        assert (np.array(errors) <= shallow.errors).all()


def test_trees_of_any_depth():
    """Chains of splits that a depth would forbid count too."""
    X, y = load_iris(return_X_y=True)
    X, y = X[50::2], y[50::2]
    free = size_error_path(X, y, max_depth=None, random_state=1)
    deep = size_error_path(X, y, max_depth=len(y))
    assert free.status == "optimal"
    assert free.errors.tolist() == deep.errors.tolist()
    assert free.errors[-1] == 0
    assert free.trees[-1].max_depth is None
    assert free.trees[-1].random_state == 1
    assert free.cart_path()[1].min() == 0


def test_bad_values_are_named():
    for name, value in (
        ("random_state", -1),
        ("max_depth", -1),
        ("max_leaf_nodes", 0),
        ("n_jobs", True),
    ):
        with pytest.raises(ValueError, match=name):
            size_error_path([[0.0], [1.0]], [0, 1], **{name: value})
    with pytest.raises(ValueError, match="sample_weight"):
        size_error_path([[0.0], [1.0]], [0, 1], sample_weight=[1.0])


def test_one_row_and_one_class():
    assert size_error_path([[0.0]], [3]).errors.tolist() == [0]
    found = size_error_path([[0.0], [1.0]], ["a", "a"])
    assert (found.leaves.tolist(), found.ccp_leaves.tolist()) == ([1], [1])
    assert found.exact_alphas == (Fraction(0),)


def test_plot_shows_both_paths(path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    ax = path.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["CART, pruned by cost complexity", "optimal, proved"]
    cart, ours = (line for line in ax.lines if not line.get_label().startswith("_"))
    assert ours.get_ydata().tolist() == path.errors.tolist()
    leaves, errors = path.cart_path()
    assert cart.get_xdata().tolist() == leaves.tolist()
    for size, wrong in zip(leaves, errors, strict=True):
        assert path.tree(size).errors_ <= wrong  # ours is never above
    matplotlib.pyplot.close(ax.figure)

    X, y = load_breast_cancer(return_X_y=True)
    unproved = size_error_path(X, y, 3, time_limit=0.0)
    ax = unproved.plot()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "best found, down to the proved bound" in labels
    matplotlib.pyplot.close(ax.figure)


def test_carts_path_is_that_of_its_fits():
    rng = np.random.default_rng(11)
    X, y = rng.normal(size=(120, 4)), rng.integers(0, 3, size=120)
    X[rng.random(X.shape) < 0.1] = np.nan
    weights = rng.integers(1, 4, size=120)
    leaves, errors = size_error_path(X, y, 3, sample_weight=weights).cart_path()
    cart = DecisionTreeClassifier(max_depth=3, random_state=0)
    found = {}
    for alpha in cart.cost_complexity_pruning_path(X, y, weights).ccp_alphas:
        pruned = clone(cart).set_params(ccp_alpha=max(alpha, 0.0)).fit(X, y, weights)
        found[pruned.get_n_leaves()] = weights[pruned.predict(X) != y].sum()
    assert dict(zip(leaves.tolist(), errors.tolist(), strict=True)) == found


@pytest.mark.parametrize("size", [0, -1, 2.0, "3", None])
def test_a_size_that_is_none_is_refused(path, size):
    with pytest.raises(ValueError, match=r"max_leaf_nodes must be an int from 1 up; got "):
        path.tree(size)


def test_pickles_without_its_rows(path):
    again = pickle.loads(pickle.dumps(path))
    assert again.errors.tolist() == path.errors.tolist()
    assert again.exact_alphas == path.exact_alphas
    with pytest.raises(ValueError, match="rows"):
        again.cart_path()
    assert "leaves" in repr(again)
