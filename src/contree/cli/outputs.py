"""Files that a command writes: their places are taken before the work, and filled after it."""

from __future__ import annotations

import io
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from contree._draft import Draft
from contree.cli.errors import UserError, needed

PICTURE_SIZE = 1 << 20  # bytes that a picture or a page of a tree hardly exceeds
PICTURES = (".svg", ".png", ".pdf")


@contextmanager
def reserved(
    sources: tuple[str | None, ...], **places: tuple[str | None, int]
) -> Iterator[dict[str, Draft]]:
    """Give a draft for each path that is not None; an error here is one before the search.

    What is read, `sources`, is never written over, nor one output over another.
    """
    with ExitStack() as stack:
        drafts = {}
        taken = {os.path.realpath(path) for path in sources if path is not None}
        for name, (path, size) in places.items():
            if path is not None:
                _reject_twice(path, taken)
                try:
                    drafts[name] = stack.enter_context(Draft(path, reserve=size))
                except OSError as error:
                    raise _not_written(path, error) from error
        yield drafts


def _reject_twice(path: str, taken: set[str]) -> None:
    real = os.path.realpath(path)
    if real in taken and not (os.path.exists(path) and not os.path.isfile(path)):
        raise UserError(f"'{path}' is used twice in this command: choose another place")
    taken.add(real)


def fill(draft: Draft, content: bytes) -> None:
    try:
        draft.commit(content)
    except OSError as error:
        raise _not_written(draft.target, error) from error


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let no impatient second Ctrl-C keep a tree from the disk."""
    names = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(name, signal.SIG_IGN) for name in names]
    try:
        yield
    finally:
        for name, handler in zip(names, before, strict=True):
            signal.signal(name, handler)


def _not_written(path: object, error: OSError) -> UserError:
    return UserError(f"cannot write '{path}': {error.strerror}: choose another place")


def check_picture(path: str | None, flag: str) -> None:
    """Refuse a picture that cannot be drawn, before there is anything to draw."""
    if path is None:
        return
    needed("matplotlib", flag)
    if Path(path).suffix.lower() not in PICTURES:
        raise UserError(f"{flag}: '{path}' must end in {', '.join(PICTURES)}")


def picture(axes: Any, path: str | None) -> bytes:
    """Return a drawing as the content of a file, of the kind that its name says.

    The same drawing gives the same bytes.
    """
    import matplotlib
    import matplotlib.pyplot as plt

    buffer = io.BytesIO()
    kind = Path(path or ".svg").suffix.lower().removeprefix(".")
    dates: dict[str, dict[str, Any]] = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}
    with matplotlib.rc_context({"svg.hashsalt": "contree"}):
        axes.figure.savefig(buffer, format=kind, metadata=dates.get(kind, {}), dpi=150)
    plt.close(axes.figure)
    return buffer.getvalue()
