"""What a notebook shows of a fitted estimator: its tree and its certificate."""

from __future__ import annotations

from html import escape
from typing import Any

from contree.export.certificate import certificate
from contree.export.markup import asset, legend_markup, tree_markup
from contree.export.wording import wording_of

OPEN_LEVELS = 4  # deeper tests start folded, so that a cell stays small


def notebook_html(estimator: Any) -> str:
    """Return a piece of HTML, with its style and without any script."""
    wording = wording_of(estimator)
    return (
        f"<style>{asset('tree.css')}</style>"
        '<div class="contree">'
        f'<p class="ct-certificate"><code>{escape(repr(estimator))}</code>: '
        f"{escape(certificate(estimator))}</p>"
        f"{tree_markup(wording, OPEN_LEVELS, titles=True)}{legend_markup(wording)}</div>"
    )
