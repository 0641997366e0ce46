"""The answers that engines evaluate: a table in Parquet, and the same as files for `juror eval`."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow
import pyarrow.parquet

WORK = Path(os.environ["JUROR_ENGINES"])
GENERATOR = Path(__file__).resolve().parent.parent / "workload.py"
ROWS_A_FILE = 500
LARGEST_MADE = 10_000
"""Of more questions than this, each is there several times, under other ids."""

FIGURES = WORK / "figures.jsonl"
TURNS = 3
"""How often each time is taken."""


@dataclass
class Answers:
    """So many questions with their responses."""

    folder: Path

    @property
    def table(self) -> Path:
        """A folder of Parquet files."""
        return self.folder / "table"

    @property
    def reference(self) -> Path:
        return self.folder / "reference.jsonl"

    @property
    def responses(self) -> Path:
        return self.folder / "responses.jsonl"

    def evaluated(self) -> tuple[list[str], float]:
        """What `juror eval` writes, line by line, and the seconds it takes."""
        results = self.folder / "results.jsonl"
        options = ("--profile", "6", "--no-model", "--quiet", "-o", results)
        start = time.perf_counter()
        subprocess.run([juror(), "eval", self.reference, self.responses, *options], check=True)
        seconds = time.perf_counter() - start
        with open(results, encoding="utf-8") as file:
            return [line.rstrip("\n") for line in file], seconds


def juror() -> Path:
    """The program that the wheel brings."""
    return Path(sys.executable).parent / "juror"


def answers(n: int) -> Answers:
    """Makes the answers to `n` questions, once."""
    folder = WORK / f"answers-{n}"
    if not folder.is_dir():
        unfinished = folder.with_suffix(".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        (unfinished / "table").mkdir(parents=True)
        _make(n, unfinished)
        unfinished.rename(folder)
    return Answers(folder)


def _make(n: int, folder: Path) -> None:
    made = folder / "made"
    subprocess.run([sys.executable, GENERATOR, str(min(n, LARGEST_MADE)), made], check=True)
    templates = json.loads((made / "reference.json").read_text())
    with open(made / "responses.jsonl", encoding="utf-8") as file:
        responses = {record["question_id"]: record for record in map(json.loads, file)}
    questions = [(template["template_id"], question) for template in templates for question in template["questions"]]
    shutil.rmtree(made)
    rows: list[dict[str, str | None]] = []
    n_files = 0
    with (
        open(folder / "reference.jsonl", "w", encoding="utf-8") as reference,
        open(folder / "responses.jsonl", "w", encoding="utf-8") as answered,
    ):
        for number in range(n):
            template, question = questions[number % len(questions)]
            name = f"{question['id']}-{number // len(questions)}"
            response = responses.get(question["id"])
            texts = {
                "template_id": template,
                "question_id": name,
                "question": json.dumps({**question, "id": name, "template_id": template}),
                "response": json.dumps({**response, "question_id": name}) if response else None,
            }
            reference.write(f"{texts['question']}\n")
            if texts["response"] is not None:
                answered.write(f"{texts['response']}\n")
            rows.append(texts)
            if len(rows) == ROWS_A_FILE or number == n - 1:
                table = pyarrow.Table.from_pylist(rows)
                pyarrow.parquet.write_table(table, folder / f"table/{n_files:05}.parquet", compression="zstd")
                rows, n_files = [], n_files + 1


def same(made: dict[str, str], expected: list[str]) -> None:
    """Ends the program unless the results by question are the lines of `juror eval`, to the byte."""
    own = [made.get(json.loads(line)["question_id"]) for line in expected]
    n_other = sum(one != line for one, line in zip(own, expected, strict=True))
    if n_other or len(made) != len(expected):
        sys.exit(f"{n_other} of {len(expected)} results are not those of juror eval, of {len(made)} that came")


def measure(engine: str, n: int, read: Callable[[], float], evaluate: Callable[[], float]) -> None:
    """Takes what an engine needs beside a pass that only reads, and beside `juror eval`, in turns.

    Both functions return seconds. The medians go to a file, of which `table` makes a table.
    """
    given = answers(n)
    read()  # So that the engine has started what it starts once.
    times = [(read(), evaluate(), given.evaluated()[1]) for _ in range(TURNS)]
    reading, evaluating, alone = map(statistics.median, zip(*times, strict=True))
    row = {"engine": engine, "n": n, "reading": reading, "evaluating": evaluating, "alone": alone}
    with open(FIGURES, "a", encoding="utf-8") as file:
        file.write(f"{json.dumps(row)}\n")
    print(f"{engine}, {n:,} questions: {evaluating:.1f} s", flush=True)


def table() -> str:
    """The figures that were taken, one row for an engine and a number of questions."""
    heads = ("engine", "questions", "one column", "with Juror", "juror eval", "own part")
    lines = [" | ".join(heads), " | ".join("---" for _ in heads)]
    for line in FIGURES.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        own = max(0.0, row["evaluating"] - row["alone"]) / row["reading"]
        times = (f"{row[key]:.2f} s" for key in ("reading", "evaluating", "alone"))
        lines.append(" | ".join([row["engine"], f"{row['n']:,}", *times, f"{own:.2f}"]))
    lines = [f"| {line} |" for line in lines]
    return "\n".join(
        [
            *lines,
            f"Medians of {TURNS}, in turns. One column: a pass that reads and returns one column. Own part: with Juror",
            "less juror eval, divided by one column (aim: 2 at most).",
        ]
    )


if __name__ == "__main__":
    print(table())
