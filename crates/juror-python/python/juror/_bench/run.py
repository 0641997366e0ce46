"""``juror.bench``: an agent, queries, virtual tools, and the scores."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .._juror import BenchRun
from .agents import Origin, origin_of
from .dispatch import Dispatch, Runner, pickled, runner_of
from .loop import Loop
from .plain import path_of, plain
from .progress import Progress, QueryDone, QuestionDone, listener
from .workers import LOG, Crew

Path = str | os.PathLike[str]

MOST_TRIALS = 65535

_LOOK = 0.1
"""Seconds between checks for an interrupt."""


def bench(
    agent: Any,
    *,
    queries: Path | Iterable[Mapping[str, Any]],
    tools: Path | None = None,
    set: str | Iterable[str] | None = None,
    ids: Path | None = None,
    query_ids: Iterable[str | int] | None = None,
    limit: int | None = None,
    pool: str = "search",
    cache: Path | Iterable[Path] | None = None,
    refresh: bool = False,
    config: Path | Mapping[str, Any] | None = None,
    judge: str | None = None,
    repeats: int | None = None,
    jobs: int | None = None,
    trials: int = 1,
    timeout: float = 600,
    runner: Runner | None = None,
    server: str | None = None,
    server_token: str | None = None,
    output: Path | None = None,
    run: Path | None = None,
    fresh: bool = False,
    agent_env: str | Iterable[str] | None = None,
    resume_changed: bool = False,
    retry_errors: bool = False,
    name: str | None = None,
    progress: bool | Progress | None = None,
) -> dict[str, Any]:
    """Benchmarks an agent on queries with virtual tools; returns the documented result dict.

    An agent has a method ``answer(query)``, which returns the answer: a string, or a dict with
    ``final_answer`` and optionally ``answer_details``, ``called_apis``, ``tokens`` and ``usd``. It
    may have ``setup_tools(tools)``, which receives the tools by name before each query whose tools
    differ, and ``reset()``, which is called before each query. Each of them may be ``async``; all
    coroutines of a run share one event loop.

    >>> class Agent:
    ...     def setup_tools(self, tools):
    ...         self.tools = tools
    ...
    ...     def answer(self, query):
    ...         best = self.tools.search_tools(query, 1)[0]
    ...         return f"{best.name} says {best()}"
    ...
    >>> result = juror.bench(Agent, queries="queries.json", tools="tools")  # doctest: +SKIP

    If a query fails, its result has an error, and the run goes on: an exception, no answer in time,
    a return value that is not an answer. Ctrl-C ends the run cleanly.

    Args:
        agent: A class, of which each of `jobs` threads creates its own instance; a function without
            parameters that creates agents; an agent; or a function from query to answer, which may
            have a second parameter `tools`. With several `trials`, ``answer`` or the function is told
            which one it is if it has a parameter `trial`, and each thread creates an agent per trial.
        queries: A folder of sets, a file of queries, or the queries themselves.
        tools: The folder of tool files; can also be set in `config`.
        set: The sets to use from a folder of queries.
        ids: A file of query ids to use, instead of the one beside a set.
        query_ids: Only the queries with these ids.
        limit: At most this many queries per set.
        pool: Which tools the agent sees: ``"search"``, everything, as a `ToolPool`; ``"top:20"``,
            the 20 that fit the query best; ``"own"``, those that come with the query.
        cache: Further folders of stored replies, read after those in ``.juror/tools``.
        refresh: Ask the simulator or the real tools again, and replace stored replies.
        config: Juror's settings: a file, or the same as a dict.
        judge: Who judges whether a query is solved: ``"model"``, ``"heuristic"`` or ``"none"``. The
            default is the model of `config`, or nobody if there is none.
        repeats: How often a model judges each answer.
        jobs: The number of concurrent queries: 1, or what the runner says, unless given.
        trials: How often the agent is tried on each query; results have a `trial` if that is several
            times.
        timeout: Seconds per query. An agent that is not ``async`` cannot be stopped: its thread is
            abandoned, and another with a new agent takes its place.
        runner: What makes the attempts in other processes or on other machines, such as
            `juror.ray.Runner()` or a ``ProcessPoolExecutor``; each attempt makes its own agent there.
            By default they are made in this process.
        server: The address of a running ``juror serve``, instead of one inside this process.
        server_token: The token it requires, or ``env:NAME`` to read a variable; the default is
            ``JUROR_SERVER_TOKEN``.
        output: The file to write the result to. By default nothing is written.
        run: The folder to store the run in, so that the same call resumes an interrupted run. A
            finished run is refused. By default nothing is stored.
        fresh: Start over, replacing the run in the folder.
        agent_env: Environment variables that are meant for the agent; only those identify runs,
            except keys. The default is all except keys and those of terminals and sessions.
        resume_changed: Resume an unfinished run although something about it changed.
        retry_errors: Resume the run in the folder, finished or not, and retry queries that ended
            with an error.
        name: The agent's name in the result; the default is the name of its class or function.
        progress: ``True`` for a line per query on standard error, or a function that is called with
            a `QueryDone`.
    """
    options = {key: value for key, value in locals().items() if key not in ("agent", "progress")}
    result: dict[str, Any] = Bench(agent, options, progress).run()
    return result


class Bench:
    """A run, from what users ask for to its result."""

    seconds_for = "timeout"
    """The option that says how long an agent may take."""

    def __init__(
        self,
        agent: Any,
        options: dict[str, Any],
        progress: bool | Callable[[Any], object] | None,
        loop: Loop | None = None,
    ) -> None:
        self.loop = loop
        """Where coroutines run; on a loop of Juror's own if left out."""
        self.origin = origin_of(agent)
        self.begin(options, progress)
        self.timeout = seconds(options[self.seconds_for], self.seconds_for)
        if self.runner is not None:
            self.pickled = pickled(agent, self.runner)
        elif self.origin.is_shared and self.jobs > 1:
            raise ValueError(
                "one agent cannot be at several queries at a time\n"
                "  hint: give its class, or a function that makes agents, so that each of `jobs` has its own"
            )

    def begin(self, options: dict[str, Any], progress: bool | Callable[[Any], object] | None) -> None:
        """Takes what every run has."""
        self.tell = listener(progress)
        self.options = options
        self.runner = runner_of(options.get("runner"))
        if hasattr(self.runner, "prepare"):
            self.runner.prepare(options["server"])
        if options["jobs"] is None:
            options["jobs"] = getattr(self.runner, "jobs", 1)
        self.jobs = number(options["jobs"], "jobs")
        self.is_stopped = threading.Event()
        """Set from another thread when the run is to end."""

    def run(self) -> Any:
        """Tries the agents on all queries."""
        with tempfile.TemporaryDirectory(prefix="juror-") as folder:
            engine = BenchRun(json.dumps(written(self.origin, self.options, folder), default=plain))
        return _read(self.answers(engine))

    def answers(self, engine: BenchRun) -> bytes:
        """Has agents answer everything, in this process or where the runner has them, and returns what came of it."""
        crew = self._crew(engine)
        try:
            crew.start()
            engine.start()
            self._follow(engine, crew)
            crew.check()
            return engine.result()
        finally:
            crew.leave()
            engine.close()
            crew.release()

    def _crew(self, engine: BenchRun) -> Crew | Dispatch:
        """Who makes the attempts."""
        if self.runner is not None:
            return Dispatch(engine, self.pickled, self.runner, self.timeout)
        jobs = max(1, min(self.jobs, engine.n_queries))
        return Crew(engine, self.origin.make, jobs, self.timeout, is_stopped=self.is_stopped, loop=self.loop)

    def outcome(self, engine: BenchRun) -> bytes:
        """Has an agent that runs elsewhere answer everything, and returns what came of it."""
        try:
            engine.start()
            self._follow(engine, None)
            return engine.result()
        finally:
            engine.close()

    def _follow(self, engine: BenchRun, crew: Crew | Dispatch | None) -> None:
        """Tells what happens until the run is over."""
        try:
            while self._hear(engine, crew, self.tell):
                if self.is_stopped.is_set():
                    engine.stop()
        except BaseException:
            engine.stop()
            # What was tried is kept before the exception goes on.
            while self._hear(engine, crew, lambda done: None):
                pass
            raise

    def _hear(self, engine: BenchRun, crew: Crew | Dispatch | None, tell: Callable[[Any], object]) -> bool:
        """Hears what happens next, if something does; whether more may come."""
        heard = engine.next_event(_LOOK)
        if heard is None:
            return True
        event = json.loads(heard)
        kind = event.pop("kind")
        if kind == "done":
            tell(QueryDone(**event))
        elif kind == "answered":
            tell(QuestionDone(**event))
        elif kind == "late" and crew is not None:
            crew.replace(event["number"])
        elif kind == "warning":
            LOG.warning("%s", event["text"])
        return bool(kind != "ended")


