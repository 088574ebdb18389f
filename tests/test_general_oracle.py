"""Weights, a minimal leaf size and missing values against exhaustive search, alone and together."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from contree import ConTreeClassifier
from oracle import check_tree, fewest_errors
from scale import scaled
from test_oracle import instance

NONE = {"weights": False, "min_leaf": False, "missing": False}
CASES = {
    "weights": {**NONE, "weights": True},
    "min_leaf": {**NONE, "min_leaf": True},
    "missing": {**NONE, "missing": True},
    "weights and missing": {**NONE, "weights": True, "missing": True},
    "all": {"weights": True, "min_leaf": True, "missing": True},
}


def draw_weights(rng, n):
    """Return weights of every kind that are taken exactly: small, huge, real, zero, far apart."""
    kind = rng.integers(6)
    if kind == 0:
        weights = rng.integers(0, 5, size=n)
    elif kind == 1:
        weights = rng.choice([1, 10**6], size=n)
    elif kind == 2:
        weights = rng.choice([0.0, 0.25, 1.5, 3 / 1024], size=n)
    elif kind == 3:
        weights = rng.uniform(0, 1, size=n).astype(np.float32)
    elif kind == 4:
        weights = rng.integers(1, 2**50, size=n)
    else:
        weights = np.full(n, rng.choice([0.1, 7.0, 1e-300]))
    if not weights.any():
        weights[rng.integers(n)] = 1
    return weights


def draw_missing(rng, X):
    X = X.copy()
    X[rng.random(X.shape) < rng.choice([0.1, 0.4])] = np.nan
    if rng.random() < 0.1:
        X[:, rng.integers(X.shape[1])] = np.nan
    return X


def draw(rng, case, max_rows=12):
    X, y = instance(rng, max_rows=max_rows, max_classes=4)
    if case["missing"]:
        X = draw_missing(rng, X)
    weights = draw_weights(rng, len(y)) if case["weights"] else None
    least = int(rng.integers(2, 3 + len(y) // 3)) if case["min_leaf"] else 1
    return X, y, weights, least


def kept(X, y, weights):
    """Return the rows that count, and their weights as Fractions."""
    if weights is None:
        return X, y, None
    rows = weights > 0
    return X[rows], y[rows], [Fraction(weight) for weight in weights[rows].tolist()]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("seed", range(2))
def test_against_exhaustive_search(name, seed):
    rng = np.random.default_rng([seed, *name.encode()])
    for _ in range(scaled(30)):
        X, y, weights, least = draw(rng, CASES[name])
        depth = int(rng.integers(0, 4))
        clf = ConTreeClassifier(depth, min_samples_leaf=least, n_jobs=int(rng.choice([1, 1, 2])))
        clf.fit(X, y, weights)
        assert clf.weight_tolerance_ == 0.0
        assert clf.classes_.tolist() == np.unique(y).tolist()
        rows, labels, exact = kept(X, y, weights)
        check_tree(clf, rows, labels, exact, least)
        optimum = fewest_errors(X, y, depth, weights, least)
        reported = optimum if isinstance(clf.errors_, int) else float(optimum)
        assert (clf.status_, clf.objective_, clf.lower_bound_) == ("optimal", reported, reported)


@pytest.mark.parametrize("search", ["paper"])
def test_the_papers_search_with_missing_values(search):
    rng = np.random.default_rng(8)
    for _ in range(scaled(30)):
        X, y, *_ = draw(rng, CASES["missing"])
        depth = int(rng.integers(0, 4))
        clf = ConTreeClassifier(depth, search=search).fit(X, y)
        check_tree(clf, X, y)
        assert clf.objective_ == clf.lower_bound_ == fewest_errors(X, y, depth)


@pytest.mark.parametrize("class_weight", ["balanced", "real", "whole"])
def test_class_weights(class_weight):
    rng = np.random.default_rng(9)
    for _ in range(scaled(25)):
        X, y, weights, _ = draw(rng, CASES["weights"])
        rows, labels, exact = kept(X, y, weights)
        if class_weight == "balanced":
            total, given = sum(exact), "balanced"
            by_class = {
                c: sum(w for w, k in zip(exact, labels, strict=True) if k == c) for c in set(labels)
            }
            factor = {c: total / (len(by_class) * own) for c, own in by_class.items()}
        else:
            choices = [0.1, 1.5, 4.0] if class_weight == "real" else [1, 2, 7]
            given = {int(c): rng.choice(choices).item() for c in np.unique(y)}
            factor = {c: Fraction(weight) for c, weight in given.items()}
        depth = int(rng.integers(0, 3))
        clf = ConTreeClassifier(depth, class_weight=given).fit(X, y, weights)
        exact = [weight * factor[label] for weight, label in zip(exact, labels, strict=True)]
        optimum = float(fewest_errors(rows, labels, depth, exact))
        if clf.weight_tolerance_ == 0:
            check_tree(clf, rows, labels, exact)
            assert float(clf.objective_) == float(clf.lower_bound_) == optimum
        assert abs(clf.objective_ - optimum) <= clf.weight_tolerance_


def test_rounded_weights_keep_their_tolerance():
    """Weights that span more than 60 bits: the tree is as good as the tolerance says."""
    rng = np.random.default_rng(10)
    warned = 0
    for _ in range(scaled(50)):
        X, y, _, least = draw(rng, CASES["min_leaf"])
        weights = rng.uniform(size=len(y)) * 10.0 ** rng.integers(-25, 25, size=len(y))
        depth = int(rng.integers(0, 4))
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", RuntimeWarning)
            clf = ConTreeClassifier(depth, min_samples_leaf=least).fit(X, y, weights)
        assert bool(said) == (clf.weight_tolerance_ > clf.objective_ > 0)
        warned += bool(said)
        optimum = fewest_errors(X, y, depth, weights, least)
        wrong = clf.predict(X) != y
        own = sum(Fraction(weight) for weight in weights[wrong].tolist())
        tolerance = Fraction(clf.weight_tolerance_)
        assert tolerance <= Fraction(weights.sum()) * Fraction(2) ** -46
        assert optimum <= own <= optimum + tolerance
        assert abs(Fraction(clf.errors_) - own) <= tolerance
        assert Fraction(clf.lower_bound_) <= optimum + tolerance
    assert warned, "no tolerance is larger than the loss: the warning is not tested"


def test_gap_is_kept():
    rng = np.random.default_rng(11)
    used = 0
    for _ in range(scaled(50)):
        X, y, weights, least = draw(rng, CASES["all"])
        depth = int(rng.integers(1, 4))
        total = sum(Fraction(weight) for weight in weights.tolist())
        gap = rng.choice([1, 3, 0.1, 0.3]).item()
        gap = int(gap) if gap >= 1 else gap
        clf = ConTreeClassifier(depth, max_gap=gap, min_samples_leaf=least).fit(X, y, weights)
        allowed = gap if isinstance(gap, int) else Fraction(str(gap)) * total
        optimum = fewest_errors(X, y, depth, weights, least)
        assert clf.lower_bound_ <= float(optimum) <= clf.objective_
        assert clf.objective_ <= float(optimum + allowed)
        assert clf.status_ in ("optimal", "gap_reached")
        used += clf.status_ == "gap_reached"
    assert used, "no instance made use of its gap: the test shows nothing"


def test_a_weight_is_so_many_equal_rows():
    rng = np.random.default_rng(12)
    for _ in range(scaled(25)):
        X, y = instance(rng, max_rows=60)
        X = draw_missing(rng, X)
        weights = rng.integers(0, 4, size=len(y))
        weights[0] = 1
        depth = int(rng.integers(0, 4))
        weighted = ConTreeClassifier(depth).fit(X, y, weights)
        repeated = ConTreeClassifier(depth).fit(X.repeat(weights, axis=0), y.repeat(weights))
        assert weighted.errors_ == repeated.errors_
        # Of several best trees the two may find different ones, each as good on the other's rows.
        assert weights[weighted.predict(X) != y].sum() == repeated.errors_
        assert weights[repeated.predict(X) != y].sum() == weighted.errors_


@pytest.mark.parametrize("missing", [False, True])
def test_never_worse_than_cart(missing):
    rng = np.random.default_rng(13)
    for _ in range(scaled(25)):
        n, depth = int(rng.integers(20, 120)), int(rng.integers(1, 4))
        least = rng.choice([1, 3, 0.07]).item()
        least = int(least) if least >= 1 else least
        X = rng.integers(0, 12, size=(n, 3)).astype(float)
        y = (X[:, 0] + rng.normal(scale=4, size=n) > 6).astype(int)
        if missing:
            X[rng.random(X.shape) < 0.2] = np.nan
        weights = rng.choice([0.5, 1.0, 2.25, 100.0], size=n)
        cart = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=least, random_state=0)
        cart.fit(X, y, weights)
        clf = ConTreeClassifier(depth, min_samples_leaf=least).fit(X, y, weights)
        assert clf.errors_ == weights[clf.predict(X) != y].sum()
        assert clf.errors_ <= weights[cart.predict(X) != y].sum()
        leaves = clf.tree_.feature < 0
        assert clf.tree_.n_node_samples[leaves].min() >= cart_least(least, n)
        stopped = ConTreeClassifier(depth, min_samples_leaf=least, time_limit=0.0)
        assert (
            stopped.fit(X, y, weights).errors_
            <= weights[y != np.bincount(y, weights).argmax()].sum()
        )


def cart_least(least, n):
    return least if isinstance(least, int) else int(np.ceil(least * n))
