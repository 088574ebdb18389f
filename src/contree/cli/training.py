"""A file as training data: its features, its labels and its weights."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from contree.cli.errors import UserError, no_such_column, note
from contree.cli.features import Columns, all_names, learn_columns, split_list, tell_of_missing
from contree.cli.flags import Flag
from contree.cli.labels import MANY, read_labels
from contree.cli.numbers import read_numbers, target_numbers
from contree.cli.read import format_of, read_table
from contree.cli.reading import Reading

if TYPE_CHECKING:
    from contree._typing import Task

TASKS: tuple[Task, ...] = ("classification", "regression")


@dataclass(frozen=True)
class Choice:
    """What a user says of the columns of a table."""

    target: str | None = None  # None is the last column of an ARFF file
    task: Task | None = None
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    numeric: tuple[str, ...] = ()
    sample_weight: str | None = None


@dataclass(frozen=True)
class Training:
    """What an estimator is fitted to."""

    X: Any  # a data frame of numbers and categories
    y: Any  # an array of labels or numbers
    sample_weight: Any  # an array, or None
    columns: Columns
    target: str
    task: Task
    reason: str  # why it is that

    @property
    def classes(self) -> int:
        """The number of classes; 0 for a regression."""
        return len(set(self.y.tolist())) if self.task == "classification" else 0


def training_flags(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the flags of `Choice`, which it gets as one argument `choice`."""

    @wraps(function)  # with the flags that it has already
    def command(**flags: Any) -> Any:
        one_hot = flags.pop("one_hot")
        if one_hot:
            note("--one-hot means --categorical now: a test sends any set of values to one side")
        flags["categorical"] += one_hot
        choice = Choice(**{name: flags.pop(name) for name in (one.name for one in fields(Choice))})
        if choice.target is None and format_of(flags["file"], flags["reading"]) != "arff":
            raise click.UsageError("--target is missing: name the column to predict.")
        return function(**flags, choice=choice)

    columns: dict[str, Any] = {"metavar": "COLUMNS", "multiple": True, "cls": Flag}
    for names, settings in (
        (["--sample-weight"], {"metavar": "COLUMN", "help": "what an error on a row costs"}),
        (["--one-hot"], {**columns, "hidden": True}),
        (["--numeric"], {**columns, "help": "these hold numbers: a,b [by the file]"}),
        (["--categorical"], {**columns, "help": "these hold categories [columns of text]"}),
        (["--drop"], {**columns, "help": "leave columns out: a,b"}),
        (
            ["--task"],
            {
                "metavar": "NAME",
                "type": click.Choice(TASKS),
                "help": f"{' or '.join(TASKS)} [by the target]",
            },
        ),
        (["-t", "--target"], {"metavar": "COLUMN", "help": "what to predict [of ARFF: the last]"}),
    ):
        command = click.option(*names, **{"cls": Flag, **settings})(command)
    return command


def training_table(file: str, reading: Reading, choice: Choice) -> Training:
    """Return the training data in a file."""
    as_text = [choice.target] if choice.target is not None else []
    frame = read_table(file, reading, as_text=(*as_text, *all_names(choice.categorical)))
    names = list(frame.columns)
    target, weight = names[-1] if choice.target is None else choice.target, choice.sample_weight
    if target not in names:
        raise no_such_column(target, names, "--target")
    if weight is not None and weight not in names:
        raise no_such_column(weight, names, "--sample-weight")
    left_out = split_list(choice.drop, names, "--drop")
    categorical = split_list(choice.categorical, names, "--categorical")
    numeric = split_list(choice.numeric, names, "--numeric")
    for name in (target, weight):
        if name in (*left_out, *categorical, *numeric):
            raise UserError(
                f"'{name}' is the target or the weight, so it cannot be in --drop, --categorical "
                "or --numeric too"
            )
    both = sorted(set(categorical) & set(numeric))
    if both:
        raise UserError(f"'{both[0]}' is in --categorical and in --numeric: choose one")
    frame = with_target(frame, target)
    y, task, reason = _target(frame[target], target, choice.task, reading)
    weights = None if weight is None else _weights(frame[weight])
    apart = {*left_out, target, weight}
    frame = frame[[name for name in names if name not in apart]]
    columns = learn_columns(frame, categorical, numeric)
    X = columns.features(frame, training=True)
    tell_of_missing(X)
    return Training(X, y, weights, columns, target, task, reason)


def with_target(frame: Any, target: str) -> Any:
    """Return the rows whose target is there; say how many are not."""
    lacking = frame[target].isna()
    count = int(lacking.sum())
    if count == 0:
        return frame
    if count == len(frame):
        raise UserError(f"--target: '{target}' has no values at all: name another column")
    row = int(lacking.to_numpy().argmax()) + 1
    note(
        f"{count:,} row{'s' * (count != 1)} without '{target}' left out, the first is row {row}; "
        "if a text such as NA is a label, add --na-values ''"
    )
    return frame[~lacking].reset_index(drop=True)


def _target(column: Any, name: str, task: Task | None, reading: Reading) -> tuple[Any, Task, str]:
    """Return what is learnt, the task and its reason: many numbers are a regression.

    A column that the file declares to be categories is a classification.
    """
    declared = column.dtype.name == "category"
    numbers = target_numbers(column, reading)
    distinct = 0 if numbers is None else len(set(numbers))
    measures = numbers is not None and distinct > MANY and not _counts_rows(numbers)
    chosen: Task = task or ("regression" if measures and not declared else "classification")
    other = TASKS[TASKS.index(chosen) - 1]
    if chosen == "regression":
        y = read_numbers(column, name, numbers)
        what = f"{len(set(y.tolist())):,} different numbers"
    else:
        y = read_labels(column, name, sure=task is not None or declared)
        count = len(set(y.tolist()))
        what = f"{count:,} class{'es' * (count != 1)}"
    reason = "as --task says" if task else f"--task {other} overrides"
    return y, chosen, f"'{name}' holds {what}; {reason}"


def _counts_rows(numbers: list[int | float]) -> bool:
    """Tell whether numbers only number the rows: integers in a row, none of them twice."""
    whole = all(isinstance(number, int) for number in numbers)
    return whole and max(numbers) - min(numbers) + 1 == len(set(numbers)) == len(numbers)


def _weights(column: Any) -> Any:
    if column.dtype.kind not in "biuf" or column.isna().any():
        raise UserError(f"--sample-weight: '{column.name}' must hold a number in every row")
    return column.to_numpy()
