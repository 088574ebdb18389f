"""A file as training data: its features, its labels and its weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import click

from contree.cli.errors import UserError, no_such_column
from contree.cli.features import Columns, learn_columns, split_list, tell_of_missing
from contree.cli.flags import Flag
from contree.cli.labels import read_labels
from contree.cli.read import Reading, read_table


@dataclass(frozen=True)
class Training:
    """What an estimator is fitted to."""

    X: object  # a data frame of numbers
    y: object  # an array of labels
    sample_weight: object  # an array, or None
    columns: Columns


def training_flags(function: Callable) -> Callable:
    """Give a command the flags that say which columns are learnt from, and which is learnt."""
    for names, settings in (
        (["--one-hot"], {"multiple": True, "help": "make columns of 0 and 1 out of its values"}),
        (["--drop"], {"multiple": True, "help": "leave columns out: a,b"}),
        (["-t", "--target"], {"required": True, "help": "the column to predict"}),
    ):
        metavar = "COLUMN" if "--target" in names else "COLUMNS"
        function = click.option(*names, metavar=metavar, cls=Flag, **settings)(function)
    return function


def training_table(
    file: str,
    reading: Reading,
    target: str,
    drop: tuple[str, ...],
    one_hot: tuple[str, ...],
    sample_weight: str | None = None,
) -> Training:
    """Return the training data in a file."""
    frame = read_table(file, reading, as_text=(target, *one_hot, *(",".join(one_hot).split(","))))
    names = list(frame.columns)
    if target not in names:
        raise no_such_column(target, names, "--target")
    if sample_weight is not None and sample_weight not in names:
        raise no_such_column(sample_weight, names, "--sample-weight")
    left_out = split_list(drop, names, "--drop")
    chosen = split_list(one_hot, names, "--one-hot")
    for name in (target, sample_weight):
        if name in (*left_out, *chosen):
            raise UserError(
                f"'{name}' is the target or the weight, so it cannot be in --drop or --one-hot too"
            )
    y = read_labels(frame[target], target)
    weights = None if sample_weight is None else _weights(frame[sample_weight])
    apart = {*left_out, target, sample_weight}
    frame = frame[[name for name in names if name not in apart]]
    columns = learn_columns(frame, [name for name in chosen if name not in apart])
    X = columns.features(frame, training=True)
    tell_of_missing(X)
    return Training(X, y, weights, columns)


def _weights(column):
    if column.dtype.kind not in "biuf" or column.isna().any():
        raise UserError(f"--sample-weight: '{column.name}' must hold a number in every row")
    return column.to_numpy()
