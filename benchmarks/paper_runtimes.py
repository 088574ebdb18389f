"""Run times in seconds that the paper states for ConTree, to quote where a peer is not run.

Depth 3 and 4: Table "runtime_depth34"; depth 5 and 6: the appendix.  Measured by its authors on
their machine.  `skin` there is another sample of the same size.
"""

from __future__ import annotations

FOUR_HOURS = 4 * 3600.0

RUNTIMES = {
    #            depth 3   depth 4   depth 5   depth 6
    "avila": ("24", "4195", "> 4h", "> 4h"),
    "bank": ("< 0.1", "< 0.1", "< 0.1", "< 0.1"),
    "bean": ("61", "> 4h", "> 4h", "> 4h"),
    "bidding": ("2", "5", "10", "< 0.1"),
    "eeg": ("136", "> 4h", "> 4h", "> 4h"),
    "fault": ("55", "12331", "> 4h", "> 4h"),
    "htru": ("74", "> 4h", "> 4h", "> 4h"),
    "magic": ("60", "> 4h", "> 4h", "> 4h"),
    "occupancy": ("0.4", "17", "119", "34"),
    "page": ("2", "499", "> 4h", "> 4h"),
    "raisin": ("0.5", "65", "1199", "180"),
    "rice": ("12", "2215", "> 4h", "> 4h"),
    "room": ("1", "44", "7", "2"),
    "segment": ("2", "191", "3715", "483"),
    "skin": ("10", "211", "1705", "> 4h"),
    "wilt": ("0.1", "0.3", "< 0.1", "< 0.1"),
}


def quoted(dataset: str, depth: int) -> str | None:
    """Return the paper's figure as printed, or None if it has none."""
    row = RUNTIMES.get(dataset)
    return row[depth - 3] if row and 3 <= depth <= 6 else None


def at_least(figure: str | None) -> float:
    """Return a number of seconds that a printed figure is not below, for deciding what to run."""
    if figure is None or figure.startswith("<"):
        return 0.0
    return FOUR_HOURS if figure.startswith(">") else float(figure)
