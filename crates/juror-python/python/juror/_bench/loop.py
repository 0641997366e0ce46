"""The event loop that all coroutines of a run share.

Clients of models keep connections, locks and the like, which belong to the loop that they were
first used on. Agents mostly share one, and so they share the loop as well.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

GRACE = 5.0
"""Seconds that whoever waits for an answer waits longer, because here the time is kept."""

_FAREWELL = 2.0
"""Seconds that coroutines have for ending when they are cancelled."""


class Late(Exception):
    """There was no answer in time."""


class Blocked(Late):
    """There was none because something keeps the loop from going on."""

    def __init__(self, loop: Loop, where: str) -> None:
        super().__init__(where)
        self.loop, self.where = loop, where


class Loop:
    """An event loop that runs on some thread, for coroutines from others."""

    is_own = False
    """Whether it is there for Juror alone."""

    def __init__(self, loop: asyncio.AbstractEventLoop, thread: int | None) -> None:
        self.loop, self._thread_id = loop, thread

    def begin(self, value: Any) -> Awaited:
        """Begins to await something; from any other thread."""
        return Awaited(self, value)

    def soon(self, function: Callable[..., object], *arguments: Any) -> bool:
        """Has a function called on the loop; whether the loop is still there."""
        try:
            self.loop.call_soon_threadsafe(function, *arguments)
        except RuntimeError:
            return False
        return True

    def where(self) -> str:
        """Where the thread is now, from the innermost coroutine or callback of the loop on."""
        frame = sys._current_frames().get(self._thread_id or 0)
        stack = traceback.extract_stack(frame) if frame else traceback.StackSummary()
        inner = [at for at, one in enumerate(stack) if one.filename in (asyncio.events.__file__, __file__)]
        return "".join(traceback.format_list(stack[max(inner, default=-1) + 1 :]))


class OwnLoop(Loop):
    """A loop with a thread of its own, which runs use one after the other."""

    is_own = True

    def __init__(self) -> None:
        super().__init__(asyncio.new_event_loop(), None)
        self._is_over = False
        # A coroutine that blocks without end must not keep the process alive.
        self._thread = threading.Thread(target=self._run, name="juror-loop", daemon=True)
        self._thread.start()
        self._thread_id = self._thread.ident

    def is_alive(self) -> bool:
        """Whether its thread runs, which it does not in a process that was forked."""
        return self._thread.is_alive()

    def clear(self) -> bool:
        """Ends what agents left running; whether nothing of that goes on."""
        cleared = asyncio.run_coroutine_threadsafe(self._cancel_all(), self.loop)
        concurrent.futures.wait({cleared}, _FAREWELL + 1)
        return cleared.done() and cleared.result()

    def close(self) -> None:
        """Ends the loop, as soon as it can be heard."""
        self._is_over = True
        self.soon(self.loop.stop)

    def join(self) -> None:
        """Waits a moment for the end of its thread."""
        self._thread.join(_FAREWELL)

    async def _cancel_all(self) -> bool:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        return not tasks or not (await asyncio.wait(tasks, timeout=_FAREWELL))[1]

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        while not self._is_over:
            try:
                self.loop.run_forever()
            except (KeyboardInterrupt, SystemExit):
                pass  # Of a task that an agent began: whoever awaits the task is told.
        try:
            self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        finally:
            self.loop.close()


class Awaited:
    """Something that is awaited on a loop, as a thread sees it."""

    def __init__(self, loop: Loop, value: Any) -> None:
        self._loop = loop
        self._end: concurrent.futures.Future[Any] = concurrent.futures.Future()
        self._task: asyncio.Task[Any] | None = None
        self._is_heard = threading.Event()
        if not loop.soon(self._begin, value):
            self._end.set_exception(RuntimeError("the event loop is closed"))

    def result(self, until: float) -> Any:
        """What came of it, cancelled at a time of the monotonic clock."""
        if self._ends_within(until - time.monotonic()):
            return self._end.result()
        self.cancel()
        if self._ends_within(_FAREWELL) or self._is_heard.is_set():
            raise Late
        raise Blocked(self._loop, self._loop.where())

    def cancel(self) -> None:
        """Cancels it; from any thread."""
        self._loop.soon(self._cancel)

    def _ends_within(self, seconds: float) -> bool:
        return bool(concurrent.futures.wait({self._end}, max(seconds, 0)).done)

    def _begin(self, value: Any) -> None:
        self._task = self._loop.loop.create_task(_awaited(value))
        self._task.add_done_callback(self._settle)

    def _cancel(self) -> None:
        self._is_heard.set()
        if self._task is not None:
            self._task.cancel()

    def _settle(self, task: asyncio.Task[Any]) -> None:
        if task.cancelled():
            self._end.set_exception(asyncio.CancelledError())
        elif (error := task.exception()) is not None:
            self._end.set_exception(error)
        else:
            value, end = task.result()
            self._end.set_result(value) if end is None else self._end.set_exception(end)


async def _awaited(value: Any) -> tuple[Any, BaseException | None]:
    try:
        return await value, None
    except (KeyboardInterrupt, SystemExit) as end:
        return None, end  # A task that raises these would end the loop.


class Loops:
    """The loop of a run: the one that was given, or one of Juror's own as soon as one is needed."""

    def __init__(self, given: Loop | None) -> None:
        self._now, self._blocked = given, list[Loop]()
        self._lock = threading.Lock()

    def now(self) -> Loop:
        """The loop for what is awaited next."""
        with self._lock:
            if self._now is None:
                self._now = _take_idle() or OwnLoop()
            return self._now

    def give_up(self, loop: Loop) -> bool:
        """Lets a loop that is blocked be; whether that is new. If it is Juror's, another follows."""
        with self._lock:
            if loop in self._blocked:
                return False
            self._blocked.append(loop)
            if loop is self._now and loop.is_own:
                self._now = None
            return True

    def release(self) -> None:
        """Ends what agents left running, and keeps the loop for the runs after this one."""
        with self._lock:
            now, self._now = self._now, None
        for loop in self._blocked:
            if isinstance(loop, OwnLoop):
                loop.close()
        if isinstance(now, OwnLoop):
            if now.clear():
                with _IDLE_LOCK:
                    _IDLE.append(now)
            else:
                now.close()


# What modules keep for their agents is bound to a loop, and outlives a run.
_IDLE: list[OwnLoop] = []
_IDLE_LOCK = threading.Lock()


def _take_idle() -> OwnLoop | None:
    with _IDLE_LOCK:
        while _IDLE:
            loop = _IDLE.pop()
            if loop.is_alive():
                return loop
    return None


@atexit.register
def _close_idle() -> None:
    loop = _take_idle()
    while loop is not None:
        loop.close()
        loop.join()
        loop = _take_idle()
