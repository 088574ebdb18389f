"""The columns of a table as features: which are left out, which become columns of 0 and 1.

What `fit` decides is kept as `Columns`, so that `predict` does the same with another file.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from contree.cli.errors import UserError, named, no_such_column, note
from contree.cli.hints import text_hints
from contree.cli.labels import as_words

LARGEST_EXACT = 2**53  # beyond it, neighbouring integers may share one float64
MOST_VALUES = 1000  # columns that one --one-hot may make


@dataclass(frozen=True)
class Columns:
    """From which columns of a table the features come, and how."""

    names: list[str]  # of the features, in their order
    one_hot: dict[str, list[str]] = field(default_factory=dict)  # column: its values, sorted

    @property
    def sources(self) -> list[str]:
        """The columns that a table must have, in the order of the features."""
        column_of = {
            _feature(column, value): column
            for column, values in self.one_hot.items()
            for value in values
        }
        return list(dict.fromkeys(column_of.get(name, name) for name in self.names))

    def features(self, frame, training: bool = False):
        """Return the features of a table that has all sources; of one to learn from, `training`."""
        if not self.one_hot:
            return _numbers(frame[self.names], training)
        parts = {}
        for column in self.sources:
            if column in self.one_hot:
                parts.update(_indicators(frame[column], self.one_hot[column]))
            else:
                parts[column] = frame[column]
        return _numbers(frame.__class__(parts)[self.names], training)


def split_list(values: tuple[str, ...], names: list[str], flag: str) -> list[str]:
    """Return the columns that a flag names; a value is one name, or several with commas between."""
    known, found = set(names), []
    for value in values:
        for name in [value] if value in known else value.split(","):
            if name not in known:
                raise no_such_column(name, names, flag)
            found.append(name)
    return found


def learn_columns(frame, one_hot: list[str]) -> Columns:
    """Return how the columns of a table become features, each of its columns one or several."""
    values = {column: _values(frame[column]) for column in one_hot}
    names = []
    for column in frame.columns:
        made = [_feature(column, value) for value in values.get(column, [])]
        names += made if column in values else [column]
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise UserError(f"--one-hot makes columns that exist already: {named(twice)}: rename them")
    if not names:
        raise UserError(
            "there is no column left to learn from, besides the target and what is left out"
        )
    return Columns(names, values)


def match_columns(frame, columns: Columns, model: str, expected: set[str]) -> None:
    """Check that a table has what a model needs; name what is missing, and what is not used."""
    present, needed = set(frame.columns), columns.sources
    missing = [name for name in needed if name not in present]
    if missing:
        s = "s" * (len(missing) > 1)
        raise UserError(
            f"the file lacks the column{s} {named(missing)}, which the model '{model}' was trained "
            f"with; it has {named(list(frame.columns))}"
        )
    known = {*needed, *expected}
    extra = [name for name in frame.columns if name not in known]
    if extra:
        note(f"not used, because the model does not know them: {named(extra)}")


def tell_of_missing(frame) -> None:
    """Name the columns with missing values, and say what becomes of them."""
    counts = frame.isna().to_numpy().sum(axis=0)
    if counts.any():
        lacking = zip(frame.columns, counts, strict=True)
        shown = [f"{name} ({count:,})" for name, count in lacking if count]
        note(
            f"missing values in {named(shown)}: each test sends them to the side where they make "
            "fewer errors; or fill them in beforehand, or leave columns out with --drop"
        )


def _feature(column: str, value: str) -> str:
    return f"{column}={value}"


def _values(column) -> list[str]:
    found = sorted(as_words(column).dropna().unique())
    if len(found) > MOST_VALUES:
        raise UserError(
            f"--one-hot: '{column.name}' has {len(found):,} different values, as "
            f"{named(found, 2)}, and at most {MOST_VALUES:,} become columns: --drop it instead"
        )
    if not found:
        raise UserError(f"--one-hot: '{column.name}' has no values at all: --drop it instead")
    return found


def _indicators(column, values: list[str]) -> dict:
    """Return a column of 0 and 1 for each value; missing where the value is."""
    words = as_words(column)
    lacking = words.isna()
    strange = sorted(set(words.dropna().unique()) - set(values))
    if strange:
        note(f"'{column.name}' has values that training did not: {named(strange)}; all are 0 there")
    made = {_feature(column.name, value): (words == value).astype("int8") for value in values}
    if lacking.any():
        made = {name: one.astype("float64").mask(lacking) for name, one in made.items()}
    return made


def _numbers(frame, training: bool):
    """Return a table of numbers only; columns that are none are named, with what can be done."""
    import numpy as np
    import pandas

    kinds = frame.dtypes
    if any(kind.kind not in "biuf" for kind in set(kinds)):
        bad = [name for name, kind in kinds.items() if kind.kind not in "biuf"]
        converted = {name: _whole_or_none(frame[name]) for name in bad}
        strange = {name: frame[name] for name in bad if converted[name] is None}
        if strange:
            raise UserError(text_hints(strange, training))
        frame = frame.assign(**converted)
    values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    infinite = list(frame.columns[np.isinf(values).any(axis=0)])
    if infinite:
        raise UserError(
            f"there are infinite numbers in {named(infinite)}: replace them in the file"
            + ", or leave columns out with --drop" * training
        )
    if np.fmax.reduce(np.abs(values), axis=None, initial=0) >= LARGEST_EXACT:
        return frame  # integers keep their type, so that the estimator can tell which are lost
    return pandas.DataFrame(values, columns=frame.columns)  # one array, not one for each column


def _whole_or_none(column):
    """Return a column of objects as numbers if all of them are, such as decimals of Parquet."""
    import pandas

    if column.dtype.kind != "O" or column.map(lambda value: isinstance(value, str)).any():
        return None
    try:
        numbers = pandas.to_numeric(column)
    except (ValueError, TypeError):
        return None
    return numbers if numbers.dtype.kind in "biuf" else None
