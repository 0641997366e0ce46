"""The objects that can be agents, and one form for all of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .identity import identity_of
from .tools import Tool

Tools = Mapping[str, Tool]
Settle = Callable[[Any], Any]


class Agent:
    """An object with ``answer``, whatever else it has; or a function from query to answer."""

    def __init__(self, own: Any) -> None:
        self._setup_tools = getattr(own, "setup_tools", None)
        self._reset = getattr(own, "reset", None)
        self._tools: Tools = {}
        answer = getattr(own, "answer", None)
        if callable(answer):
            self._answer, self._takes_tools = answer, False
        elif callable(own):
            self._answer, self._takes_tools = own, "tools" in _parameters(own)
        else:
            raise TypeError(f"an agent has a method `answer`, and `{type(own).__name__}` has none")
        self._takes_trial = "trial" in _parameters(self._answer)

    def answer(self, query: str, trial: int | None, tools: Tools | None, settle: Settle) -> object:
        """Has the query answered; `tools` are those to set up, if they are others than before.

        `trial` is the number of the attempt if there are several, which only agents are told that
        have a parameter of this name.

        Methods are called as functions are, and `settle` waits for what is awaitable of what they
        return: agents without ``async`` may run event loops of their own.
        """
        if tools is not None:
            self._tools = tools
            if self._setup_tools is not None:
                settle(self._setup_tools(tools))
        if self._reset is not None:
            settle(self._reset())
        more: dict[str, Any] = {"tools": self._tools} if self._takes_tools else {}
        if self._takes_trial and trial is not None:
            more["trial"] = trial
        return settle(self._answer(query, **more))


@dataclass(frozen=True)
class Origin:
    """Where agents come from: each thread makes its own, or all share one."""

    make: Callable[[], Agent]
    name: str
    """What it is called, from its class or function."""
    place: str
    """The same with its module."""
    is_shared: bool
    """Whether there is but one, which keeps something of the query it is at."""
    identity: Mapping[str, str]
    """What tells it from other agents: hashes of its source, its settings and its own word."""


def maker_of(agent: Any) -> Callable[[], Agent]:
    """What makes agents, given a class, a factory, an agent or a function."""
    return (lambda: Agent(agent())) if _is_maker(agent) else (lambda: Agent(agent))


def origin_of(agent: Any) -> Origin:
    """Where agents come from, given a class, a factory, an agent or a function."""
    is_maker = _is_maker(agent)
    if not is_maker:
        Agent(agent)  # Says what is missing before anything begins.
    keeps = any(hasattr(agent, method) for method in ("setup_tools", "reset"))
    named = agent if hasattr(agent, "__qualname__") else type(agent)
    place = f"{named.__module__}.{named.__qualname__}"
    return Origin(
        maker_of(agent),
        named.__name__,
        place,
        is_shared=keeps and not is_maker,
        identity=identity_of(agent),
    )


def _is_maker(agent: Any) -> bool:
    return inspect.isclass(agent) or (not _answers(agent) and _is_factory(agent))


def _answers(agent: Any) -> bool:
    return callable(getattr(agent, "answer", None))


def _is_factory(agent: Any) -> bool:
    """Whether it is called without arguments; a function that answers takes the query."""
    if not callable(agent):
        return False
    try:
        inspect.signature(agent).bind()
    except (TypeError, ValueError):
        return False
    return True


def _parameters(function: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return {}
