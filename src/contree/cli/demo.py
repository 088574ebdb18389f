"""``contree demo``: a tree on data that comes with scikit-learn, beside CART's."""

from __future__ import annotations

import click

from contree.cli.flags import Command


@click.command(cls=Command, short_help="a first tree, without a file", example="contree demo")
def demo() -> None:
    """Fit a tree of depth 3 to breast-cancer data and show it, its proof, and CART beside it."""
    from sklearn.datasets import load_breast_cancer

    from contree import ConTreeClassifier
    from contree.cli.features import Columns
    from contree.cli.model_file import Model
    from contree.cli.summary import tell_of_cart, tell_of_proof, tell_of_tree

    data = load_breast_cancer()
    X, y = data.data, data.target_names[data.target]
    clf = ConTreeClassifier(max_depth=3).fit(X, y)
    clf.feature_names_in_ = data.feature_names
    tell_of_tree(Model(clf, Columns(list(data.feature_names)), "diagnosis"))
    click.echo(f"on the {len(y)} training rows")
    tell_of_cart(clf, X, y)
    tell_of_proof(clf)
    click.echo(f"searched for {clf.search_report_.seconds:.3g} s")
