"""The known optima of the paper's data sets are reached and proved."""

from __future__ import annotations

import pytest

from conftest import optimal_scores
from contree import ConTreeClassifier
from oracle import check_tree
from scale import IS_LONG

# The sets that take seconds at depth 4; the others belong to the benchmarks.
QUICK_AT_FOUR = ("bank", "bidding", "occupancy", "raisin", "room", "wilt")
QUICK = [score for score in optimal_scores() if score[1] < 4 or score[0] in QUICK_AT_FOUR]
TAKES_LONG = (("raisin", 5), ("occupancy", 5))
SCORES = [score for score in QUICK if IS_LONG or score[:2] not in TAKES_LONG]
PAPER = [score for score in SCORES if score[1] == 3 and score[0] in QUICK_AT_FOUR]
PAPER += [score for score in SCORES if score[:2] == ("segment", 3) and IS_LONG]
CUT_OFF = [score for score in SCORES if score[1] == 3 or IS_LONG]
ABSENT = [pytest.param(None, None, None, id="no-data")]


@pytest.mark.parametrize(("name", "depth", "errors"), SCORES or ABSENT)
def test_known_optimum(train, name, depth, errors):
    X, y = train(name)
    clf = ConTreeClassifier(depth).fit(X, y)
    check_tree(clf, X, y)
    assert clf.status_ == "optimal"
    assert clf.errors_ == errors
    assert clf.lower_bound_ == errors


@pytest.mark.parametrize("search", ["best_first", "paper"])
@pytest.mark.parametrize(("name", "depth", "errors"), CUT_OFF or ABSENT)
def test_a_search_cut_off_claims_nothing_false(train, name, depth, errors, search):
    X, y = train(name)
    for limit in (0, 0.01, 0.1):
        clf = ConTreeClassifier(depth, search=search, time_limit=limit).fit(X, y)
        check_tree(clf, X, y)
        assert clf.lower_bound_ <= errors <= clf.objective_
        assert clf.status_ in ("optimal", "time_limit")
        assert (clf.status_ == "optimal") == (clf.lower_bound_ == clf.objective_)


@pytest.mark.parametrize(("name", "depth", "errors"), PAPER or ABSENT)
def test_the_search_of_the_paper_reaches_the_same(train, name, depth, errors):
    X, y = train(name)
    clf = ConTreeClassifier(depth, search="paper").fit(X, y)
    check_tree(clf, X, y)
    assert clf.status_ == "optimal"
    assert clf.errors_ == clf.lower_bound_ == errors
