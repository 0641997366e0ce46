"""That documents are true."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from conftest import PROJECT
from scripted import scripted

import juror
from juror import _metrics

PAGES = [
    "README.md",
    "crates/juror-python/README.md",
    "docs/comparing-runs.md",
    "docs/from-graphrag-eval.md",
    "docs/python-agents.md",
    "docs/python-tutorial.md",
    "docs/python.md",
]
"""The pages whose blocks of Python run here, unless a block names another test or says why not."""

MODEL = "http://127.0.0.1:8000"
"""The address of the user's own model on pages."""


def blocks(page: str) -> Iterator[tuple[int, str]]:
    """The blocks of Python without a note, with the lines before them."""
    text = (PROJECT / page).read_text(encoding="utf-8")
    for block in re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        yield text.count("\n", 0, block.start(1)), block[1]


@pytest.fixture
def reader(tmp_path: Path) -> dict[str, Any]:
    """What readers of pages have: files and runs in the folder, and names."""
    (tmp_path / "examples").symlink_to(PROJECT / "examples", target_is_directory=True)
    question = {"question_text": "?", "reference_steps": [[{"name": "lookup", "output": "Oslo"}]]}
    reference = [{"template_id": "t", "questions": [{"id": f"q{n}", **question} for n in range(20)]}]
    steps = [{"name": "lookup", "status": "success", "output": "Oslo"}]
    responses = {
        f"q{n}": {"question_id": f"q{n}", "actual_answer": "It is Oslo.", "actual_steps": steps, "total_tokens": 9}
        for n in range(20)
    }
    (tmp_path / "reference.yaml").write_text(json.dumps(reference))
    (tmp_path / "reference.jsonl").write_text(json.dumps(reference[0]))
    (tmp_path / "responses.jsonl").write_text("\n".join(map(json.dumps, responses.values())))
    (tmp_path / "gates.yaml").write_text("gates:\n- {metric: steps_score, max_drop: 0.5}\n")
    for name in ("main", "pr-412", "monday", "tuesday"):
        words = ["eval", "reference.yaml", "responses.jsonl", "--no-model", "--quiet", "--run", f"runs/{name}"]
        subprocess.run([sys.executable, "-m", "juror", *words], check=True)
    return {"__name__": "page", "juror": juror, "reference": reference, "responses": responses}


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run(page: str, reader: dict[str, Any], tmp_path: Path) -> None:
    names = {**reader, **assumed(page, reader)}
    own = list(blocks(page))
    assert own
    asks = any(MODEL in block for _, block in own)
    with scripted({}, tmp_path) if asks else nullcontext(MODEL) as address:
        try:
            for before, block in own:
                # Lines are counted as in the document.
                code = "\n" * before + block.replace(MODEL, address)
                exec(compile(code, page, "exec"), names)
        finally:
            _metrics._registered.clear()


def assumed(page: str, reader: dict[str, Any]) -> dict[str, Any]:
    """Names that a page takes for granted."""
    reference, responses = reader["reference"], reader["responses"]
    if page == "README.md":
        return {"reference_qas": reference, "chat_responses": responses}
    if page != "docs/python.md":
        return {}
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    results = juror.run_evaluation(reference, responses)
    rows = [{"question_id": name, "response": json.dumps(response)} for name, response in responses.items()]
    return {
        "polars": polars,
        "pyarrow": pyarrow,
        "batch": juror.to_arrow(rows),
        "a": results,
        "b": results,
        "more": [],
        "my_agent": lambda question: {
            "final_answer": "It is Oslo.",
            "steps": [{"name": "lookup", "output": "Oslo"}],
            "input_tokens": 8,
            "output_tokens": 1,
        },
        "responses_of_main": responses,
        "responses_of_branch": responses,
        "results_before": results,
        "results_after": results,
    }


def test_the_tutorial_says_what_it_prints(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, Any] = {}
    try:
        for _, block in blocks("docs/python-tutorial.md"):
            exec(block, names)
    finally:
        _metrics._registered.clear()
    assert "norway success 1.0" in capsys.readouterr().out


def test_everything_public_is_documented() -> None:
    pages = ["docs/python.md", "docs/python-agents.md"]
    page = "".join((PROJECT / page).read_text(encoding="utf-8") for page in pages)
    for name in juror.__all__:
        assert getattr(juror, name).__doc__, name
        hidden = name in ("JurorError", "LocatedError", "Problem", "Matching", "Pair", "__version__")
        assert hidden or name in page, f"{pages} do not tell of {name}"
