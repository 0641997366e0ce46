"""Results of evaluations of files, whose dicts are built on first access."""

from __future__ import annotations

import functools
import operator
import os
import threading
from collections.abc import Callable, Iterator
from typing import Any, NoReturn, SupportsIndex

from . import _juror

Result = dict[str, Any]

_BLOCK = 64
"""How many results are built at once during iteration."""


class ResultNotLookedAt:
    """Placeholder for a result that has not been accessed yet.

    Only code that reads the memory of a list directly finds one, such as `[] + results` and some
    libraries written in C. It supports no operation. `list(results)` contains none.
    """

    def __repr__(self) -> str:
        return "<a result that was not looked at; list(results) has it>"

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError("this result was not looked at: use list(results)")

    __contains__ = __getitem__ = __iter__ = __len__ = __setitem__ = _refuse
    get = items = keys = update = values = _refuse


_UNSEEN: Any = ResultNotLookedAt()


class Results(list[Result]):
    """A list of results that builds each dict on first access; later accesses return the same object."""

    def __init__(self, kept: _juror.LazyResults) -> None:
        super().__init__([_UNSEEN] * len(kept))
        self._kept: _juror.LazyResults | None = kept
        self._seen: set[int] = set()
        self._lock = threading.RLock()

    def untouched(self, config: Any, profile: str | None) -> _juror.LazyResults | None:
        """Returns the results as they were made by these rules, or `None` if one was accessed and may
        have changed, or the rules are others."""
        if self._kept is None or self._seen or not self._kept.has_rules(config, profile):
            return None
        return self._kept

    def report(self, path: str | os.PathLike[str], *, redact: bool = False, max_size: float = 25) -> None:
        """Writes the results as one HTML file, as `juror.report` does."""
        from ._page import report

        report(path, self, redact=redact, max_size=max_size)

    def _repr_html_(self) -> str:
        from ._statistics import statistics

        return statistics(self)._repr_html_()

    def look_at_all(self) -> None:
        """Builds every result; from then on this is an ordinary list."""
        for start in range(0, len(self), _BLOCK):
            self._look(start, min(start + _BLOCK, len(self)))

    def _look(self, start: int, stop: int) -> None:
        """Builds the results of a range that were not built before."""
        if self._kept is None:
            return
        with self._lock:
            kept, seen = self._kept, self._seen
            if kept is None or seen.issuperset(range(start, stop)):
                return
            for number, made in enumerate(kept.make(start, stop), start):
                if number not in seen:
                    super().__setitem__(number, made)
                    seen.add(number)
            if len(seen) == len(self):
                self._kept, self._seen = None, set()

    def __getitem__(self, index: SupportsIndex | slice) -> Any:
        if isinstance(index, slice):
            numbers = range(*index.indices(len(self)))
        else:
            number = operator.index(index)
            numbers = range(len(self))[number : number + 1 or None]
        if abs(numbers.step) == 1 and len(numbers) > 0:
            self._look(min(numbers), max(numbers) + 1)
        else:
            for number in numbers:
                self._look(number, number + 1)
        return super().__getitem__(index)

    def __iter__(self) -> Iterator[Result]:
        return super().__iter__() if self._kept is None else self._looked_at()

    def _looked_at(self) -> Iterator[Result]:
        number = 0
        while number < len(self):
            if number % _BLOCK == 0:
                self._look(number, min(number + _BLOCK, len(self)))
            yield super().__getitem__(number)
            number += 1

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        # Results that are not built yet cannot leave this process.
        return list, (list(self),)


def _after_a_look(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wraps a list method that reads every item, or moves items."""

    @functools.wraps(method)
    def look_first(self: Results, *arguments: Any, **options: Any) -> Any:
        for results in (self, *arguments):
            if isinstance(results, Results):
                results.look_at_all()
        return method(self, *arguments, **options)

    return look_first


for _name in (
    *("__add__", "__contains__", "__delitem__", "__eq__", "__ge__", "__gt__", "__iadd__", "__imul__"),
    *("__le__", "__lt__", "__mul__", "__ne__", "__repr__", "__reversed__", "__rmul__", "__setitem__"),
    *("append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse"),
    "sort",
):
    setattr(Results, _name, _after_a_look(getattr(list, _name)))
