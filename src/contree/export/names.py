"""How names and sets of categories fit in little room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

LONGEST = 88  # characters of a name in a box
JOINTS = "_./-"  # after which a long name may be broken
MARKS = set(",{}'\"…")  # categories with these are quoted


def shortened(name: str, most: int = LONGEST) -> str:
    """Return a name of at most so many characters: a longer one keeps its beginning and its end.

    Long names often differ at the end only.
    """
    if len(name) <= most:
        return name
    end = most // 2
    return f"{name[: most - end - 1]}…{name[-end:]}"


def category_word(category: Any) -> str:
    """Return a category as text; quoted if it could be taken for something else."""
    text = str(category)
    if text.strip() == text != "" and text.isprintable() and not MARKS & set(text):
        return text
    return repr(text) if isinstance(category, str) else " ".join(text.split())


def set_words(categories: Sequence[Any], most: int | None = None) -> str:
    """Return a set in words, of at most about so many characters; None: whole."""
    words = [category_word(one) for one in categories]
    if most is not None:
        words = [shortened(word, most) for word in words]
    shown = len(words)
    while most is not None and shown > 1 and len(", ".join(words[:shown])) > most:
        shown -= 1
    rest = len(words) - shown
    return "{" + ", ".join([*words[:shown], *([f"… {rest} more"] if rest else [])]) + "}"
