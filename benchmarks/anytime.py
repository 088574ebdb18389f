"""How good a tree and its bound are at every moment: the paper's Figure 3, and primal integrals.

    python benchmarks/anytime.py                              all sets, depths 3 to 6: 90 minutes
    python benchmarks/anytime.py --cases bank:3 wilt:3 --time-limit 1
    python benchmarks/anytime.py --solvers contree --again '*:6:contree'

contree runs once and tells its own road.  pycontree keeps none: it runs once for each limit, and a
result counts from the moment at which it was there until a better one.  CART has one tree.  Moments
are CPU seconds: those of the wall clock times the share of a processor that the run had, so that
what else runs on the machine matters less.
"""

from __future__ import annotations

import math

from _experiment import (
    Cell,
    Experiment,
    markdown_table,
    parse,
    parser,
    provenance,
    publish,
    pyplot,
)
from _harness import dataset_names, known_optima, prepare, run

EXPERIMENT = "anytime"
DEPTHS = (3, 4, 5, 6)
# Drawn: the paper's text names the first four, and proves nothing of the last two.
DRAWN = ["avila:4", "fault:4", "page:4", "rice:4", "bean:6", "magic:6"]
HORIZONS = (1.0, 10.0, 60.0)  # CPU seconds at which the tables look, and the peer's limits
LIMITS_DRAWN = (0.3, 1.0, 3.0, 10.0, 30.0, 60.0)
SOLVERS = ("contree", "pycontree", "cart")
COLOURS = {"contree": "#0072B2", "bound": "#E69F00", "pycontree": "#D55E00", "cart": "#888888"}


def main() -> None:
    cases = [f"{name}:{depth}" for depth in DEPTHS for name in dataset_names()]
    made = parser(__doc__, time_limit=62.0)  # some of which another process may get
    made.add_argument("--cases", nargs="+", metavar="SET:DEPTH", default=cases)
    made.add_argument("--solvers", nargs="+", choices=SOLVERS, default=SOLVERS)
    args = parse(made, cases=["rice:4", "segment:5"], time_limit=10.0)
    experiment = Experiment(EXPERIMENT, args.output)
    if not args.report:
        rows = [row(case, args.solvers, args.time_limit) for case in args.cases]
        experiment.conduct(rows, 1, args.again)
    publish(experiment, markdown, figures)


def row(case: str, solvers: list[str], end: float) -> list[Cell]:
    name, depth = case.split(":")
    limits = [limit for limit in (LIMITS_DRAWN if case in DRAWN else HORIZONS) if limit <= end]
    wanted = [("contree", end), ("cart", end), *(("pycontree", limit) for limit in limits)]
    return [cell(name, int(depth), solver, limit) for solver, limit in wanted if solver in solvers]


def cell(name: str, depth: int, solver: str, limit: float) -> Cell:
    about = {"dataset": name, "depth": depth, "solver": solver, "limit": limit}
    about["known_optimum"] = known_optima().get((name, depth))
    at = f"@{limit:g}" if solver == "pycontree" else ""
    return Cell(
        f"{name}:{depth}:{solver}{at}",
        about,
        limit,
        lambda: run(solver, prepare(name), depth, limit, history=solver == "contree"),
    )


# What is written from the cells.


def panels_of(report: dict) -> list[dict]:
    """Return, for each case that contree has run on, its data set, depth, runs and optimum."""
    found: dict[tuple, dict] = {}
    for kept in report["cells"].values():
        case = found.setdefault(
            (kept["dataset"], kept["depth"]),
            {key: kept[key] for key in ("dataset", "depth", "known_optimum")} | {"runs": []},
        )
        seen = kept["runs"][-1]
        if "failed" not in seen:
            case["runs"].append((kept["solver"], kept["limit"], seen))
    cases = [case for case in found.values() if road(case, "contree")]
    return sorted(cases, key=lambda case: (case["depth"], case["dataset"]))


def road(cell: dict, solver: str) -> list[tuple[float, int]]:
    """Return the moments (seconds, errors) at which a solver had a better tree than before.

    What comes a little after a limit because the limit ended the search counts as of the limit.
    """
    points = []
    for ran, limit, seen in cell["runs"]:
        if ran != solver:
            continue
        moments = own_road(seen) or [(seen["cpu"], seen["errors"], 0)]
        most = limit * pace(seen)
        points += [(min(seconds, most), errors) for seconds, errors, _ in moments]
    kept = []
    for seconds, errors in sorted(points):
        if not kept or errors < kept[-1][1]:
            kept.append((seconds, errors))
    return kept


