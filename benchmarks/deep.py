"""Proofs at depth five, which take minutes to hours, and how their bounds rise.

    python benchmarks/deep.py                                depth 5, all sets, four hours each
    nice python benchmarks/deep.py --depth 5 --datasets page rice
    python benchmarks/deep.py --collect                      show what unfinished runs have so far

One thread, beside other work: CPU time counts, the limit too.  A run that is killed continues from
its checkpoint in build/deep/, with the CPU time that it had used before.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from _experiment import (
    Cell,
    Experiment,
    markdown_table,
    number,
    parse,
    parser,
    provenance,
    publish,
    pyplot,
)
from _harness import GRACE, ROOT, _memory, call, dataset_names, known_optima, prepare
from paper import at_least, in_table, quoted

EXPERIMENT = "deep"
STATES = ROOT / "build" / "deep"
MOMENTS = {1: "1 s", 60: "1 min", 600: "10 min", 3600: "1 h"}  # CPU seconds
DRAWN = 6  # data sets in the figure: those that took longest
LONG = 60  # CPU seconds
SAVE_SECONDS = 5.0
WALL_PER_CPU = 20  # how long a run beside other work may take


def main() -> None:
    made = parser(__doc__, time_limit=4 * 3600.0)
    made.add_argument("--depth", type=int, nargs="+", default=[5], choices=[5, 6])
    made.add_argument("--datasets", nargs="+", metavar="NAME", default=dataset_names())
    made.add_argument("--collect", action="store_true", help="run nothing, read the saved states")
    made.add_argument("--states", type=Path, help="folder of checkpoints; default: build/deep/")
    args = parse(made, datasets=["bank", "room", "wilt"], time_limit=10.0)
    args.states = args.states or (args.output / EXPERIMENT if args.quick else STATES)
    experiment = Experiment(EXPERIMENT, args.output)
    if args.collect:
        collect(experiment, args)
    elif not args.report:
        experiment.conduct(rows(args), args.repeat, args.again, args.renew)
    publish(experiment, markdown, figures)


def rows(args):
    for depth in args.depth:
        for name in args.datasets:
            yield [cell(name, depth, args)]


def cell(name: str, depth: int, args) -> Cell:
    about = {"dataset": name, "depth": depth, "known_optimum": known_optima().get((name, depth))}
    task = {"dataset": name, "depth": depth, "cpu_limit": args.time_limit}

    def measure() -> dict:
        seen = {"data": str(prepare(name)), "states": str(args.states)}
        return call("deep:prove", task | seen, args.time_limit * WALL_PER_CPU + GRACE)

    return Cell(f"{name}:{depth}", about, args.time_limit, measure)


def prove(task: dict) -> dict:
    """Search until a proof or the limit, in the measured process; go on where the last ended."""
    import numpy as np

    from contree import ConTreeClassifier

    state = Path(task["states"]) / f"{task['dataset']}-{task['depth']}.json"
    state.parent.mkdir(parents=True, exist_ok=True)
    before = json.loads(state.read_text()) if state.exists() else {"cpu": 0.0, "history": []}
    history, cpu_start, saved = before["history"], time.process_time(), 0.0
    with np.load(task["data"]) as file:
        X, y = file["X"], file["y"]
    baseline = _memory("VmRSS")

    def cpu() -> float:
        return before["cpu"] + time.process_time() - cpu_start

    def note(errors: float, bound: float, closed: float) -> None:
        now = [round(errors), round(bound), round(closed, 2)]
        if not history or history[-1][1:] != now:
            history.append([round(cpu(), 3), *now])

    def watch(progress) -> bool:
        nonlocal saved
        note(progress.objective, progress.lower_bound, progress.root_closed)
        if time.monotonic() - saved > SAVE_SECONDS:
            saved = time.monotonic()
            keep(state, {"cpu": cpu(), "history": history})
        return cpu() >= task["cpu_limit"]

    start = time.perf_counter()
    clf = ConTreeClassifier(task["depth"])
    clf.fit(X, y, callback=watch, checkpoint=state.with_suffix(".ckpt"))
    note(clf.errors_, clf.lower_bound_, history[-1][3] if history else 0.0)
    keep(state, {"cpu": cpu(), "history": history})
    return {
        "wall": time.perf_counter() - start,
        "cpu": cpu(),
        "peak_mb": (_memory("VmHWM") - baseline) / 1024,
        "errors": int(np.count_nonzero(clf.predict(X) != y)),
        "lower_bound": clf.lower_bound_,
        "leaves": int(clf.get_n_leaves()),
        "proved": clf.status_ == "optimal",
        "history": history,
        "counters": dict(clf.search_report_.counters),
    }


def keep(path: Path, state: dict) -> None:
    path.with_suffix(".tmp").write_text(json.dumps(state))
    path.with_suffix(".tmp").replace(path)


def collect(experiment: Experiment, args) -> None:
    """Write the saved states of runs that have not ended into the results.

    Their limit is the CPU time so far, so the next call without --collect goes on with them.
    """
    cells = experiment.report["cells"]
    where = len(experiment.report["environments"]) - 1
    if where < 0:
        where = experiment._environment()
    for path in sorted(args.states.glob("*.json")):
        name, depth = path.stem.rsplit("-", 1)
        wanted = cell(name, int(depth), args)
        if wanted.key in cells:
            cells[wanted.key].update(wanted.about)
            if not cells[wanted.key]["runs"][-1].get("unfinished"):
                continue
        state = json.loads(path.read_text())
        seen = {"cpu": state["cpu"], "history": state["history"], "unfinished": True}
        _, seen["errors"], seen["lower_bound"], _ = state["history"][-1]
        made = {"environment": where, "load": 0.0, "proved": False}
        made["date"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(path.stat().st_mtime))
        cells[wanted.key] = {**wanted.about, "time_limit": state["cpu"], "runs": [seen | made]}
    experiment.save()


# What is written from the cells.


def markdown(report: dict) -> str:
    parts = [
        "# Deep proofs",
        "CPU seconds of one thread, beside other work. Where the search has not ended, the table "
        "has its best tree so far, the proved bound, and the share of thresholds at the root that "
        "are closed. A dash: the proof had ended before.",
        provenance(report),
        "Again: `python benchmarks/deep.py` (`--depth`, `--datasets`). A stopped run continues; "
        "`--collect` shows it meanwhile.",
    ]
    for depth in sorted({kept["depth"] for kept in report["cells"].values()}):
        runs = runs_at(report, depth)
        proofs = [run["cpu"] for run in runs.values() if run["proved"]]
        new = [name for name, run in runs.items() if run["proved"] and open_in_paper(name, depth)]
        parts += [
            f"## Depth {depth}",
            table(runs, depth),
            f"- Proved: {len(proofs)} of {len(runs)} data sets"
            + (f", of them open in the paper after four hours: {', '.join(new)}." if new else "."),
            *not_run(runs),
            *disagreements(report, depth),
            *shares(runs),
        ]
    parts.append("![Best tree and bound over CPU time](deep.svg)")
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def runs_at(report: dict, depth: int) -> dict[str, dict]:
    """Return the run of each data set: the proofs first, by time, then those with small gaps."""
    runs = {k["dataset"]: k["runs"][-1] for k in report["cells"].values() if k["depth"] == depth}
    runs = {name: run for name, run in runs.items() if "failed" not in run}
    return dict(sorted(runs.items(), key=lambda item: order(item[1])))


def order(run: dict) -> tuple:
    return (not run["proved"], run["cpu"] if run["proved"] else run["errors"] - run["lower_bound"])


def open_in_paper(name: str, depth: int) -> bool:
    return quoted(name, "ConTree", depth).startswith(">")


def table(runs: dict[str, dict], depth: int) -> str:
    head = ["data set", "errors", "bound", "CPU s", "root closed", "peak MB"]
    head += [f"bound at {moment}" for moment in MOMENTS.values()]
    head += ["*quoted: ConTree, s*", "*quoted: MB*"]
    lines = []
    for name, run in runs.items():
        peak = f"{run['peak_mb']:.0f}" if "peak_mb" in run else ""
        line = [name, run["errors"], run["lower_bound"], seconds(run), closed(run), peak]
        line += [bound_at(run, moment) for moment in MOMENTS]
        line += [in_table(name, "ConTree", depth), in_table(name, "ConTree", depth, 0, "memory_mb")]
        lines.append(line)
    return markdown_table(head, lines)


def seconds(run: dict) -> str:
    shown = f"{run['cpu']:.3f}" if run["cpu"] < 1 else number(run["cpu"])
    return shown if run["proved"] else f"> {shown}"


def closed(run: dict) -> str:
    return "" if run["proved"] else f"{100 * run['history'][-1][3]:.0f} %"


def bound_at(run: dict, moment: float) -> str:
    """Return the bound at a moment; nothing if the run had not come so far."""
    if moment > run["cpu"]:
        return "–" if run["proved"] else ""
    return str(max((bound for at, _, bound, _ in run["history"] if at <= moment), default=0))


def disagreements(report: dict, depth: int) -> list[str]:
    """Say where a proof is not the optimum that is known."""
    said = []
    for kept in report["cells"].values():
        run, known = kept["runs"][-1], kept.get("known_optimum")
        if kept["depth"] == depth and run["proved"] and known not in (None, run["errors"]):
            said.append(f"- {kept['dataset']}: {run['errors']} errors, known: {known}.")
    return said


def not_run(runs: dict[str, dict]) -> list[str]:
    missing = [name for name in dataset_names() if name not in runs]
    return [f"- Not run yet: {', '.join(missing)}."] if missing else []


def shares(runs: dict[str, dict]) -> list[str]:
    """Say what long proofs consist of."""
    counted = [run["counters"] for run in runs.values() if run["proved"] and run["cpu"] > LONG]
    if not counted:
        return []
    two = min(one["depth_two_solves"] / one["subproblems"] for one in counted)
    cached = [one["cache_hits"] + one["cache_bound_hits"] for one in counted]
    cache = max(hits / one["subproblems"] for hits, one in zip(cached, counted, strict=True))
    return [
        f"- In proofs of more than {LONG} s at least {100 * two:.1f} % of the subproblems are of "
        f"depth two. The cache answers at most {100 * cache:.2g} % of all."
    ]


def figures(report: dict) -> dict:
    """Draw the best tree and the bound over CPU time, for the longest runs at depth 5."""
    plt = pyplot()
    runs = runs_at(report, min(kept["depth"] for kept in report["cells"].values()))
    longest = sorted(runs, key=lambda name: runs[name]["cpu"])[-DRAWN:]
    figure, panels = plt.subplots(2, 3, figsize=(9, 5), layout="constrained", squeeze=False)
    for panel in panels.flat[len(longest) :]:
        panel.set_axis_off()
    for panel, name in zip(panels.flat, longest, strict=False):
        draw(panel, name, runs[name])
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    return {EXPERIMENT: figure}


def draw(panel, name: str, run: dict) -> None:
    at, errors, bounds, _ = map(list, zip(*run["history"], strict=True))
    at.append(max(run["cpu"], at[-1]))
    panel.step(at, [*errors, run["errors"]], where="post", color="#0072B2", label="best tree")
    panel.step(
        at, [*bounds, run["lower_bound"]], where="post", color="#E69F00", label="proved bound"
    )
    if run["proved"]:
        panel.plot(at[-1], run["errors"], "x", color="#111111", markersize=7, zorder=4)
    panel.set_xscale("log")
    panel.set_ylim(0, 1.5 * run["errors"] + 1)
    panel.set_title(f"{name}: {seconds(run)} s", fontsize=9)
    panel.set_xlabel("CPU seconds", fontsize=8)
    panel.set_ylabel("training errors", fontsize=8)
    panel.tick_params(labelsize=8)
    panel.spines[["top", "right"]].set_visible(False)


def bars(report: dict, depth: int = 5):
    """Draw CPU seconds to the proof of each data set, and the four hours that the paper had."""
    plt = pyplot()
    runs = runs_at(report, depth)
    figure, axes = plt.subplots(figsize=(7, 0.27 * len(runs) + 1.2), layout="constrained")
    shown = set()
    for place, (name, run) in enumerate(runs.items()):
        new = open_in_paper(name, depth)
        label = "proved; open in the paper" if new else "proved here and in the paper"
        style = {"color": "#0072B2" if new else "#56B4E9"}
        if not run["proved"]:
            label = "not ended yet"
            style = {"facecolor": "none", "edgecolor": "#0072B2", "hatch": "////"}
        least = 1e-3
        width = max(run["cpu"], 2 * least) - least
        axes.barh(place, width, 0.7, left=least, label=None if label in shown else label, **style)
        shown.add(label)
        said = "" if run["proved"] else f", at least {run['lower_bound']:,}"
        place_of_text = (max(run["cpu"], least), place)
        axes.annotate(f" {run['errors']:,} errors{said}", place_of_text, va="center", fontsize=7)
        theirs = at_least(quoted(name, "ConTree", depth))
        if theirs and not new:
            axes.plot(theirs, place, "D", color="#D55E00", markersize=4)
    axes.plot([], [], "D", color="#D55E00", markersize=4, label="ConTree, as the paper printed")
    axes.axvline(4 * 3600, color="#D55E00", linewidth=0.8, linestyle=":")
    axes.annotate(" 4 hours", (4 * 3600, 0), va="center", fontsize=7, color="#D55E00")
    axes.set_xscale("log")
    axes.set_xlim(1e-3, 3e5)
    axes.set_yticks(range(len(runs)), list(runs), fontsize=8)
    axes.invert_yaxis()
    axes.set_xlabel(f"CPU seconds to a proved optimum, depth {depth}, one thread")
    figure.legend(frameon=False, fontsize=8, loc="outside lower center", ncols=2)
    axes.spines[["top", "right"]].set_visible(False)
    return figure


if __name__ == "__main__":
    main()
