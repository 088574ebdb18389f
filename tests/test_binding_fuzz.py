"""Whatever the core's entry points are given: an answer that holds, or an error of Python's."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from contree import _core
from scale import scaled

MORE = settings(max_examples=scaled(300))
EDGES = [-(2**63), -(2**31), -2, -1, 0, 1, 2, 3, 7, 2**31 - 1, 2**53, 2**60, 2**62, 2**63 - 1]
INTEGERS = st.sampled_from(EDGES) | st.integers(-9, 99)
VALUES = st.sampled_from([0.0, -0.0, 1.0, 2.0, 0.5, 3.0, 64.0, 1e300, -1e300, 5e-324]) | st.floats()
OPTIONS = {
    "objective": "errors",
    "weights": None,
    "score_shift": 0,
    "max_depth": 2,
    "min_samples_leaf": 1,
    "min_weight_leaf": 0,
    "max_leaves": 8,
    "error_cost": 1,
    "leaf_cost": 0,
    "all_sizes": False,
    "max_gap": 0,
    "feature_tolerance": 0.0,
    "n_jobs": 1,
    "search": "best_first",
    "switches": {},
    "memory_limit": 0,
    "seed": 1,
    "categories": None,
}
SWITCHES = st.dictionaries(
    st.sampled_from([row["name"] for row in _core.switches()] + ["no"]),
    INTEGERS | st.text(max_size=2),
    max_size=3,
)
ODD = INTEGERS | st.floats() | st.text(max_size=3) | st.none() | st.booleans()
REFUSED = (ValueError, TypeError)


def arrays(kind, numbers, size):
    return st.lists(numbers, min_size=size, max_size=size).map(
        lambda values: np.array(values, dtype=kind)
    )


@st.composite
def problems(draw):
    """Draw the arguments of a Searcher: mostly allowed, some not at all."""
    rows, columns = draw(st.integers(0, 12)), draw(st.integers(0, 3))
    small = st.integers(0, 3).map(float)
    X = draw(arrays(float, small if draw(st.booleans()) else VALUES, rows * columns))
    X = np.asfortranarray(X.reshape(rows, columns))
    classes = draw(st.integers(1, 3)) if draw(st.integers(0, 9)) else draw(st.integers(-2, 9))
    y = draw(arrays(np.int32, st.integers(0, max(0, classes - 1)), rows))
    options = dict(OPTIONS)
    if draw(st.booleans()):
        options["objective"] = "squared_error"
        y = draw(arrays(np.int64, st.integers(-9, 9) if draw(st.booleans()) else INTEGERS, rows))
    if draw(st.integers(0, 3)) == 0:
        good = draw(st.booleans())
        options["weights"] = draw(arrays(np.int64, st.integers(1, 9) if good else INTEGERS, rows))
    if draw(st.integers(0, 3)) == 0:
        most = st.integers(0, 5) if draw(st.booleans()) else st.integers(-1, 70)
        options["categories"] = draw(arrays(np.int32, most, columns))
    options |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "max_depth": st.integers(0, 4),
                "min_samples_leaf": st.integers(1, 4),
                "max_leaves": st.integers(1, 8),
                "all_sizes": st.booleans(),
                "search": st.sampled_from(["best_first", "paper", "no"]),
                "n_jobs": st.integers(-1, 3),
                "switches": SWITCHES,
                "feature_tolerance": st.floats(),
            },
        )
    )
    if draw(st.booleans()):
        name = draw(st.sampled_from(sorted(set(OPTIONS) - {"n_jobs", "categories", "weights"})))
        options[name] = draw(ODD)
    return (X, y, classes), options


def nodes(columns):
    """Draw the arrays of a tree that may be none."""
    size = st.integers(0, 5)
    near = st.integers(-2, 5) | INTEGERS
    return size.flatmap(
        lambda n: st.fixed_dictionaries(
            {
                "children_left": arrays(np.int64, near, n),
                "children_right": arrays(np.int64, near, n),
                "feature": arrays(np.int64, st.integers(-2, columns), n),
                "threshold": arrays(float, VALUES, n),
            },
            optional={
                "missing_go_to_left": arrays(np.uint8, st.integers(0, 3), n),
                "category_offset": arrays(np.int64, near, n),
                "category_words": arrays(np.uint64, st.integers(0, 2**64 - 1), n),
            },
        )
    )


def frontiers(width):
    """Draw the open part of a search that may be none."""
    return st.integers(0, 3).flatmap(
        lambda n: st.tuples(
            INTEGERS,
            INTEGERS,
            arrays(np.int64, INTEGERS, n * width).map(lambda flat: flat.reshape(n, width)),
        )
    )


def check_answer(answer, X):
    assert 0 <= answer["lower_bound"] <= answer["objective"]
    tree = answer["tree"]
    assert len(tree["feature"]) == len(tree["children_left"]) >= 1
    assert tree["feature"].max() < X.shape[1] or X.shape[1] == 0
    for size in answer["sizes"]:
        assert 0 <= size["lower_bound"] <= size["loss"]


@MORE
@given(problem=problems())
def test_any_problem_is_searched_or_refused(problem):
    arguments, options = problem
    try:
        answer = _core.Searcher(*arguments, **options).run(time_limit=1.0)
    except REFUSED:
        return
    check_answer(answer, arguments[0])


X = np.asfortranarray([[0.0, 2.0], [1.0, 0.0], [2.0, 1.0], [3.0, 1.0], [3.0, np.nan]])
Y = np.array([0, 1, 0, 1, 1], dtype=np.int32)
KINDS = st.sampled_from([None, np.array([4, 0], dtype=np.int32)])


@MORE
@given(data=st.data())
def test_any_start_is_searched_or_refused(data):
    """A first tree, a part that is left, and numbers that may contradict each other."""
    categories = data.draw(KINDS)
    searcher = _core.Searcher(X, Y, 2, **OPTIONS | {"categories": categories})
    width = 10 if categories is None else data.draw(st.sampled_from([11, 11, 10]))
    start = data.draw(
        st.fixed_dictionaries(
            {},
            optional={
                "first": nodes(2) | st.none(),
                "frontier": frontiers(width) | st.none(),
                "cutoff": INTEGERS | st.none(),
                "lower_bound": INTEGERS,
                "time_limit": st.floats(max_value=1.0),
                "open_only": st.booleans(),
                "part": st.booleans(),
                "splits": st.integers(0, 3) | INTEGERS,
                "resumable": st.booleans(),
            },
        )
    )
    try:
        answer = searcher.run(**{"time_limit": 1.0} | start)
    except REFUSED:
        answer = None
    if answer is not None:
        assert len(answer["tree"]["feature"]) >= 1
    again = _core.Searcher(X, Y, 2, **OPTIONS | {"categories": categories}).run()
    assert again["status"] == "optimal"
    assert again["objective"] == again["lower_bound"] == 0


@MORE
@given(frontier=frontiers(10), parts=st.integers(0, 9))
def test_any_part_is_split_or_refused(frontier, parts):
    searcher = _core.Searcher(X, Y, 2, **OPTIONS)
    try:
        depth, _, intervals = searcher.split(frontier, parts)
    except REFUSED:
        return
    assert depth == frontier[0]
    assert intervals.shape[1] == 10
