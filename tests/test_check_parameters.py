"""Parameters: which values are taken, and as what; which are refused, by name."""

from __future__ import annotations

import numpy as np
import pytest

from contree import ConTreeClassifier
from contree._check_parameters import resolve_max_gap, resolve_n_jobs, resolve_seed


def fit(**parameters):
    return ConTreeClassifier(**parameters).fit(np.arange(12.0).reshape(6, 2), [0, 0, 0, 1, 1, 1])


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("max_depth", -1),
        ("max_depth", 2.0),
        ("max_depth", True),
        ("max_depth", "none"),
        ("max_gap", -1),
        ("max_gap", 1.0),
        ("max_gap", -0.1),
        ("max_gap", np.nan),
        ("max_gap", True),
        ("max_gap", np.True_),
        ("time_limit", -1),
        ("time_limit", np.nan),
        ("time_limit", False),
        ("time_limit", "1"),
        ("feature_tolerance", -1e-9),
        ("feature_tolerance", np.inf),
        ("feature_tolerance", np.nan),
        ("n_jobs", 0),
        ("n_jobs", 10**20),
        ("n_jobs", 2**31 - 1),
        ("n_jobs", 100_000),
        ("n_jobs", 1.0),
        ("n_jobs", True),
        ("random_state", -1),
        ("random_state", 2**32),
        ("random_state", 1.0),
        ("random_state", True),
        ("random_state", np.random.default_rng(0)),
        ("warm_start", "yes"),
        ("warm_start", None),
        ("on_interrupt", "ignore"),
        ("on_interrupt", None),
        ("search", "worst_first"),
        ("search_options", ["cache"]),
        ("verbose", -1),
    ],
)
def test_parameters_refused(parameter, value):
    with pytest.raises(ValueError, match=parameter):
        fit(**{parameter: value})


def test_what_is_allowed_is_said_once():
    with pytest.raises(ValueError, match=r"RandomState' or None\. Got 'a' instead"):
        fit(random_state="a")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cash": 1}, "'cash'.*cache"),
        ({"cache": 2}, "'cache'.* 0 to 1"),
        ({"cache": -1}, "'cache'.* 0 to 1"),
        ({"cache": 2**70}, "'cache'.* 0 to 1"),
        ({"cache": 0.5}, "'cache'.* 0 to 1"),
        ({"cache": "yes"}, "'cache'.* 0 to 1"),
        ({"cache": None}, "'cache'.* 0 to 1"),
        ({1: 1}, "'1'.*cache"),
    ],
)
def test_search_options_refused(options, message):
    with pytest.raises(ValueError, match=message):
        fit(search_options=options)


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_depth": np.int8(2)},
        {"max_depth": None},
        {"random_state": 0},
        {"random_state": np.uint32(2**32 - 1)},
        {"random_state": np.random.RandomState(0)},
        {"max_gap": np.int64(1)},
        {"max_gap": np.float32(0.3)},
        {"max_gap": 0.0},
        {"max_gap": 10**30},
        {"time_limit": np.inf},
        {"time_limit": np.float32(60)},
        {"time_limit": 60},
        {"feature_tolerance": 1},
        {"feature_tolerance": np.float64(1e-7)},
        {"memory_limit": np.int32(10**6)},
        {"memory_limit": "10 MB"},
        {"warm_start": np.True_},
        {"on_interrupt": "return"},
        {"search_options": {}},
        {"search_options": {"cache": False, "depth_two": np.int64(0)}},
    ],
)
def test_parameters_taken(parameters):
    assert fit(**parameters).errors_ <= 3


@pytest.mark.parametrize(
    ("max_gap", "rows", "errors"),
    [
        (0, 100, 0),
        (7, 100, 7),
        (1000, 100, 100),
        (0.0, 100, 0),
        (0.29, 100, 29),  # int(0.29 * 100) is 28
        (0.57, 100, 57),
        (1.1e-3, 10_000, 11),
        (np.float32(0.29), 100, 29),
        (np.float64(0.29), 100, 29),
        (0.01, 199, 1),
        (0.999, 10, 9),
        (1e-300, 10**6, 0),
    ],
)
def test_max_gap_in_errors(max_gap, rows, errors):
    assert resolve_max_gap(max_gap, rows) == errors


def test_n_jobs_as_in_scikit_learn():
    from joblib import cpu_count

    assert resolve_n_jobs(None) == resolve_n_jobs(1) == 1
    assert resolve_n_jobs(3) == 3
    assert resolve_n_jobs(60_000) == 4 * cpu_count()
    assert resolve_n_jobs(-(10**20)) == 1
    assert resolve_n_jobs(-1) == cpu_count()
    assert resolve_n_jobs(-2) == max(1, cpu_count() - 1)
    assert resolve_n_jobs(-10_000) == 1


def test_a_random_state_is_one_seed_for_each_fit():
    assert resolve_seed(None) == resolve_seed(None)
    assert resolve_seed(7) == resolve_seed(np.int64(7)) == resolve_seed(np.random.RandomState(7))
    assert len({resolve_seed(number) for number in (None, 0, 1, 2)}) == 4
    state, same = np.random.RandomState(7), np.random.RandomState(7)
    drawn = [resolve_seed(state) for _ in range(3)]
    assert drawn == [resolve_seed(same) for _ in range(3)]
    assert len(set(drawn)) == 3
