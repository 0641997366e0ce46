"""Tools in the forms of frameworks, as far as these need not be installed: `test-frameworks` has the rest."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import juror
import pytest
from conftest import PROJECT
from juror._bench.tools import Tool

EXAMPLES = PROJECT / "examples"

SCHEMA = {
    "type": "object",
    "properties": {"where": {"type": "object", "properties": {"lat": {"type": "number"}}, "required": ["lat"]}},
    "required": ["where"],
}


class Nobody:
    """Answers no call."""

    def call(self, body: str) -> tuple[int, str]:
        raise ConnectionError("nobody is there")

    def call_later(self, body: str, done: Any) -> None:
        done(None, "nobody is there")


def tool() -> Tool:
    function = {"name": "weather", "description": "Tells the weather.", "parameters": SCHEMA}
    return Tool({"function": function, "category": "c", "tool_name": "t", "api_name": "a"}, Nobody())


def test_openai_s_forms_keep_nested_schemas() -> None:
    own = tool()
    chat = own.as_openai()
    assert chat == own.definition and chat["function"]["parameters"] == SCHEMA
    assert own.as_openai(responses=True) == {"type": "function", **chat["function"]}
    chat["function"]["parameters"]["properties"].clear()
    assert own.parameters == SCHEMA and SCHEMA["properties"]


MISSING = [
    ("as_langchain", "langchain_core", "LangChain is not installed\n  hint: pip install langchain-core"),
    ("as_pydantic_ai", "pydantic_ai", "pydantic-ai is not installed\n  hint: pip install pydantic-ai-slim"),
    ("as_agents_sdk", "agents", "the OpenAI Agents SDK is not installed\n  hint: pip install openai-agents"),
    ("as_smolagents", "smolagents", "smolagents is not installed\n  hint: pip install smolagents"),
    ("as_llama_index", "llama_index", "LlamaIndex is not installed\n  hint: pip install llama-index-core"),
]


@pytest.mark.parametrize(("method", "module", "words"), MISSING)
def test_a_framework_that_is_missing_is_named(method: str, module: str, words: str) -> None:
    if importlib.util.find_spec(module) is not None:
        pytest.skip(f"{module} is installed")
    with pytest.raises(ImportError) as missing:
        getattr(tool(), method)()
    assert str(missing.value) == words


def test_another_module_of_a_framework_s_name_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("agents") is not None:
        pytest.skip("agents is installed")
    (tmp_path / "agents.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match="`agents` is not that of the OpenAI Agents SDK: .*agents.py has no"):
        tool().as_agents_sdk()
    sys.modules.pop("agents")


def test_tools_of_a_query_have_the_forms() -> None:
    seen: list[Any] = []

    def agent(query: str, tools: Any) -> str:
        seen.extend(one.as_openai() for one in tools.values())
        return "None."

    places = {"queries": "queries.json", "tools": "tools", "cache": "tool_cache"}
    juror.bench(agent, **{name: EXAMPLES / place for name, place in places.items()}, pool="own", limit=1)
    names = [one["function"]["name"] for one in seen]
    assert names == ["current_for_garden_weather", "opening_hours_for_garden_visits"]


def test_a_parameter_may_be_called_self() -> None:
    own = tool()
    assert own(**{"self": 1, "where": {}}) == {"error": "nobody is there", "response": ""}
