"""
Categorical features
====================

Columns such as colour, region or product hold categories, not numbers. You need no
one-hot columns: a test sends any set of categories to one side, and the tree is optimal
among all sets.
"""

# %%
import numpy as np
import pandas as pd

from contree import ConTreeClassifier, ConTreeRegressor

rng = np.random.default_rng(0)
shops = pd.DataFrame(
    {
        "region": rng.choice(
            ["north", "east", "south", "west", "centre", "coast", "islands", "abroad"],
            1000,
        ),
        "visits": rng.integers(1, 40, 1000),
    }
)
inland = shops.region.isin(["north", "east", "centre"])
buys = np.where((shops.visits > 12) ^ inland, "buys", "leaves")
buys[rng.random(1000) < 0.05] = "leaves"

# %%
# Declare the columns
# -------------------
#
# If a column of text is not declared, ``fit`` raises an error that names it. There are
# two ways to declare one. The first is its type: ``category`` in pandas,
# ``Categorical`` or ``Enum`` in polars.

shops["region"] = shops["region"].astype("category")
clf = ConTreeClassifier(max_depth=2).fit(shops, buys)
print(clf.export_text())
print(clf.status_, clf.errors_, clf.lower_bound_)
clf.plot()

# %%
# The second is the parameter ``categorical_features``: names, indices or a mask. It
# also works for arrays, and for numbers that are only names, such as postcodes.

rows = shops.to_numpy(dtype=object)
same = ConTreeClassifier(max_depth=2, categorical_features=[0]).fit(rows, buys)
print(same.errors_, same.categories_[0])

# %%
# Compared with one-hot columns
# -----------------------------
#
# A one-hot column asks for one category at a time. A tree of the same depth says less.

one_hot = pd.get_dummies(shops, columns=["region"])
print(ConTreeClassifier(max_depth=2).fit(one_hot, buys).errors_, "errors with one-hot")
print(clf.errors_, "errors with sets")

# %%
# Numbers to predict
# ------------------
#
# ``ConTreeRegressor`` takes the same columns. So do the cross-validations,
# ``size_error_path`` and the cluster.

spent = 5 * shops.visits * np.where(inland, 1, 3) + rng.integers(0, 20, 1000)
reg = ConTreeRegressor(max_depth=2).fit(shops, spent)
print(reg.export_text())

# %%
# Missing and unknown values
# --------------------------
#
# A missing value is one more category, and the search chooses its side. A category that
# ``fit`` has not seen goes where missing values go. If no row of a node had a missing
# value, both go to the side with more rows.

new = pd.DataFrame({"region": ["north", "the moon", None], "visits": [5, 5, 5]})
print(clf.predict(new))

# %%
# Ship it
# -------
#
# Every export sends every value where ``predict`` sends it: see :doc:`/exports`.

print(clf.to_sql())

# %%
# scikit-learn's own trees have no sets. ``to_sklearn()`` therefore works only where a
# threshold says the same: categories that are numbers, with all of one side below all
# of the other.

try:
    clf.to_sklearn()
except ValueError as error:
    print(error)

# %%
# Many categories
# ---------------
#
# The number of sets doubles with each category. The search proves the best one without
# trying them all, and still takes longer the more categories there are and the weaker
# their effect is. With a strong effect and many rows of each, depth two takes
# milliseconds for hundreds of categories, and depth three less than a second for
# twelve. Without any effect, expect no proof from about thirty categories on at depth
# two, and from about sixteen at depth three.
#
# Set a ``time_limit`` then. You get the best tree so far, never worse than CART's with
# the categories in the order of their class shares or means, and a proved bound. The
# bound is loose: it comes from parts of the categories, each solved alone.

towns = shops.assign(town=pd.Categorical(rng.integers(0, 40, 1000).astype(str)))
clf = ConTreeClassifier(max_depth=3, time_limit=2).fit(towns, buys)
print(clf.status_, clf.errors_, clf.lower_bound_)

# %%
# Columns that name each row, such as an order number, fit the training rows and say
# nothing of others. Leave them out, or ask for leaves of many rows by
# ``min_samples_leaf``.
