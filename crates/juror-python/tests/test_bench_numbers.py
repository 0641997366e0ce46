"""Tools that frameworks call by models they derive from signatures."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import juror
import pydantic
import pytest

Call = Callable[[dict[str, Any]], Any]

KINDS = {"amount": "NUMBER", "count": "INTEGER", "exact": "BOOLEAN", "tags": "ARRAY", "more": "OBJECT", "city": "STRING"}

CALLS: list[dict[str, Any]] = [
    *({"amount": 43984 + n} for n in range(15)),
    *({"amount": n + 0.5, "count": n} for n in range(5)),
    *({"amount": float(n), "count": n} for n in range(5)),
    *({"amount": n, "count": float(n)} for n in range(5, 10)),
    *({"amount": 10**n, "exact": n % 2 == 0} for n in range(15, 20)),
    {"amount": 1e22, "city": "5.0"},
    {"amount": -0.0, "tags": [1, 2.0, "3"]},
    {"amount": 7, "more": {"deep": [5, 5.0, True, None]}},
    {"amount": 1e-7, "count": 0},
    {"amount": 12345678901234567890123, "city": "Oslo"},
]


@pytest.fixture
def places(tmp_path: Path) -> dict[str, Any]:
    """One API, and a reply to each of the calls."""
    parameters = [{"name": name, "type": kind, "description": ""} for name, kind in KINDS.items()]
    api = {"name": "convert", "required_parameters": parameters[:1], "optional_parameters": parameters[1:]}
    tool = {"tool_name": "Rates", "tool_description": "", "api_list": [api]}
    replies = {str(call): {"error": "", "response": str(call)} for call in CALLS}
    write(tmp_path / "tools/Finance/rates.json", tool)
    write(tmp_path / "cache/Finance/rates_for_Finance/convert.json", replies)
    known = {"category_name": "Finance", "tool_name": "Rates", "api_name": "convert", **api}
    query = {"query_id": 1, "query": "how much?", "api_list": [known], "relevant APIs": [["Rates", "convert"]]}
    return {"queries": [query], "tools": tmp_path / "tools", "cache": tmp_path / "cache", "pool": "own"}


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(value), "utf-8")


def plain(tool: juror.Tool) -> Call:
    return lambda arguments: tool(**arguments)


def model_of(tool: juror.Tool) -> type[pydantic.BaseModel]:
    fields: dict[str, Any] = {
        name: (own.annotation, ... if own.default is inspect.Parameter.empty else own.default)
        for name, own in inspect.signature(tool).parameters.items()
    }
    return pydantic.create_model(tool.name, **fields)


def by_model(tool: juror.Tool) -> Call:
    model = model_of(tool)
    return lambda arguments: tool(**dict(model.model_validate(arguments)))


def by_json(tool: juror.Tool) -> Call:
    model = model_of(tool)

    def call(arguments: dict[str, Any]) -> Any:
        built = model.model_validate_json(json.dumps(arguments))
        return tool(**json.loads(built.model_dump_json(exclude_unset=True)))

    return call


def function_of(tool: juror.Tool) -> Callable[..., Any]:
    def function(**arguments: Any) -> Any:
        return tool(**arguments)

    function.__signature__ = inspect.signature(tool)  # type: ignore[attr-defined]
    function.__annotations__ = dict(tool.__annotations__)
    function.__name__ = function.__qualname__ = tool.name
    return function


def validated(tool: juror.Tool) -> Call:
    function = pydantic.validate_call(function_of(tool))
    return lambda arguments: function(**arguments)


def adapted(tool: juror.Tool) -> Call:
    adapter: pydantic.TypeAdapter[Any] = pydantic.TypeAdapter(function_of(tool))
    return lambda arguments: adapter.validate_json(json.dumps(arguments))


def replies(places: dict[str, Any], way: Callable[[juror.Tool], Call]) -> tuple[list[Any], dict[str, Any]]:
    """What all calls were answered, and what the result tells of it."""
    heard: list[Any] = []

    def agent(query: str, tools: dict[str, juror.Tool]) -> str:
        (tool,) = tools.values()
        call = way(tool)
        heard.extend(call(arguments) for arguments in CALLS)
        return "done"

    result = juror.bench(agent, **places)
    assert result["results"][0].get("error") is None
    return heard, result["juror"]


@pytest.mark.parametrize("way", [by_model, by_json, validated, adapted])
def test_calls_that_pydantic_builds_hit_every_reply_that_a_plain_loop_hits(
    places: dict[str, Any], way: Callable[[juror.Tool], Call]
) -> None:
    wanted, told = replies(places, plain)
    assert wanted == [str(call) for call in CALLS]
    assert told["tool_replies"] == {"cache": len(CALLS)} and "equal_numbers" not in told
    heard, told = replies(places, way)
    assert heard == wanted
    assert told["tool_replies"] == {"cache": len(CALLS)}
    # Only whole numbers that the cache has with a point, where a signature says `int`, need it.
    assert told["equal_numbers"] >= 5


def test_equal_numbers_can_be_told_apart(places: dict[str, Any]) -> None:
    _, told = replies({**places, "config": {"tools": {"numbers": "exact"}}}, by_model)
    assert told["tool_replies"]["none"] >= 5 and "equal_numbers" not in told


def test_a_number_is_a_whole_one_or_a_float_in_signatures(places: dict[str, Any]) -> None:
    def agent(query: str, tools: dict[str, juror.Tool]) -> str:
        (tool,) = tools.values()
        signature = inspect.signature(tool)
        assert signature.parameters["amount"].annotation == int | float
        assert signature.parameters["tags"].annotation == list | None
        assert "amount (int | float)" in (tool.__doc__ or "")
        return "done"

    result = juror.bench(agent, **places)
    assert result["results"][0].get("error") is None
