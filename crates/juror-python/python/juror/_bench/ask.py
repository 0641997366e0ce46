"""``juror.ask``: an agent, and the questions of a reference."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from typing import Any

from .._juror import BenchRun
from .agents import Origin
from .loop import Loop
from .plain import path_of, plain
from .progress import AskProgress
from .run import MOST_TRIALS, Bench, number, seconds, texts

Path = str | os.PathLike[str]
_JOBS = 4
"""How many questions an agent that a text names is asked at a time."""


def ask(
    reference: Path | Iterable[Mapping[str, Any]],
    agent: Any,
    *,
    output: Path | None = None,
    name: str | None = None,
    config: Path | Mapping[str, Any] | None = None,
    question_id: str | Iterable[str] | None = None,
    limit: int | None = None,
    jobs: int | None = None,
    trials: int = 1,
    agent_timeout: float = 600,
    agent_header: str | Iterable[str] | None = None,
    agent_model: str | None = None,
    agent_env: str | Iterable[str] | None = None,
    method: str | None = None,
    max_steps: int | None = None,
    max_queries: int | None = None,
    max_observation: int | None = None,
    replay_agent: bool = False,
    tools: Path | Iterable[Path] | None = None,
    tool_cache: Path | Iterable[Path] | None = None,
    pool: str | None = None,
    server: str | None = None,
    server_token: str | None = None,
    concurrency: int | None = None,
    timeout: float | None = None,
    max_cost: float | None = None,
    fresh: bool = False,
    retry_errors: bool = False,
    resume_changed: bool = False,
    progress: bool | AskProgress | None = None,
) -> list[dict[str, Any]]:
    """Asks an agent every question of a reference; returns its responses, in the order of the questions.

    They are what `juror.run_evaluation` takes as responses:

    >>> responses = juror.ask("reference.yaml", lambda question: "Oslo.")  # doctest: +SKIP
    >>> results = juror.run_evaluation("reference.yaml", responses)  # doctest: +SKIP

    A question that fails has a response with an ``error``, and the others are asked. The names of
    the arguments are those of the options of ``juror ask``.

    Args:
        reference: Templates, or the path of a file.
        agent: What ``--agent`` names, such as ``"openai:http://127.0.0.1:8000/v1"``; or an object as
            `juror.bench` takes it: a class, a function that makes agents, an agent with ``answer``,
            or a function from question to answer. It returns a text, or a dict with ``final_answer``
            and, if it can tell, ``steps``, ``messages``, tokens and ``usd``.
        output: A file of responses (``.jsonl``) to keep them in. The same call resumes an
            interrupted file; a finished one is refused. By default nothing is written.
        name: What the agent is called.
        config: Settings: models of the built-in agent, tools.
        question_id: Only these questions.
        limit: At most this many questions.
        jobs: Questions at a time; by default 4, and 1 for an object of this process.
        trials: How often each question is asked; responses have a `trial` if that is several times.
        agent_timeout: Seconds for each question.
        agent_header: Headers for an agent at an address, as ``"Name: value"``; ``env:NAME`` stands for
            what a variable holds.
        agent_model: The model that requests to ``openai:URL`` name.
        agent_env: Environment variables that are meant for the agent.
        method: How the built-in agent, ``"chat"``, goes about a question.
        max_steps: Steps of the built-in agent.
        max_queries: How often the built-in agent may ask its model.
        max_observation: Characters of a tool's reply that the built-in agent sees.
        replay_agent: Take the built-in agent's model at what it said in earlier runs.
        tools: Tools that the agent may call; its calls are its steps.
        tool_cache: Known replies of tools.
        pool: How much of the tools the agent sees: ``"search"`` or ``"top:20"``.
        server: The address of a running ``juror serve``, in place of tools in this process.
        server_token: The token it requires, or ``env:NAME``; by default ``JUROR_SERVER_TOKEN``.
        concurrency: Calls at a time to the built-in agent's model.
        timeout: Seconds a reply of its model may take.
        max_cost: Stop asking its model before this much is spent, in US dollars.
        fresh: Ask everything anew, in place of what the file holds.
        retry_errors: Ask again what ended with an error.
        resume_changed: Go on with a file though something about the agent or the questions changed.
        progress: ``True`` for a line per answer on standard error, or a function that is called with
            a `QuestionDone`.
    """
    options = {key: value for key, value in locals().items() if key not in ("agent", "progress")}
    return asking(agent, options, progress).run()


def asking(
    agent: Any, options: dict[str, Any], progress: bool | AskProgress | None, loop: Loop | None = None
) -> Asking | NamedAsking:
    """The run that `ask` with these options is; coroutines of the agent run on the loop, if there is one."""
    if options["jobs"] is None:
        options["jobs"] = _JOBS if isinstance(agent, str) else 1
    if isinstance(agent, str):
        return NamedAsking(agent, options, progress)
    return Asking(agent, options, progress, loop)


class Asking(Bench):
    """Asks an object of this process."""

    seconds_for = "agent_timeout"

    def run(self) -> list[dict[str, Any]]:
        """Asks all questions."""
        with tempfile.TemporaryDirectory(prefix="juror-") as folder:
            return _read(self.answers(self.engine(folder)))

    def engine(self, folder: str) -> BenchRun:
        return _engine(self.options, folder, self.described())

    def described(self) -> dict[str, Any]:
        origin: Origin = self.origin
        name = self.options["name"] or origin.name
        return {"agent": f"python:{origin.place}", "name": name, "identity": origin.identity, "words": []}


class NamedAsking(Bench):
    """Asks an agent that a text names, which runs elsewhere."""

    def __init__(self, agent: str, options: dict[str, Any], progress: bool | AskProgress | None) -> None:
        self.agent = agent
        self.begin(options, progress)

    def run(self) -> list[dict[str, Any]]:
        """Asks all questions."""
        described = {"agent": self.agent, "name": self.options["name"], "identity": None, "words": _words(self.options)}
        with tempfile.TemporaryDirectory(prefix="juror-") as folder:
            return _read(self.outcome(_engine(self.options, folder, described)))


def _engine(options: Mapping[str, Any], folder: str, described: Mapping[str, Any]) -> BenchRun:
    config, reference = options["config"], options["reference"]
    is_inline, is_file = isinstance(config, Mapping), isinstance(reference, (str, os.PathLike))
    output = options["output"]
    if output is not None and not path_of(output).lower().endswith((".jsonl", ".ndjson")):
        raise ValueError(f"{path_of(output)}: responses are written one a line: name a file that ends with .jsonl")
    written = {
        **described,
        "reference": path_of(reference) if is_file else _reference(reference, folder),
        "is_file": is_file,
        "agent_env": texts(options["agent_env"]),
        "agent_timeout": seconds(options["agent_timeout"], "agent_timeout"),
        "question_ids": texts(options["question_id"]),
        "limit": None if options["limit"] is None else number(options["limit"], "limit"),
        "jobs": number(options["jobs"], "jobs"),
        "trials": number(options["trials"], "trials", most=MOST_TRIALS),
        "config": None if is_inline or config is None else path_of(config),
        "settings": config if is_inline else None,
        "tools": texts(options["tools"]),
        "tool_cache": texts(options["tool_cache"]),
        "output": os.path.join(folder, "responses.jsonl") if output is None else path_of(output),
    }
    same = ("pool", "server", "server_token", "concurrency", "timeout", "max_cost")
    switches = ("fresh", "retry_errors", "resume_changed")
    written |= {key: options[key] for key in same} | {key: bool(options[key]) for key in switches}
    return BenchRun.asking(json.dumps(written, default=plain))


def _reference(reference: Any, folder: str) -> str:
    path = os.path.join(folder, "reference.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(list(reference), file, default=plain)
    return path


def _words(options: Mapping[str, Any]) -> list[str]:
    """The options of an agent that a text names, as the command has them."""
    timeout = max(1, round(seconds(options["agent_timeout"], "agent_timeout")))
    words = [f"--agent-timeout={timeout}", f"--trials={options['trials']}"]
    for key in ("agent_header", "agent_env"):
        words += [f"--{key.replace('_', '-')}={one}" for one in texts(options[key])]
    for key in ("agent_model", "method", "max_steps", "max_queries", "max_observation"):
        if options[key] is not None:
            words.append(f"--{key.replace('_', '-')}={options[key]}")
    return [*words, "--replay-agent"] if options["replay_agent"] else words


def _read(lines: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines.splitlines() if line.strip()]
