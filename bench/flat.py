#!/usr/bin/env python3
"""Measures `juror eval` on files of lines that may be far larger than memory.

Makes a reference and responses in JSON lines, 15 kB a question, and evaluates the first 10,000
questions and then all of them. Prints the peak of the anonymous memory, which is what a process needs
beside the page cache (RssAnon of /proc, looked at every few milliseconds), and the time as a multiple of
the time that as many questions should take by the first 10,000.

The questions come from the generator of compare.py in pieces of 10,000. From the tenth piece on they
repeat with other ids: Juror remembers nothing from one question to the next, and making a million takes
longer than judging them.

    python3 bench/flat.py                                     # 30,000 questions, half a minute
    python3 bench/flat.py --questions 1000000 --folder DISK   # the real thing: 15 GB of input
    python3 bench/flat.py --questions 1000000 --folder DISK --results   # and 18 GB of results

Files stay in the folder and are used again; --remove deletes them. Needs Linux.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import compare
import harness

PIECE = 10_000
DISTINCT = 10
LOOK_SECONDS = 0.005
MOST_GIGABYTES = 2.0
MOST_TIMES = 1.3

Pair = tuple[bytes, bytes]


@dataclass
class Inputs:
    """A reference and responses to it."""

    reference: Path
    responses: Path

    def exist(self) -> bool:
        return self.reference.is_file() and self.responses.is_file()

    def size(self) -> int:
        return self.reference.stat().st_size + self.responses.stat().st_size


@dataclass
class Measured:
    seconds: float
    anonymous: int


def made_piece(generator: Path, number: int) -> list[tuple[str, dict, dict]]:
    """The questions and responses of a piece, each with its id."""
    with tempfile.TemporaryDirectory(prefix="juror-flat-") as folder:
        # Generators make other questions for another number of them.
        command = [sys.executable, generator, str(PIECE + number), folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        templates = json.loads((Path(folder) / "reference.json").read_bytes())
        with open(Path(folder) / "responses.jsonl", "rb") as lines:
            responses = [json.loads(line) for line in lines]
    questions = [
        {"template_id": f"{number}-{template['template_id']}"} | question
        for template in templates
        for question in template["questions"]
    ]
    pairs = zip(questions[:PIECE], responses)
    return [(question["id"], question, response) for question, response in pairs]


def as_lines(pieces: list[tuple[str, dict, dict]], repeat: int) -> Iterator[Pair]:
    """The lines of a piece, with other ids each time it is repeated."""
    for own_id, question, response in pieces:
        name = f"{own_id}-{repeat}" if repeat else own_id
        template = f"{repeat}-{question['template_id']}" if repeat else question["template_id"]
        question = question | {"id": name, "template_id": template}
        response = response | {"question_id": name}
        yield json.dumps(question).encode() + b"\n", json.dumps(response).encode() + b"\n"


def make(inputs: Inputs, n_questions: int, generator: Path, shuffled: bool) -> None:
    """Makes the files piece by piece, so that little of them is in memory at a time."""
    chance = random.Random(n_questions)
    parts = [path.with_suffix(".part") for path in (inputs.reference, inputs.responses)]
    n_distinct = min(DISTINCT, -(-n_questions // PIECE))
    with open(parts[0], "wb") as reference, open(parts[1], "wb") as responses:
        n_made = 0
        for number in range(n_distinct):
            piece = made_piece(generator, number)
            for repeat in range(-(-(n_questions - number * PIECE) // (DISTINCT * PIECE))):
                lines = list(as_lines(piece[: n_questions - n_made], repeat))
                reference.writelines(question for question, _ in lines)
                if shuffled:
                    chance.shuffle(lines)
                responses.writelines(response for _, response in lines)
                n_made += len(lines)
            print(f"  {n_made:,} questions made", file=sys.stderr, flush=True)
    for part, path in zip(parts, (inputs.reference, inputs.responses)):
        part.replace(path)


def anonymous_of(pid: int) -> int:
    """The anonymous memory of a process now, in bytes; 0 once it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return 0
    for line in status.splitlines():
        if line.startswith("RssAnon:"):
            return 1024 * int(line.split()[1])
    return 0


