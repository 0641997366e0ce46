#!/usr/bin/env python3
"""Sets the speed and memory of Juror beside those of the Python library it replaces.

Makes a workload, installs the library into a virtual environment of its own, builds Juror, runs
both over the same files in turns, and prints one table of ratios with the budget of each. Whole
processes are timed by the wall clock; parts are timed from inside the process (`juror-timings` and
`library_times.py`). All files go into bench/.work, which can be deleted at any time.

Nothing here fails because something is slow: the exit code is 0 unless a part could not be run.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import harness
from harness import PROJECT

BENCH = PROJECT / "bench"
WORK = BENCH / ".work"
OUR_GENERATOR = BENCH / "workload.py"
REALISTIC_GENERATOR = PROJECT.parent / "shared/data/qa/gen_workload.py"
REQUIREMENTS = ["graphrag-eval==6.4.0", "pyyaml==6.0.3"]
N_VERSION_RUNS = 20


class CannotRun(Exception):
    """A part of the comparison could not be run; says which and why."""


def main() -> int:
    options = parse_options()
    return print_rows(compare(options), options)


def print_rows(measured: Iterator[Row], options: argparse.Namespace) -> int:
    """Prints the rows that could be measured, and returns the exit code."""
    rows: list[Row] = []
    problem = None
    try:
        for row in measured:
            rows.append(row)
    except CannotRun as cannot_run:
        problem = cannot_run
    if rows:
        print_table(rows, options)
    if problem:
        say(f"{Path(sys.argv[0]).name}: {problem}")
    return 1 if problem else 0


def parse_options() -> argparse.Namespace:
    parser = harness.option_parser(__doc__)
    add = parser.add_argument
    add("--questions", type=int, default=10_000, help="questions of the workload (%(default)s)")
    add("--yaml-questions", type=int, default=500, help="questions of the one in YAML (%(default)s)")
    add("--rows", type=int, default=1_000_000, help="rows of the large results (%(default)s)")
    add("--rounds", type=int, default=5, help="how often each is run (%(default)s)")
    add("--quick", action="store_true", help="a first impression: small workload, two rounds")
    add("--generator", type=Path, help="a program that makes the workload: N OUTDIR [--yaml]")
    add("--fresh", action="store_true", help="begin by deleting everything kept from earlier runs")
    options = parser.parse_args()
    if options.quick:
        options.questions, options.yaml_questions = 1000, 100
        options.rows, options.rounds = 100_000, 2
    if options.generator is None:
        there = REALISTIC_GENERATOR.is_file()
        options.generator = REALISTIC_GENERATOR if there else OUR_GENERATOR
    return options


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


# --- Running programs ---------------------------------------------------------------------------


@dataclass
class Run:
    """What a process took, and what it printed."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int
    printed: str

    def figure(self, name: str) -> float:
        """The value of a printed line of the form `name: value`."""
        for line in self.printed.splitlines():
            if line.startswith(f"{name}: "):
                return float(line.removeprefix(f"{name}: "))
        raise CannotRun(f"no `{name}` was printed:\n{self.printed}")


def run(*command: str | Path, cwd: Path | None = None) -> Run:
    """Runs a program to its end.

    The peak memory of a child is at least what its parent held when it was started, so this
    program stays small: it loads no results before all measurements are done.
    """
    words = [str(word) for word in command]
    with tempfile.TemporaryFile() as output:
        start = time.perf_counter()
        try:
            process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT, cwd=cwd)
        except OSError as error:
            raise CannotRun(f"{words[0]}: {error}") from error
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        printed = output.read().decode(errors="replace")
    if process.returncode != 0:
        raise CannotRun(f"`{' '.join(words)}` ended with {process.returncode}:\n{printed}")
    unit = 1 if sys.platform == "darwin" else 1024
    return Run(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * unit, printed)


def in_turns(rounds: int, programs: dict[str, Callable[[], Run]]) -> dict[str, list[Run]]:
    """Runs programs one after the other, again and again, so that each meets the same weather."""
    runs: dict[str, list[Run]] = {name: [] for name in programs}
    for number in range(rounds):
        for name, program in programs.items():
            runs[name].append(program())
        times = ", ".join(f"{name} {runs[name][-1].seconds:.3f} s" for name in programs)
        say(f"  round {number + 1}: {times}")
    return runs


