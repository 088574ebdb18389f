"""Show a running search to the user's callback and as a live line on a terminal.

The core calls one function in the calling thread; ``observer`` makes that function.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

from contree._objective import Objective
from contree._typing import Number, Observer


@dataclass(frozen=True)
class Progress:
    """The state of a running search at one moment.

    Attributes
    ----------
    seconds : float
        Time since the call of ``fit``.
    objective : int or float
        The objective of the best tree so far, in the unit of errors.
    lower_bound : int or float
        The proved bound so far: no permitted tree has a smaller objective.
    root_closed : float
        The share of the root's thresholds that no better tree can have, from 0 to 1.  It is 0 while
        shallower trees are searched, and always 0 with ``search="paper"``.  It is 1 in the last
        call of a search that ends with a proof.
    """

    seconds: float
    objective: Number
    lower_bound: Number
    root_closed: float

    @property
    def gap(self) -> Number:
        """The difference between the best objective and the bound."""
        return self.objective - self.lower_bound


Callback = Callable[[Progress], object]


@contextmanager
def observer(
    callback: Callback | None, verbose: int, cost: Objective, search: str = ""
) -> Iterator[Observer | None]:
    """Yield the function that the core calls; None without a callback and a live line.

    The function takes the fields of `Progress` in the core's integers.  It returns True to stop the
    search.
    """
    with live_line(verbose, cost.loss, search) as show:
        watchers = [watch for watch in (show, callback) if watch is not None]

        def observe(seconds: float, objective: int, lower_bound: int, root_closed: float) -> bool:
            best, bound = cost.bounds(objective, lower_bound)
            progress = Progress(seconds, best, bound, root_closed)
            answers = [watch(progress) for watch in watchers]
            return bool(answers[-1])

        yield observe if watchers else None


def with_seconds_before(seconds_before: float, observe: Observer | None) -> Observer | None:
    """Return an observer that adds the seconds before the search to the core's; None for None."""
    if observe is None:
        return None
    return lambda seconds, *others: observe(seconds_before + seconds, *others)


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()  # without a console, sys.stderr is None


@contextmanager
def live_line(
    verbose: int, loss: str = "errors", search: str = "best_first"
) -> Iterator[Callable[[Progress], None] | None]:
    """Yield a function that shows a `Progress` on one line of a terminal; None without one.

    `loss` is the name of what is minimised, and `search` the estimator's parameter.

    rich removes the line at the end, however the fit ends.  It moves the output of the user's
    callback above the line.
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
        TextColumn("contree: {task.fields[text]}"),
        BarColumn(bar_width=10),
        TextColumn("{task.fields[stage]}"),
        TextColumn("{task.fields[seconds]:.1f} s"),
        console=Console(stderr=True),
        auto_refresh=False,  # needs no thread: the core calls often enough
        transient=True,
        redirect_stdout=_is_terminal(sys.stdout),  # output to a file must arrive there
    )
    with line:
        line.console.show_cursor(True)  # a killed process would leave it hidden
        task = line.add_task("", total=None, text="sorting the columns", stage="", seconds=0.0)
        line.refresh()

        def show(progress: Progress) -> None:
            best, bound, gap = progress.objective, progress.lower_bound, progress.gap
            text = f"{best} errors, bound {bound}, gap {gap}"
            if loss != "errors":
                text = f"{loss} {best:.6g}, bound {bound:.6g}, gap {gap:.3g}"
            line.update(
                task,
                total=1.0 if progress.root_closed > 0 else None,
                completed=progress.root_closed,
                text=text,
                stage=_stage(progress.root_closed, search),
                seconds=progress.seconds,
                refresh=True,
            )

        yield show


def _stage(root_closed: float, search: str) -> str:
    """Return what the search does, for the live line; a share of nothing would look like a halt."""
    if root_closed == 0:
        return "shallower trees" if search == "best_first" else "searching"
    return f"{100 * root_closed:.1f} % of root" if root_closed >= 0.001 else "<0.1 % of root"


@contextmanager
def bar(verbose: int, total: int, what: str) -> Iterator[Callable[[], None]]:
    """Yield a function to call after each of `total` steps; show a bar on a terminal."""
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
