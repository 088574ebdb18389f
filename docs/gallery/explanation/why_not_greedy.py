"""
Why greedy is not enough
========================

CART chooses one split at a time. It takes the split after which the two sides look
purest, and never goes back. Two things can go wrong. A split can be useless alone and
necessary together with another. And a split that looks best now can leave its sides
with harder problems. This page shows both, with numbers from the runs below.
"""

# %%
# Two features that help only together
# ------------------------------------
#
# The class is the colour of a chessboard of four times four fields. No single split
# separates anything, so CART's first split is a matter of chance, and its next splits
# start from there. A tree of depth four is enough.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeClassifier

from contree import ConTreeClassifier

rng = np.random.default_rng(0)
X = rng.uniform(0, 4, size=(400, 2))
y = np.floor(X).sum(axis=1) % 2 == 0


def draw(ax, model, title):
    grid = np.linspace(0, 4, 300)
    points = np.array(np.meshgrid(grid, grid)).reshape(2, -1).T
    fields = model.predict(points).reshape(300, 300)
    ax.contourf(grid, grid, fields, levels=1, colors=["#cfe3f5", "#f8d9c4"])
    ax.scatter(*X.T, c=np.where(y, "#D55E00", "#0072B2"), s=7)
    ax.set(title=title, xticks=[], yticks=[], aspect="equal")


models = {
    "CART, depth 4": DecisionTreeClassifier(max_depth=4, random_state=0),
    "CART, depth 8": DecisionTreeClassifier(max_depth=8, random_state=0),
    "contree, depth 4": ConTreeClassifier(max_depth=4),
}
fig, axes = plt.subplots(1, 3, figsize=(9, 3.3), layout="constrained")
for ax, (name, model) in zip(axes, models.items(), strict=True):
    errors = (model.fit(X, y).predict(X) != y).sum()
    draw(ax, model, f"{name}: {errors} errors")

# %%
# The size that greedy trees need
# -------------------------------
#
# On real data greedy splits are seldom useless, but they add up. The next picture
# counts training errors by the number of leaves. The lower line is
# :func:`contree.size_error_path`: proved to be the fewest errors for each size. The
# upper line is CART's tree with its prunings.

from sklearn.datasets import load_breast_cancer

from contree import size_error_path

cancer = load_breast_cancer()
path = size_error_path(cancer.data, cancer.target, max_depth=3)
path.plot()

# %%
# How many leaves does CART need to get down to the same errors, if it may be as deep as
# it likes?


def leaves_of_cart(errors):
    """Return with how many leaves CART has no more than so many errors."""
    for leaves in range(2, 60):
        cart = DecisionTreeClassifier(max_leaf_nodes=leaves, random_state=0)
        cart.fit(cancer.data, cancer.target)
        if (cart.predict(cancer.data) != cancer.target).sum() <= errors:
            return leaves


for leaves, errors in zip(path.leaves[1:], path.errors[1:], strict=True):
    print(f"{errors} errors: contree {leaves} leaves, CART {leaves_of_cart(errors)}")

# %%
# Fewer leaves mean fewer rules to read, to explain and to sign. This is the case for
# the search.
#
# What greedy trees are good at
# -----------------------------
#
# CART is faster by orders of magnitude, and its time grows only linearly with the
# depth. In a forest or a boosted ensemble each tree is one of hundreds, and nobody
# reads it.
# There CART is the right choice. And fewer training errors are not always fewer errors
# on new rows: see :doc:`overfitting`.

# sphinx_gallery_thumbnail_number = 1
