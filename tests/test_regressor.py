"""ConTreeRegressor: what it accepts and refuses, and what it says of its trees."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeRegressor

from contree import ConTreeClassifier, ConTreeRegressor
from contree._integer_targets import exact_dot, exact_targets, fits, grid_targets, widest
from oracle import check_number_tree
from scale import scaled

X = np.arange(8.0)[:, np.newaxis]


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


def test_diabetes(diabetes):
    reg = ConTreeRegressor(2).fit(*diabetes)
    assert (reg.status_, reg.gap_, reg.target_tolerance_) == ("optimal", 0, 0)
    check_number_tree(reg, *diabetes)
    residuals = diabetes[1] - reg.predict(diabetes[0])
    np.testing.assert_allclose(reg.squared_error_, np.square(residuals).sum())
    cart = DecisionTreeRegressor(max_depth=2, random_state=0).fit(*diabetes)
    assert reg.score(*diabetes) > cart.score(*diabetes)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_cart_is_the_floor_at_every_limit(diabetes, depth):
    rows, y = diabetes
    cart = DecisionTreeRegressor(max_depth=depth, min_samples_leaf=5, random_state=0).fit(rows, y)
    error = np.square(y - cart.predict(rows)).sum()
    for limit in (0, 0.01, 0.1):
        reg = ConTreeRegressor(depth, min_samples_leaf=5, time_limit=limit).fit(rows, y)
        assert reg.squared_error_ <= error * (1 + 1e-12)
        assert 0 <= reg.lower_bound_ <= reg.objective_


def test_depth_one_is_carts(diabetes):
    """With one test there is nothing to look ahead to."""
    rows, y = diabetes
    cart = DecisionTreeRegressor(max_depth=1, random_state=0).fit(rows, y)
    ours = ConTreeRegressor(1).fit(rows, y).to_sklearn()
    np.testing.assert_allclose(ours.tree_.value, cart.tree_.value)
    np.testing.assert_allclose(ours.tree_.impurity, cart.tree_.impurity)


def test_the_cost_of_leaves_is_scikit_learns(diabetes):
    """Of CART's prunings, none has a smaller mean squared error plus alpha times leaves."""
    rows, y = diabetes
    cart = DecisionTreeRegressor(max_depth=2, random_state=0)
    for alpha in cart.cost_complexity_pruning_path(rows, y).ccp_alphas[1:]:
        pruned = DecisionTreeRegressor(max_depth=2, ccp_alpha=alpha, random_state=0).fit(rows, y)
        theirs = np.square(y - pruned.predict(rows)).mean() + alpha * pruned.get_n_leaves()
        reg = ConTreeRegressor(2, ccp_alpha=alpha).fit(rows, y)
        assert reg.objective_ <= theirs * len(y) * (1 + 1e-12)
        own = reg.squared_error_ + alpha * len(y) * reg.get_n_leaves()
        np.testing.assert_allclose(reg.objective_, own)


@pytest.mark.parametrize("scale", [2.0**-400, 1e-100, 0.1, 1.0, 1e100, 2.0**400])
def test_scale_changes_nothing_but_the_unit(scale):
    y = np.array([1, 2, 2, 9, 8, 9, 4, 4]) * scale
    reg = ConTreeRegressor(2).fit(X, y)
    assert reg.status_ == "optimal"
    np.testing.assert_allclose(reg.squared_error_ / scale**2, 2 / 3)
    assert reg.predict(X[-1:])[0] == 4 * scale


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_squares_beyond_float64_are_refused(scale):
    with pytest.raises(ValueError, match=r"Input y: the squared error .* Divide y"):
        ConTreeRegressor(2).fit(X, np.arange(8) * scale)


@pytest.mark.parametrize("value", [0, -3, 0.1, 1e300, 1e-300, 5e-324, 2**63 - 1])
def test_constant_targets_are_one_leaf(value):
    reg = ConTreeRegressor(3).fit(X, [value] * 8)
    assert (reg.get_n_leaves(), reg.objective_, reg.lower_bound_) == (1, 0, 0)
    assert reg.predict(X).tolist() == [float(value)] * 8


def test_one_row():
    reg = ConTreeRegressor(3).fit([[1.0]], [0.1])
    assert (reg.status_, reg.objective_, reg.predict([[5.0]])[0]) == ("optimal", 0, 0.1)


def test_tiny_differences_beside_a_large_offset():
    y = 1e6 + np.array([0, 0, 0, 1, 1, 1, 1, 2]) * 1e-6
    reg = ConTreeRegressor(1).fit(X, y)
    assert reg.target_tolerance_ == 0
    exact = Fraction(4, 5) * Fraction(1, 10**12)  # rows 3 to 7: mean 1.2
    assert reg.squared_error_ == reg.lower_bound_ == float(exact)
    assert reg.predict(X).tolist() == [1e6] * 3 + [float(10**6 + Fraction(12, 10**7))] * 5


