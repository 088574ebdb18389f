"""What DecisionTreeClassifier offers and what scikit-learn does with a classifier, ours too."""

from __future__ import annotations

import copy
import inspect
import itertools
import pickle

import joblib
import numpy as np
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, export_graphviz
from sklearn.utils import get_tags
from sklearn.utils.class_weight import compute_sample_weight

from contree import ConTreeClassifier
from contree.export.certificate import certificate


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def test_gini_importance_is_that_of_cart(iris):
    """On one feature and two classes, a stump is the same for both; deeper, by the definition."""
    X, y = load_breast_cancer(return_X_y=True)
    clf = ConTreeClassifier(3).fit(X, y)
    tree, expected = clf.tree_, np.zeros(X.shape[1])

    def mass(rows):
        return len(rows) * (1 - ((np.bincount(rows) / len(rows)) ** 2).sum())

    reached = clf.decision_path(X).toarray().astype(bool)
    for node in np.flatnonzero(tree.feature >= 0):
        left, right = tree.children_left[node], tree.children_right[node]
        expected[tree.feature[node]] += (
            mass(y[reached[:, node]]) - mass(y[reached[:, left]]) - mass(y[reached[:, right]])
        )
    np.testing.assert_allclose(clf.feature_importances_, expected / expected.sum(), atol=1e-15)
    assert clf.feature_importances_.sum() == pytest.approx(1)


def test_gini_importance_on_the_same_tree_as_cart(iris):
    X, y = iris[0][:, 2:], iris[1]
    clf, cart = ConTreeClassifier(1).fit(X[:100], y[:100]), DecisionTreeClassifier(max_depth=1)
    cart.fit(X[:100, :1], y[:100])
    only = ConTreeClassifier(1).fit(X[:100, :1], y[:100])
    np.testing.assert_allclose(only.feature_importances_, cart.feature_importances_)
    np.testing.assert_allclose(only.tree_.impurity, cart.tree_.impurity)
    assert clf.feature_importances_.tolist() in ([1.0, 0.0], [0.0, 1.0])


def test_a_leaf_gives_no_feature_importance(iris):
    assert ConTreeClassifier(0).fit(*iris).feature_importances_.tolist() == [0.0] * 4


def test_decision_path_follows_the_tests(iris):
    X, y = iris
    clf = ConTreeClassifier(3).fit(X, y)
    path = clf.decision_path(X)
    assert path.shape == (150, clf.tree_.node_count)
    dense = path.toarray()
    assert set(np.unique(dense)) == {0, 1}
    assert (dense.sum(axis=0) == clf.tree_.n_node_samples).all()
    leaf_columns = np.flatnonzero(clf.tree_.feature < 0)
    assert (leaf_columns[dense[:, leaf_columns].argmax(axis=1)] == clf.apply(X)).all()
    np.testing.assert_array_equal(dense, clf.to_sklearn().decision_path(X).toarray())
    assert path.has_sorted_indices
    assert clf.decision_path(X[:1]).toarray().tolist() == dense[:1].tolist()


def test_size_of_the_tree(iris):
    for depth in (0, 1, 3):
        clf = ConTreeClassifier(depth).fit(*iris)
        assert clf.get_depth() == clf.tree_.max_depth == depth
        assert clf.get_n_leaves() == np.count_nonzero(clf.tree_.feature < 0)


def test_predict_log_proba(iris):
    X, y = iris
    clf = ConTreeClassifier(2).fit(X, y)
    logs = clf.predict_log_proba(X)  # a warning of log(0) would fail the test
    assert np.isneginf(logs).any()
    np.testing.assert_array_equal(np.exp(logs) > 0, clf.predict_proba(X) > 0)
    np.testing.assert_allclose(np.exp(logs), clf.predict_proba(X))


CHECKED_BY_CART = ("fit", "predict", "predict_proba", "apply", "decision_path")