def own_road(seen: dict) -> list[tuple[float, int, int]]:
    """Return contree's history in CPU seconds of the whole fit, checks of the input included."""
    before = seen["wall"] - seen.get("search_seconds", 0.0)
    share = pace(seen)
    return [(share * (at + before), errors, bound) for at, errors, bound in seen.get("history", ())]


def pace(seen: dict) -> float:
    """Return the share of a processor that a run had."""
    return min(1.0, seen["cpu"] / seen["wall"])


def our_run(cell: dict) -> dict:
    return next(seen for solver, _, seen in cell["runs"] if solver == "contree")


def end_of(cell: dict) -> float:
    """Return the CPU seconds at which contree's run ended."""
    return our_run(cell)["cpu"]


def best_known(cell: dict) -> int:
    """Return the optimum if it is known, else the fewest errors that any solver has found."""
    if cell["known_optimum"] is not None:
        return cell["known_optimum"]
    return min(errors for solver in SOLVERS for _, errors in road(cell, solver))


def primal_gap(errors: int, best: int) -> float:
    """Return Berthold's gap (2013), from 0 at the best known tree to 1."""
    return 0.0 if errors == best else (errors - best) / max(errors, best)


def primal_integral(points: list[tuple[float, int]], best: int, horizon: float) -> float:
    """Return the primal gap summed over time, in seconds; it is 1 while there is no tree."""
    total, since, gap = 0.0, 0.0, 1.0
    for seconds, errors in points:
        if seconds >= horizon:
            break
        total += gap * (seconds - since)
        since, gap = seconds, primal_gap(errors, best)
    return total + gap * (horizon - since)


def errors_at(points: list[tuple[float, int]], horizon: float) -> int | None:
    reached = [errors for seconds, errors in points if seconds <= horizon]
    return reached[-1] if reached else None


def bound_at(case: dict, horizon: float) -> int:
    """Return what contree had proved by then; its last word comes a moment after its end."""
    done = horizon >= end_of(case)
    bounds = [bound for at, _, bound in own_road(our_run(case)) if done or at <= horizon]
    return bounds[-1] if bounds else 0


def horizons_of(case: dict) -> list[float]:
    """Return the moments to look at: those up to the limit of contree's run."""
    limit = next(limit for solver, limit, _ in case["runs"] if solver == "contree")
    return [horizon for horizon in HORIZONS if horizon <= limit]


def markdown(report: dict) -> str:
    cases = panels_of(report)
    parts = [
        "## Anytime: errors and bound over time (Figure 3)",
        "CPU seconds of one thread: wall time times the share of a processor that the run had. "
        "pycontree does not report trees during a search. So it runs once for each limit: 1, 10 "
        "and 60 s of wall time, and 0.3, 3 and 30 s where it is drawn.",
        provenance(report),
        "Again: `python benchmarks/anytime.py`.",
        summary(cases),
        "Training errors at each moment, and in brackets the bound that contree had proved. A "
        "dash: no tree yet, or not run.",
        errors_table(cases),
        "Primal integrals up to each moment, in seconds: the gap to the best known tree, from 0 to "
        "1, summed over time; less is better.",
        integrals_table(cases),
    ]
    if drawn(cases):
        parts.append("![Errors and bound over time; a cross is a proof](anytime.svg)")
    parts += [
        f"- {key}: failed: {kept['runs'][-1]['failed'].splitlines()[-1]}"
        for key, kept in report["cells"].items()
        if "failed" in kept["runs"][-1]
    ]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def summary(cases: list[dict]) -> str:
    """Count where contree is best or equal to whatever else was run."""
    lines = []
    for depth in sorted({case["depth"] for case in cases}):
        line = [depth]
        for horizon in HORIZONS:
            judged = [
                best_or_equal(case, horizon)
                for case in cases
                if case["depth"] == depth and horizon in horizons_of(case)
            ]
            fewest, least = (sum(one) for one in zip(*judged, strict=True)) if judged else (0, 0)
            line += [f"{fewest} of {len(judged)}", f"{least} of {len(judged)}"]
        lines.append(line)
    head = ["depth"]
    for horizon in HORIZONS:
        head += [f"fewest errors, {horizon:g} s", "least integral"]
    caption = "Data sets on which contree, alone or with others, has the fewest errors at a moment "
    caption += "and the least primal integral up to it."
    return caption + "\n\n" + markdown_table(head, lines)


