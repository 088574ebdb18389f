"""How good a tree and its bound are at every moment: the paper's Figure 3, and primal integrals.

    python benchmarks/anytime.py                              the paper's sets, depth 4
    python benchmarks/anytime.py --datasets bank wilt --depth 3 --horizons 1
    python benchmarks/anytime.py --depth 4 5 --output anytime-deep

contree runs once for the longest horizon and tells its own road.  pycontree keeps none: it runs
once for each limit, and a result counts from the moment at which it was there until a better one.
CART has one tree.  Raw runs go to benchmarks/results/ as JSON after each of them, with a table as
Markdown and a figure as SVG and PNG; a run that is in the JSON already is not made again, so the
same command takes up where it was ended (--again forgets what is there).
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from pathlib import Path

from _harness import RESULTS, dataset_names, environment, known_optima, prepare, run

FIGURE_3 = ["avila", "fault", "page", "rice"]  # the paper's text names these
LIMITS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 60.0, 180.0, 600.0)  # of the peer
SOLVERS = ("contree", "pycontree", "cart")
COLOURS = {"contree": "#0072B2", "bound": "#E69F00", "pycontree": "#D55E00", "cart": "#888888"}


def main() -> None:
    args = arguments()
    report = earlier(args) or {"arguments": vars(args), "environment": environment(), "cells": {}}
    cells = [(name, depth) for depth in args.depth for name in args.datasets]
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, depth) in enumerate(cells, start=1):
            for seen in measure(report, name, depth, args, Path(folder)):
                print(f"[{number}/{len(cells)}] {name} depth {depth}: {seen}", flush=True)
                keep(report, args)
    (RESULTS / f"{args.output}.md").write_text(table(report))
    draw(report, args)
    print(f"\n{RESULTS / args.output}.md\n\n{table(report)}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--depth", type=int, nargs="+", default=[4])
    parser.add_argument("--datasets", nargs="+", metavar="NAME", default=FIGURE_3)
    parser.add_argument("--horizons", type=float, nargs="+", default=[1.0, 10.0, 60.0])
    parser.add_argument("--threads", type=int, default=1, help="of contree; the others have one")
    parser.add_argument("--again", action="store_true", help="forget the runs that are there")
    parser.add_argument("--output", default="anytime", help="file name in benchmarks/results/")
    args = parser.parse_args()
    unknown = set(args.datasets) - set(dataset_names())
    if unknown:
        parser.error(
            f"no data set {', '.join(sorted(unknown))}; there are {' '.join(dataset_names())}; "
            "CONTREE_DATA is the folder that holds train/"
        )
    args.horizons = sorted(args.horizons)
    return args


def earlier(args) -> dict | None:
    """Return the report of an earlier call, if its runs are of the same kind."""
    path = RESULTS / f"{args.output}.json"
    if args.again or not path.exists():
        return None
    report = json.loads(path.read_text())
    for name in ("horizons", "threads"):
        if report["arguments"][name] != getattr(args, name):
            raise SystemExit(
                f"{path} has runs with other {name}: {report['arguments'][name]}; "
                "take another --output, or --again"
            )
    return report


def measure(report: dict, name: str, depth: int, args, folder: Path):
    """Make the runs of one cell that are missing; yields a line after each."""
    cell = report["cells"].setdefault(
        f"{name}:{depth}",
        {"dataset": name, "depth": depth, "known_optimum": known_optima().get((name, depth))},
    )
    horizon = args.horizons[-1]
    limits = [limit for limit in LIMITS if limit < horizon] + [horizon]
    wanted = [("contree", horizon), ("cart", horizon), *(("pycontree", limit) for limit in limits)]
    runs = cell.setdefault("runs", {})
    for solver, limit in wanted:
        key = f"{solver}:{limit:g}"
        if "wall" in runs.get(key, ()):
            continue
        if solver == "pycontree" and any(
            seen["proved"] for done, seen in runs.items() if done.startswith(solver)
        ):
            break  # more time would give the same tree
        threads = args.threads if solver == "contree" else 1
        runs[key] = run(solver, prepare(name, folder), depth, limit, threads, history=True)
        runs[key]["commit"] = report["environment"]["commit"]
        yield f"{key} {said(runs[key])}"


def said(seen: dict) -> str:
    if "failed" in seen:
        return "failed: " + seen["failed"].splitlines()[-1]
    return f"{seen['errors']} errors{', proved' * seen['proved']}, {seen['wall']:.2f} s"


def road(cell: dict, solver: str) -> list[tuple[float, int]]:
    """Return the moments (seconds, errors) at which a solver had a better tree than before.

    What comes a little after a limit because the limit ended the search counts as of the limit.
    """
    points = []
    for key, seen in cell["runs"].items():
        if not key.startswith(f"{solver}:") or "failed" in seen:
            continue
        limit = float(key.split(":")[1])
        moments = own_road(seen) or [(seen["wall"], seen["errors"], 0)]
        points += [(min(seconds, limit), errors) for seconds, errors, _ in moments]
    kept = []
    for seconds, errors in sorted(points):
        if not kept or errors < kept[-1][1]:
            kept.append((seconds, errors))
    return kept


def own_road(seen: dict) -> list[tuple[float, int, int]]:
    """Return contree's history on the clock of the whole fit, checks of the input included."""
    before = seen["wall"] - seen.get("search_seconds", 0.0)
    return [(at + before, errors, bound) for at, errors, bound in seen.get("history", ())]


