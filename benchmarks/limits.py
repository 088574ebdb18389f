"""Whether limits of time and memory hold, how soon Ctrl-C ends a fit, what a first tree costs.

    python benchmarks/limits.py                               about 12 minutes
    python benchmarks/limits.py --only interrupt greedy       two of the four questions
    python benchmarks/limits.py --again 'overshoot:*'         measured anew
    python benchmarks/limits.py --quick                       fewer sets, depths and rows; 3 minutes

- overshoot: how long past its time limit a fit ends, where the limit is past the greedy start;
- interrupt: how long after a SIGINT it ends, whatever it was doing;
- greedy: what `time_limit=0` costs, beside scikit-learn's CART of the same depth;
- memory: peak memory of skin at depth six under memory limits, above the loaded data.

Every data set and question has a process of its own; "generated" has 20 columns of normal values.
Wall time wants a quiet machine; CPU time is there for machines that are not.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
from sklearn.tree import DecisionTreeClassifier

from _experiment import Cell, Experiment, markdown_table, parse, parser, provenance, publish
from _harness import _memory, _reset_peak, data_directory, dataset_names

EXPERIMENT = "limits"
LONGEST = 1800.0  # seconds of one question for one data set
MILLION = "generated 1,000,000"
EXTRA = (0.05, 0.3, 1.0)  # seconds of the time limit beyond the greedy start
MOMENTS = {"few": (0.05, 0.4, 1.5), "many": (0.1, 0.6, 1.5, 3.0, 6.0)}  # of the SIGINT
MEMORY_LIMITS = ("1MB", "64MB", "256MB", "1GB")


def main() -> None:
    if len(sys.argv) == 3 and sys.argv[1] == "--task":
        task = json.loads(sys.argv[2])
        print(json.dumps(TASKS[task["question"]](task)))
        return
    made = parser(__doc__, time_limit=LONGEST)
    made.add_argument("--only", nargs="+", choices=list(TASKS), default=list(TASKS))
    made.add_argument("--memory-seconds", type=float, default=60.0, help="of each memory limit")
    args = parse(made)
    experiment = Experiment(EXPERIMENT, args.output)
    if not args.report:
        experiment.conduct(
            [[cell(task, args.time_limit)] for task in tasks(args)], 1, args.again, args.renew
        )
    publish(experiment, markdown)


def cell(task: dict, limit: float) -> Cell:
    which = [task["question"], task["dataset"], task.get("depth"), task.get("memory_limit")]
    key = ":".join(str(part) for part in which if part is not None)
    return Cell(key, task, limit, lambda: run(task, limit))


def tasks(args):
    """Yield what is to be run; a task is one process."""
    few = ["bank", "eeg"] if args.quick else dataset_names()
    largest = "generated 100,000" if args.quick else MILLION
    depths = [2, 6] if args.quick else [2, 4, 6, 8]
    for question in args.only:
        if question == "overshoot":
            for name in [*few, largest]:
                yield {"question": question, "dataset": name, "depths": depths}
        elif question == "interrupt":
            for name in [few[0], "eeg", *([] if args.quick else ["skin"]), largest]:
                moments = MOMENTS["many" if name == MILLION else "few"]
                yield {"question": question, "dataset": name, "moments": moments}
        elif question == "greedy":
            sizes = (1_000, 10_000, 100_000) if args.quick else (1_000, 10_000, 100_000, 1_000_000)
            for name in [*few, *(f"generated {size:,}" for size in sizes)]:
                yield {"question": question, "dataset": name, "depths": [4, 8]}
        elif question == "memory" and not args.quick:
            for limit in MEMORY_LIMITS:
                task = {"question": question, "dataset": "skin", "memory_limit": limit}
                yield task | {"seconds": args.memory_seconds}


def run(task: dict, limit: float) -> dict:
    """Answer one question for one data set, in a fresh process."""
    command = [sys.executable, __file__, "--task", json.dumps(task)]
    began = time.perf_counter()
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return {"failed": f"not done after {limit:g} s", "proved": False}
    if done.returncode:
        said = done.stderr.strip()[-500:] or f"exit {done.returncode}"
        return {"failed": said, "proved": False}
    return {"wall": time.perf_counter() - began, **json.loads(done.stdout.splitlines()[-1])}


# What follows up to the tables runs in the measured process.


def read(name: str) -> tuple[np.ndarray, np.ndarray]:
    with gzip.open(data_directory() / "train" / f"{name}.csv.gz", "rt") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1, ndmin=2)  # the label comes first
    return np.ascontiguousarray(table[:, 1:]), table[:, 0].astype(int)


def generate(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 20))
    y = (X[:, 0] * X[:, 1] + 0.5 * X[:, 2] > 0).astype(int) + (X[:, 3] > 1)
    return X, np.where(rng.random(rows) < 0.1, 0, y)


def loaded(task: dict) -> tuple[np.ndarray, np.ndarray]:
    from contree import ConTreeClassifier

    kind, _, rows = task["dataset"].partition(" ")
    X, y = generate(int(rows.replace(",", ""))) if rows else read(kind)
    for model in (ConTreeClassifier(1), DecisionTreeClassifier()):  # parts load in the first fit
        model.fit(X[:50], y[:50])
    return X, y


def timed(model, X, y) -> tuple[float, float]:
    """Fit, and return wall and CPU time."""
    wall, cpu = time.perf_counter(), time.process_time()
    model.fit(X, y)
    return time.perf_counter() - wall, time.process_time() - cpu


def overshoot(task: dict) -> dict:
    """Return, by depth, the greedy start and how far past later limits the fits ended."""
    from contree import ConTreeClassifier

    X, y = loaded(task)
    depths = {}
    for depth in task["depths"]:
        greedy = timed(ConTreeClassifier(depth, time_limit=0), X, y)[0]
        past = []
        for extra in EXTRA:
            clf = ConTreeClassifier(depth, time_limit=greedy + extra)
            at_limit = []
            timer = threading.Timer(
                greedy + extra, lambda to=at_limit: to.append(time.process_time())
            )
            timer.start()
            wall = timed(clf, X, y)[0]
            seen = clf.search_report_
            first = seen.history[0].seconds + wall - seen.seconds  # this run's own greedy start
            if clf.status_ == "time_limit" and first < greedy + extra:
                cpu = time.process_time() - at_limit[0] if at_limit else 0.0
                past.append((wall - greedy - extra, cpu))
            timer.cancel()
        depths[depth] = {"greedy": greedy, "past": past}
    return {"by_depth": depths}


def interrupt(task: dict) -> dict:
    """Return, for each moment of a signal, how long after it the fit ended, both ways."""
    from contree import ConTreeClassifier

    X, y = loaded(task)
    greedy = timed(ConTreeClassifier(6, time_limit=0), X, y)[0]
    seen = []
    for on_interrupt in ("raise", "return"):
        for moment in task["moments"]:
            if on_interrupt == "return" and moment < 1.5 * greedy:
                continue  # the greedy start is the least that there is to return
            sent = []

            def send(to=sent):
                to.append((time.perf_counter(), time.process_time()))
                os.kill(os.getpid(), signal.SIGINT)

            timer = threading.Timer(moment, send)
            clf = ConTreeClassifier(6, on_interrupt=on_interrupt)
            timer.start()
            try:
                clf.fit(X, y)
                how = clf.status_
            except KeyboardInterrupt:
                how = "raised"
            ended = time.perf_counter(), time.process_time()
            timer.cancel()
            if sent:
                latency = [end - begin for end, begin in zip(ended, sent[0], strict=True)]
                seen.append([on_interrupt, moment, how, *latency])
    return {"signals": seen}


def greedy(task: dict) -> dict:
    """Return, by depth, the least wall and CPU time of both over runs in turn."""
    from contree import ConTreeClassifier

    X, y = loaded(task)
    depths = {}
    for depth in task["depths"]:
        runs: dict = {"contree": [], "cart": []}
        rounds = 1 if X.size > 5_000_000 else 3 if X.size > 500_000 else 7
        for _ in range(rounds):
            models = {
                "contree": ConTreeClassifier(depth, time_limit=0),
                "cart": DecisionTreeClassifier(max_depth=depth, random_state=0),
            }
            for solver, model in models.items():
                runs[solver].append(timed(model, X, y))
        depths[depth] = {solver: np.min(times, axis=0).tolist() for solver, times in runs.items()}
    return {"by_depth": depths}


def memory(task: dict) -> dict:
    """Return the peak above what the loaded data and imports take."""
    from contree import ConTreeClassifier

    X, y = loaded(task)
    clf = ConTreeClassifier(6, time_limit=task["seconds"], memory_limit=task["memory_limit"])
    before = _memory("VmRSS")
    _reset_peak()
    clf.fit(X, y)
    peak_mb = (_memory("VmHWM") - before) / 1024
    return {"peak_mb": peak_mb, "status": clf.status_, "errors": clf.errors_}


TASKS = {
    "overshoot": overshoot,
    "interrupt": interrupt,
    "greedy": greedy,
    "memory": memory,
}


def markdown(report: dict) -> str:
    """Return the answers as Markdown; each question says where it was measured."""
    asked: dict[str, list[dict]] = {}
    for kept in report["cells"].values():
        asked.setdefault(kept["question"], []).append(kept)
    lines = ["# Limits", "", provenance(report), "", "Again: `python benchmarks/limits.py`."]
    for question in (name for name in TASKS if name in asked):
        answers = [{**kept, **kept["runs"][-1]} for kept in asked[question]]
        failed = [answer for answer in answers if "failed" in answer]
        lines += ["", *TABLES[question]([answer for answer in answers if "failed" not in answer])]
        lines += [f"\n{answer['dataset']}: failed: {answer['failed']}" for answer in failed]
    return "\n".join(lines) + "\n"


def grid(title: str, head: list[str], rows: list[list]) -> list[str]:
    return [title, "", markdown_table(head, rows).rstrip()]


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.0f}"


def overshoot_table(answers: list[dict]) -> list[str]:
    depths = list(answers[0]["by_depth"]) if answers else []
    rows = []
    for answer in answers:
        cells = answer["by_depth"].values()
        worst = [max((wall for wall, _ in cell["past"]), default=None) for cell in cells]
        cpu = [seconds for cell in cells for _, seconds in cell["past"]]
        shown = ["–" if past is None else milliseconds(past) for past in worst]
        start = milliseconds(max(cell["greedy"] for cell in cells))
        rows.append([answer["dataset"], start, *shown, milliseconds(max(cpu, default=0.0))])
    limits = ", ".join(f"{extra:g}" for extra in EXTRA)
    return grid(
        "Milliseconds of wall time past the time limit, by depth: the largest over limits of "
        f"{limits} s beyond the greedy start. The last column is the largest CPU time after the "
        "limit. A dash: every fit was proved before, or the limit came during its greedy start, "
        "which always completes.",
        ["data set", "greedy start", *map(str, depths), "CPU"],
        rows,
    )


def interrupt_table(answers: list[dict]) -> list[str]:
    return grid(
        "Milliseconds from a SIGINT to the end of a fit of depth six.",
        ["data set", "on_interrupt", "sent after", "ended", "wall", "CPU"],
        [
            [answer["dataset"], way, f"{moment:g} s", how, *map(milliseconds, latency)]
            for answer in answers
            for way, moment, how, *latency in answer["signals"]
        ],
    )


def greedy_table(answers: list[dict]) -> list[str]:
    rows = []
    for answer in answers:
        for depth, cell in answer["by_depth"].items():
            times = [cell[solver] for solver in ("contree", "cart")]
            shown = [f"{1000 * wall:.1f} ({1000 * cpu:.1f})" for wall, cpu in times]
            ratio = f"{times[0][0] / times[1][0]:.2f} ({times[0][1] / times[1][1]:.2f})"
            rows.append([answer["dataset"], depth, *shown, ratio])
    return grid(
        "`time_limit=0` beside CART: milliseconds of wall (CPU) time, and their ratio.",
        ["data set", "depth", "contree", "CART", "ratio"],
        rows,
    )


def memory_table(answers: list[dict]) -> list[str]:
    return grid(
        "Skin at depth six: peak memory above the loaded data.",
        ["memory_limit", "seconds", "peak MB", "status", "errors"],
        [
            [
                answer["memory_limit"],
                answer["seconds"],
                f"{answer['peak_mb']:.0f}",
                answer["status"],
                answer["errors"],
            ]
            for answer in answers
        ],
    )


TABLES = {
    "overshoot": overshoot_table,
    "interrupt": interrupt_table,
    "greedy": greedy_table,
    "memory": memory_table,
}


if __name__ == "__main__":
    main()