@pytest.mark.parametrize("method", CHECKED_BY_CART)
def test_check_input_stands_where_it_does_in_cart(method):
    ours = inspect.signature(getattr(ConTreeClassifier, method)).parameters
    cart = inspect.signature(getattr(DecisionTreeClassifier, method)).parameters
    assert list(ours)[: len(cart)] == list(cart)
    assert ours["check_input"].default is cart["check_input"].default is True
    assert ours["check_input"].kind is cart["check_input"].kind


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16, ">f8", np.longdouble, int])
def test_without_check_input_the_answers_are_the_same(iris, dtype):
    X, y = iris
    X = np.where(X > 6, np.nan, X) if np.dtype(dtype).kind == "f" else X
    X = X.astype(dtype)
    clf = ConTreeClassifier(3).fit(X, y, None, False)
    for given in (X, np.asfortranarray(X), X[::-2], sparse.csr_array(X.astype(float)), X.tolist()):
        for method in CHECKED_BY_CART[1:]:
            answers = [getattr(clf, method)(given, check_input=on) for on in (False, True)]
            one, other = (a.toarray() if sparse.issparse(a) else a for a in answers)
            np.testing.assert_array_equal(one, other)


def test_without_check_input_nobody_looks_for_infinity(iris):
    X, y = iris
    clf = ConTreeClassifier(2).fit(X, y)
    endless = np.full((1, 4), np.inf)
    with pytest.raises(ValueError, match="infinity"):
        clf.predict(endless)
    assert clf.predict(endless, check_input=False) == clf.predict([[1e300] * 4])
    with pytest.raises(ValueError, match="expecting 4 features"):
        clf.predict(X[:, :3], check_input=False)
    with pytest.raises(ValueError, match="infinity"):
        clf.fit(np.where(X > 6, np.inf, X), y, check_input=False)
    with pytest.raises(NotFittedError):
        ConTreeClassifier().predict(X, check_input=False)


def test_all_of_it_needs_a_fit():
    clf = ConTreeClassifier()
    for method in ("predict_log_proba", "decision_path"):
        with pytest.raises(NotFittedError):
            getattr(clf, method)([[1.0]])
    for method in ("get_depth", "get_n_leaves"):
        with pytest.raises(NotFittedError):
            getattr(clf, method)()
    for attribute in ("feature_importances_", "n_outputs_", "max_features_"):
        with pytest.raises(NotFittedError):
            getattr(clf, attribute)


@pytest.mark.parametrize("way", ["pickle", "deepcopy", "joblib"])
def test_copies_predict_alike(iris, way, tmp_path):
    X, y = iris
    clf = ConTreeClassifier(3).fit(X, np.array(["a", "b", "c"])[y])
    if way == "pickle":
        back = pickle.loads(pickle.dumps(clf))
    elif way == "deepcopy":
        back = copy.deepcopy(clf)
    else:
        joblib.dump(clf, tmp_path / "clf.joblib")
        back = joblib.load(tmp_path / "clf.joblib")
    assert back is not clf
    assert (back.predict(X) == clf.predict(X)).all()
    np.testing.assert_array_equal(back.predict_proba(X), clf.predict_proba(X))
    np.testing.assert_array_equal(back.feature_importances_, clf.feature_importances_)
    assert back.search_report_ == clf.search_report_
    assert back.export_text() == clf.export_text()


def test_no_training_data_is_kept():
    X, y = np.random.default_rng(0).normal(size=(20_000, 4)), np.arange(20_000) % 2
    assert len(pickle.dumps(ConTreeClassifier(1).fit(X, y))) < 10_000


def test_clone_is_not_fitted(iris):
    clf = ConTreeClassifier(2, time_limit=9.0).fit(*iris)
    assert clone(clf).get_params() == clf.get_params()
    with pytest.raises(NotFittedError):
        clone(clf).predict(iris[0])


CALLS = [
    {},
    {"max_depth": None},
    {"max_depth": None, "random_state": 0},
    {"max_depth": None, "random_state": np.random.RandomState(0)},
    {"max_depth": None, "class_weight": "balanced", "random_state": 42},
    {"max_depth": 3, "random_state": 42},
    {"max_depth": 4, "min_samples_leaf": 5, "random_state": 1},
    {"max_depth": 3, "min_weight_fraction_leaf": 0.1, "class_weight": {0: 2, 1: 1, 2: 1}},
    {"max_depth": 2, "min_samples_leaf": 4, "min_samples_split": 8, "splitter": "best"},
    {"max_depth": 2, "min_samples_leaf": 0.02, "min_samples_split": 0.04, "criterion": "gini"},
    {"max_depth": 2, "criterion": "entropy", "max_features": None, "min_impurity_decrease": 0},
    DecisionTreeClassifier().get_params(),
    DecisionTreeClassifier(max_depth=3, criterion="log_loss", ccp_alpha=0.01).get_params(),
    {
        "max_depth": 3,
        "min_samples_leaf": 0.02,
        "min_weight_fraction_leaf": 0.01,
        "max_leaf_nodes": 6,
        "class_weight": "balanced",
        "ccp_alpha": 0.005,
        "random_state": 0,
    },
]


