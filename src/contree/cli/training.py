"""A file as training data: its features, its labels and its weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from contree.cli.errors import UserError, no_such_column
from contree.cli.features import Columns, learn_columns, split_list, tell_of_missing
from contree.cli.flags import Flag
from contree.cli.labels import MANY, read_labels
from contree.cli.numbers import read_numbers, target_numbers
from contree.cli.read import Reading, read_table

TASKS = ("classification", "regression")


@dataclass(frozen=True)
class Training:
    """What an estimator is fitted to."""

    X: Any  # a data frame of numbers
    y: Any  # an array of labels or numbers
    sample_weight: Any  # an array, or None
    columns: Columns
    task: str  # "classification" or "regression"
    reason: str  # why it is that

    @property
    def classes(self) -> int:
        """The number of classes; 0 for a regression."""
        return len(set(self.y.tolist())) if self.task == "classification" else 0


def training_flags(function: Callable) -> Callable:
    """Give a command the flags that say which columns are learnt from, and which is learnt."""
    for names, settings in (
        (["--one-hot"], {"multiple": True, "help": "make columns of 0 and 1 out of its values"}),
        (["--drop"], {"multiple": True, "help": "leave columns out: a,b"}),
        (
            ["--task"],
            {"type": click.Choice(TASKS), "help": f"{' or '.join(TASKS)} [by the target]"},
        ),
        (["-t", "--target"], {"required": True, "help": "the column to predict"}),
    ):
        metavar = {"--task": "NAME", "-t": "COLUMN"}.get(names[0], "COLUMNS")
        function = click.option(*names, metavar=metavar, cls=Flag, **settings)(function)
    return function


def training_table(
    file: str,
    reading: Reading,
    target: str,
    drop: tuple[str, ...],
    one_hot: tuple[str, ...],
    sample_weight: str | None = None,
    task: str | None = None,
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
    y, task, reason = _target(frame[target], target, task, reading)
    weights = None if sample_weight is None else _weights(frame[sample_weight])
    apart = {*left_out, target, sample_weight}
    frame = frame[[name for name in names if name not in apart]]
    columns = learn_columns(frame, [name for name in chosen if name not in apart])
    X = columns.features(frame, training=True)
    tell_of_missing(X)
    return Training(X, y, weights, columns, task, reason)


def _target(column: Any, name: str, task: str | None, reading: Reading) -> tuple[Any, str, str]:
    """Return what is learnt, the task and its reason: many numbers are a regression."""
    numbers = target_numbers(column, reading)
    distinct = 0 if numbers is None else len(set(numbers))
    measures = numbers is not None and distinct > MANY and not _counts_rows(numbers)
    chosen = task or ("regression" if measures else "classification")
    other = TASKS[TASKS.index(chosen) - 1]
    if chosen == "regression":
        y = read_numbers(column, name, numbers)
        what = f"{len(set(y.tolist())):,} different numbers"
    else:
        y = read_labels(column, name, sure=task is not None)
        what = f"{len(set(y.tolist())):,} classes"
    reason = "as --task says" if task else f"--task {other} overrides"
    return y, chosen, f"'{name}' holds {what}; {reason}"


def _counts_rows(numbers: list[int | float]) -> bool:
    """Tell whether numbers only number the rows: integers in a row, none of them twice."""
    whole = all(isinstance(number, int) for number in numbers)
    return whole and max(numbers) - min(numbers) + 1 == len(set(numbers)) == len(numbers)


def _weights(column):
    if column.dtype.kind not in "biuf" or column.isna().any():
        raise UserError(f"--sample-weight: '{column.name}' must hold a number in every row")
    return column.to_numpy()
