"""``contree evaluate``: how well a model does on rows whose classes or numbers are known."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import click

from contree.cli.errors import (
    UserError,
    as_user_errors,
    named,
    no_such_column,
    note,
    one_line,
)
from contree.cli.features import match_columns
from contree.cli.flags import Command, Flag, model_flag, reading_flags
from contree.cli.labels import as_integer, as_words
from contree.cli.numbers import read_numbers, target_numbers
from contree.cli.read import read_table
from contree.cli.reading import Reading
from contree.cli.training import with_target

if TYPE_CHECKING:
    from contree.cli.model_file import Model


@click.command(
    cls=Command,
    short_help="accuracy or R² on a file with known answers",
    example="contree evaluate --model tree.json test.csv",
)
@reading_flags
@model_flag
@click.option("-t", "--target", metavar="COLUMN", cls=Flag, help="the true answers [as in fit]")
@click.option("--train", metavar="PATH", cls=Flag, help="the training file, to show CART beside")
@click.option("--json", "as_json", is_flag=True, cls=Flag, help="print JSON, for programs")
def evaluate(
    file: str, model: str, target: str | None, train: str | None, as_json: bool, reading: Reading
) -> int:
    """Compare a model's predictions with the classes or numbers in FILE."""
    from contree.cli.model_file import read_model
    from contree.cli.summary import for_cart

    known = read_model(model)
    target = target or known.target
    if target is None:
        raise UserError(f"'{model}' does not say which column it predicts: add --target")
    figures_of = _of_classes if hasattr(known.estimator, "classes_") else _of_numbers
    X, truth = _rows(file, reading, known, model, target)
    figures = figures_of(known.estimator, known.estimator, X, truth, target, reading)
    if train is not None:
        cart = _cart(train, reading, known, model, target)
        values = for_cart(known.estimator, X)
        figures["cart"] = figures_of(known.estimator, cart, values, truth, target, reading)
    if as_json:
        click.echo(json.dumps(figures))
    elif figures_of is _of_numbers:
        click.echo(_text_of_numbers(figures))
    else:
        click.echo(_text(figures))
    return 0


def _rows(file: str, reading: Reading, known: Model, model: str, target: str) -> tuple[Any, Any]:
    """Return the features and the column of answers in a file."""
    frame = read_table(file, reading, as_text=(target, *known.columns.categories))
    if target not in frame.columns:
        raise no_such_column(target, list(frame.columns), "--target")
    match_columns(frame, known.columns, model, expected={target})
    frame = with_target(frame, target)
    return known.columns.features(frame), frame[target]


def _cart(train: str, reading: Reading, known: Model, model: str, target: str) -> Any:
    """Return CART's tree of the training file, with the parameters of the model."""
    from contree.cli.labels import read_labels
    from contree.cli.summary import cart_like, for_cart

    X, column = _rows(train, reading, known, model, target)
    if hasattr(known.estimator, "classes_"):
        y = read_labels(column, target)
    else:
        y = read_numbers(column, target, target_numbers(column, reading))
    with as_user_errors():
        return cart_like(known.estimator).fit(for_cart(known.estimator, X), y)


def _of_classes(
    estimator: Any, predictor: Any, X: Any, column: Any, target: str, _: Reading
) -> dict[str, Any]:
    import numpy as np

    truth = _truth(column, target, estimator.classes_)
    predicted = np.asarray(predictor.predict(X))
    return _figures(truth, _spelled(predicted, predicted.dtype).to_numpy(dtype=object))


def _of_numbers(
    _: Any, predictor: Any, X: Any, column: Any, target: str, reading: Reading
) -> dict[str, Any]:
    from contree.cli.summary import regression_figures

    truth = read_numbers(column, target, target_numbers(column, reading))
    return {"rows": len(truth), **regression_figures(truth, predictor.predict(X))}


def _text_of_numbers(figures: dict[str, Any]) -> str:
    from contree.cli.summary import regression_table

    rows = {"contree": figures} | ({"CART": figures["cart"]} if "cart" in figures else {})
    return f"rows {figures['rows']:,}\n\n{regression_table(rows)}"


