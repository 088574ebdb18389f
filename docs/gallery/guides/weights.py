"""
Weigh rows and classes
======================

A weight says what an error on a row costs. The search minimises the weight of all
errors.
"""

# %%
import numpy as np
from sklearn.datasets import load_breast_cancer

from contree import ConTreeClassifier

data = load_breast_cancer()
X, y = data.data, data.target_names[data.target]
age = np.random.default_rng(0).integers(1, 4, size=len(y))

clf = ConTreeClassifier(max_depth=2, class_weight={"malignant": 5})
clf.fit(X, y, sample_weight=age)
print(clf.export_text(feature_names=data.feature_names))
print(clf.errors_, clf.lower_bound_)
clf.plot(feature_names=data.feature_names)

# %%
# - ``sample_weight`` has one number for each row. A weight of k counts as k equal rows.
#   Rows of weight 0 are left out.
# - ``class_weight`` multiplies it by a factor for each label, or ``"balanced"`` gives
#   every class the same weight.
# - ``errors_``, ``objective_``, ``lower_bound_`` and ``max_gap`` are in the unit of the
#   weights.
# - ``min_samples_leaf`` counts rows, ``min_weight_fraction_leaf`` counts weight.
#
# Weights are exact
# -----------------
#
# contree turns weights into multiples of their greatest common divisor and compares
# integers. So a tie is a tie.

quarters = ConTreeClassifier(max_depth=2).fit(X, y, sample_weight=age / 4)
print(quarters.errors_, quarters.lower_bound_, quarters.weight_tolerance_)

# %%
# If the multiples sum to 2\ :sup:`60` or more, contree must round them. This happens
# with tenths, because a float64 cannot hold 0.1. ``weight_tolerance_`` bounds by how
# much the rounding can change ``errors_`` and ``lower_bound_``. It is 0.0 if nothing
# was rounded.

tenths = ConTreeClassifier(max_depth=2).fit(X, y, sample_weight=age * 0.1)
print(tenths.errors_, tenths.lower_bound_, tenths.weight_tolerance_)
