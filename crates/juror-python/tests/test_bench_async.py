"""Agents that are async: one event loop for all of a run."""

from __future__ import annotations

import asyncio
import contextlib
import http.server
import json
import logging
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import juror
import pytest
from conftest import PROJECT

EXAMPLES = PROJECT / "examples"
N_QUERIES = 20


def places() -> dict[str, Any]:
    queries = [{"query_id": number, "query": f"query {number}", "api_list": []} for number in range(N_QUERIES)]
    return {"queries": queries, "tools": EXAMPLES / "tools", "cache": EXAMPLES / "tool_cache"}


def errors(result: dict[str, Any]) -> dict[int, str | None]:
    return {one["query_id"]: one.get("error") for one in result["results"]}


def answers(result: dict[str, Any]) -> list[str]:
    return [one["system_answer"]["final_answer"] for one in result["results"]]


ALL_WELL = dict.fromkeys(range(N_QUERIES))


class Client:
    """An HTTP client as popular ones are: its connections stay open, on the loop that opened them."""

    def __init__(self, port: int, most: int = 2) -> None:
        self.port = port
        self.n_opened = 0
        self.permits = asyncio.Semaphore(most)
        self.idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def get(self, path: str) -> str:
        async with self.permits:
            reader, writer = self.idle.pop() if self.idle else await self._open()
            writer.write(f"GET /{path} HTTP/1.1\r\nhost: here\r\n\r\n".encode())
            await writer.drain()
            head = await reader.readuntil(b"\r\n\r\n")
            (length,) = (line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length"))
            body = await reader.readexactly(int(length.split(b":")[1]))
            self.idle.append((reader, writer))
            return body.decode()

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self.n_opened += 1
        return await asyncio.open_connection("127.0.0.1", self.port)


@contextlib.contextmanager
def model() -> Iterator[int]:
    """A server that says the path back, and keeps connections."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.path.encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def asking(client: Client) -> Any:
    async def agent(query: str) -> str:
        return await client.get(query.replace(" ", "-"))

    return agent


WANTED = [f"/query-{number}" for number in range(N_QUERIES)]


def test_agents_share_a_client_whose_connections_are_of_one_loop() -> None:
    with model() as port:
        client = Client(port)
        result = juror.bench(asking(client), **places(), jobs=8)
        assert errors(result) == ALL_WELL
        assert answers(result) == WANTED
        assert client.n_opened <= 2


def test_a_client_lives_on_from_run_to_run() -> None:
    with model() as port:
        client = Client(port)
        for _ in range(3):
            assert answers(juror.bench(asking(client), **places(), jobs=8)) == WANTED
        assert client.n_opened <= 2


def test_a_client_of_the_awaiting_loop_serves_agents_too() -> None:
    async def main(port: int) -> None:
        client = Client(port)
        assert await client.get("before") == "/before"
        result = await juror.aio.bench(asking(client), **places(), jobs=8)
        assert answers(result) == WANTED
        assert await client.get("after") == "/after"
        assert client.n_opened <= 2

    with model() as port:
        asyncio.run(main(port))


@pytest.mark.parametrize("is_made_in_setup", [True, False])
def test_agents_of_a_class_share_locks_queues_and_semaphores(is_made_in_setup: bool) -> None:
    class Shared:
        def __init__(self) -> None:
            self.lock, self.tickets = asyncio.Lock(), asyncio.Semaphore(3)
            self.queue: asyncio.Queue[int] = asyncio.Queue(1)

    shared: list[Shared] = [] if is_made_in_setup else [Shared()]
    loops: set[int] = set()

    class Agent:
        async def setup_tools(self, tools: Any) -> None:
            if not shared:
                shared.append(Shared())
            loops.add(id(asyncio.get_running_loop()))

        async def reset(self) -> None:
            loops.add(id(asyncio.get_running_loop()))

        async def answer(self, query: str) -> str:
            own = shared[0]
            async with own.tickets:
                for _ in range(5):
                    async with own.lock:
                        await asyncio.sleep(0)
                putting = asyncio.ensure_future(own.queue.put(1))
                await own.queue.get()
                await putting
            loops.add(id(asyncio.get_running_loop()))
            return "x"

    assert errors(juror.bench(Agent, **places(), jobs=8)) == ALL_WELL
    assert len(loops) == 1


def test_a_late_coroutine_is_cancelled_and_the_others_go_on() -> None:
    cancelled: list[str] = []

    async def agent(query: str) -> str:
        try:
            await asyncio.sleep(60 if query == "query 3" else 0)
        except asyncio.CancelledError:
            cancelled.append(query)
            raise
        return query

    result = juror.bench(agent, **places(), jobs=2, timeout=1)
    assert errors(result) == {**ALL_WELL, 3: "no answer within 1 s"}
    assert cancelled == ["query 3"]


def test_an_agent_that_blocks_the_loop_is_told_where(caplog: pytest.LogCaptureFixture) -> None:
    let_go = threading.Event()

    class Agent:
        async def answer(self, query: str) -> str:
            if query == "query 1":
                let_go.wait(60)  # This is the line that blocks.
            return query

    with caplog.at_level(logging.WARNING, "juror"):
        result = juror.bench(Agent, **places(), timeout=0.5)
    let_go.set()
    why = "no answer within 0.5 s: the event loop is blocked, which all queries share"
    assert errors(result) == {**ALL_WELL, 1: why}
    (word,) = (record.getMessage() for record in caplog.records if "blocked" in record.getMessage())
    assert "# This is the line that blocks." in word and "asyncio.to_thread" in word


def test_odd_ends_of_coroutines_are_of_their_query_alone() -> None:
    async def inner() -> None:
        raise SystemExit(4)

    async def agent(query: str) -> str:
        match query:
            case "query 0":
                sys.exit(3)
            case "query 1":
                raise asyncio.CancelledError
            case "query 2":
                raise TimeoutError("of a model")
            case "query 3":
                await asyncio.gather(inner(), asyncio.sleep(0))
        return query

    told = {0: "SystemExit: 3", 1: "CancelledError", 2: "TimeoutError: of a model", 3: "SystemExit: 4"}
    assert errors(juror.bench(agent, **places(), jobs=4)) == {**ALL_WELL, **told}


def test_what_agents_leave_running_ends_with_the_run() -> None:
    ended: list[str] = []

    async def behind() -> None:
        try:
            await asyncio.sleep(600)
        finally:
            ended.append("x")

    left: list[Any] = []

    async def agent(query: str) -> str:
        left.append(asyncio.ensure_future(behind()))
        await asyncio.sleep(0)
        return query

    assert errors(juror.bench(agent, **places(), jobs=4)) == ALL_WELL
    assert len(ended) == N_QUERIES


def test_two_runs_at_a_time_have_a_loop_each() -> None:
    loops: dict[str, set[int]] = {"a": set(), "b": set()}
    both = threading.Barrier(2)

    def run(name: str) -> None:
        async def agent(query: str) -> str:
            if query == "query 0":
                await asyncio.to_thread(both.wait, 60)
            loops[name].add(id(asyncio.get_running_loop()))
            return query

        assert errors(juror.bench(agent, **places(), jobs=4)) == ALL_WELL

    threads = [threading.Thread(target=run, args=name) for name in loops]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(seen) for seen in loops.values()] == [1, 1] and loops["a"] != loops["b"]


FIGURES: list[tuple[dict[str, Any], int, float | None]] = [
    ({"final_answer": "x", "tokens": 120, "usd": 0.25}, 120, 0.25),
    ({"answer": {"final_answer": "x"}, "called_apis": [], "tokens": 120, "usd": 0.25}, 120, 0.25),
    ({"answer": {"final_answer": "x", "tokens": 120, "usd": 0.25}}, 120, 0.25),
    ({"error": "gave up", "tokens": 120, "usd": 0.25}, 120, 0.25),
    ({"final_answer": "x", "tokens": 120.0, "usd": 1}, 120, 1.0),
    ({"final_answer": "x", "tokens": float("nan"), "usd": "much"}, 0, None),
]


@pytest.mark.parametrize(("said", "tokens", "usd"), FIGURES)
def test_what_an_agent_used_is_kept(said: dict[str, Any], tokens: int, usd: float | None) -> None:
    result = juror.bench(lambda query: said, **{**places(), "limit": 2})
    assert result["juror"]["agent_tokens"] == (2 * tokens or None)
    assert result["juror"]["agent_usd"] == (None if usd is None else 2 * usd)


INTERRUPTED = """
import asyncio, json, juror, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
n_there = 0
async def agent(query):
    global n_there
    n_there += 1
    try:
        if n_there == 8:
            print("there", flush=True)
        await asyncio.sleep(600)
    finally:
        print("cancelled", flush=True)
options = json.loads(sys.argv[1])
try:
    if sys.argv[2] == "aio":
        asyncio.run(juror.aio.bench(agent, **options))
    else:
        juror.bench(agent, **options)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise")
@pytest.mark.parametrize("door", ["plain", "aio"])
def test_ctrl_c_ends_all_coroutines(door: str, tmp_path: Path) -> None:
    options = {**places(), "tools": str(EXAMPLES / "tools"), "cache": None, "jobs": 8, "run": "run"}
    command = [sys.executable, "-c", INTERRUPTED, json.dumps(options), door]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env)
    assert child.stdout is not None and child.stdout.readline() == "there\n"
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert (out, child.returncode) == ("cancelled\n" * 8 + "interrupted\n", 0)
    # A query that was stopped has no ending, and is tried by the run that goes on.
    kept = tmp_path / "run" / "attempts.jsonl"
    assert not kept.exists() or kept.read_text("utf-8") == ""
