"""Model files: an estimator's JSON, and beside it how a table becomes its features.

The member ``table`` is an object: ``target``, the name of the column that is predicted, and
``one_hot``, a list of objects with a ``column`` and its ``values``.  `from_json` of the estimator
reads the rest; here a file without ``table`` is read too, as ``to_json()`` writes it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contree.cli.errors import UserError, as_user_errors
from contree.cli.features import Columns


@dataclass(frozen=True)
class Model:
    """An estimator and the table it comes from."""

    estimator: Any
    columns: Columns
    target: str | None = None

    def to_json(self) -> str:
        one_hot = [{"column": c, "values": v} for c, v in self.columns.one_hot.items()]
        data = json.loads(self.estimator.to_json())
        return json.dumps({**data, "table": {"target": self.target, "one_hot": one_hot}}) + "\n"


def size_of(columns: Columns, classes: int) -> int:
    """Return room that a model file will hardly exceed, in bytes."""
    names = sum(len(name.encode()) + 8 for name in columns.names)
    return (1 << 16) + 4 * names + 256 * classes


def read_model(path: str) -> Model:
    """Return the model in a file, ``-`` for standard input; runs no code from it."""
    from contree.export.json import read_any
    from contree.export.json_check import damaged

    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"cannot read the model '{path}': {error.strerror}") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UserError(f"'{path}' is no model: it is not text") from error
    try:
        with as_user_errors():
            estimator = read_any(text)
            names = getattr(estimator, "feature_names_in_", None)
            if names is None:
                raise damaged("it has no feature_names, by which columns are matched")
            target, one_hot = _table(json.loads(text).get("table"), list(names), damaged)
    except UserError as error:
        raise UserError(
            f"'{path}': {error.message} Write it anew with 'contree fit --model'."
        ) from error
    return Model(estimator, Columns(list(names), one_hot), target)


def _table(table, names: list[str], damaged) -> tuple[str | None, dict]:
    """Return the target and the values of the columns of 0 and 1, checked."""
    if table is None:
        return None, {}
    if not isinstance(table, dict):
        raise damaged("table must be an object")
    target, one_hot = table.get("target"), table.get("one_hot", [])
    if not (target is None or isinstance(target, str)):
        raise damaged("table.target must be a string or null")
    if not isinstance(one_hot, list):
        raise damaged("table.one_hot must be a list")
    features, found = set(names), {}
    for entry in one_hot:
        column, values = (
            (entry.get("column"), entry.get("values")) if isinstance(entry, dict) else (None, None)
        )
        if not (
            isinstance(column, str)
            and column not in found
            and isinstance(values, list)
            and values
            and all(isinstance(value, str) for value in values)
            and all(f"{column}={value}" in features for value in values)
        ):
            raise damaged(
                "table.one_hot must hold objects with a column and its values, each of which is "
                "a feature"
            )
        found[column] = values
    return target, found
