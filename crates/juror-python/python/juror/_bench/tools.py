"""Tools for agents: callables, each bound to one API and one address."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import keyword
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from . import frameworks
from .plain import plain

_TYPES: dict[str, Any] = {
    "string": str,
    "integer": int,
    # Frameworks make what a signature says of every value: with `float` alone 5 would become 5.0.
    "number": int | float,
    "boolean": bool,
    "array": list,
    "object": dict,
}


class Toolbox(Protocol):
    """All tools of a run, and the way to call them."""

    def names(self) -> list[str]:
        """The names of all tools."""

    def tool_at(self, at: int) -> str:
        """The tool at a place in the names, in a JSON list."""

    def search(self, text: str, most: int) -> str:
        """The tools that fit a text best, as a JSON list."""

    def call(self, url: str, body: str) -> tuple[int, str]:
        """Calls a tool: the status and the text of its reply."""

    def call_later(self, url: str, body: str, done: Callable[[int | None, str], object]) -> None:
        """Calls a tool, and hands on the same later; without a status, the text is what went wrong."""


class Binding:
    """The address of the agent's current query, at which its tools are called.

    Tools are bound to this object, not to a thread, so calls from threads that the agent starts
    count for its query as well.
    """

    def __init__(self, run: Toolbox) -> None:
        self.run = run
        self.url: str | None = None

    def place(self) -> str:
        """Returns the address; raises `RuntimeError` if the query has ended."""
        if self.url is None:
            raise RuntimeError("the query of these tools has ended, so that they answer no more")
        return self.url

    def call(self, body: str) -> tuple[int, str]:
        """Makes a call; returns the status and the text of the reply."""
        return self.run.call(self.place(), body)

    def call_later(self, body: str, done: Callable[[int | None, str], object]) -> None:
        """Makes a call, and hands on the same later; without a status, the text is what went wrong."""
        self.run.call_later(self.place(), body, done)


class Caller(Protocol):
    """Makes the calls of tools."""

    def call(self, body: str) -> tuple[int, str]:
        """Makes a call; returns the status and the text of the reply."""

    def call_later(self, body: str, done: Callable[[int | None, str], object]) -> None:
        """Makes a call, and hands on the same later; without a status, the text is what went wrong."""


class Tool:
    """A tool of a query: call it like a function, with its arguments by name.

    ``tool(city="Oslo")`` returns the API's response. An error that the API reports is a reply, not
    an exception: the tool returns the whole reply, a dict with ``error`` and ``response``, for the
    agent to read. :meth:`call` always returns the whole reply.

    A parameter that is optional and given as ``None`` is left out.
    """

    def __init__(self, listed: Mapping[str, Any], binding: Caller) -> None:
        self._binding = binding
        function = listed["function"]
        self.definition: dict[str, Any] = {"type": "function", "function": function}
        """The function as shown to models, in OpenAI's form."""
        self.name: str = function["name"]
        """Its name, unique among the tools of the query."""
        self.description: str = function["description"]
        """What it does."""
        self.parameters: dict[str, Any] = function["parameters"]
        """Its parameters, as JSON Schema."""
        self.category: str = listed["category"]
        """The category of the API."""
        self.tool_name: str = listed["tool_name"]
        """The tool that the API belongs to, as its provider calls it."""
        self.api_name: str = listed["api_name"]
        """The API, as its provider calls it."""
        # Frameworks look at functions, and find here what they look for.
        self.__name__ = self.__qualname__ = self.name
        self.__doc__ = self._documentation()
        self.__signature__ = self._signature()
        self.__annotations__ = {
            name: parameter.annotation for name, parameter in self.__signature__.parameters.items()
        }

    def __repr__(self) -> str:
        return f"<juror.Tool {self.name}: {self.category} / {self.tool_name} / {self.api_name}>"

    def __call__(self, /, *values: object, **arguments: object) -> Any:
        """Calls the API and returns its response, or the whole reply if that reports an error."""
        return _response(self.call(self._arguments(values, arguments)))

    async def acall(self, /, *values: object, **arguments: object) -> Any:
        """Like calling the tool, for ``async`` agents: other coroutines keep running."""
        return _response(await self.acall_whole(self._arguments(values, arguments)))

    def as_openai(self, *, responses: bool = False) -> dict[str, Any]:
        """Returns the tool as OpenAI's chat completions take it, or its `responses`."""
        function = copy.deepcopy(self.definition["function"])
        return {"type": "function", **function} if responses else {"type": "function", "function": function}

    def as_langchain(self) -> Any:
        """Returns the tool for LangChain and LangGraph; needs `langchain-core`."""
        return frameworks.as_langchain(self)

    def as_pydantic_ai(self) -> Any:
        """Returns the tool for pydantic-ai."""
        return frameworks.as_pydantic_ai(self)

    def as_agents_sdk(self) -> Any:
        """Returns the tool for the OpenAI Agents SDK; needs `openai-agents`."""
        return frameworks.as_agents_sdk(self)

    def as_smolagents(self) -> Any:
        """Returns the tool for smolagents, whose agents call it synchronously."""
        return frameworks.as_smolagents(self)

    def as_llama_index(self) -> Any:
        """Returns the tool for LlamaIndex; needs `llama-index-core`."""
        return frameworks.as_llama_index(self)

    def call(self, arguments: Mapping[str, object]) -> Any:
        """Calls the API with exactly these arguments and returns the whole reply.

        That is usually a dict with ``error``, which is empty on success, and ``response``.
        """
        body = self._body(arguments)
        try:
            return _reply(*self._binding.call(body))
        except ConnectionError as error:
            return {"error": str(error), "response": ""}

    async def acall_whole(self, arguments: Mapping[str, object]) -> Any:
        """Like `call`, for ``async`` agents."""
        loop = asyncio.get_running_loop()
        reply: asyncio.Future[Any] = loop.create_future()

        def settle(whole: Any) -> None:
            if not reply.done():
                reply.set_result(whole)

        def done(status: int | None, text: str) -> None:
            whole = _reply(status, text) if status else {"error": text, "response": ""}
            try:
                loop.call_soon_threadsafe(settle, whole)
            except RuntimeError:
                pass  # The loop is closed: nobody waits.

        self._binding.call_later(self._body(arguments), done)
        return await reply

    def _arguments(self, values: tuple[object, ...], arguments: dict[str, object]) -> dict[str, object]:
        names = self._names()
        if len(values) > len(names):
            raise TypeError(f"{self.name}() takes {len(names)} arguments, and {len(values)} are given")
        given = dict(zip(names, values))
        for name in given.keys() & arguments.keys():
            raise TypeError(f"{self.name}() is given the argument `{name}` twice")
        given.update(arguments)
        required = self.parameters.get("required", ())
        return {name: value for name, value in given.items() if value is not None or name in required}

    def _body(self, arguments: Mapping[str, object]) -> str:
        call = {
            "category": self.category,
            "tool_name": self.tool_name,
            "api_name": self.api_name,
            "tool_input": json.dumps(dict(arguments), default=plain),
            "strip": "",
            "toolbench_key": "EMPTY",
        }
        return json.dumps(call)

    def _names(self) -> list[str]:
        """Returns the names of the parameters, required ones first."""
        required = list(self.parameters.get("required", ()))
        return required + [name for name in self.parameters.get("properties", {}) if name not in required]

    def _signature(self) -> inspect.Signature:
        parameters = []
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        required = self.parameters.get("required", ())
        names = self._names()
        # What Python cannot write as a name can still be given in a dict.
        nameable = [name for name in names if name.isidentifier() and not keyword.iskeyword(name)]
        for name in nameable:
            annotation = self._type(name)
            if name in required:
                parameters.append(inspect.Parameter(name, kind, annotation=annotation))
            else:
                optional = annotation | None
                parameters.append(inspect.Parameter(name, kind, default=None, annotation=optional))
        if len(nameable) < len(names):
            others = inspect.Parameter.VAR_KEYWORD
            parameters.append(inspect.Parameter("others", others, annotation=object))
        return inspect.Signature(parameters)

    def _type(self, name: str) -> Any:
        described = self.parameters.get("properties", {}).get(name, {})
        return _TYPES.get(described.get("type"), str)

    def _documentation(self) -> str:
        text = self.description
        for at, name in enumerate(self._names()):
            described = self.parameters.get("properties", {}).get(name, {})
            text += "\n\nArgs:" if at == 0 else ""
            text += f"\n    {name} ({_written(self._type(name))}): {described.get('description', '')}".rstrip()
        return text


