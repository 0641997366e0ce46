"""Progress of a benchmark run."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class QueryDone:
    """The outcome of a query; its `str()` is the line that the program prints."""

    n_done: int
    """The number of finished queries, including this one."""
    n_all: int
    """The number of queries."""
    set: str
    """The set of the query."""
    query_id: str
    """Its id."""
    query: str
    """Its text."""
    is_known: bool
    """Whether it was answered in an earlier run, and only judged now."""
    status: str | None
    """`Solved`, `Unsure` or `Unsolved`; `None` without a judge."""
    sopr_score: float | None
    """1, 0.5 or 0, or the mean of the judge's runs; `None` without a judge."""
    api_call_score: float | None
    """The share of the right APIs that were called; `None` if there are no right APIs."""
    n_calls: int
    """The number of calls served."""
    seconds: float
    """How long the agent took."""
    error: str | None
    """What went wrong."""
    line: str
    """The whole outcome on one line."""
    trial: int | None = None
    """Which of several attempts at the query this is; `None` if there is only one."""

    def __str__(self) -> str:
        return self.line


@dataclass(frozen=True)
class QuestionDone:
    """The outcome of a question of a reference; its `str()` is the line that the program prints."""

    n_done: int
    """The number of finished questions, including this one."""
    n_all: int
    """The number of questions."""
    question_id: str
    """Its id."""
    question: str
    """Its text."""
    n_steps: int | None
    """The number of steps, if they are known."""
    seconds: float | None
    """How long the agent took, if known."""
    error: str | None
    """What went wrong."""
    remarks: list[str]
    """What is to be known about the answer, such as parts of it that could not be kept."""
    line: str
    """The whole outcome on one line."""
    trial: int | None = None
    """Which of several answers to the question it is; `None` if there is only one."""

    def __str__(self) -> str:
        return self.line


Progress = Callable[[QueryDone], object]
AskProgress = Callable[[QuestionDone], object]


def listener(progress: bool | Callable[[Any], object] | None) -> Callable[[Any], object]:
    """Returns the function to call with progress."""
    if progress is None or progress is False:
        return lambda done: None
    if progress is True:
        # Looked up for each line: notebooks put another stream in its place.
        return lambda done: print(done, file=sys.stderr, flush=True)
    if callable(progress):
        return progress
    raise TypeError(f"progress is True or a function, not {type(progress).__name__}")
