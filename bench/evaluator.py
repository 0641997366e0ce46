#!/usr/bin/env python3
"""Sets `juror.Evaluator` on rows of Arrow beside `juror eval` on files of the same data.

Both score the same questions and make a result of each: the program reads and writes files, the
evaluator takes a table in memory and returns one. What counts is processor time, of all threads:
that of the whole program, and that of the process around the call. All files go into bench/.work,
which can be deleted at any time.

Nothing here fails because something is slow: the exit code is 0 unless a part could not be run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import compare
import harness
import python as module
from compare import BENCH, WORK, Row, Run, Workload, run, say

MOST = 1.5
"""How much more processor time the evaluator may take."""


def main() -> int:
    options = parse_options()
    return compare.print_rows(measure(options), options)


def parse_options() -> argparse.Namespace:
    parser = harness.option_parser(__doc__)
    add = parser.add_argument
    add("--questions", type=int, default=10_000, help="questions of the workload (%(default)s)")
    add("--rounds", type=int, default=5, help="how often each is run (%(default)s)")
    add("--batch", type=int, default=1000, help="rows of a batch (%(default)s)")
    add("--generator", type=Path, help="a program that makes the workload: N OUTDIR")
    add("--wheel", type=Path, help="a wheel that is built already")
    add("--juror", type=Path, help="the program, built already as the wheel was")
    options = parser.parse_args()
    if options.generator is None:
        there = compare.REALISTIC_GENERATOR.is_file()
        options.generator = compare.REALISTIC_GENERATOR if there else compare.OUR_GENERATOR
    return options


def measure(options: argparse.Namespace) -> Iterator[Row]:
    WORK.mkdir(exist_ok=True)
    python = make_environment(options.wheel or module.build_wheel())
    if options.juror is None:
        harness.build("juror")
    juror = options.juror or harness.juror()
    workload = compare.make_workload(python, options.generator, options.questions)
    results = WORK / "evaluator-results.jsonl"

    def program() -> Run:
        words = (workload.reference, workload.responses, "--profile", "6", "--no-model", "--quiet", "-o", results)
        return compare.run_anew((juror, "eval", *words), (results,))

    def evaluator(how: str) -> Run:
        script = BENCH / "evaluator_times.py"
        return run(python, script, how, workload.reference, workload.responses, results, str(options.batch))

    program()  # so that the files are in memory, and there are results to compare with
    say(f"{options.questions} questions, processor seconds of all threads")
    for how, words in (("rows", "each row has its question"), ("reference", "questions from a reference")):
        say(words)
        runs = compare.in_turns(options.rounds, {"program": program, "evaluator": lambda how=how: evaluator(how)})
        theirs = compare.median_cpu_seconds(runs["program"])
        ours = compare.median_figure(runs["evaluator"], "cpu seconds")
        yield compare.within(f"Evaluator, {words}", f"juror eval {theirs:.3f} s", f"{ours:.3f} s", ours / theirs, MOST)
        peak = compare.median_figure(runs["evaluator"], "megabytes")
        say(f"  memory of a worker beside its inputs, batches of {options.batch} rows: {peak:.0f} MB")


def make_environment(wheel: Path) -> Path:
    """The Python of an environment with the wheel and pyarrow."""
    folder = WORK / "venv-evaluator"
    python = folder / "bin/python"
    if not python.is_file():
        run(Path(sys.executable), "-m", "venv", folder)
        run(python, "-m", "pip", "install", "--quiet", "pyarrow==26.0.1")
    run(python, "-m", "pip", "install", "--quiet", "--no-index", "--force-reinstall", wheel)
    return python


if __name__ == "__main__":
    sys.exit(main())
