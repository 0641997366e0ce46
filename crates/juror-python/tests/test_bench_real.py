"""Agents in Python over real queries, tools and replies."""

from __future__ import annotations

import ast
import itertools
import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import juror
import pytest
from conftest import recorded_cases

Api = tuple[str, str, str]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    """Where the queries are, and where tools and replies are unpacked."""
    recorded = recorded_cases()
    folder = recorded and recorded.parent / "data/toolbench"
    if folder is None or not folder.is_dir():
        pytest.skip("no real queries here")
    unpacked = tmp_path_factory.mktemp("toolbench")
    for name in ("tool_pool_2490", "tool_response_cache_50000"):
        with tarfile.open(folder / f"{name}.tar.gz") as archive:
            # Older releases of Python trust archives without asking.
            trust = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
            archive.extractall(unpacked, **trust)
    yield folder, unpacked


def places(data: tuple[Path, Path]) -> dict[str, Any]:
    folder, unpacked = data
    return {
        "queries": folder / "solvable_queries",
        "set": "G1_instruction",
        "tools": unpacked / "tool_pool_2490/tools",
        "cache": unpacked / "tool_response_cache",
    }


def api_of(tool: juror.Tool) -> Api:
    return tool.category, tool.tool_name, tool.api_name


def recorded_calls(folder: Path) -> dict[str, list[Api]]:
    """The calls that were served, by query."""
    lines = (folder / "attempts.jsonl").read_text("utf-8").splitlines()
    return {
        one["query_id"]: [(call["category"], call["tool_name"], call["api_name"]) for call in one["calls"]]
        for one in map(json.loads, lines)
    }


class Thorough:
    """Calls every tool of its query, with arguments whose reply is known where there are such."""

    cache: Path
    called: dict[str, list[Api]] = {}
    n_known = 0

    def setup_tools(self, tools: dict[str, juror.Tool]) -> None:
        self.tools = tools

    def answer(self, query: str) -> str:
        called = self.called.setdefault(query, [])
        for name, tool in self.tools.items():
            assert name == tool.name
            called.append(api_of(tool))
            known, reply = self.known(tool)
            told = tool.call(known)
            if reply is not None:
                Thorough.n_known += 1
                assert told == reply, (tool, known)
        if len(self.called) % 40 == 0:
            raise LookupError("lost the thread")
        return "Everything was called."

    def known(self, tool: juror.Tool) -> tuple[dict[str, Any], Any]:
        """Arguments and the reply that the API's own file has for them."""
        file = self.cache / juror.tool_cache_file(*api_of(tool))
        if file.is_file():
            for key, reply in json.loads(file.read_text("utf-8")).items():
                try:
                    arguments = ast.literal_eval(key)
                except (SyntaxError, ValueError):
                    continue
                if isinstance(arguments, dict) and str(arguments) == key:
                    return arguments, reply
        return {}, None


def test_every_tool_of_163_queries_reaches_its_own_api(data: tuple[Path, Path], tmp_path: Path) -> None:
    Thorough.cache = data[1] / "tool_response_cache"
    result = juror.bench(Thorough, **places(data), pool="own", run=tmp_path / "run", jobs=2)
    assert result["summary"]["total_queries"] == 163
    calls = recorded_calls(tmp_path / "run")
    n_calls = 0
    for one in result["results"]:
        served = calls[str(one["query_id"])]
        assert served == Thorough.called[one["query_text"]], one["query_id"]
        offered = one["gold_answer"]["available_tools"]
        names = {(tool["tool_name"], api["api_name"]) for tool in offered for api in tool["apis"]}
        assert len(served) == len(set(served)) == len(names), one["query_id"]
        n_calls += len(served)
        assert one["scores"]["api_call_score"] == 1.0, one["query_id"]
    failed = [one["error"] for one in result["results"] if "error" in one]
    assert failed and set(failed) == {"LookupError: lost the thread"}
    assert result["summary"]["error_count"] == len(failed)
    assert Thorough.n_known > 300
    print(f"{n_calls} tools of 163 queries reached their own API, {Thorough.n_known} with a known reply")


def test_every_tool_of_the_pool_reaches_its_own_api(data: tuple[Path, Path], tmp_path: Path) -> None:
    called: dict[str, list[Api]] = {}

    class Agent:
        """Calls the next hundred tools for each query."""

        def setup_tools(self, tools: juror.ToolPool) -> None:
            self.names, self.tools = iter(tools), tools

        def answer(self, query: str) -> str:
            tools = [self.tools[name] for name in itertools.islice(self.names, 100)]
            for tool in tools:
                tool.call({})
            called[query] = [api_of(tool) for tool in tools]
            return "x"

    result = juror.bench(Agent, **places(data), limit=25, run=tmp_path / "run")
    calls = recorded_calls(tmp_path / "run")
    for one in result["results"]:
        assert calls[str(one["query_id"])] == called[one["query_text"]]
    served = [api for apis in calls.values() for api in apis]
    assert len(set(served)) == len(served) == 2490
