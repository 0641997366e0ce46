"""``juror.aio.bench`` and ``juror.aio.ask``: agents of programs with a running event loop."""

from __future__ import annotations

import asyncio
import concurrent.futures
import functools
import inspect
import threading
from collections.abc import Callable, Coroutine
from typing import Any, ParamSpec, TypeVar, cast

from .ask import ask as _ask
from .ask import asking
from .loop import Loop
from .progress import listener
from .run import Bench
from .run import bench as _bench

_P = ParamSpec("_P")
_R = TypeVar("_R")


def _like(
    other: Callable[_P, _R],
) -> Callable[[Callable[..., Coroutine[Any, Any, _R]]], Callable[_P, Coroutine[Any, Any, _R]]]:
    """Gives a function the parameters of another."""

    def like(function: Callable[..., Coroutine[Any, Any, _R]]) -> Callable[_P, Coroutine[Any, Any, _R]]:
        function.__signature__ = inspect.signature(other)  # type: ignore[attr-defined]
        return cast(Callable[_P, Coroutine[Any, Any, _R]], function)

    return like


@_like(_bench)
async def bench(*given: Any, **options: Any) -> dict[str, Any]:
    """An awaitable `juror.bench`, with the same arguments.

    Coroutines of agents run on the loop that awaits this, and `progress` is called there. The run
    has its own thread, and so have agents that are not ``async``. If the task is cancelled, the run
    first ends cleanly.
    """
    result: dict[str, Any] = await _awaited(Bench, inspect.signature(_bench).bind(*given, **options))
    return result


@_like(_ask)
async def ask(*given: Any, **options: Any) -> list[dict[str, Any]]:
    """An awaitable `juror.ask`, with the same arguments.

    Coroutines of agents run on the loop that awaits this, and `progress` is called there. If the
    task is cancelled, the run first ends cleanly: a file of `output` has all answers up to then.
    """
    responses: list[dict[str, Any]] = await _awaited(asking, inspect.signature(_ask).bind(*given, **options))
    return responses


async def _awaited(make: Callable[..., Bench], bound: inspect.BoundArguments) -> Any:
    """Runs what these arguments ask for on a thread of its own, with its agents on this loop."""
    bound.apply_defaults()
    arguments = dict(bound.arguments)
    agent, progress = arguments.pop("agent"), _on_loop(listener(arguments.pop("progress")))
    loop = asyncio.get_running_loop()
    own = make(agent, arguments, progress, Loop(loop, threading.get_ident()))
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


def _on_loop(tell: Callable[[Any], object]) -> Callable[[Any], object]:
    """The same function, called on the loop that runs now; raises there what it raises."""
    loop = asyncio.get_running_loop()

    def told(done: Any) -> None:
        heard: concurrent.futures.Future[object] = concurrent.futures.Future()
        loop.call_soon_threadsafe(functools.partial(_settle, heard, tell, done))
        heard.result()

    return told


def _settle(heard: concurrent.futures.Future[object], tell: Callable[[Any], object], done: Any) -> None:
    try:
        heard.set_result(tell(done))
    except BaseException as error:
        heard.set_exception(error)
