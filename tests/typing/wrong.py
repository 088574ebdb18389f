"""Wrong uses of the public interface: a type checker rejects every line with the named error."""

import numpy as np

from contree import (
    ConTreeClassifier,
    ConTreeClassifierCV,
    ConTreeRegressor,
    distributed,
    size_error_path,
)

X, y = np.zeros((4, 2)), np.array([0, 1, 0, 1])
clf = ConTreeClassifier()

ConTreeClassifier(max_depth="3")  # E: arg-type
ConTreeClassifier(3, 8)  # E: call-arg
ConTreeClassifier(depth=3)  # E: call-arg
ConTreeClassifier(time_limit="1 h")  # E: arg-type
ConTreeRegressor(class_weight="balanced")  # E: call-arg
ConTreeClassifier(on_interrupt="stop")  # E: arg-type
ConTreeClassifier(class_weight="equal")  # E: arg-type
ConTreeClassifier(search_options={"cache": "no"})  # E: dict-item
ConTreeRegressor(search="paper")  # E: arg-type
ConTreeClassifierCV(max_depth=None)  # E: arg-type
clf.fit(X)  # E: call-arg
clf.fit(X, y, None, True, print)  # E: call-arg
clf.fit(X, y, call_back=print)  # E: call-arg
clf.fit(X, y, callback=3)  # E: arg-type
clf.fit(X, y, checkpoint=3)  # E: arg-type
clf.export_text(decimals="2")  # E: arg-type
clf.predict()  # E: call-arg
size_error_path(X, y, 3, "classification")  # E: call-arg
size_error_path(X, y, task="ranking")  # E: arg-type
distributed.fit(3, X, y)  # E: type-var
text: int = clf.fit(X, y).status_  # E: assignment
depth: str = clf.get_depth()  # E: assignment
