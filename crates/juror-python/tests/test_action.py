"""The steps of `action.yml`, run as they stand there, with what a runner of GitHub gives them."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from conftest import PROJECT

ACTION = yaml.safe_load((PROJECT / "action.yml").read_text(encoding="utf-8"))
SHELLS = {"bash": "bash --noprofile --norc -eo pipefail {0}"}
SECRET = "not-to-be-printed"

REFERENCE = """
- template_id: capital_of_COUNTRY
  questions:
  - {id: norway, question_text: Capital of Norway?, reference_steps: [[{name: lookup, output: Oslo}]]}
  - {id: peru, question_text: Capital of Peru?, reference_steps: [[{name: lookup, output: Lima}]]}
"""


def answers(peru: str) -> str:
    steps = {"norway": "Oslo", "peru": peru}
    lines = [
        {"question_id": name, "actual_steps": [{"name": "lookup", "status": "success", "output": output}]}
        for name, output in steps.items()
    ]
    return "\n".join(map(json.dumps, lines))


class Comments(BaseHTTPRequestHandler):
    """The comments of a pull request, as GitHub's interface has them."""

    def do_GET(self) -> None:
        page = self.path.rsplit("page=", 1)[1]
        self.reply(self.server.comments if page == "1" else [])  # type: ignore[attr-defined]

    def do_POST(self) -> None:
        comments = self.server.comments  # type: ignore[attr-defined]
        comments.append({"id": len(comments), "body": self.body()})
        self.reply(comments[-1])

    def do_PATCH(self) -> None:
        comment = self.server.comments[int(self.path.rsplit("/", 1)[1])]  # type: ignore[attr-defined]
        comment["body"] = self.body()
        self.reply(comment)

    def body(self) -> str:
        assert self.headers["authorization"] == f"Bearer {SECRET}"
        return str(json.loads(self.rfile.read(int(self.headers["content-length"])))["body"])

    def reply(self, value: Any) -> None:
        body = json.dumps(value).encode()
        self.send_response(403 if self.server.is_fork and self.command != "GET" else 200)  # type: ignore[attr-defined]
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *said: object) -> None:
        """Says nothing."""


class Runner:
    """A scratch folder with what a runner sets up."""

    def __init__(self, folder: Path, server: ThreadingHTTPServer) -> None:
        self.folder, self.server = folder, server
        self.said = ""
        event = {"pull_request": {"number": 7}}
        (folder / "event.json").write_text(json.dumps(event))
        (folder / "reference.yaml").write_text(REFERENCE)

    @property
    def comments(self) -> list[dict[str, Any]]:
        return list(self.server.comments)  # type: ignore[attr-defined]

    @property
    def summary(self) -> str:
        return (self.folder / "summary").read_text()

    def run(self, **given: str) -> int:
        """Runs the action's steps in order, up to the first that fails; returns its exit code."""
        inputs = {name: str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
        self.values = {f"inputs.{name}": value for name, value in inputs.items()}
        self.values |= {f"inputs.{name.replace('_', '-')}": value for name, value in given.items()}
        self.values["inputs.token"] = SECRET
        self.said = ""
        for file in ("output", "summary", "path"):
            (self.folder / file).write_text("")
        for step in ACTION["runs"]["steps"]:
            if "run" in step and (code := self.step(step)) != 0:
                return code
        return 0

    def step(self, step: dict[str, Any]) -> int:
        script = self.folder / "script"
        script.write_text(step["run"])
        words = shlex.split(SHELLS.get(step["shell"], step["shell"]).replace("{0}", str(script)))
        environment = {**self.environment(), **{name: self.resolved(text) for name, text in step["env"].items()}}
        done = subprocess.run(words, cwd=self.folder, env=environment, text=True, capture_output=True)
        self.said += done.stdout + done.stderr
        for line in (self.folder / "output").read_text().splitlines():
            name, _, value = line.partition("=")
            self.values[f"steps.{step.get('id')}.outputs.{name}"] = value
        (self.folder / "output").write_text("")
        return done.returncode

    def resolved(self, text: str) -> str:
        return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: self.values[found[1]], text)

    def environment(self) -> dict[str, str]:
        bin = Path(sys.executable).parent
        python = os.pathsep.join([str(bin), "/usr/local/bin", "/usr/bin", "/bin"])
        return {
            "PATH": python,
            "HOME": str(self.folder),
            "RUNNER_TEMP": str(self.folder),
            "GITHUB_OUTPUT": str(self.folder / "output"),
            "GITHUB_STEP_SUMMARY": str(self.folder / "summary"),
            "GITHUB_PATH": str(self.folder / "path"),
            "GITHUB_EVENT_PATH": str(self.folder / "event.json"),
            "GITHUB_API_URL": f"http://127.0.0.1:{self.server.server_port}",
            "GITHUB_REPOSITORY": "garden/answers",
        }


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[Runner]:
    if not (Path(sys.executable).parent / "juror").exists():
        pytest.skip("the command `juror` is not installed here")
    with ThreadingHTTPServer(("127.0.0.1", 0), Comments) as server:
        server.comments, server.is_fork = [], False  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield Runner(tmp_path, server)
        server.shutdown()


