"""Right uses of the public interface: a type checker accepts every line and knows the types."""

from typing import assert_type

import numpy as np

from contree import (
    ConTreeClassifier,
    ConTreeClassifierCV,
    ConTreeRegressor,
    FittedTree,
    Progress,
    SearchReport,
    SizeErrorPath,
    distributed,
    export_text,
    size_error_path,
)

X, y = np.zeros((4, 2)), np.array([0, 1, 0, 1])


def watch(progress: Progress) -> bool:
    return progress.seconds > 1.0 and progress.gap < 3


clf = ConTreeClassifier(max_depth=2, class_weight={0: 2}, time_limit=1.5, n_jobs=2)
assert_type(clf.fit(X, y, callback=watch), ConTreeClassifier)
assert_type(clf.predict(X), np.ndarray)
assert_type(clf.predict_proba(X), np.ndarray)
assert_type(clf.status_, str)
assert_type(clf.errors_, int | float)
assert_type(clf.max_depth, int | None)
assert_type(clf.classes_, np.ndarray)
assert_type(clf.search_report_.history[0].seconds, float)
assert_type(clf.search_report_, SearchReport)
assert_type(clf.get_depth(), int)
assert_type(clf.export_text(feature_names=["a", "b"], decimals=2), str)
assert_type(ConTreeClassifier.from_json(clf.to_json()), ConTreeClassifier)
assert_type(ConTreeRegressor(None).fit(X, y), ConTreeRegressor)
assert_type(ConTreeRegressor().fit(X, y).tree_, FittedTree)
assert_type(ConTreeClassifierCV(max_depth=3, cv=5).fit(X, y).best_estimator_, ConTreeClassifier)
assert_type(size_error_path(X, y, 3, verbose=1), SizeErrorPath)
assert_type(distributed.fit(clf, X, y, patience=5), ConTreeClassifier)
export_text(clf)
