"""``contree path``: the least loss for each number of leaves, and CART's path beside them."""

from __future__ import annotations

import sys
from typing import Any

import click

from contree.cli.errors import as_user_errors
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

PARAMETERS = (
    "max_depth",
    "max_leaf_nodes",
    "min_samples_leaf",
    "min_weight_fraction_leaf",
    "class_weight",
    "max_gap",
    "time_limit",
    "feature_tolerance",
    "n_jobs",
    "memory_limit",
    "random_state",
    "on_interrupt",
    "search_options",
    "verbose",
)


@click.command(
    cls=Command,
    short_help="the trade-off between size and errors",
    example="contree path data.csv --target income --max-depth 4 --plot path.svg",
)
@reading_flags
@training_flags
@click.option("--plot", metavar="PATH", cls=Flag, help="draw it: .svg, .png or .pdf")
@click.option("-o", "--output", metavar="PATH", cls=Flag, help="write it here, as CSV")
@quiet_flag
@estimator_flags(PARAMETERS)
def path(
    file: str,
    choice: Choice,
    reading: Reading,
    plot: str | None,
    output: str | None,
    quiet: bool,
    **flags: Any,
) -> int:
    """Find the fewest errors, or the least squared error, for each number of leaves, and at which
    --ccp-alpha the best tree changes.
    """
    from contree.cli.labels import class_weights_by_label
    from contree.cli.outputs import PICTURE_SIZE, check_picture, fill, picture, reserved

    parameters = estimator_parameters(flags)
    if quiet:
        parameters["verbose"] = 0
    check_picture(plot, "--plot")
    table = training_table(file, reading, choice)
    parameters["class_weight"] = class_weights_by_label(parameters["class_weight"], table)
    parameters = parameters_of(table.task, parameters)
    with reserved((file,), plot=(plot, PICTURE_SIZE), output=(output, 0)) as drafts:
        from contree import size_error_path

        with as_user_errors():
            found = size_error_path(
                table.X,
                table.y,
                task=table.task,
                sample_weight=table.sample_weight,
                **parameters,
            )
        if "output" in drafts:
            fill(drafts["output"], _csv(found).encode())
        if "plot" in drafts:
            fill(drafts["plot"], picture(found.plot(), plot))
    if not quiet:
        click.echo(f"{table.task}: {table.reason}\n")
        _tell(found, [path for path in (plot, output) if path])
    if found.status == "interrupted":
        print("contree: interrupted; the sizes so far are shown", file=sys.stderr)
        return 130
    return 0


def _csv(found: Any) -> str:
    rows = zip(found.leaves, found.errors, found.lower_bounds, strict=True)
    return "leaves,errors,lower_bound\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows)


def _tell(found: Any, written: list[str]) -> None:
    from contree.export.certificate import permitted_depth
    from contree.export.wording import wording_of

    unit = wording_of(found.trees[-1]).measure()
    click.echo(f"leaves  {unit:>16}  proved")
    for leaves, errors, bound in zip(found.leaves, found.errors, found.lower_bounds, strict=True):
        proved = "optimal" if errors == bound else _bounded(bound)
        click.echo(f"{leaves:>6}  {_number(errors):>16}  {proved}")
    click.echo("\nccp_alpha, from  best size")
    for alpha, leaves in zip(found.ccp_alphas, found.ccp_leaves, strict=True):
        click.echo(f"{alpha:>15.6g}  {leaves:>9}")
    depth = permitted_depth(found.trees[-1])
    click.echo(f"\ntrees of {depth}; {found.status}, {found.seconds:.3g} s")
    if written:
        click.echo(f"written: {', '.join(written)}")


def _bounded(bound: Any) -> str:
    return f"at least {_number(bound)}" if bound > 0 else "nothing yet"


def _number(value: Any) -> str:
    return f"{value:,}" if float(value).is_integer() else f"{value:,.6g}"
