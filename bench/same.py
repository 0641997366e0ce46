#!/usr/bin/env python3
"""Shows whether two builds of Juror write the same: bytes of files, standard output, exit codes.

For changes that must not change any result. Runs each command below with both programs, each in a
folder of its own, on the examples and on a workload of questions; with --data also on files in
StableToolBench's layout. What depends on the clock is left out of the comparison. Standard error is
compared too, but messages may get better: differences in it are told and count only with
--messages.

usage: same.py OLD NEW [--questions N] [--data FOLDER] [--messages]

Ends with 1 where anything differs.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import compare
from compare import PROJECT

EXAMPLES = PROJECT / "examples"

# What the clock decides: values by their keys, and durations in summaries.
CLOCK = re.compile(
    rb'("?\b(?:elapsed\w*|\w*_seconds|\w*_time|time|finished|started|at|seconds|date|timestamp)"?: )'
    rb'("[^"]*"|[-+.\deE]+|null)'
)
DURATION = re.compile(rb"\b\d+(?:\.\d+)? ?(?:ms|s|min|h)\b")
QUESTION_RATE = re.compile(rb"\d+(?:\.\d+)?k?/s")
PADDING = re.compile(rb"[ \t]+")


@dataclass
class Case:
    """A command, and what it needs beside it."""

    name: str
    arguments: list[str]
    files: dict[str, Path] = field(default_factory=dict)
    # Whether times are measured, which stand in the files then.
    has_clock: bool = False


@dataclass
class Seen:
    """What a command left behind."""

    code: int
    stdout: bytes
    stderr: bytes
    files: dict[str, bytes]


def cases(workload: Path, data: Path | None) -> Iterator[Case]:
    yield from evaluations(workload)
    yield from benchmarks()
    yield from commands()
    if data is not None:
        yield from recorded(data)


def evaluations(workload: Path) -> Iterator[Case]:
    outputs = ["-o", "r.json", "-o", "r.jsonl", "-o", "r.yaml", "-o", "r.tsv"]
    outputs += ["-a", "a.json", "-a", "a.yaml"]
    files = {"reference.yaml": EXAMPLES / "reference.yaml", "juror.yaml": EXAMPLES / "juror.yaml"}
    files |= {name: EXAMPLES / name for name in ("responses.jsonl", "replies.jsonl")}
    inputs = ["eval", "reference.yaml", "responses.jsonl"]
    for profile in ("5", "6"):
        arguments = [*inputs, "--no-model", "--profile", profile, *outputs]
        yield Case(f"examples, profile {profile}", arguments, files)
        yield Case(f"examples, profile {profile}, explained", [*arguments, "--explain"], files)
    judged = ["-c", "juror.yaml", "--cache", "replies.jsonl", "--cache-mode", "read-only"]
    yield Case("examples, judged", [*inputs, *judged, *outputs], files)
    yield Case("examples, summary", [*inputs, "--no-model", "--json"], files)
    large = {"reference.json": workload / "reference.json"}
    large["responses.jsonl"] = workload / "responses.jsonl"
    for profile in ("5", "6"):
        arguments = ["eval", "reference.json", "responses.jsonl", "--no-model"]
        yield Case(f"workload, profile {profile}", [*arguments, "--profile", profile, *outputs], large)


def benchmarks() -> Iterator[Case]:
    files = {name: EXAMPLES / name for name in ("queries.json", "tools", "tool_cache", "agents")}
    tools = ["--queries", "queries.json", "--tools", "tools", "--cache", "tool_cache"]
    agent = ["--agent", "command:python3 agents/baseline.py", "--judge", "heuristic"]
    command = ["bench", *tools, *agent, "-o", "out.json", "--run", "run"]
    yield Case("benchmark", command, files, has_clock=True)
    yield Case("benchmark by search", [*command, "--pool", "search"], files, has_clock=True)
    yield Case("benchmark inside the program", ["demo", "--bench"])


def commands() -> Iterator[Case]:
    yield Case("demo", ["demo"])
    yield Case("schema", ["schema"])
    tools = {"tools": EXAMPLES / "tools", "queries.json": EXAMPLES / "queries.json"}
    yield Case("list of tools", ["tools", "list", "--tools", "tools", "--json"], tools)
    yield Case("search", ["tools", "search", "garden", "--tools", "tools", "--json"], tools)
    yield Case("validation", ["validate", "queries.json", "tools"], tools)


def recorded(data: Path) -> Iterator[Case]:
    example = data / "data_example"
    answers = example / "model_predictions_converted"
    logs = example / "answer"
    for folder in sorted(path for path in logs.glob("*/*") if path.is_dir()):
        method = "CoT@1" if "cot" in folder.parent.name else "DFS_woFilter_w2"
        arguments = ["convert", "logs", "--method", method, "-o", "answers.json"]
        yield Case(f"logs of {folder.parent.name}", arguments, {"logs": folder})
    queries = data / "solvable_queries" / "test_instruction"
    guessed = ["--queries", "queries.json", "--heuristic", "-o", "rate.json", "--csv", "rate.csv"]
    for file in sorted(answers.glob("*/*.json")):
        files = {"answers.json": file, "queries.json": queries / file.name}
        arguments = ["judge", "pass-rate", "answers.json", *guessed]
        yield Case(f"pass rate of {file.parent.name}", arguments, files)
    for file in sorted(queries.glob("*.json")):
        yield Case(f"validation of {file.name}", ["validate", "queries.json"], {"queries.json": file})


def run_case(program: Path, case: Case) -> Seen:
    with tempfile.TemporaryDirectory(prefix="juror-same-") as folder:
        place = Path(folder)
        for name, source in case.files.items():
            copy = shutil.copytree if source.is_dir() else shutil.copyfile
            copy(source, place / name)
        environment = {"PATH": os.environ.get("PATH", ""), "HOME": folder, "NO_COLOR": "1"}
        ended = subprocess.run(
            [program, *case.arguments], cwd=place, env=environment, capture_output=True, check=False
        )
        hidden = folder.encode()
        written = {
            str(path.relative_to(place)): path.read_bytes().replace(hidden, b"FOLDER")
            for path in sorted(place.rglob("*"))
            if is_compared(path, place, case)
        }
        if case.has_clock:
            written = {name: CLOCK.sub(rb"\1CLOCK", text) for name, text in written.items()}
        texts = (steady(text.replace(hidden, b"FOLDER")) for text in (ended.stdout, ended.stderr))
        return Seen(ended.returncode, *texts, written)


def is_compared(path: Path, place: Path, case: Case) -> bool:
    """Whether a file was written by the command, and is text."""
    is_input = path.relative_to(place).parts[0] in case.files
    is_store = re.search(r"\.(sqlite|db|lock)\b", path.name) is not None
    return path.is_file() and not is_input and not is_store


def steady(text: bytes) -> bytes:
    """A summary without what the clock decides, which the width of columns follows."""
    text = CLOCK.sub(rb"\1CLOCK", text)
    text = QUESTION_RATE.sub(b"RATE", DURATION.sub(b"CLOCK", text))
    return PADDING.sub(b" ", text)


def differences(old: Seen, new: Seen) -> Iterator[tuple[str, bytes, bytes]]:
    if old.code != new.code:
        yield "exit code", b"%d" % old.code, b"%d" % new.code
    if old.stdout != new.stdout:
        yield "standard output", old.stdout, new.stdout
    for name in sorted(old.files.keys() | new.files.keys()):
        one, other = old.files.get(name, b""), new.files.get(name, b"")
        if one != other:
            yield name, one, other


def show(what: str, old: bytes, new: bytes, most: int = 6) -> None:
    print(f"  {what} differs")
    lines = (text.decode(errors="replace").splitlines() for text in (old, new))
    changed = [line for line in difflib.unified_diff(*lines, "old", "new", lineterm="", n=0)]
    for line in changed[2 : most + 2]:
        print(f"    {line[:160]}")
    if len(changed) > most + 2:
        print(f"    and {len(changed) - most - 2} lines more")


def main() -> int:
    summary, _, details = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=details, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path, help="a program `juror`")
    parser.add_argument("new", type=Path, help="another one")
    parser.add_argument("--questions", type=int, default=1000, help="of the workload (%(default)s)")
    parser.add_argument("--data", type=Path, help="a folder in StableToolBench's layout")
    parser.add_argument("--messages", action="store_true", help="count standard error, too")
    options = parser.parse_args()
    programs = [path.resolve() for path in (options.old, options.new)]
    with tempfile.TemporaryDirectory(prefix="juror-same-") as folder:
        there = compare.REALISTIC_GENERATOR.is_file()
        generator = compare.REALISTIC_GENERATOR if there else compare.OUR_GENERATOR
        make = [sys.executable, generator, str(options.questions), folder]
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
        n_cases, n_different = 0, 0
        for case in cases(Path(folder), options.data):
            old, new = (run_case(program, case) for program in programs)
            found = list(differences(old, new))
            if old.stderr != new.stderr and options.messages:
                found.append(("standard error", old.stderr, new.stderr))
            n_cases += 1
            n_different += bool(found)
            word = "differs" if found else f"same (exit {old.code}, {len(old.files)} files)"
            talk = "" if old.stderr == new.stderr else "; other messages"
            print(f"{case.name}: {word}{talk}", flush=True)
            for difference in found:
                show(*difference)
    print(f"{n_cases} commands, {n_different} differ")
    return 1 if n_different else 0


if __name__ == "__main__":
    sys.exit(main())