def test_integers_beyond_float64():
    y = np.array([2**60, 2**60 + 1, 2**60 + 5, 2**60 + 6])
    reg = ConTreeRegressor(1).fit(X[:4], y)
    assert (reg.squared_error_, reg.target_tolerance_) == (1.0, 0)
    big = np.array([0, 1, 2**64 - 1], dtype=np.uint64)
    assert ConTreeRegressor(2).fit(X[:3], big).squared_error_ == 0


def test_targets_that_do_not_fit_are_rounded_and_said():
    rng = np.random.default_rng(0)
    for _ in range(scaled(20)):
        n = int(rng.integers(20, 300))
        y, x = rng.normal(size=n), rng.normal(size=(n, 2))
        weights = rng.uniform(size=n) if rng.random() < 0.5 else None
        reg = ConTreeRegressor(1).fit(x, y, weights)
        tolerance = reg.target_tolerance_ + reg.weight_tolerance_
        assert 0 < tolerance < 1e-4 * reg.squared_error_
        error = 0
        exact = [Fraction(1)] * n if weights is None else list(map(Fraction, weights.tolist()))
        for leaf in np.unique(reg.apply(x)):
            rows = np.flatnonzero(reg.apply(x) == leaf)
            mass, first, second = (
                sum(exact[r] * Fraction(y[r]) ** k for r in rows) for k in range(3)
            )
            error += second - first**2 / mass
        assert abs(error - Fraction(reg.squared_error_)) <= Fraction(tolerance)


def test_integers_of_targets():
    rng = np.random.default_rng(1)
    for kind in range(6):
        y = [
            rng.integers(-5, 5, 20),
            rng.normal(size=20).round(3),
            rng.normal(size=20).astype(np.float32).astype(float),
            rng.normal(size=20),
            (rng.integers(0, 9, 20) * 35).astype(float) * 1e-26,
            np.array([-(2**63), 2**63 - 1, 0]),
        ][kind]
        for total in (len(y), 2**20, 2**37):
            exact = [one for one in exact_targets(y) if fits(one, total)]
            found = exact[0] if exact else grid_targets(y, total)
            assert widest(found) * total < 2**53
            off = [0] * len(y) if found.off is None else found.off.tolist()
            integers = found.integers.tolist()
            for value, integer, most in zip(y.tolist(), integers, off, strict=True):
                told = found.centre + found.unit * integer
                decimals = (Fraction(value), Fraction(repr(value)))
                assert min(abs(told - one) for one in decimals) <= Fraction(most) * found.unit
    assert exact_targets(np.array([0.1, 0.7]))[0].unit == Fraction(3, 5)
    a, b = rng.integers(-(2**53) + 1, 2**53, (2, 50))
    assert exact_dot(a, b) == sum(int(x) * int(y) for x, y in zip(a, b, strict=True))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0.0, np.nan, 1.0], "NaN"),
        ([0.0, np.inf, 1.0], "infinity|inf"),
        (["a", "b", "c"], "ConTreeClassifier"),
        ([[1, 2], [3, 4], [5, 6]], "MultiOutputRegressor"),
        ([1j, 2, 3], "Complex data not supported"),
        ([1, None, 2], "NaN|None"),
        ([10**400, 1, 2], "finite numbers"),
        ([1, 2], "inconsistent"),
    ],
)
def test_targets_that_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        ConTreeRegressor().fit(X[:3], y)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("criterion", "friedman_mse", "DecisionTreeRegressor"),
        ("criterion", "absolute_error", "DecisionTreeRegressor"),
        ("search", "paper", "for classes"),
        ("splitter", "random", "ExtraTreeRegressor"),
        ("max_features", "sqrt", "drop columns"),
        ("max_depth", -1, "max_depth"),
        ("min_impurity_decrease", 0.5, "ccp_alpha"),
        ("monotonic_cst", [1], "DecisionTreeRegressor"),
    ],
)
def test_parameters_that_are_refused_by_name(name, value, message):
    with pytest.raises(ValueError, match=message):
        ConTreeRegressor(**{name: value}).fit(X, X[:, 0])


def test_every_other_parameter_is_the_classifiers():
    ours, theirs = ConTreeRegressor().get_params(), ConTreeClassifier().get_params()
    assert set(theirs) - set(ours) == {"class_weight"}
    assert {name for name in ours if ours[name] != theirs[name]} == {"criterion"}