def measure(program: Path, inputs: Inputs, arguments: list[str]) -> Measured:
    command = [program, "eval", inputs.reference, inputs.responses, "--no-model", "-q", *arguments]
    peak, begin = 0, time.perf_counter()
    process = subprocess.Popen([str(word) for word in command])
    while process.poll() is None:
        peak = max(peak, anonymous_of(process.pid))
        time.sleep(LOOK_SECONDS)
    seconds = time.perf_counter() - begin
    if process.returncode != 0:
        sys.exit(f"juror eval ended with {process.returncode}")
    return Measured(seconds, peak)


def measured(program: Path, inputs: Inputs, options: argparse.Namespace, rounds: int) -> Measured:
    """The median time of some rounds, and the largest memory of any."""
    outputs = ["-a", options.folder / "aggregates.json", "-s", options.folder / "statistics.json"]
    if options.results:
        outputs += ["-o", options.folder / "results.jsonl"]
    all_rounds = []
    for _ in range(rounds):
        for path in outputs[1::2]:
            path.unlink(missing_ok=True)
        os.sync()
        all_rounds.append(measure(program, inputs, [*map(str, outputs), *options.arguments]))
    for path in outputs[1::2]:
        path.unlink(missing_ok=True)
    seconds = statistics.median(own.seconds for own in all_rounds)
    return Measured(seconds, max(own.anonymous for own in all_rounds))


def parse_options() -> argparse.Namespace:
    parser = harness.option_parser(__doc__)
    add = parser.add_argument
    add("--questions", type=int, default=30_000, help="how many questions (%(default)s)")
    add("--folder", type=Path, default=compare.WORK / "flat", help="where files are made")
    add("--juror", type=Path, help="the program; built for release by default")
    add("--generator", type=Path, help="a program that makes a workload: N OUTDIR")
    add("--results", action="store_true", help="write results too")
    add("--shuffled", action="store_true", help="responses in another order than the questions")
    add("--rounds", type=int, default=5, help="how often 10,000 questions are run (%(default)s)")
    add("--remove", action="store_true", help="delete the files afterwards")
    add("arguments", nargs="*", help="further arguments of juror eval, after --")
    return parser.parse_args()


def main() -> int:
    options = parse_options()
    if options.generator is None:
        there = compare.REALISTIC_GENERATOR.is_file()
        options.generator = compare.REALISTIC_GENERATOR if there else compare.OUR_GENERATOR
    if options.juror is None:
        harness.build("juror")
    program = (options.juror or harness.juror()).resolve()
    options.folder.mkdir(parents=True, exist_ok=True)
    order = "-shuffled" if options.shuffled else ""

    def inputs_of(n_questions: int) -> Inputs:
        name = f"{n_questions}{order}"
        paths = (options.folder / f"{kind}-{name}.jsonl" for kind in ("reference", "responses"))
        inputs = Inputs(*paths)
        if not inputs.exist():
            make(inputs, n_questions, options.generator, options.shuffled)
        return inputs

    few, many = inputs_of(PIECE), inputs_of(options.questions)
    by_few = measured(program, few, options, options.rounds)
    by_many = measured(program, many, options, 1)
    expected = by_few.seconds * options.questions / PIECE
    print(f"{options.questions:,} questions, {many.size() / 1e9:.1f} GB of input")
    harness.tell(f"{PIECE:,} questions", by_few.seconds, "s")
    harness.tell("  anonymous memory", by_few.anonymous / 1e9, "GB")
    harness.tell(f"{options.questions:,} questions", by_many.seconds, "s")
    harness.tell("  anonymous memory", by_many.anonymous / 1e9, "GB", MOST_GIGABYTES)
    harness.tell("  time, by that of 10,000", by_many.seconds / expected, "x", MOST_TIMES)
    if options.remove:
        shutil.rmtree(options.folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
