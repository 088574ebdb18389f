"""
Read the certificate
====================

Every fit ends with a certificate: how far the tree is from the best one, proved.
"""

# %%
from sklearn.datasets import load_breast_cancer

from contree import ConTreeClassifier

X, y = load_breast_cancer(return_X_y=True)
clf = ConTreeClassifier(max_depth=3).fit(X, y)
print("status_:     ", clf.status_)
print("objective_:  ", clf.objective_)
print("lower_bound_:", clf.lower_bound_)
print("gap_:        ", clf.gap_)

# %%
# - ``objective_`` is what the search minimises: ``errors_``, plus the price of the
#   leaves if ``ccp_alpha`` is set.
# - ``lower_bound_`` is proved: no permitted tree has a smaller objective.
# - ``gap_`` is their difference. With a gap of 0 the tree is optimal.
#
# A *permitted* tree keeps to ``max_depth``, ``max_leaf_nodes``, ``min_samples_leaf``
# and ``min_weight_fraction_leaf``. Its tests are ``feature <= threshold`` with any
# feature and any threshold.
#
# What each status means
# ----------------------
#
# ================== ==================================================================
# status             meaning
# ================== ==================================================================
# ``optimal``        Proved: no permitted tree is better.
# ``gap_reached``    Proved: the tree is within ``max_gap`` of the optimum.
# ``time_limit``     ``time_limit`` ended the search. ``gap_`` says what is still open.
# ``stopped``        A callback returned True.
# ``interrupted``    Ctrl-C, with ``on_interrupt="return"``.
# ``memory_limit``   The search ran out of memory.
# ================== ==================================================================
#
# A bound of a search that ends early holds too. It is only further from the tree. This
# search stops as soon as the bound is more than half of the errors:

from sklearn.datasets import make_classification

X_noisy, y_noisy = make_classification(
    1000, 10, n_informative=6, flip_y=0.2, random_state=0
)
clf = ConTreeClassifier(max_depth=4).fit(
    X_noisy, y_noisy, callback=lambda now: now.gap < 0.5 * now.objective
)
print(f"{clf.status_}: {clf.errors_} errors, no tree has fewer than {clf.lower_bound_}")
clf.plot_history()

# %%
# What is not proved
# ------------------
#
# The certificate is about the training rows. It says nothing about new rows; measure
# these with rows that the fit did not see, as in :doc:`/auto/guides/choose_size`.
#
# If several trees are optimal, the certificate does not say which one you get. They can
# differ on new rows.
#
# Why you can believe it
# ----------------------
#
# contree counts in integers, so no comparison depends on rounding. It recounts the
# errors of every tree on the raw rows before it returns it. You can do
# the same:

clf = ConTreeClassifier(max_depth=3).fit(X, y)
assert (clf.predict(X) != y).sum() == clf.errors_

# %%
# The bound cannot be recounted, it follows from the search. :doc:`/how-it-works`
# explains how, and :doc:`/development/bounds` has the proofs. ``search="paper"`` runs
# an independent search, which must find the same optimum.

independent = ConTreeClassifier(max_depth=2, search="paper").fit(X, y)
print(ConTreeClassifier(max_depth=2).fit(X, y).errors_, independent.errors_)

# %%
# What the search did
# -------------------
#
# ``search_report_`` has the time, the counters, and every moment at which the tree or
# the bound improved.

print(clf.search_report_)