@pytest.mark.parametrize("parameters", CALLS, ids=lambda call: str(call).split(" at 0x")[0])
def test_a_call_of_cart_with_only_the_class_replaced(iris, parameters):
    X, y = iris
    cart, clf = (
        clone(kind(**parameters)).fit(X, y) for kind in (DecisionTreeClassifier, ConTreeClassifier)
    )
    assert {name: clf.get_params()[name] for name in parameters}.keys() == parameters.keys()
    assert clf.status_ == "optimal"
    cost = clf.ccp_alpha * clf.tree_.weighted_n_node_samples[0] * cart.get_n_leaves()
    weight = compute_sample_weight(clf.class_weight, y)
    if "max_depth" in parameters:
        assert clf.objective_ <= weight[cart.predict(X) != y].sum() + cost + 1e-9
    assert clf.score(X, y) > 0.9
    assert pickle.loads(pickle.dumps(clf)).predict(X).tolist() == clf.predict(X).tolist()
    assert clone(clf).fit(X, y).errors_ == clf.errors_


REFUSED = [
    ({"splitter": "random"}, r"'splitter' .* must be \"best\"\. .*ExtraTreeClassifier.*'random'"),
    ({"criterion": "mse"}, r"'criterion' .* must be \"gini\", \"entropy\", .*impurity.*'mse'"),
    ({"max_features": "sqrt"}, r"'max_features' .* must be None\. .*drop columns of X"),
    ({"max_features": 2}, r"'max_features' .* must be None"),
    (
        {"min_impurity_decrease": 0.1},
        r"'min_impurity_decrease' .* must be 0.0\. Use ccp_alpha.*0.1",
    ),
    ({"min_impurity_decrease": False}, r"'min_impurity_decrease' .* not a bool"),
    (
        {"monotonic_cst": [0, 1, 0, 0]},
        r"'monotonic_cst' .* must be None\. .*DecisionTreeClassifier",
    ),
    ({"monotonic_cst": np.zeros(4)}, r"'monotonic_cst' .* must be None"),
    ({"min_samples_split": 1}, r"'min_samples_split' .* must be an int"),
    ({"min_samples_split": 9}, r"'min_samples_split' .* 2 rows\. .*Use min_samples_leaf=5"),
    ({"min_samples_split": 0.1}, r"0\.1 instead, which is 15 of 150 rows. Use min_samples_leaf=8"),
    ({"min_samples_split": 9, "min_samples_leaf": 4}, r"here 8 rows\. Got 9"),
]


@pytest.mark.parametrize(("parameters", "message"), REFUSED, ids=lambda one: str(one)[:40])
def test_what_cart_has_and_we_do_not_is_refused_by_name_with_what_to_use(iris, parameters, message):
    clf = clone(ConTreeClassifier(**parameters))  # only a fit says so
    with pytest.raises(ValueError, match=message):
        clf.fit(*iris)
    assert vars(clf) == clf.get_params()


def test_what_changes_nothing_changes_nothing(iris):
    plain = ConTreeClassifier(3, min_samples_leaf=4).fit(*iris)
    same = ConTreeClassifier(3, min_samples_leaf=4, min_samples_split=8, criterion="entropy")
    assert same.fit(*iris).export_text() == plain.export_text()


