"""
Choose depth and size
=====================

A tree that is too large fits noise (:doc:`/auto/explanation/overfitting`). There are
three ways to limit it. Use the first if prediction counts, the second if people must
read the tree, and the third if a leaf has a price.
"""

# %%
# By cross-validation
# -------------------
#
# :class:`contree.ConTreeClassifierCV` tries every depth up to ``max_depth`` with every
# number of leaves. By default it uses five random splits, with 80 % of the rows for
# training. One search gives all sizes of a fold and a depth.

from sklearn.datasets import load_breast_cancer

from contree import ConTreeClassifier, ConTreeClassifierCV, size_error_path

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
search = ConTreeClassifierCV(max_depth=3).fit(X, y)
print(search.best_params_, round(search.best_score_, 3))
search.plot_scores()

# %%
# Scores on few rows are noisy. With ``one_standard_error=True`` the smallest tree wins
# whose score is at most one standard error below the best. ``best_estimator_`` is that
# tree, fitted to all rows.

search = ConTreeClassifierCV(max_depth=3, one_standard_error=True).fit(X, y)
print(search.best_params_, round(search.best_score_, 3))
print(search.best_estimator_.export_text())

# %%
# By looking at every size
# ------------------------
#
# :func:`contree.size_error_path` gives the fewest training errors for each number of
# leaves, from one search. Choose the last leaf that is worth reading. CART's pruning
# path stands beside it.

path = size_error_path(X, y, max_depth=3)
print(path)
path.plot()

# %%
# ``path.tree(4)`` is a fitted classifier. ``ConTreeClassifier(max_depth=3,
# max_leaf_nodes=4)`` finds a tree with as few errors.

print(
    path.tree(4).errors_,
    ConTreeClassifier(max_depth=3, max_leaf_nodes=4).fit(X, y).errors_,
)

# %%
# By a price
# ----------
#
# ``ccp_alpha`` is the price of a leaf, as a share of all rows. With 0.01, a leaf must
# save 1 % of the rows. The search minimises the error rate plus ``ccp_alpha`` times the
# number of leaves, so ``objective_`` counts the leaves too.

clf = ConTreeClassifier(max_depth=3, ccp_alpha=0.01).fit(X, y)
print(clf.get_n_leaves(), "leaves,", clf.errors_, "errors, objective", clf.objective_)

# %%
# The optimal tree changes at few prices. The path lists them, with the number of leaves
# from there on.

for alpha, leaves in zip(path.ccp_alphas, path.ccp_leaves, strict=True):
    print(f"from ccp_alpha={alpha:.4f} on: {leaves} leaves")

# %%
# Limits of leaves
# ----------------
#
# ``min_samples_leaf`` and ``min_weight_fraction_leaf`` keep leaves from resting on few
# rows. Both are part of the optimum: no tree with such leaves has fewer errors.

clf = ConTreeClassifier(max_depth=3, min_samples_leaf=15).fit(X, y)
print(clf.errors_, "errors,", clf.status_)
