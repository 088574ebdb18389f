"""Files that take their place whole or not at all, however the program ends.

A draft lies beside its target: written, brought to the disk, renamed, which replaces a file in one
step; then the folder is brought to the disk too.  It can be opened long before it is filled, with
room for what will come, so that a folder that cannot be written to, or a full disk, is found out
before the work and not after it.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from contextlib import suppress
from pathlib import Path

TOKEN = 6  # random bytes in a draft's name
LEFT = 600  # seconds after which nobody fills a draft any more that is filled at once


class Draft:
    """A file to come; leaving the ``with`` block without `commit` leaves no trace of it.

    Parameters
    ----------
    path : str or path-like
        Where the file will be.  A link is followed; what is no regular file, such as a pipe or
        ``/dev/stdout``, is written to as it is.
    reserve : int, default=0
        Bytes to keep free for it.
    """

    def __init__(self, path, reserve: int = 0):
        self._draft = None
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
        self._draft = self.target.with_name(_draft_name(self.target.name, secrets.token_hex(TOKEN)))
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
        """Fill the file and put it in its place."""
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
        """Leave nothing behind; what has been committed stays."""
        with suppress(OSError):  # what a full disk did not take is tried once more by close()
            self._file.close()
        if self._draft is not None:
            self._draft.unlink(missing_ok=True)
            self._draft = None

    def __enter__(self) -> Draft:
        return self

    def __exit__(self, *_) -> None:
        self.discard()


def write_whole(path, content: bytes) -> None:
    """Write a file that appears whole or not at all."""
    with Draft(path) as draft:
        draft.commit(content)


def remove_leftovers(path) -> None:
    """Remove the drafts of a file that killed processes have left, of some minutes ago and more."""
    target = Path(os.path.realpath(path))
    of_this = _draft_name(target.name, "")[: -len(".tmp")]
    with suppress(OSError):
        for entry in os.scandir(target.parent):
            token = entry.name.removeprefix(of_this).removesuffix(".tmp")
            ours = entry.name == _draft_name(target.name, token) and len(token) == 2 * TOKEN
            if ours and time.time() - entry.stat().st_mtime > LEFT:
                os.unlink(entry)


def _draft_name(name: str, token: str) -> str:
    # A name may be as long as the file system allows: the draft's must not be longer.
    return f".{name[:40]}.{token}.tmp"


def _mode(path) -> int | None:
    """Return what a path is, None where there is nothing."""
    try:
        return os.stat(path).st_mode
    except FileNotFoundError:
        return None


def _sync_folder(folder: Path) -> None:
    """Bring a rename to the disk; some file systems cannot, and are as they are."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
