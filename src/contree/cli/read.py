"""A file as a data frame, whatever its format; what is wrong with it is named, with a way out.

pandas, pyarrow and liac-arff read; here their answers are checked for what they let pass: rows that
are too short, names that occur twice, text in an unexpected encoding.
"""

from __future__ import annotations

import codecs
import io
import lzma
import sys
import zlib
from collections import Counter
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from contree.cli.errors import UserError, named, needed, note, one_line

FORMATS = ("csv", "tsv", "parquet", "arff")
BY_NAME = {".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet", ".arff": "arff"}
PACKED = {".gz", ".bz2", ".xz"}
MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
FOREIGN = {
    b"PK\x03\x04": "a zip archive or an Excel workbook: save it as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: save it as CSV",
    b"PAR1": "a Parquet file: add --format parquet",
    b"\xff\xfe": "text in UTF-16: add --encoding utf-16",
    b"\xfe\xff": "text in UTF-16: add --encoding utf-16",
}


@dataclass(frozen=True)
class Reading:
    """How a user wants a file to be read; None and () are for the usual way."""

    format: str | None = None
    delimiter: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    na_values: tuple[str, ...] = ()
    no_header: bool = False


def read_table(source: str, reading: Reading, as_text: tuple[str, ...] = ()):
    """Return a file as a data frame of at least one row, with distinct names that are strings.

    `source` is a path, or ``-`` for standard input.  The columns in `as_text` stay as they are
    written; others become numbers where all their values are.
    """
    pandas = needed("pandas", "reading files")
    shown = "standard input" if source == "-" else f"'{source}'"
    with _opened(source) as file:
        try:
            frame = _frame(pandas, file, reading.format or _format_of(source), reading, as_text)
        except UserError as error:
            raise UserError(f"{shown}: {error.message}") from error
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UserError(f"{shown} is damaged: {reason}") from error
    if len(frame) == 0:
        raise UserError(f"{shown} has names of columns but no rows")
    return frame.copy()  # in one piece for each type: choosing among many columns is slow otherwise


def _frame(pandas, file, kind: str, reading: Reading, as_text: tuple[str, ...]):
    try:
        codecs.lookup(reading.encoding or "utf-8")
    except LookupError as error:
        raise UserError(f"--encoding: {error}; known are utf-8, latin-1, cp1252, ...") from error
    if kind == "parquet":
        return _read_parquet(file)
    if kind == "arff":
        return _read_arff(pandas, file, reading, as_text)
    delimiter = _delimiter(reading, kind)
    _reject_foreign(file, reading)
    return _Text(pandas, file, reading, delimiter, as_text).frame()


@contextmanager
def _opened(source: str):
    """Give a binary file that can be read twice, unpacked."""
    with ExitStack() as stack:
        if source == "-":
            file = io.BytesIO(sys.stdin.buffer.read())
        else:
            try:
                file = stack.enter_context(open(source, "rb"))
                file = file if file.seekable() else io.BytesIO(file.read())  # a pipe: <(command)
            except OSError as error:
                raise UserError(f"cannot read '{source}': {error.strerror}") from error
        head = file.read(8)
        file.seek(0)
        for magic, module in MAGIC.items():
            if head.startswith(magic):
                file = stack.enter_context(needed(module, "unpacking").open(file))
        yield file


def _format_of(source: str) -> str:
    suffixes = [suffix.lower() for suffix in Path(source).suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return BY_NAME.get(suffixes[-1], "csv") if suffixes else "csv"


def _delimiter(reading: Reading, kind: str) -> str:
    delimiter = reading.delimiter or {"csv": ",", "tsv": "\t"}[kind]
    delimiter = {"\\t": "\t", "tab": "\t"}.get(delimiter, delimiter)
    if len(delimiter) != 1:
        raise UserError(f"--delimiter must be one character, or tab; got '{delimiter}'")
    return delimiter


def _reject_foreign(file, reading: Reading) -> None:
    head = file.read(4)
    file.seek(0)
    for magic, what in FOREIGN.items():
        if head.startswith(magic) and not (reading.encoding and "utf-16" in what):
            raise UserError(f"this is {what}")


def _read_parquet(file):
    pyarrow = needed("pyarrow", "reading Parquet")
    parquet = needed("pyarrow.parquet", "reading Parquet")
    try:
        table = parquet.ParquetFile(file).read()
    except pyarrow.ArrowException as error:
        raise UserError(f"not a Parquet file that can be read: {one_line(error)}") from error
    _check_names(table.column_names)
    return table.to_pandas(ignore_metadata=True)


def _read_arff(pandas, file, reading: Reading, as_text: tuple[str, ...]):
    arff = needed("arff", "reading ARFF")
    text = io.TextIOWrapper(file, encoding=reading.encoding or "utf-8-sig")
    try:
        content = arff.load(text)
    except arff.ArffException as error:
        raise UserError(f"not ARFF that can be read: {one_line(error)}") from error
    except UnicodeDecodeError as error:
        raise UserError(
            _encoding_hint(f"byte 0x{error.object[error.start]:02x}", reading)
        ) from error
    finally:
        text.detach()
    names = [name for name, _ in content["attributes"]]
    _check_names(names)
    frame = pandas.DataFrame(content["data"], columns=names).infer_objects()
    for name, kind in content["attributes"]:
        if isinstance(kind, list) and name not in as_text:  # {0, 1} are numbers, as in CSV
            with suppress(ValueError):
                frame[name] = pandas.to_numeric(frame[name])
    return frame


def _check_names(names: list[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        s = "s" * (len(twice) > 1)
        raise UserError(
            f"the column name{s} {named(twice)} occur{'s' * (not s)} more than once: rename "
            "the columns in the file"
        )


def _encoding_hint(what: str, reading: Reading) -> str:
    tried = reading.encoding or "utf-8"
    return f"{what} is not {tried}: add --encoding latin-1, cp1252, utf-16 or what the file is in"


class _Text:
    """A file of delimited text."""

    def __init__(self, pandas, file, reading: Reading, delimiter: str, as_text: tuple[str, ...]):
        self.pandas, self.file, self.reading = pandas, file, reading
        self.delimiter, self.as_text = delimiter, as_text
        self.encoding = reading.encoding or "utf-8-sig"  # with a byte order mark or without

    def frame(self):
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

    def _read(self, names: list[str]):
        """Return what pandas reads, None where it had to drop fields."""
        pandas, reading = self.pandas, self.reading
        exact = {} if _newer(pandas, (3, 1)) else {"float_precision": "round_trip"}
        missing = {"keep_default_na": False, "na_values": [*reading.na_values, ""]}
        import warnings

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

    def _rows(self):
        """Yield each row as a list of fields, and the line on which it ends."""
        import csv

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
        _check_names(names)
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
                return _encoding_hint(
                    f"byte 0x{line[error.start]:02x} in line {number}", self.reading
                )
        return _encoding_hint("the text", self.reading)


def _newer(library, version: tuple[int, int]) -> bool:
    return tuple(int(part) for part in library.__version__.split(".")[:2]) >= version
