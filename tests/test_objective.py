"""``ccp_alpha`` and ``max_leaf_nodes``: exact arithmetic, and the optimum by exhaustive search."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from contree import ConTreeClassifier, _core
from contree._objective import LeafCost, between_neighbours, most_leaves, widest_sum
from contree._weights import Weights
from oracle import check_tree, size_front
from scale import scaled
from test_general_oracle import draw, kept

ALPHAS = (1e-9, 0.001, 0.01, 0.05, 0.1, 1 / 3, 0.3, 0.75, 1.0, 4.0)
PLAIN = {"weights": False, "min_leaf": False, "missing": False}
CASES = {
    "ccp_alpha": ({"ccp_alpha"}, PLAIN),
    "max_leaf_nodes": ({"max_leaf_nodes"}, PLAIN),
    "both": ({"ccp_alpha", "max_leaf_nodes"}, PLAIN),
    "weights": ({"ccp_alpha", "max_leaf_nodes"}, {**PLAIN, "weights": True}),
    "all": (
        {"ccp_alpha", "max_leaf_nodes"},
        {"weights": True, "min_leaf": True, "missing": True},
    ),
}


def optimum(front, alpha, most, total) -> Fraction:
    cost = Fraction(str(alpha)) * total
    return min(
        errors + cost * leaves
        for leaves, errors in enumerate(front, start=1)
        if most is None or leaves <= most
    )


def draw_size(rng, which, depth):
    alpha = float(rng.choice(ALPHAS)) if "ccp_alpha" in which else 0.0
    most = int(rng.integers(1, 2 + 2**depth)) if "max_leaf_nodes" in which else None
    return alpha, most


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("search", ["best_first", "paper"])
def test_against_exhaustive_search(name, search):
    which, case = CASES[name]
    rng = np.random.default_rng([*name.encode(), *search.encode()])
    for _ in range(scaled(50)):
        X, y, weights, least = draw(rng, case)
        depth = int(rng.integers(0, 4))
        alpha, most = draw_size(rng, which, depth)
        clf = ConTreeClassifier(
            depth,
            ccp_alpha=alpha,
            max_leaf_nodes=most,
            min_samples_leaf=least,
            n_jobs=int(rng.choice([1, 1, 2])),
            search=search,
        ).fit(X, y, weights)
        rows, labels, exact = kept(X, y, weights)
        if clf.weight_tolerance_ > 0:  # a cost leaves less room for weights of 60 bits
            continue
        check_tree(clf, rows, labels, exact, least)
        total = len(y) if exact is None else sum(exact)
        best = optimum(size_front(X, y, depth, weights, least), alpha, most, total)
        whole = alpha == 0 and isinstance(clf.errors_, int)
        assert clf.status_ == "optimal"
        assert clf.objective_ == clf.lower_bound_ == (best if whole else float(best))


@pytest.mark.parametrize("kernel", _core.kernels())
def test_every_kernel(kernel, monkeypatch):
    monkeypatch.setenv("CONTREE_KERNEL", kernel)
    rng = np.random.default_rng(5)
    for _ in range(scaled(25)):
        X, y, weights, least = draw(rng, CASES["all"][1])
        alpha, most = draw_size(rng, {"ccp_alpha", "max_leaf_nodes"}, 2)
        params = {"ccp_alpha": alpha, "max_leaf_nodes": most, "min_samples_leaf": least}
        clf = ConTreeClassifier(2, **params).fit(X, y, weights)
        _, _, exact = kept(X, y, weights)
        total = len(y) if exact is None else sum(exact)
        best = optimum(size_front(X, y, 2, weights, least), alpha, most, total)
        assert clf.objective_ == pytest.approx(float(best), abs=clf.weight_tolerance_, rel=1e-12)


def test_a_mediant_compares_as_the_number_does():
    rng = np.random.default_rng(1)
    for _ in range(scaled(150)):
        order = int(rng.integers(1, 40))
        number = Fraction(int(rng.integers(0, 10**6)), int(rng.integers(1, 10**5)))
        found = between_neighbours(number, order)
        assert found.denominator <= max(2 * order, number.denominator if found == number else 0)
        assert found == number or found.denominator > order
        for d in range(1, order + 1):
            low = number.numerator * d // number.denominator
            for n in range(max(0, low - 1), low + 3):
                other = Fraction(n, d)
                assert (number < other, number > other) == (found < other, found > other)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_trees_are_ordered_as_by_exact_numbers(alpha):
    """Every pair of (errors, leaves) that can occur, and back to the exact objective."""
    rng = np.random.default_rng(2)
    for total, depth in itertools.product((1, 7, 60, 1372), (0, 1, 3, 5)):
        most = most_leaves(alpha, depth, None, total)
        cost = LeafCost.of(alpha, most, Weights(None, 1, total))
        assert cost.error_cost * total + 2 * cost.leaf_cost < 1 << 60
        exact_cost = Fraction(str(alpha)) * total
        trees = [(int(e), int(k)) for e, k in rng.integers((0, 1), (total, most + 1), (40, 2))]
        counted = [cost.error_cost * e + cost.leaf_cost * k for e, k in trees]
        exact = [e + exact_cost * k for e, k in trees]
        if alpha <= 1:  # beyond it a leaf is best, whatever the order of the others
            for i, j in itertools.product(range(len(trees)), repeat=2):
                assert (counted[i] < counted[j]) == (exact[i] < exact[j])
        for value, true in zip(counted, exact, strict=True):
            assert cost.objective(value) == float(true)
            for below in (0, 1, 2, 5):
                # Every tree that counts no less than the bound is no better than the bound says.
                _, bound = cost.bounds(value, value - below)
                least = [t for c, t in zip(counted, exact, strict=True) if c >= value - below]
                assert bound <= float(min(least))


def test_the_cost_is_the_decimal_that_is_written():
    """A tie: one split more saves as many errors as it costs, and is not made."""
    X = np.arange(1000.0)[:, None]
    y = np.r_[np.zeros(990, int), np.ones(10, int)]  # a leaf errs 10 times: 0.01 of 1000
    clf = ConTreeClassifier(1, ccp_alpha=0.01).fit(X, y)
    assert (clf.errors_, clf.objective_, clf.get_n_leaves()) == (10, 20.0, 1)
    assert ConTreeClassifier(1, ccp_alpha=0.00999).fit(X, y).get_n_leaves() == 2


def test_never_worse_than_cart_even_without_time():
    X, y = load_breast_cancer(return_X_y=True)
    for most, alpha in itertools.product((None, 2, 5, 9), (0.0, 0.002, 0.02)):
        clf = ConTreeClassifier(6, max_leaf_nodes=most, ccp_alpha=alpha, time_limit=0.0).fit(X, y)
        assert most is None or clf.get_n_leaves() <= most
        assert clf.lower_bound_ <= clf.objective_
        for cart_alpha in (0.0, alpha):
            size = {"max_leaf_nodes": most} if most else {}
            cart = DecisionTreeClassifier(max_depth=6, ccp_alpha=cart_alpha, random_state=0, **size)
            cart.fit(X, y)
            errors = int((cart.predict(X) != y).sum())
            assert clf.objective_ <= errors + alpha * len(y) * cart.get_n_leaves() + 1e-9


def test_a_given_tree_is_pruned():
    X, y = load_breast_cancer(return_X_y=True)
    large = ConTreeClassifier(3).fit(X, y)
    small = ConTreeClassifier(3, max_leaf_nodes=4, time_limit=0.0).fit(X, y, initial_tree=large)
    assert small.get_n_leaves() <= 4
    check_tree(small, X, y)
    again = ConTreeClassifier(3, warm_start=True).fit(X, y)
    again.set_params(max_leaf_nodes=3, ccp_alpha=0.01).fit(X, y)
    assert again.get_n_leaves() <= 3
    assert again.status_ == "optimal"


def test_gap_in_the_unit_of_errors():
    X, y = load_breast_cancer(return_X_y=True)
    best = ConTreeClassifier(2, ccp_alpha=0.0123).fit(X, y)
    for max_gap in (1, 3, 0.01, 20):
        clf = ConTreeClassifier(2, ccp_alpha=0.0123, max_gap=max_gap).fit(X, y)
        allowed = max_gap if isinstance(max_gap, int) else max_gap * len(y)
        assert clf.objective_ - best.objective_ <= allowed
        assert clf.gap_ <= allowed
        assert clf.lower_bound_ <= best.objective_


def test_large_real_weights_leave_room_for_the_cost():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 3, 40)
    weights = rng.uniform(size=40)
    clf = ConTreeClassifier(3, ccp_alpha=0.017).fit(X, y, weights)
    assert clf.status_ == "optimal"
    assert 0 <= clf.weight_tolerance_ < 1e-12
    assert widest_sum(8) < 1 << 55
    wrong = weights[clf.predict(X) != y].sum()
    assert clf.objective_ == pytest.approx(wrong + 0.017 * weights.sum() * clf.get_n_leaves())


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ccp_alpha", -0.1),
        ("ccp_alpha", True),
        ("ccp_alpha", float("nan")),
        ("ccp_alpha", "a"),
        ("max_leaf_nodes", 0),
        ("max_leaf_nodes", 2.5),
        ("max_leaf_nodes", True),
    ],
)
def test_bad_values_are_named(name, value):
    with pytest.raises(ValueError, match=name):
        ConTreeClassifier(**{name: value}).fit([[0.0], [1.0]], [0, 1])


def test_infinite_cost_is_named():
    with pytest.raises(ValueError, match="ccp_alpha"):
        ConTreeClassifier(ccp_alpha=float("inf")).fit([[0.0], [1.0]], [0, 1])


def test_a_cost_beyond_float64_is_named():
    with pytest.raises(ValueError, match="ccp_alpha=1e\\+308 times the weight"):
        ConTreeClassifier(ccp_alpha=1e308).fit([[0.0], [1.0]], [0, 1])


def test_written_and_read():
    X, y = load_breast_cancer(return_X_y=True)
    clf = ConTreeClassifier(2, ccp_alpha=0.01, max_leaf_nodes=3).fit(X, y)
    again = ConTreeClassifier.from_json(clf.to_json())
    assert (again.ccp_alpha, again.max_leaf_nodes) == (0.01, 3)
    assert (again.objective_, again.lower_bound_) == (clf.objective_, clf.lower_bound_)
    assert again.predict(X).tolist() == clf.predict(X).tolist()


def test_without_either_no_split_is_to_spare():
    """Also where the search is stopped: a split that saves nothing is taken out."""
    rng = np.random.default_rng(4)
    for _ in range(scaled(25)):
        X, y, weights, least = draw(rng, CASES["all"][1])
        limit = rng.choice([0.0, None])
        clf = ConTreeClassifier(4, min_samples_leaf=least, time_limit=limit).fit(X, y, weights)
        tree = clf.tree_
        below = tree.node_error_units.copy()
        for node in reversed(range(tree.node_count)):
            if tree.feature[node] >= 0:
                below[node] = below[tree.children_left[node]] + below[tree.children_right[node]]
                assert below[node] < tree.node_error_units[node]


@pytest.mark.parametrize("alpha", [0.0, 0.1])
@pytest.mark.parametrize(
    "unit", [1, 3, Fraction(1, 3), Fraction(1, 10), Fraction(0.1), Fraction(7)]
)
@pytest.mark.parametrize("wide", [1, 2**54 + 1])
def test_a_bound_is_rounded_down(alpha, unit, wide):
    """Half of all thirds round up to the nearest float64."""
    weights = Weights(None, unit, 100 * wide)
    cost = LeafCost.of(alpha, 4, weights)
    above = 0
    for counted_bound in range(60 * wide, 90 * wide, wide):
        counted = 90 * wide * cost.error_cost
        objective, lower = cost.bounds(counted, counted_bound * cost.error_cost)
        exact = cost._least(counted_bound * cost.error_cost) * unit
        assert Fraction(lower) <= exact
        assert lower < objective
        assert isinstance(lower, int) == (alpha == 0 and isinstance(unit, int))
        above += float(exact) > exact
    assert above or unit != Fraction(1, 3)
    assert cost.bounds(counted, counted) == (objective, objective)


def test_a_bound_that_is_nearly_the_objective_is_not_it():
    """Two numbers of one float64: the tree is not proved to be optimal, and does not look so."""
    weights = Weights(None, Fraction(1, 3), 2**59)
    objective, lower = LeafCost.of(0.0, 4, weights).bounds(2**58, 2**58 - 1)
    assert float(Fraction(2**58 - 1, 3)) == objective
    assert lower < objective
