"""The history of a search as a small SVG chart: the best tree and the proved bound over time."""

from __future__ import annotations

import math

from contree._report import SearchReport
from contree.export.wording import amount

WIDTH, HEIGHT = 520, 180
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 14, 34
BEST, BOUND = "#D55E00", "#0072B2"


def history_chart(report: SearchReport, said: str = "errors") -> str:
    """Return the chart, or a sentence where there is no history."""
    history = report.history
    if not history:
        return "<p>The search kept no history.</p>"
    end = max(report.seconds, history[-1].seconds, 1e-9)
    start = max(min(history[0].seconds, end / 2), 1e-9)
    log = end / start > 20  # most happens early: a second axis mark would hide it
    most = history[0].objective or 1

    def x(seconds: float) -> float:
        if log:
            share = math.log(max(seconds, start) / start) / math.log(end / start)
        else:
            share = seconds / end
        return LEFT + (WIDTH - LEFT - RIGHT) * min(share, 1.0)

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / most)

    def steps(values: list[int | float]) -> list[tuple[float, float]]:
        points = []
        for i, value in enumerate(values):
            stop = history[i + 1].seconds if i + 1 < len(values) else end
            points += [(x(history[i].seconds), y(value)), (x(stop), y(value))]
        return points

    best = steps([step.objective for step in history])
    bound = steps([step.lower_bound for step in history])
    ticks = [start, math.sqrt(start * end), end] if log else [0.0, end / 2, end]
    anchors = ("start", "middle", "end")
    parts = [
        f'<svg class="ct-chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-label="Best tree and proved bound over time">',
        f'<polygon points="{_points(best + bound[::-1])}" fill="#eeeeee"/>',
    ]
    for value in sorted({0, history[-1].objective, most}):
        parts.append(
            f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y(value):.1f}" y2="{y(value):.1f}" '
            'stroke="#dddddd"/>'
        )
    labels = sorted({0, most} | {history[-1].objective})
    shown = [v for v in labels if v in (0, most) or min(abs(y(v) - y(w)) for w in (0, most)) > 12]
    parts += [
        f'<text x="{LEFT - 6}" y="{y(v) + 4:.1f}" text-anchor="end">{_mark(v)}</text>'
        for v in shown
    ]
    parts += [
        f'<text x="{x(t):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="{anchor}">{t:.2g} s</text>'
        for t, anchor in zip(ticks, anchors, strict=True)
    ]
    parts += [
        f'<polyline points="{_points(best)}" fill="none" stroke="{BEST}" stroke-width="2"/>',
        f'<polyline points="{_points(bound)}" fill="none" stroke="{BOUND}" stroke-width="2" '
        'stroke-dasharray="5 3"/>',
        f'<text x="{LEFT}" y="{HEIGHT - 3}" fill="{BEST}">— {said} of the best tree</text>',
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 3}" text-anchor="end" '
        f'fill="{BOUND}">- - proved bound</text>',
        "</svg>",
    ]
    return "".join(parts)


def _mark(value: int | float) -> str:
    return amount(value)


def _points(points: list[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