@pytest.mark.parametrize("criterion", ["gini", "entropy", "log_loss"])
def test_the_impurity_of_the_criterion_is_shown(criterion):
    """One feature, so that both find the same stump, and weights that are no integers."""
    X, y = load_wine(return_X_y=True)
    X, weight = X[:, :1], np.linspace(0.5, 2, len(y))
    rows = y < 2
    clf = ConTreeClassifier(1, criterion=criterion).fit(X[rows], y[rows], weight[rows])
    thing = {
        "here": clf,
        "in scikit-learn": clf.to_sklearn(),
        "pickled": pickle.loads(pickle.dumps(clf)),
        "as JSON": ConTreeClassifier.from_json(clf.to_json()),
    }
    leaves = clf.apply(X[rows])
    kind = {"gini": lambda p: 1 - (p**2).sum(), "entropy": lambda p: -(p * np.log2(p)).sum()}
    kind["log_loss"] = kind["entropy"]
    for leaf in (1, 2):
        mass = np.bincount(y[rows][leaves == leaf], weight[rows][leaves == leaf])
        assert all(
            one.tree_.impurity[leaf] == pytest.approx(kind[criterion](mass / mass.sum()))
            for one in thing.values()
        )
    cart = DecisionTreeClassifier(max_depth=1, criterion=criterion)
    cart.fit(X[rows], y[rows], weight[rows])
    assert clf.to_sklearn().criterion == criterion
    assert clf.tree_.impurity[0] == pytest.approx(cart.tree_.impurity[0])


def test_importances_by_another_criterion(iris):
    found = [
        ConTreeClassifier(3, criterion=one).fit(*iris) for one in ("gini", "entropy", "log_loss")
    ]
    for clf in found:
        theirs = clf.to_sklearn().feature_importances_
        np.testing.assert_allclose(clf.feature_importances_, theirs, atol=1e-12)
    gini, entropy, log_loss = (clf.feature_importances_ for clf in found)
    assert np.abs(gini - entropy).max() > 1e-3
    assert (entropy == log_loss).all()


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_the_tree_has_what_that_of_cart_has(iris, depth):
    X, y = iris
    clf = ConTreeClassifier(depth).fit(X, y, np.linspace(0.5, 2, len(y)))
    ours, theirs = clf.tree_, clf.to_sklearn().tree_
    missing = {name for name in dir(theirs) if not name.startswith("_")} - set(dir(ours))
    assert missing == {"compute_partial_dependence"}  # of scikit-learn's own use
    for name in ("n_features", "n_outputs", "n_classes", "max_n_classes", "node_count"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.capacity == len(ours.threshold)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X.astype(np.float32)))
    np.testing.assert_array_equal(ours.compute_node_depths(), theirs.compute_node_depths())
    for normalize in (True, False):
        np.testing.assert_allclose(
            ours.compute_feature_importances(normalize=normalize),
            theirs.compute_feature_importances(normalize=normalize),
            atol=1e-12,
        )
    assert (clf.n_outputs_, clf.max_features_) == (1, 4)
    back = ConTreeClassifier.from_json(clf.to_json())
    assert (back.tree_.n_features, back.n_outputs_, back.max_features_) == (4, 1, 4)
    assert pickle.loads(pickle.dumps(clf)).tree_.n_features == 4


def test_graphviz_of_scikit_learn_takes_it_as_it_is(iris):
    clf = ConTreeClassifier(3).fit(*iris)
    options = {"filled": True, "node_ids": True, "proportion": True}
    assert export_graphviz(clf, **options) == export_graphviz(clf.to_sklearn(), **options)


