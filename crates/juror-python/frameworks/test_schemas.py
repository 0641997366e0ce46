"""What frameworks tell models of a tool, and how they call it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from juror._bench.tools import Tool

NESTED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "where": {
            "type": "object",
            "description": "a place",
            "properties": {"lat": {"type": "number"}, "tags": {"type": "array", "items": {"type": "string"}}},
            "required": ["lat"],
        },
        "unit": {"type": "string", "description": "", "enum": ["C", "F"]},
        "config": {"type": "integer", "description": "a name that frameworks use themselves"},
    },
    "required": ["where"],
}
GIVEN = {"where": {"lat": 5, "tags": ["a"]}, "config": 3}


class Calls:
    """Answers calls, and keeps them."""

    def __init__(self) -> None:
        self.inputs: list[Any] = []

    def call(self, body: str) -> tuple[int, str]:
        self.inputs.append(json.loads(json.loads(body)["tool_input"]))
        return 200, json.dumps({"error": "", "response": {"celsius": 11.5}})

    def call_later(self, body: str, done: Any) -> None:
        done(*self.call(body))


def tool() -> tuple[Tool, Calls]:
    function = {"name": "current_weather", "description": "Tells the weather.", "parameters": NESTED}
    listed = {"function": function, "category": "Weather", "tool_name": "Garden Weather", "api_name": "Current"}
    calls = Calls()
    return Tool(listed, calls), calls


def test_langchain() -> None:
    from langchain_core.utils.function_calling import convert_to_openai_tool

    own, calls = tool()
    made = own.as_langchain()
    assert convert_to_openai_tool(made) == own.as_openai()
    assert made.invoke(GIVEN) == {"celsius": 11.5}
    assert asyncio.run(made.ainvoke(GIVEN)) == {"celsius": 11.5}
    said = made.invoke({"type": "tool_call", "id": "1", "name": made.name, "args": GIVEN})
    assert json.loads(said.content) == {"celsius": 11.5}
    assert calls.inputs == [GIVEN] * 3


def test_pydantic_ai() -> None:
    own, calls = tool()
    made = own.as_pydantic_ai()
    assert made.tool_def.parameters_json_schema == NESTED
    assert asyncio.run(made.function_schema.function(**GIVEN)) == {"celsius": 11.5} and calls.inputs == [GIVEN]


def test_agents_sdk() -> None:
    own, calls = tool()
    made = own.as_agents_sdk()
    assert made.params_json_schema == NESTED
    assert asyncio.run(made.on_invoke_tool(None, json.dumps(GIVEN))) == '{"celsius": 11.5}'
    assert "not JSON" in asyncio.run(made.on_invoke_tool(None, "{"))
    assert calls.inputs == [GIVEN]


def test_smolagents() -> None:
    from smolagents.models import get_tool_json_schema

    own, calls = tool()
    made = own.as_smolagents()
    shown = get_tool_json_schema(made)["function"]
    assert shown["parameters"]["properties"]["where"]["properties"] == NESTED["properties"]["where"]["properties"]
    assert shown["parameters"]["properties"]["unit"]["enum"] == ["C", "F"]
    assert shown["parameters"]["required"] == ["where"]
    assert made(**GIVEN) == {"celsius": 11.5} and calls.inputs == [GIVEN]


def test_llama_index() -> None:
    own, calls = tool()
    made = own.as_llama_index()
    assert made.metadata.to_openai_tool()["function"]["parameters"] == NESTED
    assert json.loads(made.metadata.fn_schema_str) == NESTED
    assert json.loads(str(made.call(**GIVEN))) == {"celsius": 11.5}
    assert json.loads(str(asyncio.run(made.acall(**GIVEN)))) == {"celsius": 11.5}
    assert calls.inputs == [GIVEN] * 2
