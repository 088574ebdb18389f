"""
Replace CART
============

To replace scikit-learn's ``DecisionTreeClassifier``, change the import. The parameters
have the same names and meanings, and so have the fitted attributes and methods.
"""

# %%
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from contree import ConTreeClassifier as DecisionTreeClassifier

X, y = load_iris(return_X_y=True, as_frame=True)
clf = DecisionTreeClassifier(max_depth=3, min_samples_leaf=5, criterion="entropy").fit(
    X, y
)
print(clf.get_depth(), clf.get_n_leaves(), clf.feature_importances_.round(3))
print(clf.predict_proba(X[:2]), clf.apply(X[:2]), clf.tree_.threshold.round(2))

# %%
# It is a scikit-learn classifier, so pipelines, searches and cross-validation take it.

print(cross_val_score(make_pipeline(StandardScaler(), clf), X, y).round(3))

# %%
# ``X`` can be a NumPy array, a data frame, a sparse matrix (``fit`` makes it dense) or
# nested lists. Labels can be strings, integers or bools. contree compares values as
# float64; scikit-learn rounds them to float32.
#
# What differs
# ------------
#
# - ``max_depth`` is 3 by default, because the work grows steeply with the depth. CART's
#   default is None. With ``max_depth=None``, or from depth five on, set a
#   ``time_limit``.
# - The search minimises errors. ``criterion`` only chooses the impurity that ``tree_``
#   and ``feature_importances_`` show.
# - ``ccp_alpha`` is part of the search, not a pruning after it.
#   ``cost_complexity_pruning_path`` therefore returns optimal trees, which need not be
#   prunings of one tree.
# - ``random_state=None`` is a fixed seed. On one thread, the same input gives the same
#   tree, to the last bit.
# - Parameters that cannot work here raise an error that names an alternative:

try:
    DecisionTreeClassifier(max_features="sqrt").fit(X, y)
except ValueError as error:
    print(error)

# %%
# Tools that want scikit-learn's own class
# ----------------------------------------
#
# ``to_sklearn()`` returns a genuine ``DecisionTreeClassifier`` with the same
# predictions, for ``plot_tree``, shap, dtreeviz and other tools.

from sklearn.tree import plot_tree

plot_tree(clf.to_sklearn(), feature_names=X.columns)

# %%
# To begin with CART's tree
# -------------------------
#
# ``initial_tree`` takes a fitted tree of scikit-learn. The result is never worse than
# this tree.

from sklearn.tree import DecisionTreeClassifier as Cart

cart = Cart(max_depth=3, random_state=0).fit(X, y)
clf = DecisionTreeClassifier(max_depth=3).fit(X, y, initial_tree=cart)
print((cart.predict(X) != y).sum(), "errors before,", clf.errors_, "after")
