"""
Large data and time limits
==========================

The proof takes long on many rows and at large depths. Good trees come early, so you can
stop a search at any time. It keeps the best tree so far and the bound that it has
proved.
"""

# %%
# Set a time limit
# ----------------

from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from contree import ConTreeClassifier

X, y = make_classification(20_000, 10, n_informative=6, flip_y=0.1, random_state=0)
clf = ConTreeClassifier(max_depth=5, time_limit=3).fit(X, y)
cart = DecisionTreeClassifier(max_depth=5, random_state=0).fit(X, y)
print(f"CART: {(cart.predict(X) != y).sum()} errors")
print(
    f"contree: {clf.errors_} errors, {clf.status_} ({clf.search_report_.seconds:.1f} s)"
)

# %%
# The bound says how far the proof has come. As long as it is 0, nothing is proved. It
# rises late, and sooner for shallower trees: these rows are proved at depth three.

shallow = ConTreeClassifier(max_depth=3).fit(X, y)
for each in (clf, shallow):
    print(f"depth {each.max_depth}: {each.errors_} errors, bound {each.lower_bound_}")

# %%
# If the proof is out of reach, a sample of the rows shows what depth is worth its time.
# The tree of a sample can also be the first tree of the search on all rows.

sample = ConTreeClassifier(max_depth=4, time_limit=1).fit(X[:2000], y[:2000])
whole = ConTreeClassifier(max_depth=4, time_limit=1)
whole.fit(X, y, initial_tree=sample)
print(f"{whole.status_}: {whole.errors_} errors on all rows")

# %%
# The time limit includes checking and sorting the rows. A tree that is stopped by it is
# never worse than CART's, unless CART draws between equally good splits.
# ``plot_history`` shows the best tree and the bound over time.

clf.plot_history()

# %%
# Stop when the tree is good enough
# ---------------------------------
#
# ``max_gap`` is the number of errors, or the share of the rows, that the tree may be
# from the optimum.

X_small, y_small = X[:1000], y[:1000]
clf = ConTreeClassifier(max_depth=3, max_gap=0.02).fit(X_small, y_small)
print(clf.status_, clf.errors_, clf.lower_bound_)

# %%
# A callback sees the progress a few times per second and stops the search by returning
# True.


def enough(progress):
    return progress.gap <= 0.5 * progress.objective or progress.seconds > 1


clf = ConTreeClassifier(max_depth=4, warm_start=True).fit(
    X_small, y_small, callback=enough
)
print(clf.status_, clf.objective_, clf.lower_bound_)

# %%
# Go on later
# -----------
#
# With ``warm_start=True`` the next fit begins with the tree that it has. A checkpoint
# keeps the bound too, also when the process is killed: the same call goes on where the
# last one ended.

import tempfile
from pathlib import Path

checkpoint = Path(tempfile.mkdtemp()) / "search.ckpt"
clf = ConTreeClassifier(max_depth=4, time_limit=1)
for _night in range(2):
    clf.fit(X_small, y_small, checkpoint=checkpoint)
    print(clf.status_, clf.objective_, clf.lower_bound_)

# %%
# Ctrl-C raises KeyboardInterrupt, or with ``on_interrupt="return"`` keeps the best
# tree. A ``ConTreeClassifier(verbose=1)`` shows a live line on a terminal (``pip
# install 'contree[progress]'``).
#
# What else helps
# ---------------
#
# - Other threads of Python run during a fit, because the search does not hold the
#   interpreter's lock.
# - ``n_jobs=-1`` uses all processors for one search; :doc:`/scaling` uses many
#   machines.
# - ``memory_limit`` limits the memory of the search's cache. The rows need memory of
#   their own.
# - ``feature_tolerance`` treats values that are closer than it as equal. Rounding a
#   column to the precision that it was measured with has the same effect, and can save
#   much time.
# - ``max_leaf_nodes`` does not save time: a limit of leaves makes the search longer.
# - On the paper's data sets, depth three takes less than a second and depth four up to
#   two minutes. Depth five can take hours (:doc:`/results`).
