"""Attempts that a runner makes, in other processes and in odd ways."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import multiprocessing
import os
import socket
import threading
import urllib.parse
from collections.abc import Iterator
from concurrent.futures import BrokenExecutor, Future, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import juror
import pytest
from test_bench import Careful, answers, arguments, attempts, bench, errors

FINISHED = "It is done."


class Searching:
    """Looks for its tools in the whole pool, by text, by name and by place."""

    def setup_tools(self, tools: juror.ToolPool) -> None:
        self.tools = tools

    async def answer(self, query: str) -> str:
        found = self.tools.search_tools(query, k=2)
        named = [self.tools[tool.name] for tool in found]
        replies = [await tool.acall(**arguments(tool)) for tool in named]
        return f"{len(self.tools)} {next(iter(self.tools))} {replies}"


class Unlucky:
    """Fails in a way of its own at each query."""

    def answer(self, query: str, trial: int | None = None) -> Any:
        if "weather" in query:
            raise ConnectionError("the model is not there")
        if "spleenwort" in query:
            return 7
        return {"final_answer": FINISHED, "tokens": 5}


class Unmade:
    def __init__(self) -> None:
        raise LookupError("no model file")

    def answer(self, query: str) -> str:
        return FINISHED


async def slow(query: str) -> str:
    if "weather" in query:
        await asyncio.Event().wait()
    return FINISHED


def stuck(query: str) -> str:
    if "weather" in query:
        threading.Event().wait()
    return FINISHED


def interrupting(query: str) -> str:
    if "spleenwort" in query:
        raise KeyboardInterrupt
    return FINISHED


def dying(query: str) -> str:
    if "spleenwort" in query:
        os._exit(1)
    return FINISHED


@contextlib.contextmanager
def processes(n: int = 2) -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(n, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


class Here:
    """Makes attempts at once, in this process."""

    def __init__(self) -> None:
        self.seen: list[juror.Attempt] = []

    def submit(self, attempt: juror.Attempt, /) -> Future[Any]:
        self.seen.append(attempt)
        future: Future[Any] = Future()
        threading.Thread(target=self.settle, args=(attempt, future)).start()
        return future

    def settle(self, attempt: juror.Attempt, future: Future[Any]) -> None:
        future.set_result(attempt())


class Losing(Here):
    """Loses attempts when they are complete: all that were not lost so often."""

    def __init__(self, n_times: int, max_retries: int) -> None:
        super().__init__()
        self.n_times, self.max_retries = n_times, max_retries

    def settle(self, attempt: juror.Attempt, future: Future[Any]) -> None:
        outcome = attempt()
        if attempt.n_lost < self.n_times:
            future.set_exception(juror.AttemptLost("the node is gone"))
        else:
            future.set_result(outcome)


def timeless(value: Any) -> Any:
    """A result without what differs from run to run."""
    if isinstance(value, dict):
        times = ("seconds", "elapsed_sec", "timestamp", "run", "began", "ended", "took")
        return {key: timeless(one) for key, one in value.items() if key not in times and "time" not in key}
    return [timeless(one) for one in value] if isinstance(value, list) else value


def by_query(folder: Path) -> list[Any]:
    return sorted(map(timeless, attempts(folder)), key=lambda one: (one["query_id"], one.get("trial", 0)))


@pytest.mark.parametrize(
    ("agent", "options"),
    [
        (Careful, {"pool": "own"}),
        (Careful, {"pool": "top:2", "trials": 2}),
        (Searching, {"judge": "heuristic"}),
        (Unlucky, {}),
    ],
)
def test_processes_give_the_results_of_this_one(agent: Any, options: dict[str, Any], tmp_path: Path) -> None:
    here = bench(agent, **options, run=tmp_path / "here")
    with processes() as pool:
        there = bench(agent, **options, run=tmp_path / "there", runner=pool, jobs=2)
    assert timeless(there) == timeless(here)
    assert by_query(tmp_path / "there") == by_query(tmp_path / "here")


def test_an_agent_that_is_late_elsewhere_has_an_error() -> None:
    with processes(1) as pool:
        result = bench(slow, runner=pool, timeout=0.5)
    assert errors(result) == {"1": "no answer within 0.5 s", "2": None, "3": None, "4": None}
    result = bench(stuck, runner=Here(), timeout=0.5)
    assert errors(result) == {"1": "no answer within 0.5 s", "2": None, "3": None, "4": None}


def test_what_a_lost_attempt_called_does_not_count(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    here = bench(Careful, pool="own", run=tmp_path / "here")
    runner = Losing(2, max_retries=2)
    there = bench(Careful, pool="own", run=tmp_path / "there", runner=runner, jobs=3)
    assert timeless(there) == timeless(here)
    assert by_query(tmp_path / "there") == by_query(tmp_path / "here")
    assert len(runner.seen) == len({one.url for one in runner.seen}) == 12, "each has an address of its own"
    assert caplog.text.count("was lost, and is made again: the node is gone") == 8


def test_the_address_of_a_lost_attempt_answers_no_more() -> None:
    told: list[int] = []

    class Haunted(Losing):
        def settle(self, attempt: juror.Attempt, future: Future[Any]) -> None:
            if attempt.n_lost:
                # The lost one goes on somewhere, and calls while the other is at work.
                told.append(post(self.seen[0].url))
            super().settle(attempt, future)

    result = bench(Careful, pool="own", query_ids=[1], runner=Haunted(1, max_retries=1))
    assert told == [404]
    assert len(result["results"][0]["system_answer"]["called_apis"]) == 2


def test_an_attempt_that_is_lost_too_often_has_an_error() -> None:
    runner = Losing(2, max_retries=1)
    result = bench(Careful, pool="own", query_ids=[1, 2], runner=runner)
    assert errors(result) == dict.fromkeys(["1", "2"], "the attempt was lost: the node is gone")
    assert len(result["results"][0]["system_answer"]["called_apis"]) == 2, "those of the last one"
    assert len(runner.seen) == 4


def test_a_runner_that_breaks_ends_the_run_and_keeps_what_is_done(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with processes(1) as pool, pytest.raises(BrokenExecutor):
        bench(dying, runner=pool, run=folder)
    assert [one["query_id"] for one in attempts(folder)] == ["1"]
    with processes(1) as pool, pytest.raises(BrokenExecutor):
        bench(dying, runner=pool, run=folder)
    assert [one["query_id"] for one in attempts(folder)] == ["1"], "it was resumed, and broke again"


def test_a_run_goes_on_with_another_runner_or_none(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        bench(interrupting, runner=Here(), run=folder)
    assert [one["query_id"] for one in attempts(folder)] == ["1"]
    with pytest.raises(KeyboardInterrupt), processes(1) as pool:
        bench(interrupting, runner=pool, run=folder)
    with pytest.raises(KeyboardInterrupt):
        bench(interrupting, run=folder)
    assert [one["query_id"] for one in attempts(folder)] == ["1"]


def test_an_agent_that_cannot_be_made_elsewhere_ends_the_run_before_anything_is_kept(tmp_path: Path) -> None:
    with processes(1) as pool, pytest.raises(RuntimeError, match="by the runner: LookupError: no model file\n.*hint"):
        bench(Unmade, runner=pool, run=tmp_path / "run")
    assert not (tmp_path / "run/attempts.jsonl").exists() or attempts(tmp_path / "run") == []


def test_an_agent_that_cannot_be_pickled_is_refused_with_a_way_out() -> None:
    for agent in (lambda query: query, Locked()):
        with pytest.raises(TypeError, match="(?s)cannot be sent to other processes: .*hint: give a class"):
            bench(agent, runner=Here())
    with pytest.raises(ValueError, match="has 11 MB.*\n.*hint: give its class"):
        bench(Large(), runner=Here())
    assert answers(bench(Locked, runner=Here(), jobs=2)) == [FINISHED] * 4, "its class can be"


class Locked:
    def __init__(self) -> None:
        self.lock = threading.Lock()

    def answer(self, query: str) -> str:
        return FINISHED


class Large(Careful):
    def __init__(self) -> None:
        self.weights = bytes(11 << 20)


def test_one_agent_is_copied_for_each_attempt() -> None:
    assert answers(bench(Careful(), pool="own", runner=Here(), jobs=3)) == answers(bench(Careful, pool="own"))


def test_a_runner_says_how_many_attempts_it_makes_at_a_time() -> None:
    class Counting(Here):
        jobs = 3

        def __init__(self) -> None:
            super().__init__()
            self.all_there = threading.Barrier(3)
            self.n_now = self.n_most = 0
            self.lock = threading.Lock()

        def settle(self, attempt: juror.Attempt, future: Future[Any]) -> None:
            with self.lock:
                self.n_now += 1
                self.n_most = max(self.n_most, self.n_now)
            if len(self.seen) <= 3:
                self.all_there.wait(30)
            outcome = attempt()
            with self.lock:
                self.n_now -= 1
            future.set_result(outcome)

    runner = Counting()
    assert answers(bench(stuck, query_ids=[2, 3, 4], trials=2, runner=runner)) == [FINISHED] * 6
    assert runner.n_most == 3
    runner.jobs = 0
    with pytest.raises(ValueError, match="`jobs` is a whole number from 1 on"):
        bench(stuck, runner=runner)


def test_what_is_no_runner_is_refused() -> None:
    with pytest.raises(TypeError, match="(?s)has a method `submit`.*hint"):
        bench(stuck, runner="ray")

    class Wrong(Here):
        def settle(self, attempt: juror.Attempt, future: Future[Any]) -> None:
            future.set_result("done")

    with pytest.raises(TypeError, match="the runner returned a `str`"):
        bench(stuck, runner=Wrong())


def test_a_runner_can_refuse_before_the_run(tmp_path: Path) -> None:
    class Careless(Here):
        def prepare(self, server: str | None) -> None:
            raise ValueError(f"nothing is reached at {server}")

    with pytest.raises(ValueError, match="nothing is reached at None"):
        bench(stuck, runner=Careless(), run=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "nowhere", "10.0.0"])
def test_tools_are_served_at_an_address_that_can_be_called(host: str) -> None:
    runner = Here()
    runner.host = host  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="not an address that tools can be called at"):
        bench(stuck, runner=runner)


def test_tools_that_other_machines_reach_ask_for_a_token() -> None:
    address = own_address()
    statuses: list[int] = []

    class Exposed(Here):
        host = address

        def settle(self, attempt: juror.Attempt, future: Future[Any]) -> None:
            tools = urllib.parse.urlsplit(attempt.tools_url)
            everyones = attempt.tools_url.removesuffix("/tools") + "/virtual"
            assert tools.hostname == address and attempt.token and attempt.token not in repr(attempt)
            statuses.extend([post(attempt.url), post(everyones), post(attempt.tools_url)])
            super().settle(attempt, future)

    result = bench(Searching, runner=Exposed(), query_ids=[1])
    assert statuses == [401] * 3
    assert answers(result) == answers(bench(Searching, query_ids=[1]))


def own_address() -> str:
    """An address of this machine that is not loopback; where there is none, the test is skipped."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        try:
            # Sends nothing: the system says from where it would.
            sender.connect(("192.0.2.1", 9))
        except OSError:
            pytest.skip("the machine has no network")
        return str(sender.getsockname()[0])


def post(url: str) -> int:
    """The status of a call without a token."""
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    with contextlib.closing(connection):
        connection.request("POST", parts.path, json.dumps({"category": "x", "tool_name": "x", "api_name": "x"}))
        return connection.getresponse().status


def test_a_loop_that_runs_already_can_have_attempts_made_elsewhere() -> None:
    async def main() -> Any:
        return await juror.aio.bench(slow, **places_of_two(), runner=Here(), jobs=2)

    assert answers(asyncio.run(main())) == [FINISHED] * 2


def places_of_two() -> dict[str, Any]:
    from test_bench import places

    return {**places(), "query_ids": [2, 3]}