def median_seconds(runs: list[Run]) -> float:
    return statistics.median(run.seconds for run in runs)


def median_cpu_seconds(runs: list[Run]) -> float:
    return statistics.median(run.cpu_seconds for run in runs)


def median_figure(runs: list[Run], name: str) -> float:
    return statistics.median(run.figure(name) for run in runs)


# --- Getting ready ------------------------------------------------------------------------------


@dataclass
class Tools:
    """The programs to compare."""

    python: Path
    juror: Path
    juror_timings: Path


@dataclass
class Workload:
    """A reference and responses to it."""

    folder: Path

    @property
    def reference(self) -> Path:
        return self.folder / "reference.json"

    @property
    def responses(self) -> Path:
        return self.folder / "responses.jsonl"

    @property
    def n_bytes(self) -> int:
        return self.reference.stat().st_size + self.responses.stat().st_size


def get_tools() -> Tools:
    python = make_environment()
    say("building juror and juror-timings")
    run("cargo", "build", "--release", "-p", "juror", "-p", "juror-timings", cwd=PROJECT)
    metadata = run("cargo", "metadata", "--format-version=1", "--no-deps", "-q", cwd=PROJECT)
    release = Path(json.loads(metadata.printed)["target_directory"]) / "release"
    return Tools(python, release / "juror", release / "juror-timings")


def make_environment() -> Path:
    """The Python of a virtual environment with the library, made at the first run."""
    folder = WORK / "venv"
    python, made = folder / "bin/python", folder / "requirements.txt"
    wanted = "\n".join(REQUIREMENTS)
    if made.is_file() and made.read_text() == wanted:
        return python
    say(f"installing {', '.join(REQUIREMENTS)}")
    shutil.rmtree(folder, ignore_errors=True)
    run(find_python(), "-m", "venv", folder)
    run(python, "-m", "pip", "install", "--quiet", *REQUIREMENTS)
    made.write_text(wanted)
    return python


def find_python() -> Path:
    """A Python 3.12, the only one the library runs on."""
    on_path = shutil.which("python3.12")
    candidates = [Path(on_path)] if on_path else []
    candidates += sorted(Path.home().glob(".pyenv/versions/3.12*/bin/python"), reverse=True)
    for candidate in candidates:
        try:
            run(candidate, "-c", "import sys, venv; assert sys.version_info[:2] == (3, 12)")
        except CannotRun:
            continue
        return candidate
    raise CannotRun("the library needs Python 3.12: none on PATH as python3.12, none from pyenv")


def make_workload(python: Path, generator: Path, n_questions: int, *more: str) -> Workload:
    folder = WORK / "-".join([generator.stem, str(n_questions), *(word.strip("-") for word in more)])
    if not folder.is_dir():
        say(f"making a workload of {n_questions} questions with {generator.name}")
        unfinished = folder.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        run(python, generator, str(n_questions), unfinished, *more)
        unfinished.rename(folder)
    return Workload(folder)


# --- The table ----------------------------------------------------------------------------------


@dataclass
class Row:
    """One line of the table; a row without a budget is there for information."""

    what: str
    against: str
    juror: str
    ratio: str
    budget: str = ""
    met: bool | None = None


def seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1 else f"{value * 1e3:.3g} ms"


def megabytes(value: float) -> str:
    return f"{value / 1e6:.1f} MB"


def faster(what: str, whose: str, theirs: float, ours: float, least: float | None = None) -> Row:
    """A row in which Juror should be so many times faster."""
    ratio = theirs / ours
    budget = f"≥ {least:g}×" if least else ""
    met = ratio >= least if least else None
    return Row(what, f"{whose} {seconds(theirs)}", seconds(ours), f"{ratio:.1f}×", budget, met)


def within(what: str, against: str, ours: str, ratio: float, most: float) -> Row:
    """A row in which Juror should take no more than so many times what it is held against."""
    return Row(what, against, ours, f"{ratio:.2f}×", f"≤ {most:g}×", ratio <= most)


def below(what: str, value: float, most: float, text: Callable[[float], str]) -> Row:
    """A row with a limit of its own."""
    return Row(what, "", text(value), "", f"≤ {text(most)}", value <= most)


