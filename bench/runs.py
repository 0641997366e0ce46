#!/usr/bin/env python3
"""Times `juror compare` on two large runs, and measures its memory.

Makes a workload, evaluates it twice into run folders, the second time with some responses broken,
and compares the runs: whole processes, the median of several rounds. The aim for 10,000 questions is
1 second and 400 MB; with more questions memory may grow in proportion, and no faster. All files go
into bench/.work, which can be deleted at any time.

Nothing here fails because something is slow: the exit code is 0 unless a part could not be run.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
from pathlib import Path

import compare
import harness
from compare import WORK, CannotRun, Workload, run, say
from harness import juror, tell

# What a comparison of 10,000 questions may take.
BUDGETS = {"seconds": 1.0, "megabytes": 400.0}


def main() -> int:
    options = parse_options()
    if not options.no_build:
        harness.build("juror")
    try:
        for n_questions in options.questions:
            measure(n_questions, options.rounds)
    except CannotRun as problem:
        say(f"runs.py: {problem}")
        return 1
    return 0


def parse_options() -> argparse.Namespace:
    parser = harness.option_parser(__doc__)
    parser.add_argument("--questions", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-build", action="store_true", help="use what was built before")
    return parser.parse_args()


def measure(n_questions: int, rounds: int) -> None:
    WORK.mkdir(exist_ok=True)
    workload = compare.make_workload(Path(sys.executable), compare.OUR_GENERATOR, n_questions)
    folder = WORK / f"runs-{n_questions}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    broken = break_some(workload, folder / "broken.jsonl")
    before, after = folder / "before", folder / "after"
    evaluate(workload.reference, workload.responses, before)
    evaluate(workload.reference, broken, after)
    measured = [run(juror(), "compare", before, after, "--json") for _ in range(rounds)]
    seconds = statistics.median(own.seconds for own in measured)
    peak = statistics.median(own.peak_bytes for own in measured)
    n_bytes = sum((place / "results.jsonl").stat().st_size for place in (before, after))
    share = n_questions / 10_000
    say(f"{n_questions:,} questions, {n_bytes / 1e6:.0f} MB of results")
    tell("juror compare", seconds, "s", BUDGETS["seconds"] if share <= 1 else None)
    tell("  peak memory", peak / 1e6, "MB", BUDGETS["megabytes"] * max(share, 1))
    shutil.rmtree(folder)


def evaluate(reference: Path, responses: Path, folder: Path) -> None:
    run(juror(), "eval", reference, responses, "--no-model", "--quiet", "--run", folder)


def break_some(workload: Workload, path: Path) -> Path:
    """The responses, of which every tenth ended in an error and every seventh lost its last step."""
    with workload.responses.open(encoding="utf-8") as lines, path.open("w", encoding="utf-8") as out:
        for index, line in enumerate(lines):
            response = json.loads(line)
            if index % 10 == 3:
                response = {"question_id": response["question_id"], "status": "error", "error": "timeout"}
            elif index % 7 == 3 and response.get("actual_steps"):
                response["actual_steps"].pop()
            out.write(json.dumps(response) + "\n")
    return path


if __name__ == "__main__":
    sys.exit(main())
