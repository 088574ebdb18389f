"""ARFF, the format of Weka, as a data frame whose types are what the header says.

Files in use are looser than the description of the format.  Types have ranges, as in ``integer
[1,10]``.  Rows have blanks or tabs between their values, a comma or a comment at the end.  Lists of
values take several lines.  What Weka reads, and some of what it refuses, is read here.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any, NoReturn

from contree.cli.errors import UserError, named, note, one_line
from contree.cli.reading import Reading, check_names, encoding_hint

NUMBERS = {"numeric", "real", "integer", "int", "float", "double", "continuous"}

SINGLE = r"'((?:[^'\\]|\\.|'')*+)'"
DOUBLE = r'"((?:[^"\\]|\\.|"")*+)"'
# One value and the blanks around it; groups 1 and 2 are quoted.
BEFORE_COMMA = re.compile(rf"\s*(?:{SINGLE}|{DOUBLE}|([^,]*))\s*(?=,|%|$)")
BEFORE_BLANK = re.compile(rf"[\s,]*(?:{SINGLE}|{DOUBLE}|([^\s,]+))(?=[\s,%]|$)")
PAIR = re.compile(rf"\s*(\d{{1,9}})\s+(?:{SINGLE}|{DOUBLE}|([^,]*))\s*(?=,|$)")
KEYWORD = re.compile(r"@(attribute|data)(?!\w)", re.IGNORECASE)
NAME = re.compile(rf"\s*(?:{SINGLE}|{DOUBLE}|([^\s{{]+))")
LIST_END = re.compile(r"\}\s*(?:\{[\d.]*\}\s*)?(?:%.*)?$")
SPARSE = re.compile(r"\{(.*?)\}\s*(?:,\s*(\{[\d.]+\})\s*)?(?:%.*)?$")
WEIGHT = re.compile(r"\{\s*[\d.]+\s*\}")
COMMENT = re.compile(r"\s%|^%(?=\s|$)")
ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)|''|\"\"")
ESCAPED = {"n": "\n", "r": "\r", "t": "\t"}

Lines = Iterator[tuple[int, str]]  # with their numbers in the file
Row = list[str | None]  # one text for each value; None is missing


@dataclass(frozen=True)
class Attribute:
    """What the header says of a column."""

    name: str
    kind: str  # "numeric", "nominal", "string" or "date"
    values: tuple[str, ...] = ()  # of a nominal one

    @property
    def default(self) -> str | None:
        """What a sparse row means where it says nothing."""
        return {"numeric": "0", "nominal": self.values[0] if self.values else None}.get(self.kind)


def read_arff(pandas: Any, file: IO[bytes], reading: Reading, as_text: tuple[str, ...]) -> Any:
    """Return a data frame: floats, categories for lists of values, text, and dates.

    Numbers in the columns `as_text` stay text.
    """
    text = io.TextIOWrapper(
        file,
        encoding=reading.encoding or "utf-8-sig",
        errors="surrogateescape",  # comments may be in any encoding
    )
    try:
        lines = _lines(text, reading)
        attributes, first = _header(lines)
        rows, numbers = _rows(lines, first, attributes)
    except UnicodeError as error:
        raise UserError(encoding_hint("the text", reading)) from error
    finally:
        text.detach()
    missing = set(reading.na_values)
    columns = {}
    for number, attribute in enumerate(attributes):
        words = [None if row[number] in missing else row[number] for row in rows]
        columns[attribute.name] = _column(pandas, attribute, words, numbers, as_text)
    return pandas.DataFrame(columns)


def _lines(text: io.TextIOWrapper, reading: Reading) -> Lines:
    """Yield the lines that hold something."""
    for number, line in enumerate(text, 1):
        line = line.strip()
        if not line or line.startswith("%"):
            continue
        if not line.isascii():
            strange = [letter for letter in line if "\udc80" <= letter <= "\udcff"]
            if strange:
                byte = f"byte 0x{ord(strange[0]) - 0xDC00:02x} in line {number}"
                raise UserError(encoding_hint(byte, reading))
        yield number, line


def _header(lines: Lines) -> tuple[list[Attribute], tuple[int, str]]:
    """Return the attributes, and what stands behind @data in its line."""
    attributes: list[Attribute] = []
    for number, line in lines:
        keyword = KEYWORD.match(line)
        if keyword is None:
            continue  # @relation, and what has no meaning here
        rest = line[keyword.end() :].strip()
        if keyword[1].casefold() == "attribute":
            attributes.append(_attribute(number, rest, lines, len(attributes) + 1))
        else:
            if not attributes:
                raise UserError("the header has no @attribute line, so there are no columns")
            check_names([attribute.name for attribute in attributes])
            return attributes, (number, "" if rest.startswith("%") else rest)
    raise UserError("there is no line @data, so this is not ARFF, or the file is torn")


def _attribute(line: int, text: str, lines: Lines, position: int) -> Attribute:
    name = NAME.match(text)
    if name is None:
        raise UserError(f"line {line}: write @attribute, a name and a type")
    called = _value(name) or f"column {position}"
    kind = text[name.end() :].strip()
    if kind.startswith("{"):
        return Attribute(called, "nominal", _values_of(line, called, kind, lines))
    word = re.match(r"\w*", kind)
    said = word[0].casefold() if word else ""
    if said in NUMBERS:
        return Attribute(called, "numeric")
    if said in ("string", "date"):
        return Attribute(called, said)
    shown = f"line {line}: the attribute '{one_line(called)[:60]}'"
    if said == "relational":
        raise UserError(
            f"{shown} is relational, a table in each row: make it plain columns first, as Weka's "
            "filter MultiInstanceToPropositional does"
        )
    raise UserError(
        f"{shown} has the type '{one_line(kind)[:30]}': write numeric, string, date or a list "
        "such as {red, blue}"
    )


def _values_of(line: int, name: str, kind: str, lines: Lines) -> tuple[str, ...]:
    """Return the values in a list, which may go on in the next lines."""
    while (end := LIST_END.search(kind)) is None:
        _, more = next(lines, (0, "@"))
        if more.startswith("@"):
            raise UserError(
                f"line {line}: the list of values of '{one_line(name)[:60]}' has no }} at its end"
            )
        kind = f"{kind} {more}"
    inner = kind[1 : end.start()]
    by_comma = _split(line, inner, BEFORE_COMMA)
    found = by_comma if len(by_comma) > 1 else _split(line, inner, BEFORE_BLANK)
    return tuple(dict.fromkeys(value for value in found if value is not None))


def _rows(
    lines: Lines, first: tuple[int, str], attributes: list[Attribute]
) -> tuple[list[Row], list[int]]:
    """Return the rows and the line of each."""
    rows, numbers, weights = [], [], 0
    for number, line in _and_first(first, lines):
        row, weighted = (_sparse if line.startswith("{") else _dense)(number, line, attributes)
        rows.append(row)
        numbers.append(number)
        weights += weighted
    if weights:
        note(
            f"the weights in braces behind {weights:,} rows are not used: make them a column, and "
            "name it with --sample-weight"
        )
    return rows, numbers


def _and_first(first: tuple[int, str], lines: Lines) -> Lines:
    if first[1]:
        yield first
    yield from lines


def _dense(number: int, line: str, attributes: list[Attribute]) -> tuple[Row, bool]:
    """Return the values of a row, and whether it has a weight."""
    count, weighted = len(attributes), False
    row = _split(number, line, BEFORE_COMMA)
    if len(row) == count + 1 and row[-1] is None:
        row.pop()  # a comma at the end
    if len(row) == count + 1 and WEIGHT.fullmatch(row[-1] or ""):
        weighted = bool(row.pop())
    if len(row) != count:
        by_blank = _split(number, line, BEFORE_BLANK)
        if len(by_blank) != count:
            raise UserError(
                f"line {number} has {len(row)} value{'s' * (len(row) != 1)}, the header has "
                f"{count} attribute{'s' * (count != 1)}: mend the line, or quote values that hold "
                "commas"
            )
        row = by_blank
    return row, weighted


def _sparse(number: int, line: str, attributes: list[Attribute]) -> tuple[Row, bool]:
    """Return the values of a row that names positions, from 0; others have their default."""
    whole = SPARSE.match(line)
    row = [attribute.default for attribute in attributes]
    position = 0
    while whole and whole[1].strip() and position <= len(whole[1]):
        pair = PAIR.match(whole[1], position)
        if pair is None or int(pair[1]) >= len(row):
            whole = None
        else:
            row[int(pair[1])] = _value(pair, 2)
            position = pair.end() + 1
    if whole is None:
        raise UserError(
            f"line {number}: a sparse row has pairs of a position from 0 to {len(row) - 1} and a "
            "value, such as {0 5, 3 red}"
        )
    return row, whole[2] is not None


def _split(number: int, line: str, field: re.Pattern[str]) -> Row:
    """Return the values in a line, of which a comment may be the end."""
    if field is BEFORE_COMMA and not ("'" in line or '"' in line or "%" in line):  # nearly always
        words = [word.strip() for word in line.split(",")]
        return [None if word in ("?", "") else word for word in words]
    found: Row = []
    position = 0
    while position <= len(line):
        match = field.match(line, position)
        if match is None:
            break
        plain = match[3]
        if plain is not None and plain.startswith(("'", '"')):
            _open_quote(number)
        comment = None if plain is None else COMMENT.search(plain)
        if comment and plain is not None:
            before = plain[: comment.start()].strip()
            if before or field is BEFORE_COMMA:
                found.append(None if before in ("?", "") else before)
            break
        found.append(_value(match))
        if line[match.end() : match.end() + 1] == "%":
            break
        position = match.end() + 1
    return found


def _open_quote(number: int) -> NoReturn:
    raise UserError(
        f"line {number}: a quotation mark is opened and not closed at the end of the value: write "
        "\\' for a quotation mark in a value"
    )


def _value(match: re.Match[str], first: int = 1) -> str | None:
    """Return the value of a match whose groups from `first` on are quoted, quoted and plain."""
    quoted = match[first] if match[first] is not None else match[first + 1]
    if quoted is not None:
        return ESCAPE.sub(_unescaped, quoted)
    plain: str = match[first + 2].strip()
    return None if plain in ("?", "") else plain


def _unescaped(match: re.Match[str]) -> str:
    letter = match[1]
    if letter is None:  # a quotation mark, written twice
        return match[0][0]
    return chr(int(letter[1:], 16)) if len(letter) > 1 else ESCAPED.get(letter, letter)


def _column(
    pandas: Any, attribute: Attribute, words: Row, lines: list[int], as_text: tuple[str, ...]
) -> Any:
    """Return the values of a column in the type of its attribute."""
    if attribute.kind == "nominal":
        declared = dict.fromkeys(attribute.values)
        words = [None if word == "?" and word not in declared else word for word in words]
        strange = dict.fromkeys(w for w in words if w is not None and w not in declared)
        if strange:
            note(f"'{attribute.name}' has values that its header lacks: {named(strange)}")
        return pandas.Categorical(words, categories=[*declared, *strange])
    if attribute.kind == "date" and attribute.name not in as_text:
        dates = pandas.Series(words, dtype=object)
        return pandas.to_datetime(dates, errors="coerce", format="mixed", utc=True)
    if attribute.kind == "numeric" and attribute.name not in as_text:
        return _numbers(attribute.name, words, lines)
    return pandas.Series(words, dtype=object)


def _numbers(name: str, words: Row, lines: list[int]) -> list[float]:
    try:
        return [math.nan if word is None else _number(word) for word in words]
    except ValueError:
        for word, line in zip(words, lines, strict=True):
            try:
                _number(word or "0")
            except ValueError:
                shown, column = one_line(str(word))[:30], one_line(name)[:60]
                raise UserError(
                    f"line {line}: '{column}' is numeric and has '{shown}': add --na-values "
                    f"'{shown}' if that means missing, or --categorical '{column}'"
                ) from None
        raise


def _number(word: str) -> float:
    if "_" in word:  # which float() passes over
        raise ValueError(word)
    return math.nan if word in ("?", "") else float(word)  # quoted ones
