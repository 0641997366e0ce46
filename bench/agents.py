#!/usr/bin/env python3
"""Times benchmarks of agents, and sets them beside their budgets.

Overhead: an agent in Python that answers at once is asked queries by lines, first by this script and
then by `juror bench`, in turns. What Juror takes longer for a query is its own: setting the query
up, serving and recording, keeping the attempt, scoring, and writing results. The aim is 5 ms.

Recorded answers: the logs of a folder, copied under new ids until there are enough, are converted,
scored and summed up by `juror bench --agent recorded:…`, the whole program from start to end. The
public system takes 8.3 s on two cores to parse and convert 10,000 such logs; the aim is a twentieth.

Nothing here fails because something is slow: the exit code is 0 unless a part could not be run.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import harness
from harness import PROJECT

JUROR = PROJECT / "target" / "release" / "juror"
PUBLIC_SECONDS = 8.3  # 10,000 logs parsed and converted, without any score
AGENT = """
import json, sys
sys.stdin.readline()
print('{"type": "ready"}', flush=True)
for line in sys.stdin:
    task = json.loads(line)
    said = {"type": "answered", "query_id": task["query_id"], "final_answer": "Thirteen degrees."}
    print(json.dumps(said), flush=True)
"""


def main() -> int:
    options = parse_options()
    if not options.no_build:
        harness.build("juror")
    print(f"{os.cpu_count()} cores, {options.rounds} rounds, medians")
    with tempfile.TemporaryDirectory(prefix="juror-agents-") as folder:
        place = Path(folder)
        overhead(place, options)
        if options.logs and options.queries:
            recorded(place, options)
    return 0


def parse_options() -> argparse.Namespace:
    parser = harness.option_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--live", type=int, default=1_000, help="queries of the live run")
    parser.add_argument("--answers", type=int, default=10_000, help="recorded answers")
    parser.add_argument("--logs", type=Path, help="a folder of an agent's logs")
    parser.add_argument("--method", default="CoT@1", help="theirs")
    parser.add_argument("--queries", type=Path, help="the file of their queries")
    parser.add_argument("--no-build", action="store_true", help="use what was built before")
    return parser.parse_args()


def overhead(place: Path, options: argparse.Namespace) -> None:
    queries = json.loads((PROJECT / "examples" / "queries.json").read_text())
    many = [queries[at % len(queries)] | {"query_id": at} for at in range(options.live)]
    (place / "live.json").write_text(json.dumps(many))
    (place / "agent.py").write_text(AGENT)
    bare, ours = [], []
    for number in range(options.rounds):
        bare.append(seconds_of(lambda: ask_all(place, many)))
        ours.append(seconds_of(lambda: bench(place, "live.json", f"command:{sys.executable} agent.py", number)))
    pairs = [(own - alone) / options.live * 1e3 for alone, own in zip(bare, ours)]
    alone, own = statistics.median(bare), statistics.median(ours)
    print(f"\n{options.live} queries, an agent that answers at once, one at a time")
    print(f"  the agent alone   {alone:7.3f} s")
    print(f"  juror bench       {own:7.3f} s")
    print(f"  overhead a query  {statistics.median(pairs):7.3f} ms (aim: 5 ms)")


def ask_all(place: Path, queries: list[dict]) -> None:
    command = [sys.executable, "agent.py"]
    with subprocess.Popen(command, cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as agent:
        say(agent, {"type": "setup", "protocol": 1, "tools_url": "", "tool_count": 0})
        for query in queries:
            say(agent, {"type": "answer", "query_id": str(query["query_id"]), "query": query["query"]})
        agent.stdin.close()


def say(agent: subprocess.Popen, told: dict) -> None:
    agent.stdin.write(json.dumps(told).encode() + b"\n")
    agent.stdin.flush()
    if not agent.stdout.readline():
        raise SystemExit("the agent ended")


def bench(place: Path, queries: str, agent: str, number: int, *more: str) -> None:
    examples = PROJECT / "examples"
    command = [JUROR, "bench", "--queries", queries, "--agent", agent, "--jobs", "1", "--quiet", *more]
    command += ["--tools", examples / "tools", "--cache", examples / "tool_cache", "--no-keep"]
    command += ["--judge", "heuristic", "--run", f"run{number}", "-o", "results.json"]
    ended = subprocess.run(command, cwd=place, capture_output=True, text=True)
    if ended.returncode != 0:
        raise SystemExit(ended.stderr)


def recorded(place: Path, options: argparse.Namespace) -> None:
    suffix = f"_{options.method}.json"
    logs = {path.name.removesuffix(suffix): path for path in sorted(options.logs.glob(f"*{suffix}"))}
    known = {str(query["query_id"]): query for query in json.loads(options.queries.read_text())}
    logs = {name: path.read_bytes() for name, path in logs.items() if name in known}
    if not logs:
        raise SystemExit(f"{options.logs} has no log of a query in {options.queries}")
    names = list(logs)
    (place / "logs").mkdir()
    queries = []
    for at in range(options.answers):
        name = names[at % len(names)]
        (place / "logs" / f"{at}{suffix}").write_bytes(logs[name])
        queries.append(known[name] | {"query_id": at})
    (place / "recorded.json").write_text(json.dumps(queries))
    size = sum(len(logs[names[at % len(names)]]) for at in range(options.answers)) / 1e6
    method = ("--method", options.method)
    times = [
        seconds_of(lambda: bench(place, "recorded.json", "recorded:logs", 0, *method))
        for _ in range(options.rounds)
    ]
    convert = [JUROR, "convert", "logs", *method, "-o", "converted.json", "--quiet"]
    converted = [
        seconds_of(lambda: subprocess.run(convert, cwd=place, check=True)) for _ in range(options.rounds)
    ]
    ours, alone = statistics.median(times), statistics.median(converted)
    print(f"\n{options.answers} recorded answers, {size:.0f} MB of logs")
    print(f"  juror bench       {ours:7.3f} s = {PUBLIC_SECONDS / ours:.1f} times the public system (aim: 20)")
    print(f"  juror convert     {alone:7.3f} s = {PUBLIC_SECONDS / alone:.1f} times")


def seconds_of(work) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    sys.exit(main())
