#!/usr/bin/env python3
"""Measures reports of one HTML file: what making one takes, its size, and how soon it is usable.

Makes a workload of 10,000 questions, with --large also of 100,000, and evaluates it with and without
-o report.html: whole processes, the median of several rounds. Then opens the report in Chromium from
the file, and tells after how long the table of questions is there and how many rows are in the
document, also after scrolling. All files go into bench/.work, which can be deleted at any time.

Nothing here fails because something is slow: the exit code is 0 unless a part could not be run.
"""

from __future__ import annotations

import argparse
import gzip
import re
import statistics
import sys
from pathlib import Path

import chromium
import compare
import harness
from chromium import Chromium
from compare import WORK, CannotRun, run_anew, say
from harness import juror, tell

# What reports are to keep to, for 10,000 questions.
BUDGETS = {"beside": 2.0, "megabytes": 25.0, "shell": 60.0, "usable": 1.0, "rows": 300}


def main() -> int:
    options = parse_options()
    if not options.no_build:
        harness.build("juror")
    try:
        for n_questions in [options.questions] + [100_000] * options.large:
            say(f"\n{n_questions:,} questions")
            measure(n_questions, options.rounds)
    except (CannotRun, OSError) as problem:
        say(f"report.py: {problem}")
        return 1
    return 0


def parse_options() -> argparse.Namespace:
    parser = harness.option_parser(__doc__)
    parser.add_argument("--questions", type=int, default=10_000)
    parser.add_argument("--large", action="store_true", help="100,000 questions too")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-build", action="store_true", help="use what was built before")
    return parser.parse_args()


def measure(n_questions: int, rounds: int) -> None:
    WORK.mkdir(exist_ok=True)
    workload = compare.make_workload(Path(sys.executable), compare.OUR_GENERATOR, n_questions)
    report = WORK / f"report-{n_questions}.html"
    measure_making(workload, report, rounds)
    measure_size(report)
    if chromium.is_installed():
        measure_opening(report)
    else:
        say("chromium and chromedriver are not there: the report is not opened")


def measure_making(workload: compare.Workload, report: Path, rounds: int) -> None:
    results = report.with_suffix(".jsonl")
    evaluate = (juror(), "eval", workload.reference, workload.responses, "--no-model", "--profile", "6")
    plain = (*evaluate, "-o", results)
    with_report = (*plain, "-o", report)
    runs = compare.in_turns(
        rounds,
        {
            "without": lambda: run_anew(plain, (results, report)),
            "with": lambda: run_anew(with_report, (results, report)),
        },
    )
    medians = {name: statistics.median(run.seconds for run in own) for name, own in runs.items()}
    tell("juror eval", medians["without"], "s")
    tell("  with -o report.html", medians["with"], "s")
    tell("  the report alone", medians["with"] - medians["without"], "s", BUDGETS["beside"])
    peak = max(run.peak_bytes for run in runs["with"])
    tell("  peak memory with it", peak / 1e6, "MB")


def measure_size(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    tell("size of the file", report.stat().st_size / 1e6, "MB", BUDGETS["megabytes"])
    data = re.compile(r'(<script type="text/plain" id="[^"]*">)[^<]*')
    shell = gzip.compress(data.sub(r"\1", text).encode(), 9)
    tell("script, style and static parts, compressed", len(shell) / 1e3, "kB", BUDGETS["shell"])
    for note in re.findall(r'<p class="note">(To keep this file[^<]*)', text):
        say(f"  it says: {note}")


def measure_opening(report: Path) -> None:
    with Chromium() as browser:
        seconds = []
        for _ in range(3):
            browser.open("about:blank")
            browser.open(report.resolve().as_uri())
            browser.wait("document.querySelector('.questions tbody:not(.space) tr')")
            seconds.append(float(str(browser.value("performance.now()"))) / 1e3)
        tell("first table usable after", statistics.median(seconds), "s", BUDGETS["usable"])
        rows = [count_rows(browser, share) for share in (0, 0.5, 1)]
        tell("most rows in the document", max(rows), "", BUDGETS["rows"])
        tell("  a question opens within", opening(browser), "s")


def count_rows(browser: Chromium, share: float) -> int:
    """Scrolls through the table, and counts the rows after the next frames."""
    browser.value(f"document.querySelector('.grid').scrollTop = {share} * document.querySelector('.grid').scrollHeight")
    browser.command("/execute/async", {"script": TWO_FRAMES, "args": []})
    return int(str(browser.value("document.querySelectorAll('.questions tr').length")))


TWO_FRAMES = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));"


def opening(browser: Chromium) -> float:
    """Opens the last question that is listed, and waits for its details."""
    browser.value("window.pressed = performance.now()")
    browser.value("[...document.querySelectorAll('.questions tbody:not(.space) th a')].at(-1).click()")
    browser.wait("document.querySelector('.question .answers')")
    return float(str(browser.value("(performance.now() - window.pressed) / 1e3")))


if __name__ == "__main__":
    sys.exit(main())
