"""`juror.testing`: recorded answers and virtual tools in a test suite."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import juror
import pytest
from conftest import PROJECT
from juror.testing import assert_answers, virtual_tools

Data = Any

EXAMPLES = PROJECT / "examples"
FOLDERS = {"tools": EXAMPLES / "tools", "cache": EXAMPLES / "tool_cache"}


def question(name: str, capital: str) -> dict[str, Any]:
    steps = [[{"name": "lookup", "args": {"q": name}, "output": capital}]]
    return {"id": name, "question_text": f"What is the capital of {name}?", "reference_steps": steps}


def response(name: str, capital: str) -> dict[str, Any]:
    step = {"name": "lookup", "args": {"q": name}, "id": "s", "status": "success", "output": capital}
    return {"question_id": name, "actual_steps": [step], "elapsed_sec": 1.0}


CAPITALS = {"Norway": "Oslo", "Peru": "Lima", "Chad": "N'Djamena", "Togo": "Lomé"}
REFERENCE = [{"template_id": "capitals", "questions": [question(*one) for one in CAPITALS.items()]}]
RIGHT = {name: response(name, capital) for name, capital in CAPITALS.items()}
WRONG = {**RIGHT, "Peru": response("Peru", "Quito"), "Chad": {"question_id": "Chad", "error": "timeout"}}


def failure(*given: Any, **asked: Any) -> str:
    with pytest.raises(AssertionError) as failed:
        assert_answers(*given, **asked)
    return str(failed.value)


def test_good_answers_pass_and_return_results() -> None:
    results = assert_answers(RIGHT, REFERENCE, steps_score=1.0, max_errors=0)
    assert [result["steps_score"] for result in results] == [1.0] * 4


def test_each_miss_is_told_with_its_reason() -> None:
    said = failure(WRONG, REFERENCE, steps_score=0.9, coverage=0.5)
    assert said == textwrap.dedent("""\
        the answers are not good enough
          steps_score is 0.6667, at least 0.9 was asked
        missed by 2 of 4 answers
          Peru (capitals): What is the capital of Peru?
            steps_score 0.000
            lookup (group 1): expected `Lima`, got `Quito`
          Chad (capitals): What is the capital of Chad?
            error: timeout""")


def test_coverage_and_errors_are_asked_for_as_gates_do() -> None:
    assert "75" in failure(WRONG, REFERENCE, steps_score=0.1)
    assert_answers(WRONG, REFERENCE, steps_score=0.1, coverage="70%")
    assert "timeout" in failure(WRONG, REFERENCE, max_errors=0)
    assert_answers(WRONG, REFERENCE, max_errors="25%")


def test_the_list_is_bounded() -> None:
    said = failure({}, REFERENCE, steps_score=0.5, most_listed=1)
    assert said.endswith("error: no response\n  and 3 more")


def test_no_score_may_be_worse_than_in_the_baseline(tmp_path: Path) -> None:
    (tmp_path / "before.json").write_text(json.dumps(juror.run_evaluation(REFERENCE, RIGHT)))
    worse = {**RIGHT, "Peru": response("Peru", "Quito")}
    slower = {name: {**one, "elapsed_sec": 9.0} for name, one in RIGHT.items()}
    for baseline in (juror.run_evaluation(REFERENCE, RIGHT), "before.json"):
        said = failure(worse, REFERENCE, baseline=baseline)
        assert "steps_score fell by 0.2500, from 1.0000 to 0.7500 over 4 questions" in said
        assert "it may fall by 0.02" in said
        assert "    steps_score 0.000, 1.000 in the baseline\n    lookup (group 1): expected `Lima`" in said
        assert "Norway" not in said
        assert_answers(worse, REFERENCE, baseline=baseline, margin=0.25)
        assert_answers(slower, REFERENCE, baseline=baseline)


def test_metrics_of_one_s_own_can_be_asked_for() -> None:
    def brevity(case: dict[str, Any]) -> float:
        return 1.0 if case["question_id"] != "Togo" else 0.0

    said = failure(RIGHT, REFERENCE, brevity=0.9, metrics={"brevity": brevity})
    assert "brevity" in said and "Togo (capitals)" in said and "Norway" not in said
    assert_answers(RIGHT, REFERENCE, brevity=0.7, metrics={"brevity": brevity})


def test_a_call_that_asks_for_nothing_or_for_the_unknown_is_refused() -> None:
    with pytest.raises(TypeError, match="asks for nothing"):
        assert_answers(RIGHT, REFERENCE)
    with pytest.raises(juror.SettingsError, match="step_score"):
        assert_answers(RIGHT, REFERENCE, step_score=0.9)


SUITE = """
from juror.testing import assert_answers


def test_answers():
    assert_answers("responses.jsonl", "reference.json", steps_score=0.9, baseline="before.json")


def test_an_agent(juror_tools):
    reply = juror_tools["current_for_garden_weather"](garden="Thornfold")
    assert reply["celsius"] == 11.5
    assert [call["api_name"] for call in juror_tools.calls] == ["Current"]
