"""However early a fit is ended, its tree is no worse than CART's for the same depth and leaves.

Values can be told apart in 32 bits, since CART does not see what float32 makes equal.  Of splits
that are equally pure CART takes one at random: whichever it takes.
"""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.class_weight import compute_sample_weight

from contree import ConTreeClassifier
from oracle import check_tree
from scale import scaled


def drawn(rng, missing):
    """Return a table of normal, skewed or integer columns with labels that partly follow them."""
    n, p, classes = int(rng.integers(20, 400)), int(rng.integers(1, 6)), int(rng.integers(2, 5))
    X = np.column_stack([rng.permutation(n) for _ in range(p)]).astype(float)
    X *= rng.choice([1.0, 0.25, 1024.0, -3.0], size=p)
    signal = X[:, 0] / np.abs(X[:, 0]).max() * (2 if p == 1 else X[:, 1] / np.abs(X[:, 1]).max())
    y = np.digitize(signal + rng.normal(scale=0.3, size=n), np.quantile(signal, [0.4, 0.7, 0.9]))
    if missing:
        X[rng.random(X.shape) < 0.15] = np.nan
    return X, np.minimum(y, classes - 1)


@pytest.mark.parametrize("limit", [0, 0.001, 0.02])
@pytest.mark.parametrize("missing", [False, True])
def test_weights_leaf_sizes_and_missing_values(limit, missing):
    rng = np.random.default_rng(20)
    better = 0
    count = scaled(40)
    for number in range(count):
        X, y = drawn(rng, missing)
        depth, least = int(rng.integers(1, 9)), int(rng.choice([1, 1, 2, 7, 20]))
        weights = rng.uniform(0.5, 2.0, size=len(y)) if number % 2 else None
        cart = DecisionTreeClassifier(max_depth=depth, min_samples_leaf=least, random_state=0)
        cart.fit(X, y, weights)
        clf = ConTreeClassifier(depth, min_samples_leaf=least, time_limit=limit)
        clf.fit(X, y, weights)
        counted = np.ones(len(y)) if weights is None else weights
        cart_errors = counted[cart.predict(X) != y].sum()
        errors = counted[clf.predict(X) != y].sum()
        assert errors <= cart_errors + 1e-9, (number, depth, least)
        assert clf.lower_bound_ <= clf.errors_
        better += errors < cart_errors - 1e-9
        if weights is None and not missing and least == 1:
            check_tree(clf, X, y)
    assert better > count // 6  # CART's splits before a leaf are not those of fewest errors


@pytest.mark.parametrize("search", ["best_first", "paper"])
def test_splits_that_are_equally_pure(search):
    """Few values and few rows: CART's trees differ from seed to seed."""
    rng = np.random.default_rng(22)
    differ = 0
    count = scaled(30)
    for number in range(count):
        n, p = int(rng.integers(20, 200)), int(rng.integers(4, 12))
        X = rng.integers(0, int(rng.choice([2, 4, 1000])), size=(n, p)).astype(float)
        y = rng.integers(0, 3, size=n)
        depth, least = int(rng.integers(3, 8)), int(rng.choice([1, 2, 5]))
        clf = ConTreeClassifier(depth, min_samples_leaf=least, time_limit=0, search=search)
        clf.fit(X, y)
        carts = [
            DecisionTreeClassifier(max_depth=depth, min_samples_leaf=least, random_state=seed)
            for seed in range(4)
        ]
        errors = [int((cart.fit(X, y).predict(X) != y).sum()) for cart in carts]
        assert clf.errors_ <= min(errors), (number, depth, least)
        differ += min(errors) < max(errors)
    assert differ > count // 8


