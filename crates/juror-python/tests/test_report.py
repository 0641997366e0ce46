"""Reports as one HTML file."""

from __future__ import annotations

import base64
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import juror
import pytest

STEP = {"name": "lookup", "status": "success"}


def result(number: int, found: str) -> dict[str, Any]:
    return {
        "template_id": f"t{number % 2}",
        "question_id": f"q{number}",
        "question_text": "Which?",
        "reference_steps": [[{"name": "lookup", "output": "Oslo"}]],
        "status": "success",
        "actual_steps": [{**STEP, "output": found}],
        "steps_score": float(found == "Oslo"),
    }


def index_of(path: Path) -> Any:
    found = re.search(r'id="juror-index">([^<]+)<', path.read_text(encoding="utf-8"))
    assert found
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def test_results_become_a_page(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    juror.report(path, [result(number, "Oslo" if number else "Rome") for number in range(4)])
    index = index_of(path)
    assert index["questions"]["id"] == ["q0", "q1", "q2", "q3"]
    assert index["questions"]["scores"][0] == [[0.0, 1.0, 1.0, 1.0]]


def test_comparisons_become_a_page(tmp_path: Path) -> None:
    before = [result(number, "Oslo") for number in range(4)]
    after = [result(number, "Oslo" if number else "Rome") for number in range(4)]
    path = tmp_path / "changes.html"
    juror.compare(before, after).report(path)
    index = index_of(path)
    assert [run["label"] for run in index["runs"]] == ["A", "B"]
    assert index["questions"]["flags"] == [1, 0, 0, 0]


def test_results_of_files_have_a_report_and_a_table(tmp_path: Path) -> None:
    reference = [{"template_id": "t", "questions": [
        {"id": "q", "question_text": "Which?", "reference_steps": [[{"name": "lookup", "output": "Oslo"}]]},
    ]}]
    (tmp_path / "reference.json").write_text(json.dumps(reference))
    response = {"question_id": "q", "actual_steps": [{**STEP, "output": "Oslo"}]}
    (tmp_path / "responses.jsonl").write_text(json.dumps(response))
    results = juror.run_evaluation(tmp_path / "reference.json", tmp_path / "responses.jsonl")
    results.report(tmp_path / "report.html")  # type: ignore[attr-defined]
    assert index_of(tmp_path / "report.html")["questions"]["id"] == ["q"]
    assert "steps_score" in results._repr_html_()  # type: ignore[attr-defined]


@pytest.fixture
def runs(tmp_path: Path) -> tuple[Path, Path]:
    """Two files of results; the first question is wrong in the second."""
    paths = (tmp_path / "before.jsonl", tmp_path / "after.jsonl")
    for path, first in zip(paths, ("Oslo", "Rome"), strict=True):
        results = [result(number, "Oslo" if number else first) for number in range(4)]
        path.write_text("".join(json.dumps(own) + "\n" for own in results))
    return paths


def test_a_run_is_an_object(tmp_path: Path, runs: tuple[Path, Path]) -> None:
    before, after = (juror.Run(path) for path in runs)
    assert (before.name, before.manifest) == ("before.jsonl", {})
    assert [own["question_id"] for own in after.results] == ["q0", "q1", "q2", "q3"]
    assert before.results is before.results
    assert after.statistics().micro["steps_score"]["mean"] == 0.75
    assert "steps_score" in after._repr_html_()
    assert repr(before) == f"juror.Run({str(runs[0])!r})"
    after.report(tmp_path / "report.html")
    assert index_of(tmp_path / "report.html")["questions"]["scores"][0] == [[0.0, 1.0, 1.0, 1.0]]
    assert juror.compare(before, after)["candidates"][0]["metrics"]["steps_score"]["delta"] == -0.25
    juror.report(tmp_path / "both.html", before, after)
    assert index_of(tmp_path / "both.html")["questions"]["flags"] == [1, 0, 0, 0]


def test_a_folder_of_a_run_is_one_too(tmp_path: Path) -> None:
    reference = [{"template_id": "t", "questions": [
        {"id": "q", "question_text": "Which?", "reference_steps": [[{"name": "lookup", "output": "Oslo"}]]},
    ]}]
    (tmp_path / "reference.json").write_text(json.dumps(reference))
    response = {"question_id": "q", "actual_steps": [{**STEP, "output": "Oslo"}]}
    (tmp_path / "responses.jsonl").write_text(json.dumps(response))
    folder = tmp_path / "run"
    line = ["eval", str(tmp_path / "reference.json"), str(tmp_path / "responses.jsonl"), "--no-model"]
    subprocess.run([sys.executable, "-m", "juror", *line, "--run", str(folder), "-q"], check=True)
    run = juror.Run(folder)
    assert run.manifest["kind"] == "eval" and run.path == folder
    assert run.name.endswith("responses.jsonl")
    assert run.results[0]["steps_score"] == 1.0
    assert "steps_score" in run._repr_html_()


def test_what_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no run"):
        juror.Run(tmp_path / "nothing")
    torn = tmp_path / "torn.jsonl"
    torn.write_text(json.dumps(result(0, "Oslo")) + "\n{\"template_id\": ")
    with pytest.raises(juror.DatasetError, match=r"torn.jsonl:2:\d+: not JSON"):
        _ = juror.Run(torn).results
    other = tmp_path / "other.json"
    other.write_text("5")
    with pytest.raises(juror.DatasetError, match="no list of results"):
        _ = juror.Run(other).results


def test_wrong_requests_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="HTML file"):
        juror.report(tmp_path / "report.pdf", [result(1, "Oslo")])
    with pytest.raises(ValueError, match="max_size"):
        juror.report(tmp_path / "report.html", [result(1, "Oslo")], max_size=0)
    with pytest.raises(ValueError, match="no results"):
        juror.report(tmp_path / "report.html", [])
    with pytest.raises(OSError, match="No such file"):
        juror.report(tmp_path / "nowhere" / "report.html", [result(1, "Oslo")])
    assert list(tmp_path.iterdir()) == []
