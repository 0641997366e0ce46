"""From objects of other libraries to what JSON can say."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping


def plain(value: object) -> object:
    """What an object says in Python's own types; for ``json.dumps(…, default=plain)``."""
    if isinstance(value, Mapping):
        return dict(value)
    for method in ("tolist", "model_dump", "isoformat", "__fspath__"):
        say = getattr(value, method, None)
        if callable(say):
            return say()
    if hasattr(value, "__index__"):
        return operator.index(value)
    if hasattr(value, "__float__"):
        return float(value)
    if isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray)):
        return list(value)
    raise TypeError(f"a value of type `{type(value).__name__}` cannot be written as JSON")


def path_of(path: str | os.PathLike[str]) -> str:
    """A path as text."""
    name = os.fspath(path)
    if not isinstance(name, str):
        raise TypeError("a path is a text or a pathlib.Path, not bytes")
    return name
