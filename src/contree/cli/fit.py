"""``contree fit``: from a file to a tree, its certificate, a model file and pictures."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import TYPE_CHECKING, Any

import click

from contree._parameters import PARAMETERS
from contree.cli.errors import as_user_errors, note
from contree.cli.flags import (
    Command,
    Flag,
    estimator_flags,
    estimator_parameters,
    parameters_of,
    quiet_flag,
    reading_flags,
)
from contree.cli.reading import Reading
from contree.cli.training import Choice, Training, training_flags, training_table

if TYPE_CHECKING:
    from contree.cli.model_file import Model


@click.command(
    cls=Command,
    short_help="find the best tree for a file",
    example="contree fit data.csv --target income --max-depth 4 --model tree.json",
)
@reading_flags
@training_flags
@click.option(
    "--holdout", type=float, metavar="SHARE", cls=Flag, help="test on a share of the rows: 0.2"
)
@click.option("--initial-tree", metavar="MODEL", cls=Flag, help="a model file to begin with")
@click.option("--checkpoint", metavar="PATH", cls=Flag, help="keep the search here; go on from it")
@click.option("--model", metavar="PATH", cls=Flag, help="write the model here, as JSON")
@click.option("--plot", metavar="PATH", cls=Flag, help="draw the tree: .svg, .png or .pdf")
@click.option("--html", metavar="PATH", cls=Flag, help="write the tree as an interactive page")
@quiet_flag
@estimator_flags(
    tuple(one.name for one in PARAMETERS), warm_start="begin with the tree in the --model file"
)
def fit(
    file: str,
    choice: Choice,
    reading: Reading,
    holdout: float | None,
    initial_tree: str | None,
    checkpoint: str | None,
    model: str | None,
    plot: str | None,
    html: str | None,
    quiet: bool,
    **flags: Any,
) -> int:
    """Find the best tree for FILE (- is stdin).  Ctrl-C keeps the best tree so far."""
    from contree.cli.holdout import hold_out
    from contree.cli.labels import class_weights_by_label
    from contree.cli.model_file import Model, size_of
    from contree.cli.outputs import (
        PICTURE_SIZE,
        check_picture,
        fill,
        picture,
        reserved,
        undisturbed,
    )

    parameters = estimator_parameters(flags)
    if quiet:
        parameters["verbose"] = 0
    if parameters["warm_start"] and model is None:
        raise click.UsageError("--warm-start starts with the tree in --model. Add --model.")
    if holdout is not None and not 0 < holdout < 1:
        raise click.UsageError("--holdout must be a share between 0 and 1, such as 0.2.")
    check_picture(plot, "--plot")
    start = perf_counter()
    table = training_table(file, reading, choice)
    held = None
    if holdout is not None:
        table, held = hold_out(table, holdout, flags["random_state"] or 0)
    parameters["class_weight"] = class_weights_by_label(parameters["class_weight"], table)
    parameters = parameters_of(table.task, parameters)
    start_tree = _start_tree(initial_tree, model if parameters["warm_start"] else None)
    places = {
        "model": (model, size_of(table.columns, table.classes)),
        "plot": (plot, PICTURE_SIZE),
        "html": (html, PICTURE_SIZE),
    }
    with reserved((file, checkpoint), **places) as drafts:
        clf = _search(parameters, table, start_tree, checkpoint)
        fitted = Model(clf, table.columns, table.target)
        if "model" in drafts:
            with undisturbed():
                fill(drafts["model"], fitted.to_json().encode())
        if "html" in drafts:
            from contree.export.page import page

            fill(drafts["html"], page(clf, title=table.target))
        if "plot" in drafts:
            fill(drafts["plot"], picture(clf.plot(), plot))
    if not quiet:
        _tell(fitted, table, held, perf_counter() - start, [p for p in (model, plot, html) if p])
    if clf.status_ == "interrupted":
        place = f"kept in '{model}'" if model else "shown above"
        print(f"contree: interrupted; the best tree so far is {place}", file=sys.stderr)
        return 130
    return 0


def _start_tree(initial_tree: str | None, last: str | None) -> Any:
    """Return the estimator in `initial_tree`, else that of the last fit, else None."""
    from contree.cli.model_file import read_model

    if initial_tree is not None:
        return read_model(initial_tree).estimator
    if last is not None:
        from pathlib import Path

        if Path(last).exists():
            return read_model(last).estimator
        note(f"--warm-start: there is no '{last}' yet, so this fit starts without a tree")
    return None


def _search(
    parameters: dict[str, Any], table: Training, start_tree: Any, checkpoint: str | None
) -> Any:
    """Return a fitted estimator; show a live line during the fit."""
    from contree import ConTreeClassifier, ConTreeRegressor
    from contree._progress import live_line

    verbose = parameters["verbose"]
    is_regression = table.task == "regression"
    kind, loss = (
        (ConTreeRegressor, "squared error") if is_regression else (ConTreeClassifier, "errors")
    )
    clf = kind(**{**parameters, "verbose": 0})  # the command prints the summary itself
    with as_user_errors(), live_line(verbose, loss, parameters["search"]) as show:
        clf.fit(
            table.X,
            table.y,
            table.sample_weight,
            callback=show,
            initial_tree=start_tree,
            checkpoint=checkpoint,
        )
    return clf.set_params(verbose=verbose)


def _tell(
    fitted: Model, table: Training, held: Training | None, seconds: float, written: list[str]
) -> None:
    from contree.cli.summary import tell_of_cart, tell_of_holdout, tell_of_proof, tell_of_tree

    clf = fitted.estimator
    click.echo(f"{table.task}: {table.reason}\n")
    tell_of_tree(fitted)
    advice = "" if held else "; for other rows use --holdout 0.2 or contree tune"
    click.echo(f"on the {len(table.y):,} training rows{advice}")
    cart = tell_of_cart(clf, table.X, table.y, table.sample_weight)
    if held is not None:
        click.echo(f"on the {len(held.y):,} rows held out, which neither tree has seen")
        tell_of_holdout(clf, cart, held)
    tell_of_proof(clf)
    click.echo(f"{seconds:.3g} s, of which the search took {clf.search_report_.seconds:.3g} s")
    if written:
        click.echo(f"written: {', '.join(written)}")
