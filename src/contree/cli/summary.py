"""What a command says of a tree: the tree, CART beside it, what is proved, and how long it took."""

from __future__ import annotations

import click
import numpy as np
from sklearn.dummy import DummyClassifier
from sklearn.tree import DecisionTreeClassifier

from contree._check_weights import check_sample_weight
from contree._class_target import ClassTarget
from contree._weights import in_user_unit
from contree.cli.errors import one_line
from contree.export.certificate import certificate

# CART knows these too, by the same names and with the same meaning; weights are those of the rows.
SHARED = (
    "max_depth",
    "max_leaf_nodes",
    "ccp_alpha",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
)


def tell_of_tree(model) -> None:
    """Print the tree and what it was made from."""
    clf = model.classifier
    rows, leaves = int(clf.tree_.n_node_samples[0]), clf.get_n_leaves()
    click.echo(clf.export_text())
    of = "" if model.target is None else f" of '{model.target}'"
    click.echo(
        f"{_counted(rows, 'row')}, {_counted(clf.n_features_in_, 'feature')}, "
        f"{_counted(clf.n_classes_, 'class')}{of}; "
        f"depth {clf.get_depth()}, {_counted(leaves, 'leaf')}\n"
    )


def tell_of_cart(clf, X, y, sample_weight=None) -> None:
    """Print the training errors of the tree and of CART's at the same depth."""
    tree = clf.tree_
    total = in_user_unit(int(tree.class_weights[0].sum()), tree.weight_unit)
    click.echo(f"{'':<9}{'weight of errors' if tree.weighted else 'errors':>17}{'accuracy':>10}")
    click.echo(_line("contree", clf.errors_, total))
    try:
        click.echo(_line("CART", _cart_errors(clf, X, y, sample_weight), total))
    except ValueError as error:  # values that float32, which CART computes with, cannot hold
        click.echo(f"{'CART':<9}  no tree: {one_line(error)}")
    click.echo("")


def tell_of_proof(clf) -> None:
    click.echo(certificate(clf))


def _cart_errors(clf, X, y, sample_weight) -> int | float:
    """Return the errors of CART's tree, with the weights of the rows that the classifier used."""
    target = ClassTarget(np.searchsorted(clf.classes_, y), clf.classes_)
    counted = target.counted(clf, check_sample_weight(sample_weight, len(target.codes)))
    X, codes, weights = np.asarray(X, np.float64), counted.y, counted.weights
    if counted.rows is not None:
        X = X[counted.rows]
    parameters = clf.get_params()
    if parameters["max_depth"] == 0 or parameters["max_leaf_nodes"] == 1:
        # CART does not allow that: one leaf, of the heaviest class.
        cart = DummyClassifier(strategy="prior")
    else:
        shared = {name: parameters[name] for name in SHARED}
        cart = DecisionTreeClassifier(**shared, random_state=0)
    with np.errstate(over="ignore"):  # of values that float32 cannot hold; an error follows
        wrong = cart.fit(X, codes, weights.multiples).predict(X) != codes
    multiples = wrong if weights.multiples is None else weights.multiples[wrong]
    return in_user_unit(int(multiples.sum()), weights.unit)


def _line(name: str, errors, total) -> str:
    shown = f"{errors:,}" if isinstance(errors, int) else f"{errors:,.6g}"
    return f"{name:<9}{shown:>17}{1 - float(errors) / float(total):>10.4f}"


def _counted(number: int, word: str) -> str:
    plural = {"class": "classes", "leaf": "leaves"}.get(word, f"{word}s")
    return f"{number:,} {word if number == 1 else plural}"