def _read(result: bytes) -> dict[str, Any]:
    try:
        read: dict[str, Any] = json.loads(result)
    except RecursionError:
        # Each call is nested in the one before it, and an agent may make very many.
        read = BenchRun.shallow(result.decode())
    return read


def written(origin: Origin, options: Mapping[str, Any], folder: str) -> dict[str, Any]:
    """The options as the engine reads them; queries that are objects are put into the folder."""
    config = options["config"]
    is_inline = isinstance(config, Mapping)
    return {
        "agent": f"python:{origin.place}",
        "name": options["name"] or origin.name,
        "queries": _queries(options["queries"], folder),
        "sets": texts(options["set"]),
        "ids": _path(options["ids"]),
        "query_ids": [str(one) for one in options["query_ids"] or ()],
        "limit": None if options["limit"] is None else number(options["limit"], "limit"),
        "tools": _path(options["tools"]),
        "cache": texts(options["cache"]),
        "refresh": bool(options["refresh"]),
        "config": None if is_inline else _path(config),
        "settings": config if is_inline else None,
        "pool": options["pool"],
        "judge": options["judge"],
        "repeats": None if options["repeats"] is None else number(options["repeats"], "repeats"),
        "jobs": number(options["jobs"], "jobs"),
        "trials": number(options["trials"], "trials", most=MOST_TRIALS),
        "timeout": seconds(options["timeout"]),
        "server": options["server"],
        "server_token": options["server_token"],
        "host": getattr(options["runner"], "host", None),
        "output": _path(options["output"]),
        "run": _path(options["run"]),
        "fresh": bool(options["fresh"]),
        "agent_env": texts(options["agent_env"]),
        "identity": origin.identity,
        "resume_changed": bool(options["resume_changed"]),
        "retry_errors": bool(options["retry_errors"]),
    }


def _queries(queries: Any, folder: str) -> str:
    if isinstance(queries, (str, os.PathLike)):
        return path_of(queries)
    path = os.path.join(folder, "queries.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(list(queries), file, default=plain)
    return path


def _path(path: Any) -> str | None:
    return None if path is None else path_of(path)


def texts(given: Any) -> list[str]:
    """What was given as one text or path, or as several."""
    if given is None:
        return []
    if isinstance(given, (str, os.PathLike)):
        return [path_of(given)]
    return [path_of(one) for one in given]


def number(value: Any, name: str, most: int | None = None) -> int:
    """A count that was given under a name."""
    given = int(value)
    if given != value or given < 1:
        raise ValueError(f"`{name}` is a whole number from 1 on, not {value!r}")
    if most is not None and given > most:
        raise ValueError(f"`{name}` is {most} at most, not {value!r}")
    return given


def seconds(value: Any, name: str = "timeout") -> float:
    """A number of seconds that was given under a name."""
    given = float(value)
    if not 0 < given <= 1e9:
        raise ValueError(f"`{name}` is a number of seconds, not {value!r}")
    return given
