"""How a running search is shown: to the caller's function, and as a live line on a terminal.

The core calls back in the calling thread; ``observer`` makes the one function that it calls.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from contree._objective import LeafCost


@dataclass(frozen=True)
class Progress:
    """A moment of a running search.

    Attributes
    ----------
    seconds : float
        Since the call of fit.
    objective : int or float
        Of the best tree so far, in the unit of errors.
    lower_bound : int or float
        Proved so far: no permitted tree has a smaller objective.
    root_closed : float
        The share of all thresholds of the root that can no longer be in a better tree, from 0 to 1.
        It is 0 while shallower trees are searched, and with ``search="paper"``; 1 in the last call
        of a search that has proved what it shall.
    """

    seconds: float
    objective: int | float
    lower_bound: int | float
    root_closed: float

    @property
    def gap(self) -> int | float:
        """What is left between the best tree and the bound."""
        return self.objective - self.lower_bound


@contextmanager
def observer(
    callback: Callable[[Progress], object] | None, verbose: int, cost: LeafCost
) -> Iterator:
    """Give the function that the core calls; None where nobody looks.

    It takes the fields of `Progress` as the core counts them, and answers whether the search shall
    stop.
    """
    with live_line(verbose) as show:
        watchers = [watch for watch in (show, callback) if watch is not None]

        def observe(seconds, objective, lower_bound, root_closed) -> bool:
            best, bound = cost.bounds(objective, lower_bound)
            progress = Progress(seconds, best, bound, root_closed)
            answers = [watch(progress) for watch in watchers]
            return bool(answers[-1])

        yield observe if watchers else None


def with_seconds_before(seconds_before: float, observe):
    """Return an observer that adds the seconds before the search to the core's; None for None."""
    if observe is None:
        return None
    return lambda seconds, *others: observe(seconds_before + seconds, *others)


def _is_terminal(stream) -> bool:
    return stream is not None and stream.isatty()  # Python without a console has no streams


@contextmanager
def live_line(verbose: int) -> Iterator[Callable[[Progress], None] | None]:
    """Give a function that shows a progress on one line of the terminal, or None without one.

    rich takes the line away in the end, whatever ends the fit, and moves what the caller's own
    function prints above it.
    """
    if not verbose or not _is_terminal(sys.stderr):
        yield None
        return
    try:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn
        from rich.progress import Progress as Line
    except ImportError:
        yield None
        return
    line = Line(  # fits 80 columns with numbers of five digits
        TextColumn("contree: {task.fields[said]}"),
        BarColumn(bar_width=10),
        TextColumn("{task.percentage:.1f} % of root"),
        TextColumn("{task.fields[seconds]:.1f} s"),
        console=Console(stderr=True),
        auto_refresh=False,  # no thread of its own: the core calls often enough
        transient=True,
        redirect_stdout=_is_terminal(sys.stdout),  # what goes to a file shall arrive there
    )
    with line:
        line.console.show_cursor(True)  # a process that is killed would leave it hidden
        task = line.add_task("", total=1.0, said="sorting the columns", seconds=0.0)
        line.refresh()

        def show(progress: Progress) -> None:
            best, bound = progress.objective, progress.lower_bound
            said = f"{best} errors, bound {bound}, gap {progress.gap}"
            line.update(
                task,
                completed=progress.root_closed,
                said=said,
                seconds=progress.seconds,
                refresh=True,
            )

        yield show


@contextmanager
def bar(verbose: int, total: int, what: str) -> Iterator[Callable[[], None]]:
    """Give a function to call after each of `total` steps; on a terminal a bar shows them."""
    if not verbose or not _is_terminal(sys.stderr):
        yield lambda: None
        return
    try:
        from rich.console import Console
        from rich.progress import Progress as Bar
    except ImportError:
        yield lambda: None
        return
    steps = Bar(console=Console(stderr=True), transient=True, redirect_stdout=False)
    with steps:
        task = steps.add_task(f"contree: {what}", total=total)
        yield lambda: steps.advance(task)
