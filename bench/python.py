#!/usr/bin/env python3
"""Sets the Python module of Juror beside the Python library it replaces.

Uses the workload, the library's virtual environment and the helpers of compare.py, builds the wheel,
installs it beside the library, and runs both sides in turns, each in a process of its own. All files
go into bench/.work, which can be deleted at any time.

Nothing here fails because something is slow: the exit code is 0 unless a part could not be run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

import compare
import harness
from compare import BENCH, PROJECT, WORK, CannotRun, Row, Workload, faster, run, say

WHAT: dict[str, tuple[str, float | None]] = {
    "objects": ("run_evaluation on objects", 8),
    "paths": ("run_evaluation by paths, with reading", 15),
    "looks": ("the same, and a look at every result", None),
    "aggregates": ("compute_aggregates of ten times as many dicts", 5),
}


def main() -> int:
    options = parse_options()
    return compare.print_rows(measure(options), options)


def parse_options() -> argparse.Namespace:
    parser = harness.option_parser(__doc__)
    add = parser.add_argument
    add("--questions", type=int, default=10_000, help="questions of the workload (%(default)s)")
    add("--rounds", type=int, default=5, help="how often each is run (%(default)s)")
    add("--generator", type=Path, help="a program that makes the workload: N OUTDIR")
    add("--wheel", type=Path, help="a wheel that is built already")
    options = parser.parse_args()
    if options.generator is None:
        there = compare.REALISTIC_GENERATOR.is_file()
        options.generator = compare.REALISTIC_GENERATOR if there else compare.OUR_GENERATOR
    return options


def measure(options: argparse.Namespace) -> Iterator[Row]:
    WORK.mkdir(exist_ok=True)
    library = compare.make_environment()
    juror = make_environment(options.wheel or build_wheel())
    workload = compare.make_workload(library, options.generator, options.questions)
    for what, (words, least) in WHAT.items():
        say(f"{words}: {options.questions} questions")
        yield from compare_sides(library, juror, workload, what, (words, least), options.rounds)


def compare_sides(
    library: Path,
    juror: Path,
    workload: Workload,
    what: str,
    row: tuple[str, float | None],
    rounds: int,
) -> Iterator[Row]:
    def program(python: Path, side: str) -> compare.Run:
        script = BENCH / "python_times.py"
        return run(python, script, side, what, workload.reference, workload.responses)

    program(juror, "juror")  # so that files and program are in memory for everyone
    runs = compare.in_turns(
        rounds,
        {
            "library": lambda: program(library, "library"),
            "juror": lambda: program(juror, "juror"),
        },
    )
    scores = {name: compare.median_figure(runs[name], "mean steps score") for name in runs}
    if scores["juror"] + 1e-6 < scores["library"]:
        raise CannotRun(f"the sides do not agree: mean steps scores {scores}")
    seconds = {name: compare.median_figure(runs[name], "seconds") for name in runs}
    yield faster(row[0], "library", seconds["library"], seconds["juror"], row[1])


def build_wheel() -> Path:
    """The wheel, built by maturin in an environment of its own."""
    say("building the wheel")
    folder, wheels = WORK / "maturin", WORK / "wheels"
    python = folder / "bin/python"
    if not python.is_file():
        run(compare.find_python(), "-m", "venv", folder)
        run(python, "-m", "pip", "install", "--quiet", "maturin==1.16.0")
    manifest = PROJECT / "crates/juror-python/Cargo.toml"
    run(folder / "bin/maturin", "build", "--release", "--locked", "-m", manifest, "-o", wheels)
    return max(wheels.glob("juror_eval-*.whl"), key=lambda path: path.stat().st_mtime)


def make_environment(wheel: Path) -> Path:
    """The Python of an environment with the wheel: the same Python as the library's."""
    folder = WORK / "venv-juror"
    python = folder / "bin/python"
    if not python.is_file():
        run(compare.find_python(), "-m", "venv", folder)
    # Until it was renamed, the package was one that the next would refuse to share a folder with.
    run(python, "-m", "pip", "uninstall", "--quiet", "--yes", "juror", "juror-eval")
    run(python, "-m", "pip", "install", "--quiet", "--no-index", wheel)
    return python


if __name__ == "__main__":
    sys.exit(main())
