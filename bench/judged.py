#!/usr/bin/env python3
"""Times judged runs against a scripted model on loopback, and sets them beside their budgets.

Makes questions that each take one SPARQL step and one retrieval step of three documents, starts the
scripted model server with a fixed latency, and runs `juror eval` without a model, with a cold cache,
and again with the cache warm. A judged run's floor is calls × latency / concurrency, with the calls
counted by the server's own replies. For the smaller work of twenty questions the time of the Python
library, which asks strictly one call after another, is quoted beside ours: 43.7 s, measured with the
same latency.

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
from pathlib import Path

import harness
from harness import PROJECT
from workload import Maker, expected_retrieval

LIBRARY_SECONDS = 43.7  # 20 questions × 14 calls at 0.1 s, one after another
WORDS = "seed sheet vault shelf drawer moss spore resin bark petal root stem".split()


def main() -> int:
    options = parse_options()
    harness.build("juror", "juror-scripted")
    with tempfile.TemporaryDirectory(prefix="juror-judged-") as folder:
        place = Path(folder)
        print(f"latency {options.latency} ms, concurrency {options.concurrency}, {os.cpu_count()} cores\n")
        judged(place / "small", options, 20, quote_library=True)
        judged(place / "large", options, options.questions, quote_library=False)
    return 0


def parse_options() -> argparse.Namespace:
    parser = harness.option_parser(__doc__)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--latency", type=int, default=100, help="milliseconds a reply takes")
    parser.add_argument("--concurrency", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=9, help="of the warm and the unjudged run")
    return parser.parse_args()


def judged(place: Path, options: argparse.Namespace, n_questions: int, quote_library: bool) -> None:
    place.mkdir()
    write_workload(place, n_questions)
    with Server(place, options.latency) as address:
        cold, summary = run(place, address, options, timed_json=True)
        calls = summary["calls"][-1]
        unjudged, warm = [], []
        for _ in range(options.rounds):
            # In turns, so that whatever else the machine does meets both alike.
            unjudged.append(run(place, address, options, "--no-model"))
            seconds, again = run(place, address, options, timed_json=True)
            warm.append(seconds)
            if again["calls"][-1]["sent"]:
                sys.exit("the warm run asked something")
    n_calls = calls["sent"]
    floor = n_calls * options.latency / 1000 / options.concurrency
    print(f"{n_questions} questions, {n_calls} calls ({n_calls / n_questions:.1f} a question)")
    print(f"  cold: {cold:.2f} s = {cold / floor:.3f} × calls × latency / concurrency (budget 1.15)")
    plain, again = statistics.median(unjudged), statistics.median(warm)
    print(f"  no model: {plain * 1000:.1f} ms; warm cache: {again * 1000:.1f} ms = {again / plain:.2f} × (budget 1.5)")
    if quote_library:
        print(f"  the Python library, one call after another: {LIBRARY_SECONDS} s = {LIBRARY_SECONDS / cold:.0f} × ours")
    print()


class Server:
    """The scripted model server, as long as it is needed."""

    def __init__(self, place: Path, latency: int) -> None:
        script = place / "script.json"
        script.write_text(json.dumps({"latency_ms": latency}), encoding="utf-8")
        command = [str(PROJECT / "target/release/juror-scripted"), str(script)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    def __enter__(self) -> str:
        assert self.process.stdout
        return self.process.stdout.readline().strip()

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def run(place, address, options, *arguments: str, timed_json: bool = False):
    """Seconds a whole process takes; with its summary, if asked for."""
    command = [
        str(PROJECT / "target/release/juror"), "eval", "reference.json", "responses.jsonl",
        "--profile", "6", "-o", "out.json", "-a", "agg.json", "--json",
        "--concurrency", str(options.concurrency), *arguments,
    ]
    environment = {
        "PATH": os.environ["PATH"],
        "OPENAI_API_KEY": "sk-bench",
        "OPENAI_BASE_URL": f"{address}/v1",
    }
    start = time.perf_counter()
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        sys.exit(f"juror eval ended with {done.returncode}: {done.stderr}")
    return (seconds, json.loads(done.stdout)) if timed_json else seconds


def write_workload(place: Path, n_questions: int) -> None:
    maker = Maker(n_questions)
    questions, responses = [], []
    while len(questions) < n_questions:
        question, response = maker.question(len(questions))
        if "actual_steps" not in response:
            continue
        documents = [document(maker) for _ in range(3)]
        question["reference_steps"] = [[question["reference_steps"][-1][-1], expected_retrieval(documents)]]
        kept = [step for step in response["actual_steps"] if step["name"] != "retrieval"]
        found = maker.step("retrieval", args={"query": "seeds", "k": 3}, output=json.dumps(documents))
        response["actual_steps"] = [found, *kept]
        questions.append(question)
        responses.append(response)
    reference = [{"template_id": "shelves", "questions": questions}]
    (place / "reference.json").write_text(json.dumps(reference), encoding="utf-8")
    lines = "".join(json.dumps(response) + "\n" for response in responses)
    (place / "responses.jsonl").write_text(lines, encoding="utf-8")


def document(maker: Maker) -> dict[str, str]:
    text = " ".join(maker.random.choice(WORDS) for _ in range(80))
    return {"id": f"https://seeds.example/notes/{maker.hex(8)}", "text": f"{text}."}


if __name__ == "__main__":
    shutil.which("cargo") or sys.exit("judged.py needs cargo")
    sys.exit(main())