def print_table(rows: list[Row], options: argparse.Namespace) -> None:
    header = ["what", "against", "juror", "ratio", "budget", "met"]
    met = {True: "yes", False: "NO", None: ""}
    lines = [header]
    lines += [[r.what, r.against, r.juror, r.ratio, r.budget, met[r.met]] for r in rows]
    widths = [max(map(len, column)) for column in zip(*lines)]
    print(f"\nMedians of {options.rounds} runs in turns, on {os.cpu_count()} cores; workload by")
    print(f"{options.generator.name}. Rows without a budget are for information.\n")
    for number, line in enumerate(lines):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
        if number == 0:
            print("  ".join("-" * width for width in widths))


# --- What is compared ---------------------------------------------------------------------------


def compare(options: argparse.Namespace) -> Iterator[Row]:
    if options.fresh:
        shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(exist_ok=True)
    tools = get_tools()
    workload = make_workload(tools.python, options.generator, options.questions)
    with_yaml = make_workload(tools.python, options.generator, options.yaml_questions, "--yaml")
    outputs = Outputs(WORK / "outputs")
    outputs.folder.mkdir(exist_ok=True)
    yield from compare_evaluations(tools, workload, outputs, options)
    yield from compare_yaml(tools, with_yaml.folder / "reference.yaml", options)
    yield from measure_sparql(tools, options)
    yield from compare_aggregates(tools, workload, outputs, options)
    yield from measure_program(tools)
    yield compare_scores(outputs)


@dataclass
class Outputs:
    """Where each side writes its results and aggregates."""

    folder: Path

    def of(self, side: str) -> tuple[Path, Path]:
        return self.folder / f"{side}.results.json", self.folder / f"{side}.aggregates.json"


def compare_evaluations(
    tools: Tools, workload: Workload, outputs: Outputs, options: argparse.Namespace
) -> Iterator[Row]:
    """Reading, evaluating, aggregating and writing: whole processes, on all cores and on one."""
    inputs = [workload.reference, workload.responses]
    written = {
        "library": outputs.of("library"),
        "juror": outputs.of("juror"),
        "floor": (outputs.folder / "floor.out",),
    }
    results, aggregates = written["juror"]
    evaluate = ["eval", *inputs, "--profile", "6", "-o", results, "-a", aggregates]
    programs: dict[str, list[str | Path]] = {
        "library": [tools.python, BENCH / "library_eval.py", *inputs, *written["library"]],
        "juror": [tools.juror, *evaluate],
        "floor": [tools.juror_timings, "floor", *inputs, *written["floor"]],
    }
    for cores, prefix, least in (("all cores", [], 15), ("one core", on_one_core(), 8)):
        say(f"evaluating {options.questions} questions on {cores}")
        commands = {name: (*prefix, *words) for name, words in programs.items()}
        run(*commands["juror"])  # so that files and program are in memory for everyone
        runs = in_turns(
            options.rounds,
            {name: lambda n=name: run_anew(commands[n], written[n]) for name in programs},
        )
        library, juror, floor = (median_seconds(runs[name]) for name in programs)
        yield faster(f"evaluate, {cores}", "library", library, juror, least)
        yield within("  the same", f"floor {seconds(floor)}", seconds(juror), juror / floor, 2)
        yield memory(runs, workload)


def run_anew(command: tuple[str | Path, ...], written: tuple[Path, ...]) -> Run:
    """Runs a program that writes new files, with nothing left to write from the run before.

    Replacing a large file and waiting for a disk that is still busy with another's output take as
    long as a run of Juror, and are no work of either side.
    """
    for path in written:
        path.unlink(missing_ok=True)
    os.sync()
    return run(*command)


def memory(runs: dict[str, list[Run]], workload: Workload) -> Row:
    peak = max(run.peak_bytes for run in runs["juror"])
    against = f"input {megabytes(workload.n_bytes)}"
    return within("  its peak memory", against, megabytes(peak), peak / workload.n_bytes, 1.5)


def on_one_core() -> list[str]:
    if shutil.which("taskset") is None or not hasattr(os, "sched_getaffinity"):
        raise CannotRun("`taskset`, of util-linux, is needed to run programs on one core")
    return ["taskset", "-c", str(min(os.sched_getaffinity(0)))]


