"""Makes the attempts of a benchmark on a Ray cluster.

usage: ray_attempts.py lost TRIALS
       ray_attempts.py machines TRIALS

`lost`: the agents on the second node call their tools and then never answer; when they have, the node
is removed. `machines`: the second node has another address, from which tools on loopback are not
reached, so that they have to be served elsewhere; both addresses have to be this machine's. What comes
of the run is compared with a run of the same agent without Ray.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import juror
import ray
from with_ray import cluster

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
WORDS = {"garden": "Thornfold", "date": "2026-05-01", "name": "spleenwort", "is_id": "P-118"}
PATIENCE = 120
"""Seconds until something has to have happened."""

TIMES = ("seconds", "elapsed_sec", "timestamp", "run", "total_time")
"""The keys whose values differ from run to run."""


class Agent:
    """Calls the tools that fit best."""

    doomed: str | None = None
    """The node on which nobody gets to an answer."""
    marks: str = ""
    """The folder in which those are noted."""

    def setup_tools(self, tools: Any) -> None:
        self.tools = tools

    def answer(self, query: str, trial: int | None = None) -> str:
        called = []
        for tool in self.tools.search_tools(query, k=2):
            arguments = {name: WORDS.get(name, "") for name in tool.parameters["required"]}
            called.append(f"{tool.name}: {tool(**arguments)}")
        if ray.is_initialized() and ray.get_runtime_context().get_node_id() == self.doomed:
            Path(self.marks, f"{time.monotonic_ns()}").touch()
            threading.Event().wait()
        return f"For the {trial}. time: " + "; ".join(called)


class Runs:
    """A run without Ray, and one with it that has to be the same."""

    def __init__(self, folder: Path, trials: int) -> None:
        places = {"queries": EXAMPLES / "queries.json", "tools": EXAMPLES / "tools", "cache": EXAMPLES / "tool_cache"}
        config = {"tools": {"store": str(folder / "store")}}
        self.options = {**places, "judge": "heuristic", "trials": trials, "config": config}
        self.folder = folder
        self.here, self.alone = self.taken("here", jobs=2)

    def on(self, **options: Any) -> str:
        """Makes the run on Ray, ends the program unless it is the same, and says how long both took."""
        there, took = self.taken("there", runner=juror.ray.Runner(num_cpus=1, max_retries=2, **options))
        same(there, self.here, self.folder)
        what = f"results and calls of {len(there['results'])} attempts are those of a run without Ray"
        return f"{what} ({took:.1f} s with Ray, {self.alone:.1f} s without)"

    def taken(self, name: str, **options: Any) -> tuple[Any, float]:
        start = time.perf_counter()
        result = juror.bench(Agent, **self.options, run=self.folder / name, **options)
        return result, time.perf_counter() - start


def lost(folder: Path, trials: int) -> None:
    runs, marks = Runs(folder, trials), folder / "marks"
    marks.mkdir()
    with cluster() as (own, second):
        Agent.doomed, Agent.marks = second.node_id, str(marks)
        removing = threading.Thread(target=remove, args=(own, second, marks))
        removing.start()
        told = runs.on()
        removing.join()
    n_lost = len(list(marks.iterdir()))
    if n_lost == 0:
        sys.exit("no attempt was lost")
    print(f"Ray lost a node with {n_lost} attempts; {told}", flush=True)


def machines(folder: Path, trials: int) -> None:
    runs, (first, other) = Runs(folder, trials), os.environ["JUROR_ADDRESSES"].split()
    with cluster(first, other):
        try:
            runs.on()
        except ValueError as refused:
            if f'Runner(host="{first}")' not in str(refused):
                raise
        else:
            sys.exit("tools on loopback were not refused")
        told = runs.on(host=first)
    print(f"Ray had a node at another address, after loopback was refused; {told}", flush=True)


def remove(own: Any, second: Any, marks: Path) -> None:
    """Removes a node as soon as attempts on it have made their calls."""
    end = time.monotonic() + PATIENCE
    while not any(marks.iterdir()) and time.monotonic() < end:
        time.sleep(0.01)
    own.remove_node(second, allow_graceful=False)


def same(there: Any, here: Any, folder: Path) -> None:
    """Ends the program unless two runs are the same but for times."""
    if timeless(there) != timeless(here):
        sys.exit("the results are not those of a run without Ray")
    if kept(folder / "there") != kept(folder / "here"):
        sys.exit("the attempts are not those of a run without Ray")


def kept(run: Path) -> list[str]:
    """The attempts of a run with all their calls, in an order of their own."""
    lines = (run / "attempts.jsonl").read_text("utf-8").splitlines()
    return sorted(json.dumps(timeless(json.loads(line))) for line in lines)


def timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: timeless(one) for key, one in value.items() if key not in TIMES and "time" not in key}
    return [timeless(one) for one in value] if isinstance(value, list) else value


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="juror-attempts-") as place:
        {"lost": lost, "machines": machines}[sys.argv[1]](Path(place), int(sys.argv[2]))
