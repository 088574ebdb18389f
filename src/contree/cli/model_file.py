"""Model files: an estimator's JSON, and beside it how a table becomes its features.

The member ``table`` is an object with ``target``, the name of the column that is predicted.
`from_json` of the estimator reads the rest, with the categories.  Here a file without ``table`` is
read too, as ``to_json()`` writes it.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from contree.cli.errors import UserError, as_user_errors
from contree.cli.features import Columns
from contree.export.json_check import damaged


@dataclass(frozen=True)
class Model:
    """An estimator and the table it comes from."""

    estimator: Any
    columns: Columns
    target: str | None = None

    def to_json(self) -> str:
        data = json.loads(self.estimator.to_json())
        return json.dumps({**data, "table": {"target": self.target}}) + "\n"


def size_of(columns: Columns, classes: int) -> int:
    """Return room that a model file will hardly exceed, in bytes."""
    texts = [*columns.names, *(str(c) for known in columns.categories.values() for c in known)]
    return (1 << 16) + 4 * sum(len(text.encode()) + 8 for text in texts) + 256 * classes


def read_model(path: str) -> Model:
    """Return the model in a file, ``-`` for standard input; runs no code from it."""
    from contree.export.json import read_any

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
            target = _target(json.loads(text).get("table"))
    except UserError as error:
        raise UserError(
            f"'{path}': {error.message} Write it anew with 'contree fit --model'."
        ) from error
    return Model(estimator, columns_of(estimator), target)


def columns_of(estimator: Any) -> Columns:
    """Return the columns that an estimator was fitted to."""
    names = list(estimator.feature_names_in_)
    known = estimator.categories_ or [None] * len(names)
    found = {name: one for name, one in zip(names, known, strict=True) if one is not None}
    return Columns(names, found)


def _target(table: Any) -> str | None:
    """Return the name of the target out of what a file says of its table, checked."""
    if table is None:
        return None
    if not isinstance(table, dict):
        raise damaged("table must be an object")
    target = table.get("target")
    if not (target is None or isinstance(target, str)):
        raise damaged("table.target must be a string or null")
    return target
