"""Runners: what makes the attempts of a run elsewhere."""

from __future__ import annotations

import concurrent.futures
import functools
import pickle
import threading
import uuid
from collections.abc import Callable
from typing import Any, Protocol

from .._juror import Ask, BenchRun
from .attempt import ANSWERED, INTERRUPTED, UNMADE, Attempt, AttemptLost, Outcome
from .workers import LOG

_LARGEST = 10 << 20
"""The most bytes of an agent that are sent with each attempt."""

_FOREVER = 1e9
"""Seconds: an attempt may wait for a free machine, and counts its own time from then on."""


class Runner(Protocol):
    """What makes attempts: any executor of `concurrent.futures`, or another object with `submit`.

    It may have more than that:

    - `jobs`, how many attempts it makes at a time, unless the call says;
    - `max_retries`, how often an attempt is made again whose future raises `AttemptLost`;
    - `host`, the address of this machine at which attempts call tools, if they are made on others;
    - `dumps(agent)`, which pickles better than `pickle.dumps`;
    - `prepare(server)`, which raises before the run if there can be none; `server` is where tools are
      served, or `None` for this process.
    """

    def submit(self, attempt: Attempt, /) -> concurrent.futures.Future[Any]:
        """Has an attempt made: ``attempt()`` is called in some process, and the future returns the same."""


def runner_of(given: Any) -> Any:
    """What was given as a runner, if it can be one."""
    if given is not None and not callable(getattr(given, "submit", None)):
        raise TypeError(
            f"a runner has a method `submit`, and `{type(given).__name__}` has none\n"
            "  hint: give a `concurrent.futures.ProcessPoolExecutor`, or `juror.ray.Runner()`"
        )
    return given


def pickled(agent: Any, runner: Any) -> bytes:
    """An agent as it is sent to other processes."""
    dumps: Callable[[Any], bytes] = getattr(runner, "dumps", pickle.dumps)
    try:
        sent = dumps(agent)
    except Exception as error:
        raise TypeError(
            f"the agent cannot be sent to other processes: {error}\n"
            "  hint: give a class, or a function that makes agents, of a module that can be imported there: "
            "then each attempt makes what cannot be pickled"
        ) from error
    if len(sent) > _LARGEST:
        raise ValueError(
            f"the agent has {len(sent) >> 20} MB, which would be sent with every attempt\n"
            "  hint: give its class, or a function that makes agents, so that each attempt loads what is large"
        )
    return sent


class Dispatch:
    """Hands the queries of a run to a runner, and what came of them back."""

    def __init__(self, run: BenchRun, agent: bytes, runner: Any, timeout: float) -> None:
        self._run, self._agent, self._runner, self._timeout = run, agent, runner, timeout
        self._id = uuid.uuid4().hex
        self._lock = threading.Lock()
        self._open: dict[int, concurrent.futures.Future[Any]] = {}
        """What is under way, by the numbers of asks."""
        self._held: list[Ask] = []
        """Asks that stay as open as they are."""
        self._failure: BaseException | None = None
        """Why no more attempts can be made."""
        self._has_worked = self._has_left = False

    def start(self) -> None:
        """Begins to hand over."""
        threading.Thread(target=self._hand_over, name="juror-runner", daemon=True).start()

    def replace(self, number: int) -> None:
        """Lets go of an attempt that took too long."""
        with self._lock:
            future = self._open.pop(number, None)
        if future is not None:
            future.cancel()

    def check(self) -> None:
        """Raises what ended the run."""
        if self._failure is not None:
            raise self._failure

    def leave(self) -> None:
        """Cancels what is under way, as far as the runner can."""
        self._has_left = True
        with self._lock:
            futures = list(self._open.values())
        for future in futures:
            future.cancel()

    def release(self) -> None:
        """Frees what belongs to the run: nothing."""

    def _hand_over(self) -> None:
        while (ask := self._run.next_ask()) is not None:
            ask.wait_longer(_FOREVER)
            try:
                future = self._runner.submit(self._attempt(ask))
            except BaseException as error:
                return self._end(ask, error)
            with self._lock:
                self._open[ask.number] = future
            future.add_done_callback(functools.partial(self._settle, ask))
            if self._has_left:
                future.cancel()

    def _attempt(self, ask: Ask) -> Attempt:
        return Attempt(
            query=ask.query,
            trial=ask.trial,
            timeout=self._timeout,
            n_lost=ask.n_lost,
            run=self._id,
            agent=self._agent,
            tools=ask.tools,
            url=ask.url,
            tools_url=ask.tools_url,
            token=ask.token,
        )

    def _settle(self, ask: Ask, future: concurrent.futures.Future[Any]) -> None:
        with self._lock:
            is_awaited = self._open.pop(ask.number, None) is not None
        if future.cancelled() and not is_awaited:
            return  # `replace` let go of it.
        if self._has_left:
            self._held.append(ask)
            return
        try:
            self._take(ask, future.result())
        except AttemptLost as lost:
            self._again(ask, lost)
        except BaseException as error:
            # Attempts raise nothing: this is the runner's, and the next one would fare no better.
            self._end(ask, error)

    def _take(self, ask: Ask, outcome: object) -> None:
        if not isinstance(outcome, Outcome):
            raise TypeError(f"the runner returned a `{type(outcome).__name__}`, not what the attempt returns")
        if outcome.kind == INTERRUPTED:
            return self._end(ask, KeyboardInterrupt())
        if outcome.kind == UNMADE:
            return self._tell_unmade(ask, outcome.text)
        self._has_worked = True
        if outcome.kind == ANSWERED:
            ask.answered(outcome.text, outcome.seconds)
        else:
            ask.failed(outcome.text)

    def _tell_unmade(self, ask: Ask, why: str) -> None:
        if self._has_worked:
            ask.failed(f"the agent cannot be made: {why}")
        else:
            # It is most likely so for all, and nothing of them is worth keeping.
            hint = "Juror, the agent's module and what that imports have to be installed where attempts are made"
            self._end(ask, RuntimeError(f"the agent cannot be made by the runner: {why}\n  hint: {hint}"))

    def _again(self, ask: Ask, lost: AttemptLost) -> None:
        n_more = getattr(self._runner, "max_retries", 0) - ask.n_lost
        if n_more <= 0:
            ask.failed(f"the attempt was lost: {lost}")
            return
        LOG.warning("an attempt at the query `%s` was lost, and is made again: %s", ask.query, lost)
        ask.lost()

    def _end(self, ask: Ask, failure: BaseException) -> None:
        """Ends the run; the query stays open, for when it goes on."""
        self._held.append(ask)
        if self._failure is None:
            self._failure = failure
        self._run.stop()
