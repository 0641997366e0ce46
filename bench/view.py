#!/usr/bin/env python3
"""Times the list of `juror view` over 50 runs.

Evaluates a workload into a run folder, copies it as often as asked, and starts a viewer, which reads
every run before it says its address. Then asks for the list, and again when all runs have changed.
The aim for 50 runs is 300 ms. All files go into bench/.work, which can be deleted at any time.

Nothing here fails because something is slow: the exit code is 0 unless a part could not be run.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import compare
import harness
from compare import WORK, CannotRun, run, say
from harness import tell

# What each of them may take, in milliseconds.
BUDGET = 300.0


def main() -> int:
    options = parse_options()
    if not options.no_build:
        harness.build("juror")
    try:
        measure(options)
    except (CannotRun, OSError) as problem:
        say(f"view.py: {problem}")
        return 1
    return 0


def parse_options() -> argparse.Namespace:
    parser = harness.option_parser(__doc__)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--questions", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--juror", type=Path, default=harness.juror())
    parser.add_argument("--no-build", action="store_true", help="use what was built before")
    return parser.parse_args()


def measure(options: argparse.Namespace) -> None:
    folder = WORK / "view"
    shutil.rmtree(folder, ignore_errors=True)
    make_runs(options, folder)
    rounds = [ask(options.juror, folder) for _ in range(options.rounds)]
    say(f"{options.runs} runs of {options.questions:,} questions")
    for name, times in zip(["until it listens", "list", "all changed"], zip(*rounds)):
        tell(name, statistics.median(times) * 1000, "ms", BUDGET)


def make_runs(options: argparse.Namespace, folder: Path) -> None:
    WORK.mkdir(exist_ok=True)
    workload = compare.make_workload(Path(sys.executable), compare.OUR_GENERATOR, options.questions)
    original = folder / "run-000"
    run(options.juror, "eval", workload.reference, workload.responses, "--run", original, "-q")
    manifest = json.loads((original / "run.json").read_text(encoding="utf-8"))
    for number in range(1, options.runs):
        copy = folder / f"run-{number:03}"
        shutil.copytree(original, copy, ignore=shutil.ignore_patterns("results.jsonl"))
        manifest["began"] = f"2026-01-01T00:{number // 60:02}:{number % 60:02}.000000Z"
        (copy / "run.json").write_text(json.dumps(manifest), encoding="utf-8")


def ask(juror: Path, folder: Path) -> list[float]:
    """Returns how long a viewer takes to start, to list runs, and to list them after a change."""
    command = [juror, "view", folder, "--port", "0", "-q"]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as viewer:
        try:
            assert viewer.stdout is not None
            address = viewer.stdout.readline().strip()
            if not address:
                raise CannotRun("the viewer does not start")
            times = [time.perf_counter() - began, time_list(address)]
            for manifest in folder.glob("*/run.json"):
                manifest.touch()
            return [*times, time_list(address)]
        finally:
            viewer.terminate()


def time_list(address: str) -> float:
    began = time.perf_counter()
    with urllib.request.urlopen(address) as reply:
        page = reply.read().decode("utf-8")
    took = time.perf_counter() - began
    if "run-000" not in page:
        raise CannotRun("the list has no runs")
    return took


if __name__ == "__main__":
    sys.exit(main())
