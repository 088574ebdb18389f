"""
From a CSV file to a tree that a doctor can sign
================================================

A doctor, a credit officer or an auditor signs a rule only after reading it. So the rule
must be short, and somebody must be able to say that no better rule of this length
exists. In this tutorial you will

1. read a CSV file and set rows aside,
2. say what an error costs, and choose a size for the tree,
3. read the certificate of the optimal tree,
4. measure it on the rows that you set aside,
5. hand the rule over, to people and to programs.

The data are measurements of 569 breast tumours, which come with scikit-learn.
"""

# %%
# Read the file
# -------------
#
# We first write the file, so that you can run this page anywhere. Your own work starts
# at ``read_csv``.

import tempfile
from pathlib import Path

import pandas as pd
from sklearn.datasets import load_breast_cancer

folder = Path(tempfile.mkdtemp())
data = load_breast_cancer(as_frame=True)
table = data.data.assign(diagnosis=data.target_names[data.target])
table.to_csv(folder / "tumours.csv", index=False)

table = pd.read_csv(folder / "tumours.csv")
y = table.pop("diagnosis")
X = table
print(X.shape, y.value_counts().to_dict())

# %%
# Set aside a third of the rows. Nothing that follows may look at them until the tree is
# chosen.

from sklearn.model_selection import train_test_split

X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=1 / 3, stratify=y, random_state=0
)

# %%
# Say what an error costs
# -----------------------
#
# A malignant tumour that is taken for benign is worse than the opposite. Here the
# doctor says: five times worse. The tree then minimises the cost of its errors, and we
# score it by the same cost.

from sklearn.metrics import make_scorer

COST = {"benign": 1, "malignant": 5}


def mean_cost(truth, predicted):
    wrong = [t for t, p in zip(truth, predicted, strict=True) if t != p]
    return sum(COST[t] for t in wrong) / len(truth)


# %%
# Choose a size
# -------------
#
# On the rows that it was fitted to, a larger optimal tree never costs more. On new rows
# it can be worse. :class:`contree.ConTreeClassifierCV` fits optimal trees of every size
# to parts of the training rows and scores them on the other rows.
# ``min_samples_leaf=10`` backs every leaf by at least ten patients.

from contree import ConTreeClassifierCV

limits = {"class_weight": COST, "min_samples_leaf": 10}
search = ConTreeClassifierCV(
    max_depth=3, cv=5, scoring=make_scorer(mean_cost, greater_is_better=False), **limits
)
search.fit(X_train, y_train)
print(search.best_params_)
search.plot_scores()

# %%
# ``best_estimator_`` is the optimal tree of the chosen size for all training rows.

clf = search.best_estimator_
print(clf.export_text())

# %%
# The same tree as a picture. ``plot`` returns matplotlib's axes, so
# ``clf.plot().figure.savefig("tree.pdf")`` keeps it.

clf.plot()

# %%
# Read the certificate
# --------------------
#
# ``status_`` says how the search ended. ``lower_bound_`` is proved: on these rows, the
# errors of any tree of this depth and size with at least ten patients in each leaf cost
# at least this much. The tree reaches the bound, so it is optimal.

print("status:", clf.status_)
print("cost of the errors:", clf.errors_)
print("proved: at least", clf.lower_bound_)

# %%
# The certificate is about the training rows. It says nothing about new patients. For
# these, we have the rows that we set aside.
#
# Measure it on new rows
# ----------------------

from sklearn.metrics import confusion_matrix

found = confusion_matrix(y_test, clf.predict(X_test), labels=clf.classes_)
print(
    pd.DataFrame(found, index="is " + clf.classes_, columns="predicted " + clf.classes_)
)
print(f"accuracy on new rows: {clf.score(X_test, y_test):.3f}")

# %%
# Compare with CART
# -----------------
#
# The greedy tree with the same limits is fitted in two lines.

from sklearn.tree import DecisionTreeClassifier

cart = DecisionTreeClassifier(**search.best_params_, **limits, random_state=0).fit(
    X_train, y_train
)
for name, model in {"contree": clf, "CART": cart}.items():
    train = mean_cost(y_train, model.predict(X_train)) * len(y_train)
    new = mean_cost(y_test, model.predict(X_test)) * len(y_test)
    print(f"{name:<8} cost: {train:.0f} on the training rows, {new:.0f} on new rows")

# %%
# On the training rows, no tree of this size costs less: that is proved. The difference
# on new rows is small, and with 190 rows it may be chance.
# :doc:`/auto/explanation/overfitting` measures this on many splits.

# %%
# Hand it over
# ------------
#
# Three things leave this page. The model file holds the tree, its certificate and all
# parameters; reading it back runs no code. The page works without a network: the doctor
# types in a patient and sees which rule applies. The SQL expression computes the same
# prediction in a database.

(folder / "tree.json").write_text(clf.to_json())
clf.to_html(folder / "tree.html", title="Breast tumours")
print(clf.to_sql())

# %%
# Two years later, somebody can check that the rule in use is the one that was signed.

from contree import ConTreeClassifier

again = ConTreeClassifier.from_json((folder / "tree.json").read_text())
assert (again.predict(X_test) == clf.predict(X_test)).all()
print(again.status_, again.errors_, again.lower_bound_)

# %%
# The same on the command line
# ----------------------------
#
# ``contree tune`` weighs the errors too, and scores the sizes by accuracy.
#
# .. code-block:: console
#
#     $ contree tune tumours.csv --target diagnosis --max-depth 3 \
#           --class-weight malignant=5 --min-samples-leaf 10 --model tree.json
#     $ contree show --model tree.json --format html > tree.html
#     $ contree predict --model tree.json new.csv > predictions.csv
#
# :doc:`/command-line` lists all commands.

# sphinx_gallery_thumbnail_number = 2
