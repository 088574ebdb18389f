"""What a command says of a tree: the tree, CART beside it, what is proved, and how long it took."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

from contree._categories import encode_categories, one_hot
from contree._check_weights import check_sample_weight
from contree._class_target import ClassTarget
from contree._weights import in_user_unit
from contree.cli.errors import one_line
from contree.export.certificate import certificate
from contree.export.wording import wording_of

if TYPE_CHECKING:
    from contree.cli.model_file import Model
    from contree.cli.training import Training

# CART knows these too, by the same names and with the same meaning; weights are those of the rows.
SHARED = (
    "max_depth",
    "max_leaf_nodes",
    "ccp_alpha",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
)


def tell_of_tree(model: Model) -> None:
    """Print the tree and what it was made from."""
    estimator = model.estimator
    rows, leaves = int(estimator.tree_.n_node_samples[0]), estimator.get_n_leaves()
    click.echo(estimator.export_text())
    of = "" if model.target is None else f" of '{model.target}'"
    click.echo(
        f"{_counted(rows, 'row')}, {_counted(estimator.n_features_in_, 'feature')}, "
        f"{wording_of(estimator).facts()}{of}; "
        f"depth {estimator.get_depth()}, {_counted(leaves, 'leaf')}\n"
    )


def tell_of_cart(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Print how well the tree and CART's do on the training rows, at the same depth.

    Return CART's tree; a classifier's predicts the numbers of the classes.  None if there is none.
    """
    tell = _tell_of_errors if hasattr(estimator, "classes_") else _tell_of_fit
    cart = tell(estimator, X, y, sample_weight)
    if cart is not None and estimator.categories_ is not None:
        click.echo("CART sees a column of 0 and 1 for each category")
    click.echo("")
    return cart


def tell_of_holdout(estimator: Any, cart: Any, held: Training) -> None:
    """Print how well both trees do on rows that neither has seen."""
    predicted = {"contree": estimator.predict(held.X)}
    with np.errstate(over="ignore"), suppress(ValueError):  # where CART cannot read these rows
        if cart is not None:
            predicted["CART"] = cart.predict(for_cart(estimator, held.X))
    weights = check_sample_weight(held.sample_weight, len(held.y))
    if hasattr(estimator, "classes_"):
        _tell_of_held_out(estimator, held.y, predicted, weights)
    else:
        rows = {name: regression_figures(held.y, y, weights) for name, y in predicted.items()}
        click.echo(regression_table(rows))
    click.echo("")


def _tell_of_held_out(clf: Any, truth: Any, predicted: dict[str, Any], weights: Any) -> None:
    """Print the errors on rows held out; `sample_weight` counts, class weights do not."""
    counts = np.ones(len(truth), dtype=int) if weights is None else weights
    click.echo(f"{'':<9}{'errors' if weights is None else 'weight of errors':>17}{'accuracy':>10}")
    for name, given in predicted.items():
        labels = given if name == "contree" else clf.classes_[given]
        click.echo(_line(name, counts[labels != truth].sum().item(), counts.sum().item()))


def regression_figures(truth: Any, predicted: Any, weights: Any = None) -> dict[str, float]:
    """Return R^2, the mean absolute error and the root of the mean squared error."""
    from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

    squared = mean_squared_error(truth, predicted, sample_weight=weights)
    many = len(truth) > 1  # R^2 of one row is not defined
    return {
        "r2": float(r2_score(truth, predicted, sample_weight=weights)) if many else math.nan,
        "mae": float(mean_absolute_error(truth, predicted, sample_weight=weights)),
        "rmse": math.sqrt(squared),
    }


def regression_table(rows: dict[str, dict[str, float]]) -> str:
    """Return such figures of several trees as lines."""
    lines = [f"{'':<9}{'R²':>10}{'MAE':>13}{'RMSE':>13}"]
    lines += [
        f"{name:<9}{one['r2']:>10.4f}{one['mae']:>13.6g}{one['rmse']:>13.6g}"
        for name, one in rows.items()
    ]
    return "\n".join(lines)


def for_cart(estimator: Any, X: Any) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return a table as CART reads it: numbers, and a column of 0 and 1 for each category."""
    known = estimator.categories_
    values = np.asarray(X if known is None else encode_categories(X, known), np.float64)
    return one_hot(values, known)


def cart_like(estimator: Any) -> Any:
    """Return CART with the parameters of an estimator; one leaf where CART allows none."""
    parameters = estimator.get_params()
    if parameters["max_depth"] == 0 or parameters["max_leaf_nodes"] == 1:
        is_classifier = hasattr(estimator, "classes_")
        return DummyClassifier(strategy="prior") if is_classifier else DummyRegressor()
    shared = {name: parameters[name] for name in SHARED}
    return estimator._cart_type(**shared, random_state=0)


def _tell_of_fit(reg: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    weights = check_sample_weight(sample_weight, len(y))
    values = for_cart(reg, X)
    rows = {"contree": regression_figures(y, reg.predict(X), weights)}
    try:
        with np.errstate(over="ignore"):
            cart = cart_like(reg).fit(values, y, weights)
            rows["CART"] = regression_figures(y, cart.predict(values), weights)
        click.echo(regression_table(rows))
        return cart
    except ValueError as error:  # values that float32, which CART computes with, cannot hold
        click.echo(regression_table(rows))
        click.echo(f"{'CART':<9}  no tree: {one_line(error)}")
    return None


def _tell_of_errors(clf: Any, X: Any, y: Any, sample_weight: Any) -> Any:
    tree = clf.tree_
    total = in_user_unit(int(tree.class_weights[0].sum()), tree.weight_unit)
    click.echo(f"{'':<9}{'weight of errors' if tree.weighted else 'errors':>17}{'accuracy':>10}")
    click.echo(_line("contree", clf.errors_, total))
    try:
        cart, errors = _cart_errors(clf, X, y, sample_weight)
        click.echo(_line("CART", errors, total))
        return cart
    except ValueError as error:  # values that float32, which CART computes with, cannot hold
        click.echo(f"{'CART':<9}  no tree: {one_line(error)}")
    return None


def tell_of_proof(clf: Any) -> None:
    click.echo(certificate(clf))


def _cart_errors(clf: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Any, int | float]:
    """Return CART's tree and its errors, with the weights of the rows that the classifier used."""
    target = ClassTarget(np.searchsorted(clf.classes_, y), clf.classes_)
    counted = target.counted(clf, check_sample_weight(sample_weight, len(target.codes)))
    X, codes, weights = for_cart(clf, X), counted.y, counted.weights
    if counted.rows is not None:
        X = X[counted.rows]
    cart = cart_like(clf)
    with np.errstate(over="ignore"):  # of values that float32 cannot hold; an error follows
        wrong = cart.fit(X, codes, weights.multiples).predict(X) != codes
    multiples = wrong if weights.multiples is None else weights.multiples[wrong]
    return cart, in_user_unit(int(multiples.sum()), weights.unit)


def _line(name: str, errors: int | float, total: int | float) -> str:
    shown = f"{errors:,}" if isinstance(errors, int) else f"{errors:,.6g}"
    return f"{name:<9}{shown:>17}{1 - float(errors) / float(total):>10.4f}"


def _counted(number: int, word: str) -> str:
    plural = {"leaf": "leaves"}.get(word, f"{word}s")
    return f"{number:,} {word if number == 1 else plural}"