"""


def run_pytest(folder: Path, *words: str) -> tuple[int, str]:
    words = ("-p", "no:cacheprovider", "-c", str(folder / "pytest.ini"), *words)
    done = subprocess.run([sys.executable, "-m", "pytest", *words], capture_output=True, text=True, cwd=folder)
    return done.returncode, done.stdout + done.stderr


def test_a_suite_of_pytest_shows_the_reasons(tmp_path: Path) -> None:
    (tmp_path / "reference.json").write_text(json.dumps(REFERENCE))
    (tmp_path / "responses.jsonl").write_text("\n".join(map(json.dumps, WRONG.values())))
    (tmp_path / "before.json").write_text(json.dumps(juror.run_evaluation(REFERENCE, RIGHT)))
    (tmp_path / "test_agent.py").write_text(SUITE)
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["juror.testing.plugin"]\n')
    ini = "[pytest]\njuror_tools = {}\njuror_cache =\n    {}\n"
    (tmp_path / "pytest.ini").write_text(ini.format(*(os.path.relpath(one, tmp_path) for one in FOLDERS.values())))
    code, said = run_pytest(tmp_path)
    assert code == 1 and "1 failed, 1 passed" in said
    assert "E       AssertionError: the answers are not good enough" in said
    assert "E           lookup (group 1): expected `Lima`, got `Quito`" in said
    assert "E           error: timeout" in said
    # What is shown is the test, not Juror's own code.
    assert "_answers.py" not in said
    (tmp_path / "responses.jsonl").write_text("\n".join(map(json.dumps, RIGHT.values())))
    code, said = run_pytest(tmp_path)
    assert code == 0 and "2 passed" in said
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    code, said = run_pytest(tmp_path, "-k", "agent")
    assert code == 1 and "needs pytest's setting `juror_tools` or `juror_cache`" in said


def test_the_page_about_it_is_true(tmp_path: Path) -> None:
    page = (PROJECT / "docs/testing.md").read_text("utf-8")
    blocks = re.findall(r"^```(python|ini|text)[^\n]*\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    (conftest,) = [text for _, text in blocks if text.startswith("pytest_plugins")]
    (ini,) = [text for kind, text in blocks if kind == "ini"]
    (failed,) = [text for kind, text in blocks if kind == "text"]
    code = [text for kind, text in blocks if kind == "python" and text != conftest]
    (tmp_path / "examples").symlink_to(EXAMPLES, target_is_directory=True)
    files = {"conftest.py": conftest, "pytest.ini": ini, "test_page.py": "\n\n".join(code)}
    two = {name: CAPITALS[name] for name in ("Norway", "Peru")}
    template = {"template_id": "capital_of_COUNTRY", "questions": [question(*one) for one in two.items()]}
    template["questions"][1]["id"] = "peru"
    files["reference.yaml"] = json.dumps([template])
    for name, text in files.items():
        (tmp_path / name).write_text(text)

    def answer(peru: str) -> None:
        lines = [response("Norway", "Oslo"), {**response("Peru", peru), "question_id": "peru"}]
        (tmp_path / "responses.jsonl").write_text("\n".join(map(json.dumps, lines)))

    answer("Lima")
    words = ["eval", "reference.yaml", "responses.jsonl", "--run", "runs/main", "--quiet"]
    subprocess.run([sys.executable, "-m", "juror", *words], check=True, cwd=tmp_path)
    status, said = run_pytest(tmp_path)
    assert status == 0 and "3 passed" in said, said
    answer("Quito")
    status, said = run_pytest(tmp_path)
    assert status == 1 and "1 failed, 2 passed" in said
    assert failed in said, said


def test_virtual_tools_answer_and_are_recorded(tmp_path: Path) -> None:
    with virtual_tools(**FOLDERS) as tools:
        assert tools.url.startswith("http://127.0.0.1:")
        tool = tools["opening_hours_for_garden_visits"]
        assert tool(garden="Thornfold", date="2026-05-01")["open"] == "09:00"
        assert asyncio.run(tool.acall(garden="Thornfold", date="2026-05-01"))["open"] == "09:00"
        missed = tool(garden="Nowhere", date="never")
        assert missed["error"]
        found = tools.search_tools("What is the weather?", k=1)
        assert [one.name for one in found] == ["current_for_garden_weather"] and found[0].name in tools
        assert len(tools) == len(list(tools)) >= 4
        assert [call["api_name"] for call in tools.calls] == ["Opening hours"] * 3
    assert tool(garden="Thornfold", date="2026-05-01")["error"].startswith("the tools do not answer")
    assert not (tmp_path / ".juror").exists()


def test_tools_that_cannot_be_served_are_told_of(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="nowhere"), virtual_tools(tools=tmp_path / "nowhere"):
        pass


def test_nothing_of_pytest_is_needed() -> None:
    code = "import sys; sys.modules['pytest'] = None; import juror.testing; juror.testing.assert_answers"
    subprocess.run([sys.executable, "-c", code], check=True)