def best_or_equal(case: dict, horizon: float) -> tuple[bool, bool]:
    best = best_known(case)
    roads = {solver: points for solver in SOLVERS if (points := road(case, solver))}
    errors = {s: found for s in roads if (found := errors_at(roads[s], horizon)) is not None}
    integrals = {s: primal_integral(points, best, horizon) for s, points in roads.items()}
    return (
        errors.get("contree") == min(errors.values(), default=None),
        integrals["contree"] == min(integrals.values()),
    )


def errors_table(cases: list[dict]) -> str:
    lines = []
    for case in cases:
        roads = {solver: road(case, solver) for solver in SOLVERS}
        line = [case["dataset"], case["depth"], best_known(case)]
        for solver in ("contree", "pycontree"):
            for horizon in HORIZONS:
                errors = errors_at(roads[solver], horizon)
                if errors is None or horizon not in horizons_of(case):
                    line.append("-")
                elif solver == "contree":
                    line.append(f"{errors} ({bound_at(case, horizon)})")
                else:
                    line.append(errors)
        lines.append([*line, roads["cart"][-1][1] if roads["cart"] else "-"])
    head = ["data set", "depth", "best known"]
    head += [f"{name}, {at:g} s" for name in ("contree", "pycontree") for at in HORIZONS]
    return markdown_table([*head, "CART"], lines)


def integrals_table(cases: list[dict]) -> str:
    lines = []
    for case in cases:
        best = best_known(case)
        line = [case["dataset"], case["depth"]]
        for solver in SOLVERS:
            points = road(case, solver)
            for horizon in HORIZONS:
                shown = points and horizon in horizons_of(case)
                line.append(f"{primal_integral(points, best, horizon):.3f}" if shown else "-")
        lines.append(line)
    names = ("contree", "pycontree", "CART")
    head = [f"{name}, {horizon:g} s" for name in names for horizon in HORIZONS]
    return markdown_table(["data set", "depth", *head], lines)


def drawn(cases: list[dict]) -> list[dict]:
    """Return the paper's cases, or all if none of them was run."""
    of_paper = [case for case in cases if f"{case['dataset']}:{case['depth']}" in DRAWN]
    return of_paper or cases


def figures(report: dict) -> dict:
    """Draw one panel for each of some cases: errors and bound over time."""
    plt = pyplot()
    cases = drawn(panels_of(report))
    if not cases:
        return {}
    columns = min(2, len(cases))
    rows = math.ceil(len(cases) / columns)
    figure, panels = plt.subplots(
        rows, columns, figsize=(5 * columns, 3 * rows), layout="constrained", squeeze=False
    )
    for panel, case in zip(panels.flat, cases, strict=False):
        draw_cell(panel, case)
    for panel in panels.flat[len(cases) :]:
        panel.set_axis_off()
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    return {EXPERIMENT: figure}


def draw_cell(panel, cell: dict) -> None:
    ours = our_run(cell)
    seconds, errors, bounds = map(list, zip(*own_road(ours), strict=True))
    for values, label, colour in (
        (errors, "contree", "contree"),
        (bounds, "contree: proved bound", "bound"),
    ):
        line = [*values, values[-1]]
        at = [*seconds, end_of(cell)]
        panel.step(at, line, where="post", color=COLOURS[colour], label=label)
    if ours["proved"]:  # the end of the search, as in the paper
        panel.plot(seconds[-1], errors[-1], "x", color="#111111", markersize=7, zorder=4)
    peer = road(cell, "pycontree")
    if peer:
        last = max(seen["cpu"] for solver, _, seen in cell["runs"] if solver == "pycontree")
        panel.step(
            [*(at for at, _ in peer), last],
            [*(errors for _, errors in peer), peer[-1][1]],
            where="post",
            marker="o",
            markersize=3,
            linewidth=1,
            color=COLOURS["pycontree"],
            label="pycontree at its limits",
        )
    for _, errors in road(cell, "cart"):
        panel.axhline(errors, color=COLOURS["cart"], linestyle=":", linewidth=1, label="CART")
    panel.axhline(best_known(cell), color="#111111", linewidth=0.6, label="best known", zorder=0)
    panel.set_xscale("log")
    panel.set_ylim(bottom=0)
    panel.set_title(f"{cell['dataset']}, depth {cell['depth']}", fontsize=10)
    panel.set_xlabel("CPU seconds", fontsize=9)
    panel.set_ylabel("training errors", fontsize=9)
    panel.tick_params(labelsize=8)
    panel.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
