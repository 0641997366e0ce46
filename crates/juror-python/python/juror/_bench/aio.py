"""``juror.aio.bench``: benchmarks for programs with a running event loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import inspect
import threading
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, cast

from .loop import Loop
from .progress import Progress, QueryDone, listener
from .run import Bench
from .run import bench as _bench

_P = ParamSpec("_P")
_Result = dict[str, Any]
_Awaitable = Coroutine[Any, Any, _Result]


def _like(other: Callable[_P, _Result]) -> Callable[[Callable[..., _Awaitable]], Callable[_P, _Awaitable]]:
    """Gives a function the parameters of another."""

    def like(function: Callable[..., _Awaitable]) -> Callable[_P, _Awaitable]:
        function.__signature__ = inspect.signature(other)  # type: ignore[attr-defined]
        return cast(Callable[_P, _Awaitable], function)

    return like


@_like(_bench)
async def bench(*given: Any, **options: Any) -> _Result:
    """An awaitable `juror.bench`, with the same arguments.

    Coroutines of agents run on the loop that awaits this, and `progress` is called there. The run
    has its own thread, and so have agents that are not ``async``. If the task is cancelled, the run
    first ends cleanly.
    """
    bound = inspect.signature(_bench).bind(*given, **options)
    bound.apply_defaults()
    arguments = dict(bound.arguments)
    agent, progress = arguments.pop("agent"), _on_loop(listener(arguments.pop("progress")))
    loop = asyncio.get_running_loop()
    own = Bench(agent, arguments, progress, Loop(loop, threading.get_ident()))
    threads = concurrent.futures.ThreadPoolExecutor(1, "juror-bench")
    running = loop.run_in_executor(threads, own.run)
    # Its thread ends with the run, which nobody waits for here: the loop may be needed for that.
    threads.shutdown(wait=False)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        own.is_stopped.set()
        await asyncio.wait({running})
        if not running.cancelled():
            running.exception()  # Whatever came of it, it was cancelled.
        raise


def _on_loop(tell: Progress) -> Progress:
    """The same function, called on the loop that runs now; raises there what it raises."""
    loop = asyncio.get_running_loop()

    def told(done: QueryDone) -> None:
        heard: concurrent.futures.Future[object] = concurrent.futures.Future()
        loop.call_soon_threadsafe(functools.partial(_settle, heard, tell, done))
        heard.result()

    return told


def _settle(heard: concurrent.futures.Future[object], tell: Progress, done: QueryDone) -> None:
    try:
        heard.set_result(tell(done))
    except BaseException as error:
        heard.set_exception(error)
