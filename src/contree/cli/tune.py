"""``contree tune``: depth and size by cross-validation, and the curve as a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from contree._parameters import OF_EVERY_FOLD
from contree.cli.errors import Interrupted, as_user_errors
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
from contree.cli.training import Choice, training_flags, training_table

if TYPE_CHECKING:
    from contree.cli.model_file import Model


@click.command(
    cls=Command,
    short_help="choose depth and size by cross-validation",
    example="contree tune data.csv --target income --plot curve.svg --model m.json",
)
@reading_flags
@training_flags
@click.option(
    "--cv", type=click.IntRange(2), metavar="N", cls=Flag, help="N folds [five splits, 80 to 20]"
)
@click.option(
    "--scoring", metavar="NAME", cls=Flag, help="the score to choose by [accuracy, or R²]"
)
@click.option(
    "--one-standard-error", is_flag=True, cls=Flag, help="the smallest tree that is nearly best"
)
@click.option(
    "--random-state", type=int, default=0, metavar="N", cls=Flag, help="of the five splits [0]"
)
@click.option("--model", metavar="PATH", cls=Flag, help="write the chosen tree here, as JSON")
@click.option("--plot", metavar="PATH", cls=Flag, help="draw the curve: .svg, .png or .pdf")
@quiet_flag
@estimator_flags(
    ("max_depth", "max_leaf_nodes", *OF_EVERY_FOLD, "n_jobs", "verbose"),
    max_depth="the largest depth to try",
    max_leaf_nodes="the largest number of leaves to try",
    time_limit="when each search stops with its best tree so far",
    n_jobs="processes: none is 1, -1 all processors",
)
def tune(
    file: str,
    choice: Choice,
    reading: Reading,
    model: str | None,
    plot: str | None,
    quiet: bool,
    **flags: Any,
) -> int:
    """Choose depth and number of leaves for FILE by cross-validation, and fit that tree to all
    rows.

    --max-depth and --max-leaf-nodes are the greatest values to try.
    """
    from contree.cli.labels import class_weights_by_label
    from contree.cli.model_file import Model, size_of
    from contree.cli.outputs import PICTURE_SIZE, check_picture, fill, picture, reserved

    parameters = estimator_parameters(flags)
    if parameters["max_depth"] is None:
        raise click.UsageError("--max-depth must be a number: it is the greatest depth to try.")
    for name in ("cv", "scoring", "one_standard_error", "random_state"):
        parameters[name] = flags[name]
    if quiet:
        parameters["verbose"] = 0
    check_picture(plot, "--plot")
    table = training_table(file, reading, choice)
    parameters["class_weight"] = class_weights_by_label(parameters["class_weight"], table)
    parameters = parameters_of(table.task, parameters)
    room = size_of(table.columns, table.classes)
    with reserved((file,), model=(model, room), plot=(plot, PICTURE_SIZE)) as drafts:
        from contree import ConTreeClassifierCV, ConTreeRegressorCV

        kind = ConTreeRegressorCV if table.task == "regression" else ConTreeClassifierCV
        search = kind(**parameters)
        try:
            with as_user_errors():
                search.fit(table.X, table.y, table.sample_weight)
        except KeyboardInterrupt:
            raise Interrupted(
                "before depth and size were chosen and that tree was found: nothing is written; "
                "--time-limit is for each search, --max-depth for all"
            ) from None
        fitted = Model(search.best_estimator_, table.columns, table.target)
        if "model" in drafts:
            fill(drafts["model"], fitted.to_json().encode())
        if "plot" in drafts:
            fill(drafts["plot"], picture(search.plot_scores(), plot))
    if not quiet:
        click.echo(f"{table.task}: {table.reason}\n")
        _tell(search, fitted, [path for path in (model, plot) if path])
    return 0


def _tell(search: Any, fitted: Model, written: list[str]) -> None:
    from contree.cli.summary import tell_of_proof, tell_of_tree
    from contree.export.scores import standard_errors

    results = search.cv_results_
    errors = standard_errors(results, search.n_splits_)
    click.echo(f"Mean score on the rows held out, over {search.n_splits_} folds:\n")
    click.echo(f"depth  leaves  {search.scoring or search._default_score:>9}  standard error")
    for number, one in enumerate(results["params"]):
        click.echo(
            f"{one['max_depth']:>5}  {one['max_leaf_nodes']:>6}  "
            f"{results['mean_test_score'][number]:>9.4f}  {errors[number]:>14.4f}"
            + "  chosen"
            * (number == search.best_index_)
        )
    chosen = search.best_params_
    click.echo(
        f"\nThe tree fitted to all rows, with --max-depth {chosen['max_depth']} "
        f"--max-leaf-nodes {chosen['max_leaf_nodes']}:\n"
    )
    tell_of_tree(fitted)
    tell_of_proof(fitted.estimator)
    if written:
        click.echo(f"written: {', '.join(written)}")
