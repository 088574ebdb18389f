"""
Missing values
==============

NaN in ``X`` is a missing value. You need no imputation: at every test the search tries
missing values on either side, and also apart from all others. The result is optimal
among all these trees.
"""

# %%
import numpy as np
from sklearn.datasets import load_breast_cancer

from contree import ConTreeClassifier

data = load_breast_cancer(as_frame=True)
X, y = data.data, data.target_names[data.target]
X = X.mask(np.random.default_rng(0).random(X.shape) < 0.1)  # one value in ten is lost
clf = ConTreeClassifier(max_depth=2).fit(X, y)
print(clf.export_text())
print(clf.status_, clf.errors_, clf.lower_bound_)
clf.plot()

# %%
# *or missing* stands at the branch that rows with a missing value take. A branch can
# also say *is missing*, if this is the best test.
#
# Prediction
# ----------
#
# At a test that saw missing values in training, NaN takes the branch that the search
# chose. At a test that saw none, NaN goes with the most training rows, as in
# scikit-learn.

row = X.iloc[[0]].copy()
row[:] = np.nan
print(clf.predict(row), clf.predict_proba(row).round(2))

# %%
# Missing on purpose
# ------------------
#
# Whether a value is missing can itself tell the class: a test that nobody ordered, a
# question that nobody answered.

rng = np.random.default_rng(1)
income = rng.normal(40, 10, size=500)
default = rng.random(500) < 0.15
hidden = (default & (rng.random(500) < 0.7)) | (rng.random(500) < 0.05)
income[hidden] = np.nan
clf = ConTreeClassifier(max_depth=1).fit(
    income[:, None], np.where(default, "default", "paid")
)
print(clf.export_text(feature_names=["income"]))

# %%
# Every export sends missing values where ``predict`` sends them: NULL in SQL, None or
# NaN in Python, NaN in C.

print(clf.to_sql(feature_names=["income"]))
