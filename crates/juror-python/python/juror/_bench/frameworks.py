"""Tools in the forms of agent frameworks. Each framework is imported when it is asked for."""

from __future__ import annotations

import importlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .plain import plain

if TYPE_CHECKING:
    from .tools import Tool

_SMOLAGENTS_TYPES = ("string", "boolean", "integer", "number", "array", "object", "null")


def imported(module: str, name: str, framework: str, package: str) -> Any:
    """Returns what a framework calls by a name; raises `ImportError` that says what to install."""
    try:
        found = importlib.import_module(module)
    except ImportError as error:
        if error.name is not None and module.split(".")[0] != error.name.split(".")[0]:
            raise  # It is there, and lacks something itself.
        why = f"{framework} is not installed\n  hint: pip install {package}"
        raise ImportError(why, name=error.name) from error
    if not hasattr(found, name):
        place = getattr(found, "__file__", None) or "a folder"
        why = f"`{module}` is not that of {framework}: {place} has no `{name}`"
        raise ImportError(f"{why}\n  hint: pip install {package}, and rename what has its name", name=module)
    return getattr(found, name)


def as_langchain(tool: Tool) -> Any:
    """Returns a LangChain tool."""
    base = imported("langchain_core.tools", "BaseTool", "LangChain", "langchain-core")

    def run(self: Any, /, **arguments: Any) -> Any:
        return tool(**arguments)

    async def arun(self: Any, /, **arguments: Any) -> Any:
        return await tool.acall(**arguments)

    made = _subclass(base, _run=run, _arun=arun)
    return made(name=tool.name, description=tool.description, args_schema=tool.parameters)


def as_pydantic_ai(tool: Tool) -> Any:
    """Returns a tool of pydantic-ai."""
    made = imported("pydantic_ai", "Tool", "pydantic-ai", "pydantic-ai-slim")

    async def call(**arguments: Any) -> Any:
        return await tool.acall(**arguments)

    return made.from_schema(call, tool.name, tool.description, tool.parameters)


def as_agents_sdk(tool: Tool) -> Any:
    """Returns a tool of the OpenAI Agents SDK."""
    made = imported("agents", "FunctionTool", "the OpenAI Agents SDK", "openai-agents")

    async def invoke(context: Any, arguments: str) -> str:
        try:
            given = json.loads(arguments or "{}")
            if not isinstance(given, dict):
                raise ValueError("expected an object")
        except ValueError as error:
            return json.dumps({"error": f"the arguments are not JSON: {error}", "response": ""})
        return written(await tool.acall(**given))

    return made(
        name=tool.name,
        description=tool.description,
        params_json_schema=tool.parameters,
        on_invoke_tool=invoke,
        # Strict schemas make every parameter required, and cannot say all that schemas can.
        strict_json_schema=False,
    )


def as_smolagents(tool: Tool) -> Any:
    """Returns a tool of smolagents."""
    base = imported("smolagents", "Tool", "smolagents", "smolagents")

    def forward(self: Any, /, *values: Any, **arguments: Any) -> Any:
        return tool(*values, **arguments)

    made = _subclass(
        base,
        forward=forward,
        name=tool.name,
        description=tool.description,
        inputs=_smolagents_inputs(tool.parameters),
        output_type="any",
        # Its parameters are known from the schema, not from the code.
        skip_forward_signature_validation=True,
    )
    return made()


def as_llama_index(tool: Tool) -> Any:
    """Returns a tool of LlamaIndex."""
    module, *named = "llama_index.core.tools", "LlamaIndex", "llama-index-core"
    function_tool, base = (imported(module, name, *named) for name in ("FunctionTool", "ToolMetadata"))

    def call(**arguments: Any) -> Any:
        return written(tool(**arguments))

    async def acall(**arguments: Any) -> Any:
        return written(await tool.acall(**arguments))

    described = _subclass(base, get_parameters_dict=lambda self: dict(tool.parameters))
    metadata = described(name=tool.name, description=tool.description)
    return function_tool(fn=call, async_fn=acall, metadata=metadata)


def written(reply: Any) -> str:
    """Returns a reply as models read it: texts as they are, all else as JSON."""
    return reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False, default=plain)


def _subclass(base: Any, **members: Any) -> Any:
    return type("JurorTool", (base,), {"__module__": __name__, "__doc__": "A tool of Juror.", **members})


def _smolagents_inputs(parameters: Mapping[str, Any]) -> dict[str, Any]:
    required = parameters.get("required", ())
    inputs = {}
    for name, schema in parameters.get("properties", {}).items():
        kind = schema.get("type")
        kinds = kind if isinstance(kind, list) else [kind]
        known = all(one in _SMOLAGENTS_TYPES for one in kinds)
        inputs[name] = {"description": "", **schema, "type": kind if known else "any"}
        if name not in required:
            inputs[name]["nullable"] = True
    return inputs
