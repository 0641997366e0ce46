"""The library's parameter names, accepted besides Juror's own."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar, cast

_R = TypeVar("_R")


def also_named(**names: str) -> Callable[[Callable[..., _R]], Callable[..., _R]]:
    """Accepts parameters under other names as well: ``other="own"``."""

    def decorate(function: Callable[..., _R]) -> Callable[..., _R]:
        places = {own: place for place, own in enumerate(inspect.signature(function).parameters)}

        def own_names(n_values: int, named: dict[str, Any]) -> dict[str, Any]:
            for other in names.keys() & named.keys():
                own = names[other]
                if own in named or places[own] < n_values:
                    name = function.__name__
                    raise TypeError(f"{name}() is given `{own}` twice: `{other}` is another name for it")
                named[own] = named.pop(other)
            return named

        @functools.wraps(function)
        def called(*values: Any, **named: Any) -> _R:
            return function(*values, **own_names(len(values), named))

        @functools.wraps(function)
        async def awaited(*values: Any, **named: Any) -> Any:
            return await cast(Any, function(*values, **own_names(len(values), named)))

        return cast(Callable[..., _R], awaited) if inspect.iscoroutinefunction(function) else called

    return decorate
