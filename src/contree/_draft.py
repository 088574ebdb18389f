"""Files that appear whole or not at all, however the program ends.

A draft is a temporary file in the folder of its target.  `commit` writes the draft, syncs it to the
disk, renames it to the target in one step, and syncs the folder.  A program can open a draft, and
reserve space for it, before a long computation.  So a read-only folder or a full disk raises an
error at once.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from contextlib import suppress
from pathlib import Path

StrPath = str | os.PathLike[str]

TOKEN_BYTES = 6  # random bytes in a draft's name
LEFTOVER_SECONDS = 600  # an older draft was left by a killed process


class Draft:
    """A file to be written; without `commit`, the ``with`` block removes it at its end.

    Parameters
    ----------
    path : str or path-like
        The target.  A link is followed.  A pipe or a device, such as ``/dev/stdout``, is written to
        directly.
    reserve : int, default=0
        Bytes to reserve on the disk.
    """

    def __init__(self, path: StrPath, reserve: int = 0) -> None:
        self._draft: Path | None = None
        mode = _mode(path)
        if mode is not None and not stat.S_ISREG(mode):
            if stat.S_ISDIR(mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            self.target = Path(path)
            self._file = open(path, "wb")  # noqa: SIM115 (closed by commit or discard)
            return
        self.target = Path(os.path.realpath(path))
        if mode is not None and not os.access(self.target, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        self._draft = self.target.with_name(
            _draft_name(self.target.name, secrets.token_hex(TOKEN_BYTES))
        )
        try:
            self._file = open(self._draft, "xb")  # noqa: SIM115
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
        try:
            if mode is not None:
                os.chmod(self._draft, stat.S_IMODE(mode))
            if reserve and hasattr(os, "posix_fallocate"):
                self._reserve(reserve)
        except BaseException:
            self.discard()
            raise

    def _reserve(self, size: int) -> None:
        try:
            os.posix_fallocate(self._file.fileno(), 0, size)
        except OSError as error:
            if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOSYS):
                raise OSError(error.errno, error.strerror, str(self.target)) from None

    def commit(self, content: bytes) -> None:
        """Write the content and rename the draft to its target."""
        try:
            self._file.write(content)
            self._file.flush()
            if self._draft is not None:
                self._file.truncate()
                os.fsync(self._file.fileno())
            self._file.close()
            if self._draft is not None:
                os.replace(self._draft, self.target)
                self._draft = None
                _sync_folder(self.target.parent)
        except BaseException as error:
            self.discard()
            if isinstance(error, OSError) and error.errno is not None:  # name the file
                raise OSError(error.errno, error.strerror, str(self.target)) from None
            raise

    def discard(self) -> None:
        """Remove the draft; a committed file stays."""
        with suppress(OSError):  # on a full disk, close() writes the rest and fails again
            self._file.close()
        if self._draft is not None:
            self._draft.unlink(missing_ok=True)
            self._draft = None

    def __enter__(self) -> Draft:
        return self

    def __exit__(self, *_: object) -> None:
        self.discard()


def write_whole(path: StrPath, content: bytes) -> None:
    """Write a file, whole or not at all."""
    with Draft(path) as draft:
        draft.commit(content)


def remove_leftovers(path: StrPath) -> None:
    """Remove old drafts of a file that killed processes have left."""
    target = Path(os.path.realpath(path))
    of_this = _draft_name(target.name, "")[: -len(".tmp")]
    with suppress(OSError):
        for entry in os.scandir(target.parent):
            token = entry.name.removeprefix(of_this).removesuffix(".tmp")
            ours = entry.name == _draft_name(target.name, token) and len(token) == 2 * TOKEN_BYTES
            if ours and time.time() - entry.stat().st_mtime > LEFTOVER_SECONDS:
                os.unlink(entry)


def _draft_name(name: str, token: str) -> str:
    # A target's name may have the greatest length that the file system allows.
    return f".{name[:40]}.{token}.tmp"


def _mode(path: StrPath) -> int | None:
    """Return the mode of a path, or None if it does not exist."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _sync_folder(folder: Path) -> None:
    """Sync a rename to the disk; file systems that cannot do this are ignored."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
