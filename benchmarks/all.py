"""All experiments in the order of their importance, within a given time.

    python benchmarks/all.py --plan           the steps, and about how long each takes
    python benchmarks/all.py --minutes 60     as many as end within an hour, then report.py
    python benchmarks/all.py                  all of them

Only cells that this commit has not measured are measured, so a call continues where the last one
ended.  The tables stay whole meanwhile: a cell of another commit stands until it is replaced.
Minutes are those of two quiet cores.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

STEPS = [  # minutes, script and arguments
    (11, "peers.py --depth 3 --repeat 3 --columns contree contree-2 pycontree cart"),
    (14, "peers.py --depth 4 --repeat 3 --columns contree contree-2 cart"),
    (16, "peers.py --depth 4 --repeat 3 --columns pycontree"),
    (10, "peers.py --depth 3 --repeat 3 --columns pytrees --time-limit 60"),
    (9, "out_of_sample.py --solvers cart contree"),
    (40, "anytime.py"),
    (4, "out_of_sample.py --solvers quantiles"),
    (10, "peers.py --depth 4 --repeat 3 --columns pytrees --time-limit 60"),
    (15, "peers.py --depth 2 --repeat 3 --time-limit 150"),
    (8, "peers.py --depth 3 4 --repeat 3 --columns pytrees-lds --time-limit 30"),
    (15, "baselines.py --time-limit 30"),
    (8, "regression.py"),
    (15, "pruning.py"),
    (10, "scaling.py --time-limit 30"),
    (12, "peers.py --gap --repeat 3 --time-limit 120"),
    (6, "sparse.py"),
    (9, "general.py"),
    (4, "categorical.py"),
    (12, "limits.py"),
    (27, "out_of_sample.py --solvers guessing"),
    (30, "out_of_sample.py --solvers cart quantiles contree --splits 20"),
    (75, "distributed.py"),
]
HERE = Path(__file__).parent


def main() -> None:
    made = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    made.add_argument("--minutes", type=float, default=float("inf"), help="when to end")
    made.add_argument("--plan", action="store_true", help="only print the steps")
    args = made.parse_args()
    end = time.monotonic() + 60 * args.minutes
    steps = [(minutes, line) for minutes, line in STEPS if (HERE / line.split()[0]).exists()]
    total = 0
    for number, (minutes, line) in enumerate(steps, 1):
        total += minutes
        print(f"{number:2}. {line}: about {minutes} min, {total} in all", flush=True)
        if args.plan:
            continue
        began = time.monotonic()
        ended = conduct(line, end)
        said = "done" if ended == 0 else "out of time" if ended is None else f"exit {ended}"
        print(f"    {said} after {(time.monotonic() - began) / 60:.1f} min", flush=True)
        if ended is None:
            break
    if not args.plan:
        subprocess.run([sys.executable, HERE / "report.py"], check=True)


def conduct(line: str, end: float) -> int | None:
    """Run a step; returns its exit code, or None if the end came first.

    The step has a group of its own, so that what it has started ends with it.
    """
    script, *arguments = line.split()
    command = [sys.executable, HERE / script, *arguments, "--renew"]
    step = subprocess.Popen(command, stdout=subprocess.DEVNULL, start_new_session=True)
    try:
        left = end - time.monotonic()
        return step.wait(None if left == float("inf") else max(left, 0))
    except (subprocess.TimeoutExpired, KeyboardInterrupt) as reason:
        os.killpg(step.pid, signal.SIGKILL)
        step.wait()
        if isinstance(reason, KeyboardInterrupt):
            raise
        return None


if __name__ == "__main__":
    main()
