"""A file as a data frame, whatever its format; what is wrong with it is named, with a way out.

Here is what all formats share: opening, unpacking, and telling which format it is.
"""

from __future__ import annotations

import io
import lzma
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from contree.cli.arff import read_arff
from contree.cli.delimited import Delimited
from contree.cli.errors import UserError, needed, one_line
from contree.cli.reading import Reading, check_names

FORMATS = ("csv", "tsv", "parquet", "arff")
BY_NAME = {".tsv": "tsv", ".tab": "tsv", ".parquet": "parquet", ".pq": "parquet", ".arff": "arff"}
BETWEEN = {"csv": ",", "tsv": "\t"}
PACKED = {".gz", ".bz2", ".xz"}
MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
FOREIGN = {
    b"PK\x03\x04": "a zip archive or an Excel workbook: save it as CSV",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook: save it as CSV",
    b"PAR1": "a Parquet file: add --format parquet",
    b"\xff\xfe": "text in UTF-16: add --encoding utf-16",
    b"\xfe\xff": "text in UTF-16: add --encoding utf-16",
}


def read_table(source: str, reading: Reading, as_text: tuple[str, ...] = ()) -> Any:
    """Return a file as a data frame of at least one row, with distinct names that are strings.

    `source` is a path, or ``-`` for standard input.  The columns in `as_text` stay as they are
    written; others become numbers where all their values are.  A column of categories has that
    type if the file says so.
    """
    pandas = needed("pandas", "reading files")
    shown = "standard input" if source == "-" else f"'{source}'"
    with _opened(source) as file:
        try:
            frame = _frame(pandas, file, format_of(source, reading), reading, as_text)
        except UserError as error:
            raise UserError(f"{shown}: {error.message}") from error
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UserError(f"{shown} is damaged: {reason}") from error
    if len(frame) == 0:
        raise UserError(f"{shown} has names of columns but no rows")
    return frame.copy()  # in one piece for each type: choosing among many columns is slow otherwise


def _frame(
    pandas: Any, file: IO[bytes], kind: str, reading: Reading, as_text: tuple[str, ...]
) -> Any:
    if kind == "parquet":
        return _read_parquet(file)
    _reject_foreign(file, reading)
    if kind == "arff":
        return read_arff(pandas, file, reading, as_text)
    return Delimited(pandas, file, reading, reading.delimiter or BETWEEN[kind], as_text).frame()


@contextmanager
def _opened(source: str) -> Iterator[IO[bytes]]:
    """Give a binary file that can be read twice, unpacked."""
    file: IO[bytes]
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


def format_of(source: str, reading: Reading) -> str:
    """Return the format that a user names, else the one that the name of the file says."""
    if reading.format is not None:
        return reading.format
    suffixes = [suffix.lower() for suffix in Path(source).suffixes]
    if suffixes and suffixes[-1] in PACKED:
        suffixes.pop()
    return BY_NAME.get(suffixes[-1], "csv") if suffixes else "csv"


def _reject_foreign(file: IO[bytes], reading: Reading) -> None:
    head = file.read(4)
    file.seek(0)
    for magic, what in FOREIGN.items():
        if head.startswith(magic) and not (reading.encoding and "utf-16" in what):
            raise UserError(f"this is {what}")


def _read_parquet(file: IO[bytes]) -> Any:
    pyarrow = needed("pyarrow", "reading Parquet")
    parquet = needed("pyarrow.parquet", "reading Parquet")
    try:
        table = parquet.ParquetFile(file).read()
    except pyarrow.ArrowException as error:
        raise UserError(f"not a Parquet file that can be read: {one_line(error)}") from error
    check_names(table.column_names)
    return table.to_pandas(ignore_metadata=True)
