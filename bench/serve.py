#!/usr/bin/env python3
"""Times virtual tools over HTTP, and sets them beside their budgets.

Makes a store with many replies of one API, and another of a large cache folder if one is named,
starts `juror serve` on each, and asks as fast as it can over 1, 16 and 64 connections. Each rate is
given as a share of what the same server reaches with a fixed reply (`GET /health`), measured in turn
with it; the aim at 64 connections is 70 % and 5 ms. Client and server share the machine's cores. The public server's figures for the same work
on two cores are quoted beside ours.

Nothing here fails because something is slow: the exit code is 0 unless a part could not be run.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import harness
from harness import PROJECT

RELEASE = PROJECT / "target" / "release"
CONNECTIONS = (1, 16, 64)
ENTRIES = (10, 1_000, 10_000)
PUBLIC = {10: 1_144, 1_000: 445, 10_000: 56, "log": 90}  # requests a second at 64 connections
REPLY = {"error": "", "response": {"temperature": 4.5, "sky": "overcast", "wind": [3, "NW"], "note": "x" * 400}}


def main() -> int:
    options = parse_options()
    if not options.no_build:
        harness.build("juror", "juror-timings")
    print(f"{os.cpu_count()} cores, {options.rounds} rounds of {options.seconds} s, medians\n")
    print(f"{'work':<28}{'conn':>5}{'requests/s':>12}{'fixed/s':>10}{'share':>8}{'p99 ms':>8}   public")
    with tempfile.TemporaryDirectory(prefix="juror-serve-") as folder:
        place = Path(folder)
        for n_entries in ENTRIES:
            one_api(place / str(n_entries), n_entries, options)
        if options.cache and options.requests:
            recorded(place / "log", options)
    return 0


def parse_options() -> argparse.Namespace:
    parser = harness.option_parser(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--no-build", action="store_true", help="use what was built before")
    parser.add_argument("--cache", type=Path, help="a large cache folder")
    parser.add_argument("--requests", type=Path, help="recorded requests for it (.jsonl.gz)")
    return parser.parse_args()


def one_api(place: Path, n_entries: int, options: argparse.Namespace) -> None:
    folder = place / "cache" / "Weather" / "sky_for_Weather"
    folder.mkdir(parents=True)
    inputs = [{"city": f"city {n}", "days": n % 7} for n in range(n_entries)]
    (folder / "now.json").write_text(json.dumps({str(i): REPLY for i in inputs}, indent=4))
    bodies = [
        {"category": "Weather", "tool_name": "Sky", "api_name": "Now", "tool_input": i, "strip": "", "toolbench_key": "k"}
        for i in inputs
    ]
    measure(place, place / "cache", bodies, f"{n_entries:,} entries of one API", PUBLIC[n_entries], options)


def recorded(place: Path, options: argparse.Namespace) -> None:
    place.mkdir()
    with gzip.open(options.requests, "rt", encoding="utf-8") as lines:
        requests = [json.loads(line) for line in lines]
    bodies = [request["body"] for request in requests if request["expect"] == "hit"]
    measure(place, options.cache, bodies, f"recorded log, {len(bodies):,} hits", PUBLIC["log"], options)


def measure(place: Path, cache: Path, bodies: list, work: str, public: int, options: argparse.Namespace) -> None:
    file = place / "bodies.jsonl"
    file.write_text("\n".join(json.dumps(body) for body in bodies) + "\n")
    subprocess.run([RELEASE / "juror", "tools", "import", cache, "--store", place / "store"], check=True, capture_output=True)
    server = subprocess.Popen(
        [RELEASE / "juror", "serve", "--cache", place / "store", "--port", "0", "--quiet"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        address = server.stdout.readline().strip().removeprefix("http://")
        load(address, "/virtual", 16, 2, file)  # every reply is in memory from here on
        for connections in CONNECTIONS:
            rounds = []
            for _ in range(options.rounds):
                fixed = load(address, "/health", connections, options.seconds)
                rounds.append((load(address, "/virtual", connections, options.seconds, file), fixed))
            report(work, connections, rounds, public)
    finally:
        server.terminate()
        server.wait()


def load(address: str, path: str, connections: int, seconds: int, bodies: Path | None = None) -> dict:
    command = [RELEASE / "juror-timings", "load", address, path, str(connections), str(seconds)]
    done = subprocess.run(command + ([bodies] if bodies else []), check=True, capture_output=True, text=True)
    pairs = (line.split(": ") for line in done.stdout.splitlines())
    return {name: float(value) for name, value in pairs}


def report(work: str, connections: int, rounds: list, public: int) -> None:
    middle = lambda values: statistics.median(list(values))
    rate = middle(own["requests_per_second"] for own, _ in rounds)
    fixed = middle(other["requests_per_second"] for _, other in rounds)
    share = middle(own["requests_per_second"] / other["requests_per_second"] for own, other in rounds)
    p99 = middle(own["p99"] for own, _ in rounds) * 1000
    beside = f"{public:,}/s, {rate / public:.0f}x" if connections == 64 else ""
    print(f"{work:<28}{connections:>5}{rate:>12,.0f}{fixed:>10,.0f}{share:>8.0%}{p99:>8.2f}   {beside}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
