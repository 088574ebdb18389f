"""The columns of a table as features: numbers, and categories where a column holds text.

What `fit` decides is kept as `Columns`, so that `predict` does the same with another file.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from contree.cli.errors import UserError, named, no_such_column, note
from contree.cli.hints import column_hints, needs_a_choice
from contree.cli.labels import as_integer, as_words, looks_unique

LARGEST_EXACT = 2**53  # beyond it, neighbouring integers may share one float64
MANY_CATEGORIES = 30  # with more of them in a column, a proof may take long
NUMBERS = "biuf"  # NumPy's letters for bools, integers and floats


@dataclass(frozen=True)
class Columns:
    """From which columns of a table the features come, and how."""

    names: list[str]  # of the features, in their order
    categories: dict[str, tuple[Any, ...]] = field(default_factory=dict)  # of those that have some

    def features(self, frame: Any, training: bool = False) -> Any:
        """Return the features of a table that has all columns; of one to learn from, `training`.

        Numbers are floats; a column of categories has that type.
        """
        if not self.categories:
            return _numbers(frame[self.names], training)
        import pandas

        numbers = [name for name in self.names if name not in self.categories]
        made = {name: _coded(frame[name], known) for name, known in self.categories.items()}
        parts = [_numbers(frame[numbers], training)] if numbers else []
        parts.append(pandas.DataFrame(made, index=frame.index))
        return pandas.concat(parts, axis=1)[self.names]


def split_list(values: tuple[str, ...], names: list[str], flag: str) -> list[str]:
    """Return the columns that a flag names; a value is one name, or several with commas between."""
    known = set(names)
    found: list[str] = []
    for value in values:
        for name in [value] if value in known else value.split(","):
            if name not in known:
                raise no_such_column(name, names, flag)
            found.append(name)
    return found


def all_names(values: tuple[str, ...]) -> list[str]:
    """Return what may be names of columns in a flag: whole, and between commas."""
    return [*values, *(part for value in values for part in value.split(","))]


def learn_columns(frame: Any, categorical: list[str], numeric: list[str]) -> Columns:
    """Return how the columns of a table become features.

    `categorical` and `numeric` are the user's choices; the other columns are what they look like.
    """
    names: list[str] = []
    categories: dict[str, tuple[Any, ...]] = {}
    unclear: dict[str, Any] = {}
    identifiers: list[str] = []
    for name in frame.columns:
        column = frame[name]
        if name in categorical:
            known = _categories(column)
        elif name in numeric or not _holds_text(column):
            known = ()
        elif needs_a_choice(column):
            unclear[name] = column
            continue
        elif _is_identifier(column):
            identifiers.append(name)
            continue
        else:
            known = _categories(column)
        names.append(name)
        if known:
            categories[name] = known
    if unclear:
        raise UserError(column_hints(unclear))
    if not names:
        raise UserError("there is no column left to learn from" + _looks_of(frame, identifiers))
    if identifiers:
        note("left out:" + _looks_of(frame, identifiers)[1:])
    _tell_of_many(categories)
    return Columns(names, categories)


def match_columns(frame: Any, columns: Columns, model: str, expected: set[str | None]) -> None:
    """Check that a table has what a model needs; name what is missing, and what is not used."""
    present = set(frame.columns)
    missing = [name for name in columns.names if name not in present]
    if missing:
        s = "s" * (len(missing) > 1)
        raise UserError(
            f"the file lacks the column{s} {named(missing)}, which the model '{model}' was trained "
            f"with; it has {named(list(frame.columns))}"
        )
    known = {*columns.names, *expected}
    extra = [name for name in frame.columns if name not in known]
    if extra:
        note(f"not used, because the model does not know them: {named(extra)}")


def tell_of_missing(frame: Any) -> None:
    """Name the columns with missing values, and say what becomes of them."""
    counts = frame.isna().to_numpy().sum(axis=0)
    if counts.any():
        lacking = zip(frame.columns, counts, strict=True)
        shown = [f"{name} ({count:,})" for name, count in lacking if count]
        note(
            f"missing values in {named(shown)}: each test sends them to the side where they make "
            "fewer errors; or fill them in beforehand, or leave columns out with --drop"
        )


def _tell_of_many(categories: dict[str, tuple[Any, ...]]) -> None:
    many = {n: len(known) for n, known in categories.items() if len(known) > MANY_CATEGORIES}
    if many:
        shown = named(f"{name} ({count:,})" for name, count in many.items())
        note(
            f"many categories in {shown}: the proof may take long; --time-limit 60 keeps the best "
            "tree so far"
        )


def _holds_text(column: Any) -> bool:
    """Tell whether a column is no number, but text, categories or something else."""
    if column.dtype.kind in NUMBERS:
        return False
    if column.dtype.name == "category" or column.map(lambda one: isinstance(one, str)).any():
        return True
    return _as_numbers(column) is None


def _is_identifier(column: Any) -> bool:
    """Tell whether a column of text names its rows, of which nothing can be learnt."""
    words = as_words(column).dropna()
    return looks_unique(words.nunique(), len(words))


def _looks_of(frame: Any, identifiers: list[str]) -> str:
    """Say why columns are left out, and how to keep them."""
    if not identifiers:
        return ", besides the target and what is left out"
    shown = [f"{name} ({as_words(frame[name]).nunique():,})" for name in identifiers]
    s = "s" * (len(shown) == 1)
    return (
        f": {named(shown)} look{s} like {'an identifier' if s else 'identifiers'}, with nearly as "
        f"many different texts as rows; --categorical keeps {'it' if s else 'them'}"
    )


def _categories(column: Any) -> tuple[Any, ...]:
    """Return the values of a column, sorted: integers if all are written so, else text."""
    words = as_words(column).dropna().unique().tolist()
    numbers = [as_integer(word) for word in words]
    whole = [number for number in numbers if number is not None]
    return tuple(sorted(set(whole) if len(whole) == len(words) else words))


def _coded(column: Any, known: tuple[Any, ...]) -> Any:
    """Return a column as categories; a value that is not known becomes a missing one."""
    import numpy as np
    import pandas

    code_of = {str(value): code for code, value in enumerate(known)}
    numbers, words = pandas.factorize(as_words(column))
    codes = [code_of.get(word, code_of.get(str(as_integer(word)), -1)) for word in words]
    strange = [word for word, code in zip(words, codes, strict=True) if code < 0]
    if strange:
        note(
            f"'{column.name}' has values that training did not: {named(strange)}; they go where "
            "missing values go"
        )
    return pandas.Categorical.from_codes(
        np.array([*codes, -1]).take(numbers),  # -1, which is missing, takes the last
        categories=pandas.Index(known, dtype=None if known else object),
    )


def _numbers(frame: Any, training: bool) -> Any:
    """Return a table of numbers only; columns that are none are named, with what can be done."""
    import numpy as np
    import pandas

    kinds = frame.dtypes
    bad = [name for name, kind in kinds.items() if kind.kind not in NUMBERS]
    if bad:
        converted = {name: _as_numbers(frame[name]) for name in bad}
        strange = {name: frame[name] for name in bad if converted[name] is None}
        if strange:
            raise UserError(column_hints(strange, "--numeric" if training else "the model"))
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
    return pandas.DataFrame(values, columns=frame.columns, index=frame.index)  # one array


def _as_numbers(column: Any) -> Any:
    """Return a column of another type as numbers if all of it is: decimals, digits as text."""
    import pandas

    if column.dtype.kind != "O":  # dates
        return None
    try:
        numbers = pandas.to_numeric(column.astype(object))
    except (ValueError, TypeError):
        return None
    return numbers if numbers.dtype.kind in NUMBERS else None