@pytest.mark.parametrize("weighted", [False, True])
def test_cost_complexity_path(iris, weighted):
    X, y = iris[0][:, :2], iris[1]
    weight = 0.5 + np.arange(len(y)) % 3 if weighted else None
    clf = ConTreeClassifier(3, ccp_alpha=0.4, search="paper", min_samples_leaf=3)
    path = clf.cost_complexity_pruning_path(X, y, sample_weight=weight)
    assert vars(clf) == clf.get_params()
    assert set(path) == {"ccp_alphas", "impurities"}  # as scikit-learn's
    cart = DecisionTreeClassifier(max_depth=3, min_samples_leaf=3).fit(X, y, weight)
    theirs = cart.cost_complexity_pruning_path(X, y, weight)
    assert type(path) is type(theirs)
    assert path.ccp_alphas[0] == theirs.ccp_alphas[0] == 0
    assert (np.diff(path.ccp_alphas) > 0).all()
    assert (np.diff(path.impurities) > 0).all()
    total = len(y) if weight is None else weight.sum()
    between = np.append(path.ccp_alphas[1:], 1.0) / 2 + path.ccp_alphas / 2
    for alpha, impurity in zip(between, path.impurities, strict=True):
        tree = ConTreeClassifier(3, ccp_alpha=alpha, min_samples_leaf=3).fit(X, y, weight)
        assert tree.errors_ / total == pytest.approx(impurity)


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer, load_digits])
@pytest.mark.parametrize("search", ["best_first", "paper"])
def test_without_a_limit_of_depth_all_is_told_apart(load, search):
    X, y = load(return_X_y=True)
    clf = ConTreeClassifier(max_depth=None, search=search).fit(X, y)
    assert (clf.status_, clf.errors_, clf.lower_bound_) == ("optimal", 0, 0)
    assert (clf.predict(X) == DecisionTreeClassifier().fit(X, y).predict(X)).all()
    assert certificate(clf) == "This tree fits these rows without errors (optimal)."
    assert not get_tags(clf).classifier_tags.poor_score
    assert clf.get_params()["max_depth"] is None


@pytest.mark.parametrize("kind", ["chain", "parity", "equal rows"])
def test_without_a_limit_of_depth_as_deep_as_it_takes(kind):
    """Rows that take as many levels as there are features, and rows that none can tell apart."""
    X = np.eye(150) if kind == "chain" else np.array(list(itertools.product([0, 1], repeat=8)))
    y = np.arange(150) % 2 if kind == "chain" else X.sum(axis=1) % 2
    if kind == "equal rows":
        X, y = np.r_[X, X[:10]], np.r_[y, 1 - y[:10]]
    clf = ConTreeClassifier(max_depth=None, time_limit=60).fit(X, y)
    assert clf.status_ == "optimal"
    assert clf.errors_ == 10 * (kind == "equal rows")
    assert clf.get_depth() >= {"chain": 70}.get(kind, 8)


def test_grid_search_over_a_depth_without_limit(iris):
    grid = {"max_depth": [2, None], "random_state": [0, None]}
    search = GridSearchCV(ConTreeClassifier(), grid, cv=3).fit(*iris)
    assert [params["max_depth"] for params in search.cv_results_["params"]] == [2, 2, None, None]
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    assert search.best_estimator_.get_params() == {
        **ConTreeClassifier().get_params(),
        **search.best_params_,
    }


@pytest.mark.parametrize("container", ["pandas", "default"])
def test_pipeline_with_set_output(iris, container):
    X, y = load_iris(return_X_y=True, as_frame=True)
    pipe = make_pipeline(StandardScaler(), ConTreeClassifier(2)).set_output(transform=container)
    pipe.fit(X, y)
    assert pipe.score(X, y) > 0.95
    named = hasattr(pipe[-1], "feature_names_in_")
    assert named == (container == "pandas")
    if named:
        assert pipe[-1].feature_names_in_.tolist() == list(X.columns)


def test_grid_search_in_two_processes(iris):
    grid = {"max_depth": [0, 2], "max_gap": [0, 0.1]}
    search = GridSearchCV(ConTreeClassifier(), grid, n_jobs=2, cv=3).fit(*iris)
    assert search.best_params_["max_depth"] == 2
    assert search.best_estimator_.score(*iris) > 0.9


def test_cross_validation_is_stratified(iris):
    """Sorted labels: without strata, two folds would lack a class and score nothing on it."""
    assert cross_val_score(ConTreeClassifier(2), *iris, cv=3).min() > 0.85


def test_bagging(iris):
    bag = BaggingClassifier(ConTreeClassifier(2), n_estimators=5, random_state=0).fit(*iris)
    assert bag.score(*iris) > 0.9


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration(iris, method):
    X, y = iris
    calibrated = CalibratedClassifierCV(ConTreeClassifier(2), method=method, cv=3).fit(X, y)
    assert calibrated.score(X, y) > 0.9
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(scope="module")
def weighted():
    """Return rows, labels and weights that make a difference: one class hardly counts."""
    X, y = load_iris(return_X_y=True)
    return X[:, :2], y, np.where(y == 1, 1e-3, 1.0)


def hardly(clf, X):
    """Return how often the class that hardly counts is predicted."""
    return np.count_nonzero(clf.predict(X) == 1)


