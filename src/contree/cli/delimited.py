"""Delimited text as a data frame; what is wrong with it is named, with a way out.

pandas reads; here its answer is checked for what it lets pass: rows that are too short or too long,
names that are missing or occur twice, text in an unexpected encoding.
"""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Generator
from typing import IO, Any

from contree.cli.errors import UserError, note, one_line
from contree.cli.reading import Reading, check_names, encoding_hint


class Delimited:
    """A file of delimited text."""

    def __init__(
        self,
        pandas: Any,
        file: IO[bytes],
        reading: Reading,
        delimiter: str,
        as_text: tuple[str, ...],
    ) -> None:
        self.pandas, self.file, self.reading = pandas, file, reading
        self.delimiter, self.as_text = delimiter, as_text
        self.encoding = reading.encoding or "utf-8-sig"  # with a byte order mark or without

    def frame(self) -> Any:
        """Return the table; every row has as many fields as the first has names."""
        names = self._names()
        try:
            frame = self._read(names)
        except self.pandas.errors.ParserError as error:
            self._reject_ragged(len(names))
            text = one_line(error).removeprefix("Error tokenizing data. C error: ")
            if "EOF inside string" in text:
                text += ": a quotation mark is opened and never closed"
            raise UserError(text) from error
        except UnicodeError as error:
            raise UserError(self._undecodable()) from error
        if frame is None or (len(frame) and frame.iloc[:, -1].isna().any()):
            self._reject_ragged(len(names))  # pandas fills what a short row lacks
        return frame

    def _read(self, names: list[str]) -> Any:
        """Return what pandas reads, None where it had to drop fields."""
        pandas, reading = self.pandas, self.reading
        exact = {} if _newer(pandas, (3, 1)) else {"float_precision": "round_trip"}
        missing = {"keep_default_na": False, "na_values": [*reading.na_values, ""]}
        with warnings.catch_warnings():
            warnings.simplefilter("error", pandas.errors.ParserWarning)
            self.file.seek(0)
            try:
                return pandas.read_csv(
                    self.file,
                    sep=self.delimiter,
                    header=None if reading.no_header else 0,
                    names=names,
                    index_col=False,
                    dtype=dict.fromkeys(set(self.as_text) & set(names), "str"),
                    encoding=self.encoding,
                    decimal=reading.decimal or ".",
                    thousands=reading.thousands,
                    low_memory=False,
                    **(missing if reading.na_values else {}),
                    **exact,
                )
            except pandas.errors.ParserWarning:
                return None
            except (ValueError, TypeError) as error:
                if isinstance(error, (pandas.errors.ParserError, UnicodeError)):
                    raise
                raise UserError(one_line(error)) from error

    def _rows(self) -> Generator[tuple[list[str], int], None, None]:
        """Yield each row as a list of fields, and the line on which it ends."""
        self.file.seek(0)
        text = io.TextIOWrapper(self.file, encoding=self.encoding, newline="")
        csv.field_size_limit(2**31 - 1)
        reader = csv.reader(text, delimiter=self.delimiter)
        try:
            for row in reader:
                if row:
                    yield row, reader.line_num
        except csv.Error as error:
            raise UserError(f"line {reader.line_num}: {error}") from error
        except UnicodeError as error:
            raise UserError(self._undecodable()) from error
        finally:
            text.detach()

    def _names(self) -> list[str]:
        rows = self._rows()
        first, _ = next(rows, ([], 0))
        rows.close()
        if not any(field.strip() for field in first):
            raise UserError("the file is empty")
        if len(first) == 1:
            self._hint_delimiter(first[0])
        if self.reading.no_header:
            return [str(number) for number in range(1, len(first) + 1)]
        nameless = [number for number, name in enumerate(first, 1) if not name.strip()]
        names = [name if name.strip() else f"column {i}" for i, name in enumerate(first, 1)]
        check_names(names)
        if nameless:
            note(
                f"column {', '.join(map(str, nameless[:5]))} has no name; if it numbers the rows, "
                f"leave it out with --drop 'column {nameless[0]}'"
            )
        return names

    def _hint_delimiter(self, header: str) -> None:
        for other, said in (("\t", "tab"), (";", "';'"), ("|", "'|'"), (",", ",")):
            if other != self.delimiter and other in header:
                raise UserError(
                    f"there is one column only, '{one_line(header)[:60]}'; if it is several, "
                    f"add --delimiter {said}"
                )

    def _reject_ragged(self, width: int) -> None:
        for row, line in self._rows():
            if len(row) != width:
                raise UserError(
                    f"line {line} has {len(row)} field{'s' * (len(row) != 1)}, the first line "
                    f"has {width}: mend the line, or quote fields that hold the delimiter"
                )

    def _undecodable(self) -> str:
        """Say where the text is not in its encoding."""
        self.file.seek(0)
        for number, line in enumerate(self.file, 1):
            try:
                line.decode(self.encoding)
            except UnicodeDecodeError as error:
                return encoding_hint(
                    f"byte 0x{line[error.start]:02x} in line {number}", self.reading
                )
        return encoding_hint("the text", self.reading)


def _newer(library: Any, version: tuple[int, int]) -> bool:
    return tuple(int(part) for part in library.__version__.split(".")[:2]) >= version
