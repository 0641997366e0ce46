"""``juror.ask``: live agents, as objects and as texts, asked the questions of a reference."""

from __future__ import annotations

import asyncio
import inspect
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import juror
import pytest


def question(name: str) -> dict[str, Any]:
    steps = [[{"name": "lookup", "output": name}]]
    return {"id": name, "question_text": f"What is {name}?", "reference_steps": steps}


REFERENCE = [{"template_id": "t", "questions": [question(name) for name in ("a", "b", "c")]}]


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("reference.json").write_text(json.dumps(REFERENCE))
    return tmp_path


def name_in(question: str) -> str:
    return question.removeprefix("What is ").removesuffix("?")


def lookup(question: str) -> dict[str, Any]:
    name = name_in(question)
    return {"final_answer": f"It is {name}.", "steps": [{"name": "lookup", "output": name}], "input_tokens": 3}


@pytest.mark.parametrize("reference", [REFERENCE, "reference.json", Path("reference.json")])
def test_responses_are_in_order_and_can_be_evaluated(reference: Any) -> None:
    responses = juror.ask(reference, lookup)
    assert [one["question_id"] for one in responses] == ["a", "b", "c"]
    assert [one["actual_answer"] for one in responses] == ["It is a.", "It is b.", "It is c."]
    assert responses[0]["input_tokens"] == 3
    results = juror.run_evaluation(reference, responses, ask_models=False)
    assert [one["steps_score"] for one in results] == [1.0] * 3
    assert sorted(path.name for path in Path().iterdir()) == ["reference.json"], "nothing is written"


def test_agents_of_every_kind_are_asked() -> None:
    class Agent:
        async def answer(self, question: str, trial: int | None = None) -> str:
            return f"{name_in(question)} {trial}"

    for agent in (Agent, Agent(), lambda: Agent()):
        responses = juror.ask(REFERENCE, agent, trials=2, limit=1)
        assert [(one["actual_answer"], one["trial"]) for one in responses] == [("a 1", 1), ("a 2", 2)]


def test_selected_questions_alone_are_asked() -> None:
    asked: list[str] = []

    def agent(question: str) -> str:
        asked.append(question)
        return "yes"

    juror.ask(REFERENCE, agent, question_id="b")
    juror.ask(REFERENCE, agent, question_id=["c", "a"], limit=1)
    assert asked == ["What is b?", "What is a?"]
    with pytest.raises(juror.SettingsError, match="no question `d`"):
        juror.ask(REFERENCE, agent, question_id="d")


def test_a_failure_is_an_error_of_its_question() -> None:
    def agent(question: str) -> str:
        if "b" in question:
            raise LookupError("no idea")
        return "yes"

    responses = juror.ask(REFERENCE, agent)
    assert [one.get("status") for one in responses] == [None, "error", None]
    assert responses[1]["error"] == "LookupError: no idea"


def test_a_file_is_gone_on_with_by_the_same_agent_alone() -> None:
    asked: list[str] = []

    class Agent:
        def __init__(self) -> None:
            self.fails = not asked

        def answer(self, question: str) -> str:
            asked.append(question)
            if self.fails and "b" in question:
                raise KeyboardInterrupt
            return "yes"

    with pytest.raises(KeyboardInterrupt):
        juror.ask(REFERENCE, Agent, output="responses.jsonl")
    assert len(Path("responses.jsonl").read_text().splitlines()) == 1
    responses = juror.ask(REFERENCE, Agent, output="responses.jsonl")
    assert [one["actual_answer"] for one in responses] == ["yes"] * 3
    assert asked.count("What is a?") == 1, "what was answered is not asked again"
    with pytest.raises(juror.SettingsError, match="all questions are answered") as refused:
        juror.ask(REFERENCE, Agent, output="responses.jsonl")
    assert "`fresh=`" in str(refused.value)
    with pytest.raises(juror.SettingsError, match="trials changed"):
        juror.ask(REFERENCE, Agent, output="responses.jsonl", trials=2)
    assert len(juror.ask(REFERENCE, Agent, output="responses.jsonl", fresh=True)) == 3