def test_the_same_methods_as_cart(diabetes):
    rows, y = diabetes
    reg, cart = ConTreeRegressor(2).fit(rows, y), DecisionTreeRegressor(max_depth=2).fit(rows, y)
    for name in set(vars(cart)) - {"class_weight"}:
        assert hasattr(reg, name), name
    theirs = {one for one in dir(cart.tree_) if not one.startswith("_")}
    for name in theirs - {"compute_partial_dependence"}:
        assert hasattr(reg.tree_, name), name
    assert reg.tree_.value.shape == (reg.tree_.node_count, 1, 1)
    assert reg.feature_importances_.sum() == pytest.approx(1)
    assert reg.predict(rows).shape == reg.apply(rows).shape == (len(rows),)
    with pytest.raises(NotFittedError):
        ConTreeRegressor().predict(rows)


def test_history_rises_and_falls(diabetes):
    seen = []
    reg = ConTreeRegressor(3).fit(*diabetes, callback=seen.append)
    history = reg.search_report_.history
    objectives, bounds = [one.objective for one in history], [one.lower_bound for one in history]
    assert objectives == sorted(objectives, reverse=True)
    assert bounds == sorted(bounds)
    assert (objectives[-1], bounds[-1]) == (reg.objective_, reg.lower_bound_)
    assert seen[-1].objective == pytest.approx(reg.objective_, rel=1e-12)
    assert seen[-1].gap == 0


def test_warm_start_and_initial_trees(diabetes):
    rows, y = diabetes
    cart = DecisionTreeRegressor(max_depth=3, random_state=0).fit(rows, y)
    best = ConTreeRegressor(3, time_limit=60).fit(rows, y)
    for tree in (best, best.tree_, best.to_sklearn(), ConTreeClassifier(2).fit(rows, y > 100)):
        reg = ConTreeRegressor(3, time_limit=0).fit(rows, y, initial_tree=tree)
        if not isinstance(tree, ConTreeClassifier):
            assert reg.squared_error_ == best.squared_error_
    error = np.square(y - cart.predict(rows)).sum()
    reg = ConTreeRegressor(3, time_limit=0, warm_start=True).fit(rows, y, initial_tree=cart)
    assert reg.squared_error_ <= error * (1 + 1e-12)
    first = reg.squared_error_
    assert reg.fit(rows, y).squared_error_ <= first


def test_checkpoints(diabetes, tmp_path):
    rows, y = diabetes
    path = tmp_path / "search"
    best = ConTreeRegressor(3).fit(rows, y)
    ConTreeRegressor(3, time_limit=0.02).fit(rows, y, checkpoint=path)
    reg = ConTreeRegressor(3).fit(rows, y, checkpoint=path)
    assert (reg.status_, reg.squared_error_) == ("optimal", best.squared_error_)
    with pytest.raises(ValueError, match="y differs"):
        ConTreeRegressor(3).fit(rows, y + 1, checkpoint=path)
    with pytest.raises(ValueError, match="y differs"):
        ConTreeClassifier(3).fit(rows, y.astype(int) % 2, checkpoint=path)


def test_pickle_and_threads(diabetes):
    reg = ConTreeRegressor(2, n_jobs=2).fit(*diabetes)
    copy = pickle.loads(pickle.dumps(reg))
    assert (copy.predict(diabetes[0]) == reg.predict(diabetes[0])).all()
    assert copy.tree_.squared_error == reg.tree_.squared_error
    assert not copy.tree_.node_sums.flags.writeable
    assert reg.squared_error_ == ConTreeRegressor(2).fit(*diabetes).squared_error_


def test_pandas_targets():
    pandas = pytest.importorskip("pandas")
    y = [1, 2, 2, 9, 8, 9, 4, 4]
    expected = ConTreeRegressor(2).fit(X, y).squared_error_
    for dtype in ("int64", "Int64", "float32", "Float64", "object", "uint8"):
        assert ConTreeRegressor(2).fit(X, pandas.Series(y, dtype=dtype)).squared_error_ == expected
    with pytest.raises(ValueError, match="NaN"):
        ConTreeRegressor(2).fit(X, pandas.Series([*y[:7], None], dtype="Int64"))


def test_a_weight_is_so_many_equal_rows():
    rng = np.random.default_rng(4)
    for _ in range(scaled(20)):
        n = int(rng.integers(2, 40))
        rows, y = rng.integers(0, 5, (n, 2)).astype(float), rng.integers(0, 9, n)
        weights = rng.integers(0, 4, n)
        weights[0] = 1
        weighted = ConTreeRegressor(2).fit(rows, y, weights)
        repeated = ConTreeRegressor(2).fit(rows.repeat(weights, axis=0), y.repeat(weights))
        assert weighted.squared_error_ == repeated.squared_error_
