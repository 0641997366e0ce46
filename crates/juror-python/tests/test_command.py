"""The command that the package brings."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

import juror
import pytest
from conftest import PROJECT

EXAMPLES = PROJECT / "examples"


def command(*arguments: object, **options: Any) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "juror", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, encoding="utf-8", timeout=120, **options)


def test_the_module_is_the_program() -> None:
    done = command("demo")
    assert done.returncode == 0 and done.stdout.startswith("profile 6 · 19 questions in 6 templates")
    assert done.stderr.startswith("no model is asked")
    assert command("--version").stdout == f"juror {juror.__version__}\n"


def test_the_command_is_installed_beside_the_interpreter() -> None:
    scripts = sysconfig.get_path("scripts")
    program = shutil.which("juror", path=scripts)
    if program is None:
        pytest.skip("the package is used from its folder")
    done = subprocess.run([program, "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"juror {juror.__version__}\n")


def test_the_program_finds_itself_when_it_needs_a_second_process() -> None:
    done = command("demo", "--bench")
    assert done.returncode == 0, done.stderr
    assert "both right APIs, and an answer from their replies" in done.stdout


def test_exit_codes_are_those_of_the_program() -> None:
    files = EXAMPLES / "reference.yaml", EXAMPLES / "responses.jsonl"
    assert command("eval", *files, "--no-model", "--quiet").returncode == 0
    gate = ["--fail-under", "steps_score=0.99"]
    assert command("eval", *files, "--no-model", "--quiet", *gate).returncode == 1
    wrong = command("evil")
    assert wrong.returncode == 2 and "juror" in wrong.stderr and "__main__" not in wrong.stderr
    gone = command("eval", "nowhere.yaml", files[1])
    assert gone.returncode == 2 and "nowhere.yaml" in gone.stderr and "Traceback" not in gone.stderr


def test_data_goes_through_pipes_whole() -> None:
    whole = command("schema").stdout
    assert whole.startswith("{") and whole.endswith("}\n")
    responses = (EXAMPLES / "responses.jsonl").read_text("utf-8")
    judged = command("eval", EXAMPLES / "reference.yaml", "-", "--no-model", "--json", input=responses)
    assert judged.returncode == 0 and judged.stdout.startswith("{"), judged.stderr
    words = [sys.executable, "-m", "juror", "completions", "bash"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as reader_left:
        assert reader_left.stdout is not None and reader_left.stderr is not None
        reader_left.stdout.close()
        assert reader_left.stderr.read() == b""


SLOW_AGENT = """
import json, sys, time
print(json.dumps({"type": "ready"}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if asked["type"] == "answer":
        time.sleep(0 if asked["query_id"] == "1" else 600)
        print(json.dumps({"type": "answered", "query_id": asked["query_id"], "final_answer": "x"}), flush=True)
"""


def interrupts() -> None:
    """Whoever started the tests may have turned interrupts off."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise")
def test_ctrl_c_ends_the_program_as_the_program_wants(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(SLOW_AGENT)
    places = ["--queries", EXAMPLES / "queries.json", "--tools", EXAMPLES / "tools"]
    agent = ["--agent", f"command:{sys.executable} agent.py", "--judge", "none", "--run", "run", "-o", "out.json"]
    words = [sys.executable, "-m", "juror", "bench", *map(str, places), *agent]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, preexec_fn=interrupts) as child:
        assert child.stderr is not None
        assert child.stderr.readline().startswith("[1/4]")
        child.send_signal(signal.SIGINT)
        said = child.stderr.read()
    assert child.returncode == 3, said
    assert "stopped: interrupted" in said and "Traceback" not in said


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise")
def test_ctrl_c_ends_at_once_what_does_not_listen() -> None:
    words = [sys.executable, "-m", "juror", "validate", "-"]
    options: dict[str, Any] = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "preexec_fn": interrupts}
    with subprocess.Popen(words, **options) as child:
        assert child.stdin is not None and child.stderr is not None
        # More than a pipe holds: when this is written, the program reads.
        child.stdin.write(b" " * (1 << 20))
        child.send_signal(signal.SIGINT)
        assert child.stderr.read() == b""
    assert child.returncode == -signal.SIGINT
