"""
Imbalanced classes
==================

If one row in twenty is fraud, a tree that finds none errs on 5 % of the rows only. Say
what you want instead: give the rare class more weight, and measure with a score that
looks at each class.
"""

# %%
# The rows: 2000 payments, of which about 5 % are fraud.

from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, confusion_matrix
from sklearn.model_selection import train_test_split

from contree import ConTreeClassifier

X, y = make_classification(
    2000, 8, n_informative=4, weights=[0.95], class_sep=1.2, flip_y=0.01, random_state=0
)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, test_size=0.5, stratify=y, random_state=0
)
print(f"fraud: {y.mean():.1%} of the rows")

# %%
# ``class_weight="balanced"`` gives both classes the same weight. A number says instead
# what a missed fraud costs in units of a false alarm.

for weight in (None, {1: 5}, "balanced"):
    clf = ConTreeClassifier(max_depth=3, class_weight=weight, min_samples_leaf=10).fit(
        X_train, y_train
    )
    predicted = clf.predict(X_test)
    (_, alarms), (missed, found) = confusion_matrix(y_test, predicted)
    print(
        f"{weight!s:<9} found {found}, missed {missed}, false alarms {alarms}, "
        f"balanced accuracy {balanced_accuracy_score(y_test, predicted):.3f}"
    )

# %%
# With weights, ``errors_`` is the weight of the errors, and the certificate is about
# that weight. ``max_gap`` is in the same unit. :doc:`weights` has the details.

print(clf.status_, clf.errors_, clf.lower_bound_)
clf.plot()

# %%
# Choose the size by the same score
# ---------------------------------
#
# ``scoring`` of :class:`contree.ConTreeClassifierCV` takes the names that scikit-learn
# knows.

from contree import ConTreeClassifierCV

search = ConTreeClassifierCV(
    max_depth=3,
    class_weight="balanced",
    scoring="balanced_accuracy",
    min_samples_leaf=10,
    cv=3,
).fit(X_train, y_train)
print(search.best_params_, round(search.best_score_, 3))
print(round(balanced_accuracy_score(y_test, search.predict(X_test)), 3), "on new rows")
