"""What tells an agent that is a Python object from others."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .plain import plain

_PLAIN = (str, bytes, bool, int, float)

_KEYS = {"key", "apikey", "token", "secret", "password", "credentials"}


def identity_of(agent: Any) -> dict[str, str]:
    """Hashes of what an agent is made of, never what they stand for.

    The source of its class or function, the file of its module, and the plain values it was given,
    alone or in lists and dictionaries: attributes of an object, defaults and arguments of a
    function, variables it closes over, variables of its module that it reads. What is called as
    keys are decides who pays, and is left out. An agent that knows better says so by an attribute
    ``identity``, a value that JSON can say.
    """
    known = {"source": _source(agent), "module": _module(agent)}
    known.update((f"value {name}", _hash(text)) for name, text in _values(agent))
    declared = getattr(agent, "identity", None)
    if declared is not None and not callable(declared) and not isinstance(declared, property):
        known["identity"] = _hash(json.dumps(declared, default=plain, sort_keys=True))
    return known


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _made_by(agent: Any) -> Any:
    """The class or function that has the source of an agent."""
    while isinstance(agent, functools.partial):
        agent = agent.func
    if inspect.ismethod(agent):  # Its object may do more than this method.
        owner = agent.__self__
        return owner if inspect.isclass(owner) else type(owner)
    return agent if inspect.isclass(agent) or inspect.isroutine(agent) else type(agent)


def _source(agent: Any) -> str:
    try:
        return _hash(inspect.getsource(_made_by(agent)))
    except (OSError, TypeError):
        return "not known"  # Such as a class that was typed at a prompt.


def _module(agent: Any) -> str:
    """The file that an agent is written in: what it calls there is part of it."""
    try:
        return _hash(Path(inspect.getfile(_made_by(agent))).read_text("utf-8", "replace"))
    except (OSError, TypeError):
        return "not known"


def _values(agent: Any) -> Iterator[tuple[str, str]]:
    """The plain values that an agent was given, by name, as texts."""
    if isinstance(agent, functools.partial):
        yield from _texts({f"argument {at}": value for at, value in enumerate(agent.args)})
        yield from _texts(agent.keywords)
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
        yield from _texts({**_read_by(agent), **defaults})
        return
    for name, method in _methods(_made_by(agent)):
        yield from ((f"{read} in {name}", text) for read, text in _texts(_read_by(method)))
    if not inspect.isclass(agent):
        yield from _texts(getattr(agent, "__dict__", {}))


def _methods(kind: Any) -> Iterator[tuple[str, Any]]:
    """The methods of a class that stand in its own module."""
    for owner in getattr(kind, "__mro__", ()):
        if owner.__module__ == kind.__module__:
            yield from ((name, own) for name, own in vars(owner).items() if inspect.isfunction(own))


def _read_by(function: Any) -> Mapping[str, object]:
    """What a function closes over, and what it reads from its module.

    Lists and sets there are mostly what it collects, and grow from one run to the next.
    """
    try:
        read = inspect.getclosurevars(function)
    except ValueError:
        return {}  # A variable has no value yet.
    known = {**read.globals, **read.nonlocals}
    return {name: value for name, value in known.items() if not isinstance(value, (list, set))}


def _texts(values: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in values.items():
        if _is_plain(value) and not _is_key(str(name)):
            yield str(name), repr(_without_keys(value))


def _is_plain(value: object) -> bool:
    """Whether a value is told by its text: a plain one, or a list or dictionary of such."""
    try:
        if isinstance(value, Mapping):
            return all(_is_plain(key) and _is_plain(own) for key, own in value.items())
        if isinstance(value, (list, tuple, set, frozenset)):
            return all(_is_plain(own) for own in value)
    except RecursionError:
        return False  # It holds itself.
    return isinstance(value, _PLAIN) or value is None


def _without_keys(value: object) -> object:
    """The same in an order of its own, without what is called as keys are."""
    if isinstance(value, Mapping):
        kept = ((key, own) for key, own in value.items() if not _is_key(str(key)))
        return sorted(((repr(key), _without_keys(own)) for key, own in kept), key=lambda own: own[0])
    if isinstance(value, (set, frozenset)):
        return sorted(map(repr, value))
    if isinstance(value, (list, tuple)):
        return [_without_keys(own) for own in value]
    return value


def _is_key(name: str) -> bool:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)
    return bool(words) and words[-1].lower() in _KEYS
