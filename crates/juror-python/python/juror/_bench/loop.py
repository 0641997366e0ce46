"""The event loop of a thread that an agent runs on."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable
from typing import Any

GRACE = 5.0
"""Seconds that whoever waits for an answer waits longer, because the loop keeps the time."""

_FAREWELL = 2.0
"""Seconds that a coroutine has for ending when it is cancelled."""


class Late(Exception):
    """There was no answer in time."""


class Loop:
    """Waits for what an agent returns, if that can be waited for."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Future[Any] | None = None

    def settle(self, value: Any, until: float, before: Callable[[], None]) -> Any:
        """The value, awaited if need be until a time of the monotonic clock.

        `before` is called before the first wait.
        """
        if not inspect.isawaitable(value):
            return value
        before()
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
        return self._loop.run_until_complete(self._in_time(value, until))

    async def _in_time(self, value: Any, until: float) -> Any:
        self._task = asyncio.ensure_future(value)
        try:
            await asyncio.wait({self._task}, timeout=max(until - time.monotonic(), 0))
            if self._task.done():
                return self._task.result()
            self._task.cancel()
            await asyncio.wait({self._task}, timeout=_FAREWELL)
            raise Late
        finally:
            self._task = None

    def cancel(self) -> None:
        """Cancels what is waited for; from any thread."""
        task, loop = self._task, self._loop
        if task is not None and loop is not None:
            try:
                loop.call_soon_threadsafe(task.cancel)
            except RuntimeError:
                pass  # The loop is closed: nothing waits.

    def close(self) -> None:
        """Ends what the agent left running."""
        loop, self._loop = self._loop, None
        if loop is None:
            return
        try:
            tasks = asyncio.all_tasks(loop)
            for task in tasks:
                task.cancel()
            if tasks:
                loop.run_until_complete(asyncio.wait(tasks, timeout=_FAREWELL))
            loop.run_until_complete(loop.shutdown_asyncgens())
        finally:
            asyncio.set_event_loop(None)
            loop.close()
