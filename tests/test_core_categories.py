"""The core's categorical features through the binding: the arrays of the tree, and frontiers."""

import numpy as np
import pytest

from contree import _core

SETTINGS = {
    "weights": None,
    "min_samples_leaf": 1,
    "min_weight_leaf": 0,
    "max_leaves": 0,
    "error_cost": 1,
    "leaf_cost": 0,
    "all_sizes": False,
    "max_gap": 0,
    "feature_tolerance": 0,
    "n_jobs": 1,
    "search": "best_first",
    "switches": {},
    "memory_limit": 0,
    "seed": 1,
}


def crossed(n_categories, n_rows=600, noise=0.0):
    """The label follows the category on one side of a number, and its opposite on the other."""
    rng = np.random.default_rng(n_categories)
    codes, number = rng.integers(0, n_categories, n_rows).astype(float), rng.random(n_rows)
    codes[rng.random(n_rows) < 0.05] = np.nan
    y = (np.nan_to_num(codes) % 3 == 0) ^ (number > 0.5) ^ (rng.random(n_rows) < noise)
    return np.asfortranarray(np.column_stack([codes, number])), y.astype(np.int32)


def searcher(X, y, n_categories, **changed):
    categories = np.array([n_categories, 0], dtype=np.int32)
    return _core.Searcher(
        X, y, 2, **{**SETTINGS, "max_depth": 3, "categories": categories, **changed}
    )


def goes_left(tree, node, X):
    column = X[:, tree["feature"][node]]
    offset = tree["category_offset"][node]
    missing = np.isnan(column)
    if offset < 0:
        inside = column <= tree["threshold"][node]
    else:
        codes = np.where(missing, 0, column).astype(int)
        inside = tree["category_words"][offset + codes // 64] >> (codes % 64).astype(np.uint64) & 1
    return np.where(missing, tree["missing_go_to_left"][node], inside).astype(bool)


def errors_of(tree, X, y, node=0):
    if tree["children_left"][node] < 0:
        return len(y) - np.bincount(y, minlength=2).max() if len(y) else 0
    left = goes_left(tree, node, X)
    return errors_of(tree, X[left], y[left], tree["children_left"][node]) + errors_of(
        tree, X[~left], y[~left], tree["children_right"][node]
    )


@pytest.mark.parametrize("n_categories", [5, 63, 64, 65, 150])
def test_the_tree_sends_rows_by_their_categories(n_categories):
    X, y = crossed(n_categories)
    result = searcher(X, y, n_categories).run()
    assert result["status"] == "optimal"
    assert result["loss"] == errors_of(result["tree"], X, y) == 0
    tree = result["tree"]
    of_categories = tree["category_offset"] >= 0
    assert of_categories.any()
    assert np.isnan(tree["threshold"][of_categories]).all()
    assert len(tree["category_words"]) == of_categories.sum() * -(-n_categories // 64)


def test_a_given_tree_with_categories_is_the_first_incumbent():
    X, y = crossed(12, noise=0.2)
    best = searcher(X, y, 12).run()
    again = searcher(X, y, 12).run(first=best["tree"], time_limit=0)
    assert again["loss"] <= best["loss"]
    without = {name: best["tree"][name] for name in best["tree"] if "category" not in name}
    with pytest.raises(ValueError, match="no categories at node"):
        searcher(X, y, 12).run(first=without)


def test_a_frontier_holds_sets_of_categories():
    X, y = crossed(12, noise=0.3)
    whole = searcher(X, y, 12).run()
    assert whole["loss"] > 0
    first = searcher(X, y, 12).run(resumable=True, open_only=True)
    intervals = first["frontier"][2]
    assert intervals.shape[1] == 11
    assert (intervals[:, 10] != 0).any()
    parts = searcher(X, y, 12).split(first["frontier"], 40)
    assert len(parts[2]) >= 40
    rest = searcher(X, y, 12).run(frontier=parts, first=first["tree"], resumable=True)
    assert rest["status"] == "optimal"
    assert rest["loss"] == whole["loss"]


def test_what_cannot_be_searched_is_refused():
    X, y = crossed(5)
    with pytest.raises(ValueError, match="best_first"):
        searcher(X, y, 5, search="paper").run()
    with pytest.raises(ValueError, match="category outside"):
        searcher(X, y, 4).run()
    with pytest.raises(ValueError, match="one number for each feature"):
        searcher(X, y, 4, categories=np.array([4], dtype=np.int32))