@pytest.mark.parametrize("alpha", [0.0, 0.01])
def test_thresholds_of_one_feature_that_are_equally_pure(alpha):
    """With classes of equal weight every threshold between two classes is as pure as any other."""
    rng = np.random.default_rng(24)
    for number in range(scaled(15)):
        n, classes = int(rng.integers(20, 400)), int(rng.integers(4, 13))
        X = rng.integers(0, classes, size=(n, int(rng.choice([1, 1, 2, 3])))).astype(float)
        y = np.where(rng.random(n) < rng.choice([0, 0.1]), rng.integers(0, classes, n), X[:, 0])
        depth = int(rng.integers(2, 7))
        clf = ConTreeClassifier(depth, class_weight="balanced", ccp_alpha=alpha, time_limit=0)
        clf.fit(X, y)
        weights = compute_sample_weight("balanced", y)
        for seed in range(4):
            cart = DecisionTreeClassifier(
                max_depth=depth, class_weight="balanced", ccp_alpha=alpha, random_state=seed
            ).fit(X, y)
            objective = weights[cart.predict(X) != y].sum() + alpha * n * cart.get_n_leaves()
            assert clf.objective_ <= objective + 1e-9 * n, (number, depth, seed)


@pytest.mark.parametrize("limit", [0, 0.005])
def test_costs_and_leaves(limit):
    rng = np.random.default_rng(21)
    for number in range(scaled(25)):
        X, y = drawn(rng, missing=False)
        depth = int(rng.integers(1, 8))
        alpha = float(rng.choice([0.0, 0.002, 0.02]))
        most = rng.choice([None, 2, 5, 9])
        clf = ConTreeClassifier(depth, max_leaf_nodes=most, ccp_alpha=alpha, time_limit=limit)
        weights = rng.uniform(0.5, 2.0, size=len(y))
        clf.fit(X, y, weights)
        assert most is None or clf.get_n_leaves() <= most
        for cart_alpha in (0.0, alpha):
            cart = DecisionTreeClassifier(
                max_depth=depth, max_leaf_nodes=most, ccp_alpha=cart_alpha, random_state=0
            ).fit(X, y, weights)
            objective = weights[cart.predict(X) != y].sum()
            objective += alpha * weights.sum() * cart.get_n_leaves()
            assert clf.objective_ <= objective + 1e-9, (number, depth, alpha, most)


def test_a_stop_at_any_call_of_the_callback():
    """What the callback has seen is kept, and CART's tree is the least in any case."""
    rng = np.random.default_rng(22)
    X = rng.normal(size=(4000, 6))
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0.3).astype(int) + (X[:, 3] * X[:, 4] > 1)
    cart = DecisionTreeClassifier(max_depth=6, random_state=0).fit(X, y)
    cart_errors = np.count_nonzero(cart.predict(X) != y)
    for calls in (1, 2, 5, 9):
        seen = []

        def callback(progress, calls=calls, seen=seen):
            if progress.objective is not None:
                seen.append((progress.objective, progress.lower_bound))
            return len(seen) >= calls

        clf = ConTreeClassifier(6).fit(X, y, callback=callback)
        assert clf.status_ == "stopped"
        assert clf.errors_ <= min(cart_errors, *(objective for objective, _ in seen))
        assert clf.lower_bound_ >= max(bound for _, bound in seen)
        assert seen == sorted(seen, key=lambda pair: (-pair[0], pair[1]))  # both only get better


@pytest.mark.parametrize("depth", [2, 3, 4])
def test_a_deeper_fit_that_is_cut_off_keeps_a_shallower_optimum(depth):
    """All rows are searched one level deeper at a time: what a level proves optimal is not lost."""
    rng = np.random.default_rng(23)
    X = rng.normal(size=(700, 3))
    y = (X[:, 0] * X[:, 1] + 0.4 * rng.normal(size=700) > 0).astype(int)
    best = ConTreeClassifier(depth - 1).fit(X, y)
    assert best.status_ == "optimal"
    cut_off = ConTreeClassifier(depth, time_limit=3 * best.search_report_.seconds + 0.2).fit(X, y)
    assert cut_off.errors_ <= best.errors_
    continued = ConTreeClassifier(depth, time_limit=0).fit(X, y, initial_tree=best)
    assert continued.errors_ <= best.errors_
