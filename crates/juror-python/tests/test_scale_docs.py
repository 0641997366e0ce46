"""The recipes of ``docs/scale.md``, as they stand there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import juror
import pytest

PROJECT = Path(__file__).resolve().parents[3]
N_ROWS = 2500


def blocks() -> dict[str, str]:
    """The first block of Python under each heading."""
    text = (PROJECT / "docs/scale.md").read_text(encoding="utf-8")
    sections = re.split(r"^###? ", text, flags=re.MULTILINE)[1:]
    found = {}
    for section in sections:
        name, _, rest = section.partition("\n")
        code = re.search(r"```python[^\n]*\n(.*?)```", rest, flags=re.DOTALL)
        if code is not None:
            found[name] = code[1]
    return found


def rows() -> list[dict[str, Any]]:
    question = {"question_text": "?", "reference_steps": [[{"name": "lookup", "output": "Oslo"}]]}
    return [
        {
            "template_id": f"t{number % 7}",
            "question_id": f"q{number}",
            "question": json.dumps(question),
            "response": json.dumps({"actual_steps": [{"name": "lookup", "output": "Oslo" if number % 5 else "Rome"}]}),
        }
        for number in range(N_ROWS)
    ]


@pytest.fixture(autouse=True)
def answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.Table.from_pylist(rows()), "answers.parquet", row_group_size=500)


@pytest.mark.parametrize("name", ["Polars", "DuckDB", "DataFusion", "Daft"])
def test_the_recipes_run(name: str) -> None:
    pytest.importorskip(name.lower())
    names: dict[str, Any] = {}
    exec(compile(blocks()[name], f"docs/scale.md, {name}", "exec"), names)
    assert names["mean"] == 0.8


def test_an_evaluator_is_called_as_described() -> None:
    given = juror.to_arrow(rows())
    names: dict[str, Any] = {"batch": given}
    exec(compile(blocks()["Engines"], "docs/scale.md, Engines", "exec"), names)
    assert len(names["table"]) == names["partial"].n_answers == N_ROWS
    assert names["partial"].finish()["aggregates"]["micro"]["steps_score"]["mean"] == 0.8


def test_partials_merge_as_described(capsys: pytest.CaptureFixture[str]) -> None:
    text = (PROJECT / "docs/scale.md").read_text(encoding="utf-8")
    (code,) = [code for code in re.findall(r"```python[^\n]*\n(.*?)```", text, flags=re.DOTALL) if ".merge(" in code]
    evaluate = juror.Evaluator(profile="6")
    first, *others = [evaluate.partial(juror.to_arrow(rows()[at::3])) for at in range(3)]
    exec(compile(code, "docs/scale.md, merging", "exec"), {"first": first, "others": others})
    assert "'mean': 0.8" in capsys.readouterr().out


def test_engines_are_called_as_described() -> None:
    """They run in ``bench/engines``; here what is called has to exist."""
    for engine in ("Ray", "Attempts on Ray", "Spark"):
        for called in re.findall(r"juror\.(ray|spark)\.(\w+)\(", blocks()[engine]):
            assert callable(getattr(getattr(juror, called[0]), called[1]))
