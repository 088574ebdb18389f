"""
Regression
==========

:class:`contree.ConTreeRegressor` finds a tree with provably the least squared training
error. Each leaf predicts the mean of its rows. Everything else is as for classes.
"""

# %%
from sklearn.datasets import load_diabetes
from sklearn.tree import DecisionTreeRegressor

from contree import ConTreeRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True)
reg = ConTreeRegressor(max_depth=3).fit(X, y)
cart = DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, y)
print(f"contree: R^2 {reg.score(X, y):.3f} on the training rows, {reg.status_}")
print(f"CART:    R^2 {cart.score(X, y):.3f}")
print(reg.export_text())

# %%
# A leaf shows its mean, its number of rows and their spread, which is the standard
# deviation. In the picture, the stronger a box, the larger its mean.

reg.plot()

# %%
# The certificate
# ---------------
#
# ``squared_error_`` is the sum of the squared errors. ``lower_bound_`` is proved: no
# tree of this depth has less. contree turns targets into integers, so it compares exact
# numbers. If it must round the targets, ``target_tolerance_`` says by how much this can
# change the result.

print(reg.squared_error_, reg.lower_bound_, reg.target_tolerance_)

# %%
# Choose a size
# -------------
#
# :func:`contree.size_error_path` with ``task="regression"`` gives the least squared
# error for each number of leaves.

from contree import size_error_path

path = size_error_path(X, y, max_depth=3, task="regression")
path.plot()

# %%
# ``ccp_alpha`` is the price of a leaf in mean squared error. ``max_gap`` as a float is
# a share of the squared error of a single leaf: with 0.01, R\ :sup:`2` on the training
# rows is within 0.01 of the best.

reg = ConTreeRegressor(max_depth=3, ccp_alpha=200).fit(X, y)
print(reg.get_n_leaves(), "leaves")
reg = ConTreeRegressor(max_depth=4, max_gap=0.1).fit(X, y)
print(reg.status_, f"R^2 {reg.score(X, y):.3f}")

# %%
# Time
# ----
#
# The proof takes longer than for classes, because squared errors change with every row.
# Set a ``time_limit`` from depth four on. The search keeps the best tree and its bound.

reg = ConTreeRegressor(max_depth=4, time_limit=2).fit(X, y)
print(f"{reg.status_}: R^2 {reg.score(X, y):.3f}")
cart = DecisionTreeRegressor(max_depth=4, random_state=0).fit(X, y)
print(f"CART: R^2 {cart.score(X, y):.3f}")
