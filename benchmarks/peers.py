"""contree and pycontree on the same rows, in turn, each fit in a process of its own.

    python benchmarks/peers.py --quick                        a few minutes
    python benchmarks/peers.py --depth 3                      the 16 data sets of the paper
    python benchmarks/peers.py --depth 4 --time-limit 600

Writes raw runs as JSON and a table as Markdown to benchmarks/results/.  A peer that reaches the
limit, or that by the paper would take more than twice as long, is shown by the paper's own figure,
marked as quoted; only cells that both solvers proved enter the geometric mean.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import tempfile
from pathlib import Path

from _harness import RESULTS, dataset_names, environment, known_optima, prepare, run
from paper_runtimes import at_least, quoted

QUICK = ["bank", "bidding", "occupancy", "raisin", "room", "segment", "wilt"]
SHORT = 5.0  # seconds; cells below it are repeated
SOLVERS = ("contree", "pycontree")


def main() -> None:
    args = arguments()
    report = {"environment": environment(), "arguments": vars(args), "cells": []}
    with tempfile.TemporaryDirectory() as folder:
        for depth in args.depth:
            for name in args.datasets:
                cell = measure(name, prepare(name, Path(folder)), depth, args)
                report["cells"].append(cell)
                print(line(cell), flush=True)
                write(report, args.output)
    print(f"\n{RESULTS / args.output}.md\n\n{table(report)}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--depth", type=int, nargs="+", default=[3])
    parser.add_argument("--datasets", nargs="+", metavar="NAME", help="default: all")
    parser.add_argument("--time-limit", type=float, default=300.0, help="seconds for each fit")
    parser.add_argument("--threads", type=int, default=1, help="of contree; the peer has one")
    parser.add_argument("--kernel", help="force a kernel of contree (CONTREE_KERNEL)")
    parser.add_argument(
        "--repeat", type=int, default=5, help="runs of a short cell; the median counts"
    )
    parser.add_argument("--quick", action="store_true", help="depth 3, the small data sets, 3 runs")
    parser.add_argument("--output", help="file name in benchmarks/results/, without ending")
    args = parser.parse_args()
    if args.quick:
        args.datasets, args.repeat = args.datasets or QUICK, min(args.repeat, 3)
    args.datasets = args.datasets or dataset_names()
    if not args.datasets:
        parser.error("no data sets: set CONTREE_DATA to the folder that holds train/")
    unknown = set(args.datasets) - set(dataset_names())
    if unknown:
        parser.error(
            f"no data set {', '.join(sorted(unknown))}; there are {' '.join(dataset_names())}"
        )
    depths = "-".join(map(str, args.depth))
    args.output = args.output or ("peers-quick" if args.quick else f"peers-depth-{depths}")
    return args


def measure(name: str, data: Path, depth: int, args) -> dict:
    """Run both solvers in turn; repeat while the cell is short."""
    cell = {"dataset": name, "depth": depth, "paper": quoted(name, depth)}
    cell["runs"] = {solver: [] for solver in SOLVERS}
    cell["known_optimum"] = known_optima().get((name, depth))
    hopeless = at_least(cell["paper"]) > 2 * args.time_limit
    for _ in range(args.repeat):
        for solver in SOLVERS:
            if solver == "pycontree" and hopeless:
                continue
            threads = args.threads if solver == "contree" else 1
            kernel = args.kernel if solver == "contree" else None
            seen = run(solver, data, depth, args.time_limit, threads, kernel)
            cell["runs"][solver].append(seen)
        if max(runs[-1].get("wall", math.inf) for runs in cell["runs"].values() if runs) > SHORT:
            break
    for solver, runs in cell["runs"].items():
        cell[solver] = summary(runs)
    return cell


def summary(runs: list[dict]) -> dict | None:
    """Return the medians of the runs of one solver; a single failure makes a failed cell."""
    if not runs:
        return None
    for seen in runs:
        if "failed" in seen:
            return seen
    figures = ("wall", "user", "peak_mb")
    middle = {figure: statistics.median(seen[figure] for seen in runs) for figure in figures}
    return {
        **middle,
        "errors": runs[-1]["errors"],
        "proved": all(seen["proved"] for seen in runs),
        "runs": len(runs),
    }


def ratio(cell: dict, clock: str = "wall") -> float | None:
    """Return how many times longer the peer took, if both have proved their trees optimal.

    By wall time, or by user time, which suffers less from what else runs on the machine.
    """
    ours, peer = cell["contree"], cell["pycontree"]
    if not (ours and peer and ours["proved"] and peer["proved"]):
        return None
    return peer[clock] / max(ours[clock], 1e-4)  # the user clock may not have ticked


def geometric_mean(cells: list[dict], clock: str) -> float:
    return math.exp(statistics.fmean(math.log(ratio(cell, clock)) for cell in cells))


def remarks(cell: dict) -> str:
    """Say what a reader must know of a cell before believing its figures."""
    said = []
    ours, peer, known = cell["contree"], cell["pycontree"], cell["known_optimum"]
    for solver in SOLVERS:
        seen = cell[solver]
        if seen and "failed" in seen:
            said.append(f"{solver}: {seen['failed'].splitlines()[-1]}")
        elif seen and seen["proved"] and known is not None and seen["errors"] != known:
            said.append(f"{solver}: known optimum is {known}")
    if ours and peer and ours["proved"] and peer["proved"] and ours["errors"] != peer["errors"]:
        said.append("the two optima differ")
    return "; ".join(said)


def peer_wall(cell: dict) -> str:
    peer = cell["pycontree"]
    if peer and peer["proved"]:
        return f"{peer['wall']:.3f}"
    measured = f"> {peer['wall']:.0f}" if peer and "wall" in peer else "not run"
    return f"{measured}; quoted: {cell['paper']}" if cell["paper"] else measured


def table(report: dict) -> str:
    """Return the Markdown table of a report."""
    where = report["environment"]
    used = report["arguments"]
    versions = ", ".join(f"{name} {text}" for name, text in where["versions"].items())
    changes = " with uncommitted changes" if where["uncommitted_changes"] else ""
    lines = [
        f"{where['cpu']}, {where['cores']} cores, load {where['load_at_start'][0]:.1f} before; "
        f"{versions}; commit {where['commit']}{changes}; "
        f"{where['date']}; limit {used['time_limit']:g} s; contree with {used['threads']} "
        f"thread(s), kernel {kernel_used(report)}.",
        "",
        "Wall and user time of `fit` in seconds and peak memory above the loaded data in MB, each "
        "the median of fresh processes; both solvers on the same rank matrix. *Quoted*: the "
        "paper's run time in seconds, on its machine.",
        "",
        "| data set | depth | errors | proved | wall | user | MB "
        "| peer: errors | proved | wall | user | MB | ratio: wall | user | |",
        "|---" * 15 + "|",
    ]
    for cell in report["cells"]:
        times = [ratio(cell, clock) for clock in ("wall", "user")]
        cells = [cell["dataset"], str(cell["depth"]), *columns(cell["contree"])]
        peer = columns(cell["pycontree"])
        peer[2] = peer_wall(cell)
        cells += [*peer, *(f"{x:.1f}" if x else "" for x in times), remarks(cell)]
        lines.append("| " + " | ".join(cells) + " |")
    for depth in used["depth"]:
        both = [cell for cell in report["cells"] if cell["depth"] == depth and ratio(cell)]
        if both:
            wall, user = (geometric_mean(both, clock) for clock in ("wall", "user"))
            lines += ["", f"Depth {depth}, geometric mean over {len(both)} data sets: "]
            lines[-1] += f"{wall:.1f} by wall time, {user:.1f} by user time."
    return "\n".join(lines) + "\n"


def columns(seen: dict | None) -> list[str]:
    if not seen or "failed" in seen:
        return [""] * 5
    proved = "yes" if seen["proved"] else "no"
    times = [f"{seen['wall']:.3f}", f"{seen['user']:.3f}"]
    return [str(seen["errors"]), proved, *times, f"{seen['peak_mb']:.1f}"]


def kernel_used(report: dict) -> str:
    kernels = {
        seen["kernel"]
        for cell in report["cells"]
        for seen in cell["runs"]["contree"]
        if "kernel" in seen
    }
    return "/".join(sorted(kernels)) or "unknown"


def line(cell: dict) -> str:
    ours = cell["contree"]
    wall = f"{ours['wall']:.3f} s" if "wall" in ours else "failed"
    times = ratio(cell)
    rest = f"ratio {times:.1f}" if times else ""
    head = f"{cell['dataset']:<10} depth {cell['depth']}: contree {wall}, peer {peer_wall(cell)} s"
    return f"{head}  {rest}  {remarks(cell)}".rstrip()


def write(report: dict, output: str) -> None:
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / f"{output}.json").write_text(json.dumps(report, indent=1) + "\n")
    (RESULTS / f"{output}.md").write_text(table(report))


if __name__ == "__main__":
    main()