def _spelled(words: Any, labels: Any) -> Any:
    """Return labels of a type as text, 1.0 and 1 alike where they are numbers."""
    import pandas

    words = pandas.Series([str(word) for word in words], dtype=object)
    if labels.kind not in "iuf":
        return words
    numbers = {word: as_integer(word) for word in words.unique()}
    return words.map({word: word if n is None else str(n) for word, n in numbers.items()})


def _truth(column: Any, name: str, classes: Any) -> Any:
    """Return the true labels as text; labels that the model never saw are counted as errors."""
    words = _spelled(as_words(column), classes.dtype)
    classes = list(_spelled(classes, classes.dtype))
    strange = sorted(set(words.unique()) - set(classes))
    if len(strange) == words.nunique():
        raise UserError(
            f"--target: no label of '{name}' is a class of the model: it has {named(strange)}, "
            f"the model {named(classes)}"
        )
    if strange:
        note(f"labels that the model never saw, so it cannot be right there: {named(strange)}")
    return words.to_numpy(dtype=object)  # str of NumPy's own would cut off zero bytes


def _figures(truth: Any, predicted: Any) -> dict[str, Any]:
    import numpy as np
    from sklearn.metrics import accuracy_score, precision_recall_fscore_support, recall_score

    labels = sorted({*truth.tolist(), *predicted.tolist()}, key=_in_order)
    code_of = {label: code for code, label in enumerate(labels)}
    true, given = ([code_of[label] for label in one] for one in (truth, predicted))
    codes = list(range(len(labels)))
    columns = precision_recall_fscore_support(true, given, labels=codes, zero_division=0.0)
    matrix = np.zeros((len(labels), len(labels)), dtype=int)
    np.add.at(matrix, (true, given), 1)
    return {
        "rows": len(truth),
        "errors": int((truth != predicted).sum()),
        "accuracy": accuracy_score(true, given),
        "balanced_accuracy": recall_score(
            true, given, labels=sorted(set(true)), average="macro", zero_division=0.0
        ),
        "labels": labels,
        "confusion_matrix": matrix.tolist(),
        "classes": {
            label: {
                "precision": float(precision),
                "recall": float(recall),
                "f1": float(f1),
                "rows": int(rows),
            }
            for label, precision, recall, f1, rows in zip(labels, *columns, strict=True)
        },
    }


def _in_order(label: str) -> tuple[int, float, str]:
    try:
        return (0, float(label), label)
    except ValueError:
        return (1, 0.0, label)


def _text_of_cart(figures: dict[str, Any]) -> list[str]:
    if "cart" not in figures:
        return []
    cart = figures["cart"]
    return [
        f"accuracy of CART   {cart['accuracy']:>10.4f}",
        f"balanced, of CART  {cart['balanced_accuracy']:>10.4f}",
    ]


def _text(figures: dict[str, Any]) -> str:
    lines = [
        f"rows               {figures['rows']:>10,}",
        f"errors             {figures['errors']:>10,}",
        f"accuracy           {figures['accuracy']:>10.4f}",
        f"balanced accuracy  {figures['balanced_accuracy']:>10.4f}",
        *_text_of_cart(figures),
        "",
        "true class down, predicted class across",
    ]
    labels, matrix = [one_line(label) for label in figures["labels"]], figures["confusion_matrix"]
    head_width = max(map(len, labels), default=0)
    widths = [
        max(len(label), *(len(f"{row[k]:,}") for row in matrix)) for k, label in enumerate(labels)
    ]

    def line(head: str, cells: Iterable[Any]) -> str:
        padded = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        return f"{head:<{head_width}}  {'  '.join(padded)}"

    lines.append(line("", labels))
    lines += [
        line(label, [f"{count:,}" for count in row])
        for label, row in zip(labels, matrix, strict=True)
    ]
    lines += ["", f"{'':<{head_width}}  precision  recall      f1        rows"]
    lines += [
        f"{label:<{head_width}}  {one['precision']:>9.4f}  {one['recall']:.4f}  {one['f1']:.4f}"
        f"  {one['rows']:>10,}"
        for label, one in zip(labels, figures["classes"].values(), strict=True)
    ]
    return "\n".join(lines)