def test_progress_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[juror.QuestionDone] = []
    juror.ask(REFERENCE, lookup, progress=seen.append)
    assert [(one.n_done, one.n_all, one.question_id, one.n_steps) for one in seen] == [
        (1, 3, "a", 1),
        (2, 3, "b", 1),
        (3, 3, "c", 1),
    ]
    juror.ask(REFERENCE, lookup, progress=True, limit=1)
    assert capsys.readouterr().err.startswith("[1/1] 1 step | ")


class Handler(BaseHTTPRequestHandler):
    """Answers like a model, with what it was sent."""

    def do_HEAD(self) -> None:
        self.send_response(405)
        self.end_headers()

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        said = f"{request['messages'][0]['content']} {request.get('model')} {self.headers['x-tenant']}"
        body = json.dumps({"choices": [{"message": {"role": "assistant", "content": said}}]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *said: Any) -> None:
        """Says nothing."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()


def test_an_agent_that_a_text_names_is_asked(endpoint: str) -> None:
    responses = juror.ask(
        REFERENCE, f"openai:{endpoint}", agent_model="m", agent_header="X-Tenant: mine", name="mine", jobs=2
    )
    assert [one["actual_answer"] for one in responses] == [f"What is {name}? m mine" for name in "abc"]


def test_from_a_running_loop(endpoint: str) -> None:
    async def main() -> None:
        here, loops, threads = asyncio.get_running_loop(), set(), set()

        async def agent(question: str) -> dict[str, Any]:
            loops.add(asyncio.get_running_loop())
            return lookup(question)

        responses = await juror.aio.ask(
            REFERENCE, agent, limit=2, progress=lambda _: threads.add(threading.get_ident())
        )
        assert [one["actual_answer"] for one in responses] == ["It is a.", "It is b."]
        assert (loops, threads) == ({here}, {threading.get_ident()})
        named = await juror.aio.ask(REFERENCE, f"openai:{endpoint}", limit=1)
        assert named[0]["actual_answer"].startswith("What is a?")

    asyncio.run(main())


def test_a_cancelled_run_keeps_the_answers() -> None:
    async def main() -> None:
        is_there = asyncio.Event()

        async def agent(question: str) -> str:
            if "b" in question:
                is_there.set()
                await asyncio.Event().wait()
            return "yes"

        running = asyncio.create_task(juror.aio.ask(REFERENCE, agent, output="responses.jsonl"))
        await asyncio.wait_for(is_there.wait(), 20)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running

    asyncio.run(main())
    (line,) = Path("responses.jsonl").read_text().splitlines()
    assert json.loads(line)["question_id"] == "a"


def test_what_cannot_be_asked_is_refused(endpoint: str) -> None:
    for agent, told in (
        ("nothing", "there is no agent `nothing`"),
        ("openai:nowhere", "there is no address after `openai:`"),
        ("python:nowhere:answer", "cannot import `nowhere`"),
        ("recorded:answers.json", "recorded answers are not asked for"),
    ):
        with pytest.raises(juror.SettingsError, match=re.escape(told)):
            juror.ask(REFERENCE, agent)
    with pytest.raises(juror.DatasetError):
        juror.ask([{"template_id": "t", "questions": [{"id": "a"}]}], lookup)
    with pytest.raises(ValueError, match=r"ends with \.jsonl"):
        juror.ask(REFERENCE, lookup, output="responses.json")
    with pytest.raises(ValueError, match="`limit` is a whole number"):
        juror.ask(REFERENCE, lookup, limit=0)


def test_arguments_are_named_like_the_options_of_the_command() -> None:
    told = subprocess.run([sys.executable, "-m", "juror", "ask", "--help"], capture_output=True, text=True, check=True)
    options = {one.replace("-", "_") for one in re.findall(r"--([a-z-]+)", told.stdout.split("Examples:")[0])}
    own = set(inspect.signature(juror.ask).parameters)
    assert options - own == {"help", "quiet"}
    assert own - options == {"reference", "progress"}
