"""``--holdout``: rows that a fit does not see, and how well the tree does on them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from contree.cli.errors import UserError
from contree.cli.training import Training


def hold_out(table: Training, share: float, seed: int) -> tuple[Training, Training]:
    """Return the rows to learn from and the rows held out, drawn by a seed.

    The classes have the same shares in both parts, unless a class is too rare for that.
    """
    from sklearn.model_selection import train_test_split

    count = len(table.y)
    held = round(share * count)
    if not 0 < held < count:
        raise UserError(
            f"--holdout {share:g} of {count} rows leaves one part without rows: "
            "choose another share, or give more rows"
        )
    rows = list(range(count))
    classes = Counter(table.y.tolist()) if table.task == "classification" else None
    can_stratify = classes and min(classes.values()) > 1 and len(classes) <= min(held, count - held)
    kept, held_rows = train_test_split(
        rows, test_size=held, random_state=seed, stratify=table.y if can_stratify else None
    )
    return _rows(table, sorted(kept)), _rows(table, sorted(held_rows))


def _rows(table: Training, rows: list[int]) -> Training:
    weights = None if table.sample_weight is None else table.sample_weight[rows]
    return replace(table, X=table.X.iloc[rows], y=table.y[rows], sample_weight=weights)
