"""The model that all frameworks ask, and what every agent's run must have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import juror
import pytest
from model import ARGUMENTS, serve

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"
PLACES = {"queries": EXAMPLES / "queries.json", "tools": EXAMPLES / "tools", "cache": EXAMPLES / "tool_cache"}

SEEN: list[str] = []
"""What was recorded of each agent."""


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Tells what was recorded."""
    terminalreporter.section("agents of frameworks")
    for line in SEEN:
        terminalreporter.write_line(line)


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[list[dict[str, Any]]]:
    """A model that needs no key; gives the requests it gets."""
    monkeypatch.chdir(tmp_path)
    with serve() as (url, requests):
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_BASE", url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
        yield requests


def plain(query: str, tools: Any) -> str:
    """An agent without a framework, which does what the model does."""
    replies = [tool(**{name: ARGUMENTS[name] for name in tool.parameters["required"]}) for tool in tools.values()]
    return f"This is what the tools say. {replies}"


@pytest.fixture
def check(model: list[dict[str, Any]]) -> Callable[[Any], None]:
    """Tries an agent on all queries: every call is recorded and scored as those of a plain loop."""

    def run(agent: Any) -> None:
        wanted = juror.bench(plain, **PLACES, pool="own", judge="heuristic")
        result = juror.bench(agent, **PLACES, pool="own", judge="heuristic", jobs=2)
        assert [one.get("error") for one in result["results"]] == [None] * len(wanted["results"])
        for mine, plainly in zip(result["results"], wanted["results"], strict=True):
            calls = mine["system_answer"]["called_apis"]
            assert sorted(calls) == sorted(plainly["system_answer"]["called_apis"]) and calls
            assert mine["scores"]["api_call_score"] == plainly["scores"]["api_call_score"] == 1.0
            assert "This is what the tools say. " in mine["system_answer"]["final_answer"]
        said = result["results"][0]["system_answer"]["final_answer"]
        assert "celsius" in said and "11.5" in said and "09:00" in said
        assert result["summary"]["total_queries"] == 4 and len(model) >= 8
        scores = [one["scores"]["api_call_score"] for one in result["results"]]
        calls = sum(len(one["system_answer"]["called_apis"]) for one in result["results"])
        SEEN.append(f"{result['metadata']['framework']}: {calls} calls recorded, API call scores {scores}")

    return run