def our_run(cell: dict) -> dict:
    return next(seen for key, seen in cell["runs"].items() if key.startswith("contree:"))


def measured(report: dict) -> list[dict]:
    """Return the cells that contree has run on; the rest is among the failures."""
    return [cell for cell in report["cells"].values() if road(cell, "contree")]


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


def errors_at(points: list[tuple[float, int]], horizon: float) -> str:
    reached = [errors for seconds, errors in points if seconds <= horizon]
    return str(reached[-1]) if reached else "none"


def bound_at(cell: dict, horizon: float, last: bool) -> str:
    """Return what contree had proved by then; by the last horizon, all that it has proved."""
    bounds = [bound for at, _, bound in own_road(our_run(cell)) if last or at <= horizon]
    return str(bounds[-1]) if bounds else "0"


def table(report: dict) -> str:
    """Return the Markdown table of a report."""
    where, horizons = report["environment"], report["arguments"]["horizons"]
    versions = ", ".join(f"{name} {text}" for name, text in where["versions"].items())
    lines = [
        f"{where['cpu']}, {where['cores']} cores, load {where['load_at_start'][0]:.1f} before; "
        f"{versions}; commit {where['commit']}; {where['date']}; contree with "
        f"{report['arguments']['threads']} thread(s).",
        "",
        "At each horizon: training errors of the best tree so far, contree's proved bound, and the "
        "primal integral in seconds (the gap to the best known tree, from 0 to 1, summed over the "
        "time up to there; less is better).  pycontree runs once for each of its limits; what it "
        "has between them is not seen.",
        "",
        "| data set | depth | best known | horizon | contree: errors | bound | integral "
        "| pycontree: errors | integral | CART: errors | integral |",
        "|---" * 11 + "|",
    ]
    for cell in measured(report):
        best = best_known(cell)
        roads = {solver: road(cell, solver) for solver in SOLVERS}
        for horizon in horizons:
            row = [cell["dataset"], str(cell["depth"]), str(best), f"{horizon:g} s"]
            for solver, points in roads.items():
                row.append(errors_at(points, horizon))
                if solver == "contree":
                    row.append(bound_at(cell, horizon, horizon == horizons[-1]))
                row.append(f"{primal_integral(points, best, horizon):.3f}")
            lines.append("| " + " | ".join(row) + " |")
    for name, cell in report["cells"].items():
        for key, seen in cell["runs"].items():
            if "failed" in seen:
                lines += ["", f"{name}, {key} s: {said(seen)}"]
    return "\n".join(lines) + "\n"


def keep(report: dict, args) -> None:
    """Write the raw runs, in one step, so that an end at any moment leaves a whole file."""
    RESULTS.mkdir(parents=True, exist_ok=True)
    path = RESULTS / f"{args.output}.json"
    path.with_suffix(".tmp").write_text(json.dumps(report, indent=1) + "\n")
    path.with_suffix(".tmp").replace(path)


def draw(report: dict, args) -> None:
    """Draw one panel for each cell: errors and bound over time."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    cells = measured(report)
    if not cells:
        return
    columns = min(2, len(cells))
    rows = math.ceil(len(cells) / columns)
    figure, panels = plt.subplots(
        rows, columns, figsize=(5 * columns, 3 * rows), layout="constrained", squeeze=False
    )
    for panel, cell in zip(panels.flat, cells, strict=False):
        draw_cell(panel, cell, report["arguments"]["horizons"][-1])
    for panel in panels.flat[len(cells) :]:
        panel.set_axis_off()
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    for ending in ("svg", "png"):
        figure.savefig(RESULTS / f"{args.output}.{ending}", dpi=150)
    plt.close(figure)


def draw_cell(panel, cell: dict, horizon: float) -> None:
    ours = our_run(cell)
    seconds, errors, bounds = zip(*own_road(ours), strict=True)
    for values, label, colour in (
        (errors, "contree", "contree"),
        (bounds, "contree: proved bound", "bound"),
    ):
        panel.step(seconds, values, where="post", color=COLOURS[colour], label=label)
    if ours["proved"]:  # the end of the search, as in the paper
        panel.plot(seconds[-1], errors[-1], "x", color="#111111", markersize=7, zorder=4)
    peer = road(cell, "pycontree")
    if peer:
        panel.step(
            [*(at for at, _ in peer), horizon],
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
    panel.set_xlim(right=1.1 * horizon)  # what the limit ended comes a moment after it
    panel.set_ylim(bottom=0)
    panel.set_title(f"{cell['dataset']}, depth {cell['depth']}", fontsize=10)
    panel.set_xlabel("seconds", fontsize=9)
    panel.set_ylabel("training errors", fontsize=9)
    panel.tick_params(labelsize=8)
    panel.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