def compare_yaml(tools: Tools, path: Path, options: argparse.Namespace) -> Iterator[Row]:
    """Loading a reference in YAML, timed inside."""
    say(f"loading {options.yaml_questions} questions from YAML")
    runs = in_turns(
        options.rounds,
        {
            "library": lambda: run(tools.python, BENCH / "library_times.py", "yaml", path),
            "juror": lambda: run(tools.juror_timings, "yaml", path),
        },
    )
    juror = median_figure(runs["juror"], "seconds")
    library = median_figure(runs["library"], "seconds")
    yield faster("a reference in YAML", "library", library, juror, 10)
    in_c = median_figure(runs["library"], "seconds of the loader in C")
    yield faster("  the same", "PyYAML's loader in C", in_c, juror)


def measure_sparql(tools: Tools, options: argparse.Namespace) -> Iterator[Row]:
    """Comparing results of many columns and of many rows, timed inside."""
    say("comparing SPARQL results of many columns")
    columns = run(tools.juror_timings, "sparql-columns")
    say(columns.printed)
    for kind, name in (
        ("own values", "values of its own each"),
        ("same 100", "the same 100 values each"),
        ("same 2", "the same 2 values each"),
    ):
        value = columns.figure(f"seconds, 8 required, {kind}")
        yield below(f"SPARQL, 8 of 10 columns, {name}", value, 1e-3, seconds)
    say(f"comparing SPARQL results of {options.rows} rows")
    rows = run(tools.juror_timings, "sparql-rows", str(options.rows))
    parse, whole = rows.figure("parse seconds"), rows.figure("seconds")
    what = f"SPARQL, {options.rows:,} rows"
    yield within(what, f"parse {seconds(parse)}", seconds(whole), whole / parse, 2)


def compare_aggregates(
    tools: Tools, workload: Workload, outputs: Outputs, options: argparse.Namespace
) -> Iterator[Row]:
    """Aggregating results in memory, ten times the workload, and results in a file."""
    results = outputs.of("library")[0]
    say(f"aggregating {10 * options.questions} results")
    times = BENCH / "library_times.py"
    records = ["aggregates-records", workload.reference, workload.responses, "10"]
    runs = in_turns(
        options.rounds,
        {
            "library": lambda: run(tools.python, times, "aggregates", results, "10"),
            "juror": lambda: run(tools.juror_timings, *records),
            "juror, from text": lambda: run(tools.juror_timings, "aggregates", results),
        },
    )
    library = median_figure(runs["library"], "seconds")
    juror = median_figure(runs["juror"], "seconds")
    yield faster(f"aggregate {10 * options.questions:,} results", "library", library, juror, 30)
    library_text = median_figure(runs["library"], "seconds to load") + library / 10
    juror_text = median_figure(runs["juror, from text"], "seconds")
    what = f"  {options.questions:,} results, from text"
    yield faster(what, "library", library_text, juror_text)


def measure_program(tools: Tools) -> Iterator[Row]:
    """The time to start, and the size."""
    say("starting juror")
    runs = [run(tools.juror, "--version") for _ in range(N_VERSION_RUNS)]
    yield below("juror --version", median_seconds(runs), 10e-3, seconds)
    yield below("size of the program", tools.juror.stat().st_size, 40e6, megabytes)


def compare_scores(outputs: Outputs) -> Row:
    """Whether both sides give every question the same steps score."""
    library, juror = (steps_scores(outputs.of(side)[0]) for side in ("library", "juror"))
    agree = sum(same(score, juror.get(question)) for question, score in library.items())
    text = f"{agree} of {len(library)}"
    everything = agree == len(library) == len(juror)
    return Row("steps scores that agree", f"library {len(library)}", text, "", "all", everything)


def steps_scores(path: Path) -> dict[str, float | None]:
    with open(path, encoding="utf-8") as file:
        return {result["question_id"]: result.get("steps_score") for result in json.load(file)}


def same(one: float | None, other: float | None) -> bool:
    return one == other or (None not in (one, other) and abs(one - other) <= 1e-9)


if __name__ == "__main__":
    sys.exit(main())
