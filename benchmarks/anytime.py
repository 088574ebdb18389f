"""How good the tree and the bound are at every moment, beside others: the paper's Figure 3.

    python benchmarks/anytime.py                              all sets, depths 4 to 6: 40 minutes
    python benchmarks/anytime.py --cases bank:4 wilt:4 --time-limit 1
    python benchmarks/anytime.py --solvers contree --again '*:6:contree'

contree and pytrees-rs (its anytime search, `use_lds`) run once and tell their own road.  pycontree
keeps none: it runs once for each limit, and a result counts from the moment at which it was there
until a better one.  CART has one tree.  Moments are CPU seconds: those of the wall clock times the
share of a processor that the run had, so that what else runs on the machine matters less.
"""

from __future__ import annotations

import json
import math

from _experiment import (
    RESULTS,
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
DEPTHS = (4, 5, 6)
# Drawn: the paper's text names the first four, and proves nothing of the last two.
DRAWN = ["avila:4", "fault:4", "page:4", "rice:4", "bean:6", "magic:6"]
HORIZONS = (1.0, 10.0, 30.0)  # CPU seconds at which the tables look
PEER_LIMITS, PEER_LIMITS_DRAWN = (1.0, 10.0), (0.3, 1.0, 3.0, 10.0, 30.0)
SOLVERS = ("contree", "pycontree", "pytrees", "cart")
NAMES = {"contree": "contree", "pycontree": "pycontree", "pytrees": "pytrees-rs", "cart": "CART"}
COLOURS = {"contree": "#0072B2", "bound": "#E69F00", "pycontree": "#D55E00"}
COLOURS |= {"pytrees": "#009E73", "cart": "#888888"}


def main() -> None:
    cases = [f"{name}:{depth}" for depth in DEPTHS for name in dataset_names()]
    made = parser(__doc__, time_limit=32.0)  # some of which another process may get
    made.add_argument("--cases", nargs="+", metavar="SET:DEPTH", default=cases)
    made.add_argument("--solvers", nargs="+", choices=SOLVERS, default=SOLVERS)
    args = parse(made, cases=["rice:4", "segment:5"], time_limit=10.0)
    experiment = Experiment(EXPERIMENT, args.output)
    if not args.report:
        rows = [row(case, args.solvers, args.time_limit) for case in args.cases]
        experiment.conduct(rows, 1, args.again, args.renew)
    publish(experiment, markdown, figures)


def row(case: str, solvers: list[str], end: float) -> list[Cell]:
    name, depth = case.split(":")
    limits = PEER_LIMITS_DRAWN if case in DRAWN else PEER_LIMITS
    limits = [min(limit, end) for limit in limits if limit <= max(end, 1.0)]
    wanted = [("contree", end), ("cart", end), ("pytrees", limits[-1])]
    wanted += [("pycontree", limit) for limit in limits]
    return [cell(name, int(depth), solver, limit) for solver, limit in wanted if solver in solvers]


def cell(name: str, depth: int, solver: str, limit: float) -> Cell:
    about = {"dataset": name, "depth": depth, "solver": solver, "limit": limit}
    about["known_optimum"] = known_optima().get((name, depth))
    at = f"@{limit:g}" if solver == "pycontree" else ""
    more = {"history": True, "lds": True} if solver in ("contree", "pytrees") else {}
    return Cell(
        f"{name}:{depth}:{solver}{at}",
        about,
        limit,
        lambda: run(solver, prepare(name), depth, limit, **more),
    )


# What is written from the cells.


def panels_of(report: dict) -> list[dict]:
    """Return, for each case that contree has run on, its data set, depth, runs and optimum.

    `long_run` are the errors of the long run in deep.json, if there is one.
    """
    found: dict[tuple, dict] = {}
    long_runs = long_run_errors()
    for kept in report["cells"].values():
        case = found.setdefault(
            (kept["dataset"], kept["depth"]),
            {key: kept[key] for key in ("dataset", "depth", "known_optimum")} | {"runs": []},
        )
        case["long_run"] = long_runs.get((kept["dataset"], kept["depth"]))
        seen = kept["runs"][-1]
        if "failed" not in seen:
            case["runs"].append((kept["solver"], kept["limit"], seen))
    cases = [case for case in found.values() if road(case, "contree")]
    return sorted(cases, key=lambda case: (case["depth"], case["dataset"]))


def long_run_errors() -> dict[tuple[str, int], int]:
    path = RESULTS / "deep.json"
    cells = json.loads(path.read_text())["cells"].values() if path.exists() else ()
    runs = {(kept["dataset"], kept["depth"]): kept["runs"][-1] for kept in cells}
    return {case: run["errors"] for case, run in runs.items() if "errors" in run}


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
    """Return a run's history in CPU seconds of the whole fit, checks of the input included."""
    before = seen["wall"] - seen["search_seconds"] if "search_seconds" in seen else 0.0
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
    found = [errors for solver in SOLVERS for _, errors in road(cell, solver)]
    return min(found + [cell["long_run"]] * (cell["long_run"] is not None))


def primal_gap(errors: int, best: int) -> float:
    """Return Berthold's gap (2013), from 0 at the best known tree to 1."""
    return 0.0 if errors == best else (errors - best) / max(errors, best)


def mean_gap(cases: list[dict], solver: str, horizon: float) -> float | None:
    """Return the mean gap over the cases at a moment; it is 1 where there is no tree yet.

    None if the solver has not run on all of them: means over different cases do not compare.
    """
    gaps = []
    for case in cases:
        points = road(case, solver)
        if points:
            errors = errors_at(points, horizon)
            gaps.append(1.0 if errors is None else primal_gap(errors, best_known(case)))
    return sum(gaps) / len(gaps) if len(gaps) == len(cases) > 0 else None


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
        "# Anytime: tree and bound over time (Figure 3)",
        "CPU seconds of one thread: wall time times the share of a processor that the run had. "
        "pycontree does not report trees during a search. So it runs once for each limit. "
        "pytrees-rs runs its anytime search (`use_lds`).",
        provenance(report),
        "Again: `python benchmarks/anytime.py`.",
        "The mean over data sets of the gap to the best known tree, in percent: 0 at the best "
        "known tree, 100 while there is no tree. In brackets: on how many data sets the solver, "
        "alone or with others, has the fewest errors.",
        summary(cases),
        "![Mean gap to the best known tree over time](anytime-gaps.svg)",
        "Training errors at each moment, and in brackets the bound that contree had proved. A "
        "dash: no tree yet, or not run.",
        errors_table(cases),
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
    lines = []
    for depth in sorted({case["depth"] for case in cases}):
        of_depth = [case for case in cases if case["depth"] == depth]
        for at in HORIZONS[:2]:
            line = [depth, f"{at:g}"]
            for solver in SOLVERS:
                gap = mean_gap(of_depth, solver, at)
                won = sum(is_best(case, solver, at) for case in of_depth)
                line.append("" if gap is None else f"{100 * gap:.1f} ({won} of {len(of_depth)})")
            lines.append(line)
    return markdown_table(["depth", "CPU s", *NAMES.values()], lines)


def is_best(case: dict, solver: str, horizon: float) -> bool:
    found = {s: errors_at(road(case, s), horizon) for s in SOLVERS}
    least = min((errors for errors in found.values() if errors is not None), default=None)
    return least is not None and found[solver] == least


def errors_table(cases: list[dict]) -> str:
    columns = [("contree", at) for at in HORIZONS]
    columns += [(solver, at) for solver in ("pycontree", "pytrees") for at in PEER_LIMITS]
    lines = []
    for case in cases:
        line = [case["dataset"], case["depth"], best_known(case)]
        for solver, horizon in columns:
            errors = errors_at(road(case, solver), horizon)
            if errors is None or (solver == "contree" and horizon not in horizons_of(case)):
                line.append("-")
            else:
                bound = f" ({bound_at(case, horizon)})" if solver == "contree" else ""
                line.append(f"{errors}{bound}")
        cart = road(case, "cart")
        lines.append([*line, cart[-1][1] if cart else "-"])
    head = ["data set", "depth", "best known", *(f"{NAMES[s]}, {at:g} s" for s, at in columns)]
    return markdown_table([*head, "CART"], lines)


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
    return {EXPERIMENT: figure, "anytime-gaps": mean_gaps(panels_of(report))}


def mean_gaps(cases: list[dict]):
    """Draw the mean gap of each solver over time, and how far contree's bound is: by depth."""
    plt = pyplot()
    depths = sorted({case["depth"] for case in cases})
    figure, panels = plt.subplots(
        1, len(depths), figsize=(3 * len(depths), 2.8), sharey=True, layout="constrained"
    )
    moments = [10 ** (k / 20) for k in range(-40, 30)]  # 0.01 to 30 s
    for panel, depth in zip(panels if len(depths) > 1 else [panels], depths, strict=True):
        of_depth = [case for case in cases if case["depth"] == depth]
        for solver in SOLVERS:
            gaps = [mean_gap(of_depth, solver, at) for at in moments]
            last = 10.0 if solver in ("pycontree", "pytrees") else moments[-1]
            shown = [(at, 100 * g) for at, g in zip(moments, gaps, strict=True) if g is not None]
            shown = [point for point in shown if point[0] <= last]
            if shown:
                panel.plot(*zip(*shown, strict=True), color=COLOURS[solver], label=NAMES[solver])
        bounds = [100 * mean_bound_gap(of_depth, at) for at in moments]
        label = "contree: what the bound leaves open"
        panel.plot(moments, bounds, color=COLOURS["bound"], linestyle="--", label=label)
        panel.set_xscale("log")
        panel.set_ylim(-3, 103)
        panel.set_title(f"depth {depth}: mean of {len(of_depth)} data sets", fontsize=9)
        panel.set_xlabel("CPU seconds", fontsize=8)
        panel.tick_params(labelsize=8)
        panel.spines[["top", "right"]].set_visible(False)
    panels = panels if len(depths) > 1 else [panels]
    panels[0].set_ylabel("gap to the best known tree, %", fontsize=8)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    return figure


def mean_bound_gap(cases: list[dict], horizon: float) -> float:
    """Return the mean share of the best known errors that contree's bound has not reached."""
    bests = [best_known(case) for case in cases]
    shares = [
        primal_gap(best, min(best, bound_at(case, horizon))) if at_work(case, horizon) else 1.0
        for case, best in zip(cases, bests, strict=True)
    ]
    return sum(shares) / len(shares)


def at_work(case: dict, horizon: float) -> bool:
    """Say whether contree's search had begun by then."""
    return errors_at(road(case, "contree"), horizon) is not None


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
    rust = road(cell, "pytrees")
    if rust:
        at, values = [*(at for at, _ in rust), 30.0], [*(e for _, e in rust), rust[-1][1]]
        panel.step(at, values, where="post", color=COLOURS["pytrees"], label="pytrees-rs")
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
