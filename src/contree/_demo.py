"""What ``make demo`` shows: an optimal tree beside CART's, and its certificate in words."""

from __future__ import annotations

from time import perf_counter

from sklearn.datasets import load_breast_cancer
from sklearn.tree import DecisionTreeClassifier

from contree import ConTreeClassifier, __version__
from contree.export.certificate import certificate

DEPTH = 3


def main() -> None:
    data = load_breast_cancer()
    X, y = data.data, data.target_names[data.target]

    start = perf_counter()
    clf = ConTreeClassifier(max_depth=DEPTH).fit(X, y)
    seconds = perf_counter() - start
    cart = DecisionTreeClassifier(max_depth=DEPTH, random_state=0).fit(X, y)
    cart_errors = int((cart.predict(X) != y).sum())

    rows, features = X.shape
    print(
        f"contree {__version__}: breast cancer, {rows} rows, {features} features, depth {DEPTH}\n"
    )
    print(clf.export_text(feature_names=data.feature_names))
    print(f"{'':<10}{'errors':>8}{'accuracy':>11}")
    print(f"{'contree':<10}{clf.errors_:>8}{clf.score(X, y):>11.4f}")
    print(f"{'CART':<10}{cart_errors:>8}{cart.score(X, y):>11.4f}\n")
    print(certificate(clf))
    print(
        f"\nfitted in {seconds:.3f} s, of which the search took {clf.search_report_.seconds:.3f} s"
    )


if __name__ == "__main__":
    main()
