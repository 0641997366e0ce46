"""What is told of a run while it goes on."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class QueryDone:
    """How a query went; `str()` of it is the line that the program prints."""

    n_done: int
    """How many queries have ended, this one too."""
    n_all: int
    """How many there are."""
    set: str
    """The set that the query is from."""
    query_id: str
    """Its id."""
    query: str
    """What was asked."""
    is_known: bool
    """Whether it was tried in an earlier run, and only judged now."""
    status: str | None
    """`Solved`, `Unsure` or `Unsolved`; `None` where nobody judges."""
    sopr_score: float | None
    """1, 0.5 or 0, the mean of the judge's runs; `None` where nobody judges."""
    api_call_score: float | None
    """The share of the right APIs that were called; `None` where no API is right."""
    n_calls: int
    """How many calls were served."""
    seconds: float
    """How long the agent took."""
    error: str | None
    """What went wrong."""
    line: str
    """All of it on one line."""

    def __str__(self) -> str:
        return self.line


Progress = Callable[[QueryDone], object]


def listener(progress: bool | Progress | None) -> Progress:
    """Whom to tell, from what users say."""
    if progress is None or progress is False:
        return lambda done: None
    if progress is True:
        # Looked up for each line: notebooks put another stream in its place.
        return lambda done: print(done, file=sys.stderr, flush=True)
    if callable(progress):
        return progress
    raise TypeError(f"progress is True or a function, not {type(progress).__name__}")