def test_good_answers_pass_with_a_comment_and_a_report(runner: Runner) -> None:
    (runner.folder / "responses.jsonl").write_text(answers("Lima"))
    code = runner.run(reference="reference.yaml", responses="responses.jsonl", fail_under="steps_score=0.9\n")
    assert code == 0, runner.said
    assert runner.values["steps.judge.outputs.code"] == "0" and "all gates are met" in runner.said
    (comment,) = runner.comments
    assert comment["body"].startswith("<!-- juror eval: juror -->") and comment["body"] == runner.summary
    assert (runner.folder / "juror/report.html").exists() and (runner.folder / "juror/run").is_dir()
    assert "juror " in runner.said and SECRET not in runner.said


def test_a_gate_that_is_not_met_fails_after_the_comment(runner: Runner) -> None:
    (runner.folder / "responses.jsonl").write_text(answers("Quito"))
    files = {"reference": "reference.yaml", "responses": "responses.jsonl"}
    gates = "steps_score = 0.9\n\nsteps_score=0.1"
    assert runner.run(**files, fail_under=gates) == 1
    assert "::error::a gate is not met" in runner.said and "Quito" in runner.comments[0]["body"]
    # The next run replaces its own comment, and leaves those of others.
    (runner.folder / "responses.jsonl").write_text(answers("Lima"))
    assert runner.run(**files, fail_under=gates) == 0
    assert runner.run(**files, name="other") == 0
    marks = [one["body"].split("\n")[0] for one in runner.comments]
    assert marks == ["<!-- juror eval: juror -->", "<!-- juror eval: other -->"]
    assert "Quito" not in runner.comments[0]["body"]


def test_a_baseline_is_compared_with(runner: Runner) -> None:
    files = {"reference": "reference.yaml", "responses": "responses.jsonl", "baseline": "main/run"}
    (runner.folder / "responses.jsonl").write_text(answers("Lima"))
    assert runner.run(**files, folder="main") == 0
    assert "::notice::nothing to compare with: there is no main/run" in runner.said
    (runner.folder / "responses.jsonl").write_text(answers("Quito"))
    (runner.folder / "gates.yaml").write_text("gates:\n- {questions: [peru], may_break: 0}\n")
    assert runner.run(**files, gates="gates.yaml") == 1
    assert "peru" in runner.comments[-1]["body"] and "<!-- juror compare: juror -->" in runner.comments[-1]["body"]
    assert json.loads((runner.folder / "juror/compare.json").read_text())["verdict"] == "block"


def test_wrong_files_fail_without_a_comment(runner: Runner) -> None:
    assert runner.run(reference="reference.yaml", responses="nowhere.jsonl") == 2
    assert "nowhere.jsonl" in runner.said and runner.comments == []


def test_nothing_is_written_where_nothing_may_be(runner: Runner) -> None:
    (runner.folder / "responses.jsonl").write_text(answers("Lima"))
    files = {"reference": "reference.yaml", "responses": "responses.jsonl"}
    assert runner.run(**files, comment="false") == 0 and runner.comments == []
    runner.server.is_fork = True  # type: ignore[attr-defined]
    assert runner.run(**files) == 0 and "::warning::the comment could not be written" in runner.said
    (runner.folder / "event.json").write_text("{}")
    assert runner.run(**files) == 0 and "no comment" in runner.said


def test_inputs_are_never_part_of_a_script() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
    used = re.findall(r"inputs\.([\w-]+)", (PROJECT / "action.yml").read_text(encoding="utf-8"))
    assert set(used) == set(ACTION["inputs"])


def test_the_shell_of_other_forges_does_the_same(runner: Runner) -> None:
    page = (PROJECT / "docs/pipelines.md").read_text(encoding="utf-8")
    shell = re.findall(r"^```sh[^\n]*\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)[0]
    install, rest = shell.split("\n", 1)
    assert install.startswith("pip install")
    (runner.folder / "gates.yaml").write_text("gates:\n- {questions: [peru], may_break: 0}\n")

    def run(peru: str) -> int:
        (runner.folder / "responses.jsonl").write_text(answers(peru))
        environment = {**runner.environment(), "CI_COMMIT_REF_SLUG": "branch"}
        return subprocess.run(["sh", "-c", rest], cwd=runner.folder, env=environment).returncode

    assert run("Lima") == 0 and (runner.folder / "juror/report.junit.xml").exists()
    (runner.folder / "juror/run").rename(runner.folder / "main-run")
    assert run("Lima") == 0 and run("Quito") == 1
    assert (runner.folder / "juror/comment.md").read_text().startswith("<!-- juror compare: answers -->")