class ToolPool(Mapping[str, Tool]):
    """A mapping from names to all tools of a pool.

    Tools are created on lookup, so a pool of 16,000 costs nothing.
    """

    def __init__(self, binding: Binding) -> None:
        self._binding = binding
        self._places: dict[str, int] | None = None

    @property
    def _by_name(self) -> dict[str, int]:
        if self._places is None:
            self._places = {name: at for at, name in enumerate(self._binding.run.names())}
        return self._places

    def search_tools(self, text: str, k: int = 10) -> list[Tool]:
        """Returns the k tools that fit a text best, best first."""
        found = json.loads(self._binding.run.search(text, k))
        return [Tool(listed, self._binding) for listed in found]

    def __getitem__(self, name: str) -> Tool:
        (listed,) = json.loads(self._binding.run.tool_at(self._by_name[name]))
        return Tool(listed, self._binding)

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __repr__(self) -> str:
        return f"<juror.ToolPool of {len(self)} tools>"


def _written(kind: Any) -> str:
    return " | ".join(one.__name__ for one in typing.get_args(kind) or (kind,))


def tools_of(listed: str, binding: Binding) -> dict[str, Tool]:
    """Returns the tools of a query, given their list in JSON."""
    tools = [Tool(one, binding) for one in json.loads(listed)]
    return {tool.name: tool for tool in tools}


def _reply(status: int, text: str) -> Any:
    """Parses a reply; text that is not a reply becomes one with an error."""
    try:
        reply = json.loads(text)
    except ValueError:
        return {"error": f"the reply is not JSON, with status {status}: {text[:200]}", "response": ""}
    if status == 200 or (isinstance(reply, dict) and "error" in reply):
        return reply
    return {"error": f"the reply has status {status}: {text[:200]}", "response": ""}


def _response(reply: Any) -> Any:
    if isinstance(reply, dict) and "response" in reply and not reply.get("error"):
        return reply["response"]
    return reply
