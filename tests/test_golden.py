"""The known optima of the paper's data sets are reached and proved."""

from __future__ import annotations

import pytest

from conftest import optimal_scores
from contree import ConTreeClassifier
from oracle import check_tree

SCORES = [score for score in optimal_scores() if score[1] in (2, 3)]
ABSENT = [pytest.param(None, None, None, id="no-data")]


@pytest.mark.parametrize(("name", "depth", "errors"), SCORES or ABSENT)
def test_known_optimum(train, name, depth, errors):
    X, y = train(name)
    clf = ConTreeClassifier(depth).fit(X, y)
    check_tree(clf, X, y)
    assert clf.status_ == "optimal"
    assert clf.errors_ == errors
    assert clf.lower_bound_ == errors
