"""What tells an agent that is a Python object from others."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
from collections.abc import Iterator, Mapping
from typing import Any

from .plain import plain

_PLAIN = (str, bytes, bool, int, float)


def identity_of(agent: Any) -> dict[str, str]:
    """Hashes of what an agent is made of, never what they stand for.

    The source of its class or function, and the plain values it was given: attributes of an
    object, defaults and arguments of a function, variables it closes over. An agent that knows
    better says so by an attribute ``identity``, a value that JSON can say.
    """
    known = {"source": _source(agent)}
    known.update((f"value {name}", _hash(repr(value))) for name, value in _values(agent))
    declared = getattr(agent, "identity", None)
    if declared is not None and not callable(declared) and not isinstance(declared, property):
        known["identity"] = _hash(json.dumps(declared, default=plain, sort_keys=True))
    return known


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _source(agent: Any) -> str:
    while isinstance(agent, functools.partial):
        agent = agent.func
    has_source = inspect.isclass(agent) or inspect.isroutine(agent)
    try:
        return _hash(inspect.getsource(agent if has_source else type(agent)))
    except (OSError, TypeError):
        return "not known"  # Such as a class that was typed at a prompt.


def _values(agent: Any) -> Iterator[tuple[str, object]]:
    """The plain values that an agent was given, by name."""
    if isinstance(agent, functools.partial):
        yield from _plain({f"argument {at}": value for at, value in enumerate(agent.args)})
        yield from _plain(agent.keywords)
        yield from _values(agent.func)
        return
    if inspect.ismethod(agent):
        yield from _values(agent.__self__)
        return
    if inspect.isfunction(agent):
        defaults = {
            name: parameter.default
            for name, parameter in inspect.signature(agent).parameters.items()
            if parameter.default is not inspect.Parameter.empty
        }
        yield from _plain({**_closed_over(agent), **defaults})
        return
    if not inspect.isclass(agent):
        yield from _plain(getattr(agent, "__dict__", {}))


def _closed_over(function: Any) -> Mapping[str, object]:
    try:
        return inspect.getclosurevars(function).nonlocals
    except ValueError:
        return {}  # A variable has no value yet.


def _plain(values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in values.items():
        if isinstance(value, _PLAIN) or value is None:
            yield str(name), value