def test_the_third_argument_is_the_weight(weighted):
    X, y, weight = weighted
    clf = ConTreeClassifier(2).fit(X, y, weight)
    assert clf.errors_ == pytest.approx(weight[clf.predict(X) != y].sum())
    assert hardly(clf, X) < hardly(ConTreeClassifier(2).fit(X, y), X)
    assert clf.score(X, y, weight) > clf.score(X, y)


def test_weights_are_routed_when_they_are_asked_for(routing, weighted):
    X, y, weight = weighted
    clf = ConTreeClassifier(2).set_fit_request(sample_weight=True)
    alone = hardly(clone(clf).fit(X, y, weight), X)

    scaler = StandardScaler().set_fit_request(sample_weight=False)
    pipe = make_pipeline(scaler, clf).fit(X, y, sample_weight=weight)
    assert hardly(pipe, X) == alone
    clf.set_score_request(sample_weight=True)
    search = GridSearchCV(clf, {"min_samples_leaf": [1, 70]}, cv=3, n_jobs=2)
    search.fit(X, y, sample_weight=weight)
    assert search.best_params_ == {"min_samples_leaf": 1}
    assert hardly(search, X) == alone
    scores = cross_val_score(clf, X, y, cv=3, params={"sample_weight": weight})
    assert scores.min() > 0.8
    bag = BaggingClassifier(clf, n_estimators=3, random_state=0).fit(X, y, sample_weight=weight)
    assert hardly(bag, X) <= 2 * alone
    calibrated = CalibratedClassifierCV(clf, cv=3).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)


def test_weights_are_not_routed_unasked(routing, weighted):
    X, y, weight = weighted
    pipe = make_pipeline(ConTreeClassifier(2))
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        pipe.fit(X, y, sample_weight=weight)


def test_weights_without_routing(weighted):
    X, y, weight = weighted
    alone = hardly(ConTreeClassifier(2).fit(X, y, weight), X)
    pipe = make_pipeline(StandardScaler(), ConTreeClassifier(2))
    pipe.fit(X, y, contreeclassifier__sample_weight=weight)
    assert hardly(pipe, X) == alone
    bag = BaggingClassifier(ConTreeClassifier(2), n_estimators=3, random_state=0)
    assert hardly(bag.fit(X, y, sample_weight=weight), X) <= 2 * alone
    calibrated = CalibratedClassifierCV(ConTreeClassifier(2), cv=3).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)


def test_the_tag_says_that_missing_values_are_taken():
    assert get_tags(ConTreeClassifier()).input_tags.allow_nan


@pytest.mark.parametrize("way", ["pickle", "deepcopy", "joblib", "json"])
def test_copies_keep_weights_and_missing_values(weighted, way, tmp_path):
    X, y, weight = weighted
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    clf = ConTreeClassifier(3, class_weight={1: 2.5}, min_samples_leaf=3).fit(X, y, weight)
    assert clf.tree_.knows_missing
    if way == "pickle":
        back = pickle.loads(pickle.dumps(clf))
    elif way == "deepcopy":
        back = copy.deepcopy(clf)
    elif way == "json":
        back = ConTreeClassifier.from_json(clf.to_json())
    else:
        joblib.dump(clf, tmp_path / "clf.joblib")
        back = joblib.load(tmp_path / "clf.joblib")
    np.testing.assert_array_equal(back.predict_proba(X), clf.predict_proba(X))
    assert back.get_params() == clf.get_params()
    assert back.tree_.weight_unit == clf.tree_.weight_unit
    assert back.errors_ == clf.errors_
    assert back.export_text() == clf.export_text()
    assert clone(back).fit(X, y, weight).errors_ == clf.errors_


def test_the_tree_takes_sparse_rows():
    X, y = load_iris(return_X_y=True)
    clf = ConTreeClassifier(2).fit(X, y)
    rows = sparse.csr_matrix(X)
    assert clf.tree_.apply(rows).tolist() == clf.tree_.apply(X).tolist()
    assert np.array_equal(clf.tree_.predict(rows), clf.tree_.predict(X))
    assert (clf.tree_.decision_path(rows) != clf.tree_.decision_path(X)).nnz == 0
