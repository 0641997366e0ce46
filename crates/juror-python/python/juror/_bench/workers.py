"""The threads that agents run on."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from .agents import Agent, Tools
from .answers import NoAnswer, answer_as_json
from .loop import GRACE, Awaited, Blocked, Late, Loop, Loops
from .tools import Binding, Toolbox, ToolPool, tools_of

LOG = logging.getLogger("juror")


class Ask(Protocol):
    """A query that an agent is to answer, once."""

    @property
    def number(self) -> int:
        """Tells it from others of the run."""

    @property
    def query(self) -> str:
        """What is asked."""

    @property
    def trial(self) -> int | None:
        """Which of several attempts at the query this is, from 1."""

    @property
    def url(self) -> str:
        """Where its tools are called."""

    @property
    def tools(self) -> str | None:
        """The tools that the agent may use, as JSON; `None` if the whole pool is open."""

    def answered(self, json: str) -> bool:
        """Takes the answer; whether it was still awaited."""

    def failed(self, why: str) -> bool:
        """Takes why there is no answer; whether one was still awaited."""

    def wait_longer(self, seconds: float) -> None:
        """Waits so many seconds more."""


class Run(Toolbox, Protocol):
    """What agents are asked, and the tools that they may call."""

    def next_ask(self) -> Ask | None:
        """Waits for the next query; nothing when there are no more."""

    def stop(self) -> None:
        """Ends the run in good order."""


class Crew:
    """As many threads as queries are tried at a time, and one loop for what they await."""

    def __init__(
        self,
        run: Run,
        make: Callable[[], Agent],
        jobs: int,
        timeout: float,
        *,
        is_stopped: threading.Event,
        loop: Loop | None,
    ) -> None:
        self.run, self.make, self.timeout = run, make, timeout
        self.is_stopped, self.loops = is_stopped, Loops(loop)
        self.workers = [Worker(self) for _ in range(jobs)]
        self.is_interrupted = False
        """Whether an agent wants the run to stop, as Ctrl-C does."""

    def start(self) -> None:
        """Makes the agents; raises what the first of them raises.

        They are waited for as long as the run is not to end.
        """
        for worker in self.workers:
            worker.start()
        for worker in self.workers:
            # Waiting without end would keep Ctrl-C from being heard on some systems.
            while not worker.is_ready.wait(0.2):
                if self.is_stopped.is_set():
                    return
            if worker.failure is not None:
                raise worker.failure

    def replace(self, number: int) -> None:
        """Puts another in the place of a worker whose agent took too long for what it was asked."""
        late = next((one for one in self.workers if one.number == number), None)
        if late is not None:
            self.workers.remove(late)
            late.leave()
            substitute = Worker(self)
            self.workers.append(substitute)
            substitute.start()

    def check(self) -> None:
        """Raises what ended the run."""
        if self.is_interrupted:
            raise KeyboardInterrupt

    def leave(self) -> None:
        """Waits for no thread: what an agent is at goes on, but its tools answer no more."""
        for worker in self.workers:
            worker.leave()

    def release(self) -> None:
        """Ends what agents left on the loop, once no more is asked."""
        self.loops.release()

    def tell_blocked(self, blocked: Blocked) -> None:
        """Tells what blocks the loop, once, and gives that loop up."""
        if self.loops.give_up(blocked.loop):
            LOG.warning(
                "the event loop that all queries share is blocked, so that no coroutine goes on\n"
                "  hint: await what takes long, or hand it to `asyncio.to_thread`\n%s",
                blocked.where.rstrip(),
            )


class Worker(threading.Thread):
    """A thread with an agent."""

    def __init__(self, crew: Crew) -> None:
        # An agent that never returns must not keep the process alive.
        super().__init__(name="juror-agent", daemon=True)
        self.crew = crew
        self.number: int | None = None
        """The number of what it was asked."""
        self.is_ready = threading.Event()
        self.failure: BaseException | None = None
        """Why there is no agent."""
        self._agent: Agent | None = None
        self._trial: int | None = None
        """The trial that its agent answers in, if there are several."""
        self._binding = Binding(crew.run)
        self._pool: Tools | None = None
        self._home: Loop | None = None
        """The loop that something of the agent was awaited on."""
        self._awaited: Awaited | None = None
        self._has_left = False
        self._unanswered: Ask | None = None

    def run(self) -> None:
        self._make()
        self.is_ready.set()
        while (ask := self.crew.run.next_ask()) is not None:
            self.number = ask.number
            if not self._take(ask):
                return
            self.number = None

    def leave(self) -> None:
        """Lets the agent go; from any thread."""
        self._has_left = True
        self._binding.url = None
        if self._awaited is not None:
            self._awaited.cancel()

    def _make(self) -> None:
        try:
            self._agent, self.failure = self.crew.make(), None
        except BaseException as error:
            self.failure = error

    def _take(self, ask: Ask) -> bool:
        """Has a query answered; whether somebody still waited for that."""
        try:
            self._move()
            self._renew(ask.trial)
            if self._agent is None:
                self._make()
            if self._agent is None:
                return ask.failed(f"the agent cannot be made: {words(self.failure)}")
            return ask.answered(answer_as_json(self._answer(self._agent, ask)))
        except Late as late:
            return ask.failed(self._words_of(late))
        except NoAnswer as error:
            return ask.failed(str(error))
        except KeyboardInterrupt:
            self.crew.is_interrupted = True
            self.crew.run.stop()
            return self._leave_open(ask)
        except BaseException as error:
            if isinstance(error, asyncio.CancelledError) and self.crew.is_stopped.is_set():
                return self._leave_open(ask)  # Cancelled with all else on the loop.
            if not self._has_left:
                LOG.error("the agent failed at the query `%s`", ask.query, exc_info=error)
            return ask.failed(words(error))
        finally:
            self._close_tools()

    def _move(self) -> None:
        """Has another agent made when the loop of this one was given up."""
        if self._home is not None and self._home is not self.crew.loops.now():
            self._agent = self._pool = self._home = None

    def _renew(self, trial: int | None) -> None:
        """Has another agent made for another trial: one that has answered a query may remember."""
        if self._trial not in (None, trial):
            self._agent = self._pool = self._home = None
        self._trial = trial

    def _leave_open(self, ask: Ask) -> bool:
        # Held on to, and so without an end: the query stays as open as it was.
        self._unanswered = ask
        return False

    def _words_of(self, late: Late) -> str:
        said = f"no answer within {self.crew.timeout:g} s"
        if not isinstance(late, Blocked):
            return said
        self.crew.tell_blocked(late)
        return f"{said}: the event loop is blocked, which all queries share"

    def _answer(self, agent: Agent, ask: Ask) -> object:
        tools = self._open_tools(ask)
        return agent.answer(ask.query, ask.trial, tools, self._settler(ask))

    def _settler(self, ask: Ask) -> Callable[[Any], Any]:
        """What awaits for a query, in what time it has."""
        until = time.monotonic() + self.crew.timeout
        waits = False

        def settle(value: Any) -> Any:
            nonlocal waits
            if not inspect.isawaitable(value):
                return value
            if not waits:
                ask.wait_longer(GRACE)
            waits = True
            return self._await(value, until)

        return settle

    def _await(self, value: Any, until: float) -> Any:
        self._home = self.crew.loops.now()
        self._awaited = self._home.begin(value)
        if self._has_left:
            self._awaited.cancel()
        try:
            return self._awaited.result(until)
        finally:
            self._awaited = None

    def _open_tools(self, ask: Ask) -> Tools | None:
        """The tools to set up, or nothing if the agent has them: a whole pool is the same always."""
        if ask.tools is not None:
            # Each query has a binding of its own: what outlives the query cannot call for the next.
            self._binding = Binding(self.crew.run)
        if self._has_left:
            return None
        self._binding.url = ask.url
        if ask.tools is not None:
            return tools_of(ask.tools, self._binding)
        if self._pool is not None:
            return None
        self._pool = ToolPool(self._binding)
        return self._pool

    def _close_tools(self) -> None:
        self._binding.url = None


def words(error: BaseException | None) -> str:
    """What went wrong, as the last line of a traceback has it."""
    text = str(error)
    name = type(error).__name__
    return f"{name}: {text}" if text else name
