"""``contree predict``: a class or a number for each row of a file, as CSV."""

from __future__ import annotations

import sys

import click

from contree.cli.errors import UserError, named
from contree.cli.features import all_names, match_columns, split_list
from contree.cli.flags import Command, Flag, model_flag, reading_flags
from contree.cli.read import read_table
from contree.cli.reading import Reading


@click.command(
    cls=Command,
    short_help="predict the rows of a file",
    example="contree predict --model tree.json new.csv > predictions.csv",
)
@reading_flags
@model_flag
@click.option("--proba", is_flag=True, cls=Flag, help="add each class's share in the leaf")
@click.option(
    "--keep", metavar="COLUMNS", multiple=True, cls=Flag, help="copy columns of FILE: id,name"
)
@click.option("-o", "--output", metavar="PATH", cls=Flag, help="write here [standard output]")
def predict(
    file: str,
    model: str,
    proba: bool,
    keep: tuple[str, ...],
    output: str | None,
    reading: Reading,
) -> int:
    """Predict a class or a number for each row of FILE; columns are found by name."""
    from contree.cli.model_file import read_model
    from contree.cli.outputs import fill, reserved

    with reserved((file, model), output=(output, 0)) as drafts:
        known = read_model(model)
        frame = read_table(file, reading, as_text=(*known.columns.categories, *all_names(keep)))
        copied = split_list(keep, list(frame.columns), "--keep")
        match_columns(frame, known.columns, model, expected={known.target, *copied})
        clf, X = known.estimator, known.columns.features(frame)
        made = {"prediction": clf.predict(X)}
        if proba and not hasattr(clf, "classes_"):
            raise UserError("--proba: this model predicts numbers, which have no probabilities")
        if proba:
            names = [f"probability of {label}" for label in clf.classes_]
            made.update(zip(names, clf.predict_proba(X).T, strict=True))
        twice = [name for name in copied if name in made]
        if twice:
            raise UserError(f"--keep: {named(twice)} would be there twice: rename it in the file")
        answer = frame[copied].assign(**made)
        content = answer.to_csv(index=False).encode()
        if drafts:
            fill(drafts["output"], content)
        else:
            sys.stdout.buffer.write(content)
    return 0
