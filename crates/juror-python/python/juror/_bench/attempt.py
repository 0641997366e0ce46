"""Attempts that are made in other processes: sent there, made, and their outcomes sent back."""

from __future__ import annotations

import concurrent.futures
import json
import pickle
import queue
import threading
import time
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from .agents import Agent, maker_of
from .served import asked, called, called_later
from .workers import Crew, Worker, words

ANSWERED, FAILED, UNMADE, INTERRUPTED = "answered", "failed", "unmade", "interrupted"


class AttemptLost(Exception):
    """The process or machine that made an attempt is gone, which is no fault of the agent."""


class Outcome(NamedTuple):
    """What came of an attempt."""

    kind: str
    """Whether the agent answered, failed, could not be made, or interrupted the run."""
    text: str
    """The answer as JSON, or what went wrong."""
    seconds: float | None = None
    """How long the agent took."""


@dataclass(frozen=True)
class Attempt:
    """An attempt at a query, for any process that has Juror: call it there, and return what it returns.

    It can be pickled, and never raises: what goes wrong is part of what it returns.
    """

    query: str
    """What is asked."""
    trial: int | None
    """Which of several attempts at the query it is, from 1; `None` if there is only one."""
    timeout: float
    """Seconds that the agent has, from when it is asked."""
    n_lost: int
    """How many attempts at the same were lost before it."""
    run: str = field(repr=False)
    """Tells the run from others, which may have had other tools at the same address."""
    agent: bytes = field(repr=False)
    """What makes the agent, pickled."""
    tools: str | None = field(repr=False)
    """The tools that the agent may use, as JSON; `None` if the whole pool is open."""
    url: str = field(repr=False)
    """Where the tools are called. It is of this attempt alone."""
    tools_url: str = field(repr=False)
    """Where all tools are listed."""
    token: str | None = field(repr=False)
    """The token that calls carry, if any."""

    def __call__(self) -> Outcome:
        """Makes the agent, and has it answer."""
        try:
            make = maker_of(pickle.loads(self.agent))
        except (Exception, SystemExit) as error:
            return _unmade(error)
        return _Here(self, make).outcome()


class _Ask:
    """The query of an attempt, which the only worker of a process takes."""

    def __init__(self, attempt: Attempt) -> None:
        self.number = 0
        self.query, self.trial = attempt.query, attempt.trial
        self.url, self.tools = attempt.url, attempt.tools
        self._end: concurrent.futures.Future[Outcome] = concurrent.futures.Future()
        self._start = time.monotonic()
        self._until = self._start + attempt.timeout

    def answered(self, json: str) -> bool:
        return self.end(ANSWERED, json)

    def failed(self, why: str) -> bool:
        return self.end(FAILED, why)

    def wait_longer(self, seconds: float) -> None:
        self._until += seconds

    def end(self, kind: str, text: str) -> bool:
        try:
            self._end.set_result(Outcome(kind, text, time.monotonic() - self._start))
        except concurrent.futures.InvalidStateError:
            return False
        return True

    def outcome(self, late: str) -> Outcome:
        """Waits for what comes of it, as long as it may take."""
        while (left := self._until - time.monotonic()) > 0:
            if concurrent.futures.wait({self._end}, left).done:
                break
        else:
            self.failed(late)
        return self._end.result()


class _Here:
    """The run as the process of one attempt sees it: one query, and tools at an address."""

    def __init__(self, attempt: Attempt, make: Callable[[], Agent]) -> None:
        self._attempt = attempt
        self._asks: queue.SimpleQueue[_Ask | None] = queue.SimpleQueue()
        self._ask: _Ask | None = None
        self._crew = Crew(self, make, 1, attempt.timeout, is_stopped=threading.Event(), loop=None)

    def outcome(self) -> Outcome:
        """Has the agent made, and then asked."""
        (worker,) = self._crew.workers
        try:
            return self._asked(worker)
        finally:
            self._asks.put(None)
            self._crew.leave()
            self._crew.release()

    def _asked(self, worker: Worker) -> Outcome:
        timeout = self._attempt.timeout
        worker.start()
        if not worker.is_ready.wait(timeout):
            return Outcome(FAILED, f"the agent cannot be made within {timeout:g} s")
        if worker.failure is not None:
            return _unmade(worker.failure)
        self._ask = _Ask(self._attempt)
        self._asks.put(self._ask)
        return self._ask.outcome(f"no answer within {timeout:g} s")

    def next_ask(self) -> _Ask | None:
        return self._asks.get()

    def stop(self) -> None:
        if self._ask is not None:
            self._ask.end(INTERRUPTED, "")

    def names(self) -> list[str]:
        return _names(self._attempt.run, self._attempt.tools_url, self._attempt.token)

    def tool_at(self, at: int) -> str:
        return self._listed(f"?offset={at}&limit=1")

    def search(self, text: str, most: int) -> str:
        return self._listed("/search?" + urllib.parse.urlencode({"q": text, "k": most}))

    def call(self, url: str, body: str) -> tuple[int, str]:
        return called(url, body, self._attempt.token)

    def call_later(self, url: str, body: str, done: Callable[[int | None, str], object]) -> None:
        called_later(url, body, done, self._attempt.token)

    def _listed(self, wanted: str) -> str:
        return _read(self._attempt.tools_url + wanted, self._attempt.token)


_KNOWN: dict[str, list[str]] = {}
"""The names of all tools of a run, which a process reads once. It keeps those of the latest run."""


def _names(run: str, tools_url: str, token: str | None) -> list[str]:
    if (known := _KNOWN.get(run)) is not None:
        return known
    names = [one["function"]["name"] for one in json.loads(_read(tools_url, token))]
    _KNOWN.clear()
    _KNOWN[run] = names
    return names


def _read(url: str, token: str | None) -> str:
    status, text = asked(url, token=token)
    if status != 200:
        raise ConnectionError(f"the tools are not listed: status {status}: {text[:200]}")
    return text


def _unmade(error: BaseException) -> Outcome:
    return Outcome(UNMADE, words(error))
