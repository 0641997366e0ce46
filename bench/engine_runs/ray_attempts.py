"""Makes the attempts of a benchmark on a Ray cluster that loses a node.

usage: ray_attempts.py TRIALS

The agents on the second node call their tools and then never answer: when they have, the node is
removed. What comes of the run is compared with a run of the same agent without Ray.
"""

from __future__ import annotations

import json
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


def attempts(trials: int) -> None:
    places = {"queries": EXAMPLES / "queries.json", "tools": EXAMPLES / "tools", "cache": EXAMPLES / "tool_cache"}
    with tempfile.TemporaryDirectory(prefix="juror-attempts-") as folder:
        options = {**places, "judge": "heuristic", "trials": trials, "config": {"tools": {"store": f"{folder}/store"}}}
        start = time.perf_counter()
        here = juror.bench(Agent, **options, run=f"{folder}/here", jobs=2)
        alone = time.perf_counter() - start
        with cluster() as (own, second):
            marks = Path(folder, "marks")
            marks.mkdir()
            Agent.doomed, Agent.marks = second.node_id, str(marks)
            removing = threading.Thread(target=remove, args=(own, second, marks))
            removing.start()
            runner = juror.ray.Runner(num_cpus=1, max_retries=2)
            start = time.perf_counter()
            there = juror.bench(Agent, **options, run=f"{folder}/there", runner=runner)
            took = time.perf_counter() - start
            removing.join()
            n_lost = len(list(marks.iterdir()))
        same(there, here, Path(folder))
    if n_lost == 0:
        sys.exit("no attempt was lost")
    n = len(here["results"])
    print(
        f"Ray lost a node with {n_lost} of {n} attempts, which were made again; results and calls are those of a run "
        f"without Ray ({took:.1f} s with Ray, {alone:.1f} s without)",
        flush=True,
    )


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
    attempts(int(sys.argv[1]))
