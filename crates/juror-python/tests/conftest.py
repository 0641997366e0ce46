"""What several tests use."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def no_model(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test asks a real model, or leaves files behind."""
    for name in list(os.environ):
        if name.endswith(("_API_KEY", "_BASE_URL")):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


def recorded_cases() -> Path | None:
    """The recorded cases, where they are at hand."""
    folder = Path(os.environ.get("JUROR_VECTORS", PROJECT.parent / "shared/vectors"))
    return folder if folder.is_dir() else None


def cases(folder: str, *files: str) -> Iterator[dict[str, Any]]:
    """The cases of some recorded files, or a skipped test."""
    recorded = recorded_cases()
    if recorded is None:
        pytest.skip("no recorded cases here")
    for file in files:
        with open(recorded / folder / f"{file}.jsonl", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


@pytest.fixture
def reference() -> list[dict[str, Any]]:
    """One template of two questions."""
    return [
        {
            "template_id": "capitals",
            "questions": [
                {
                    "id": "q1",
                    "question_text": "Capital of Norway?",
                    "reference_answer": "Oslo",
                    "reference_steps": [[{"name": "lookup", "args": {"q": "Norway"}, "output": "Oslo"}]],
                },
                {"id": "q2", "question_text": "Capital of Peru?", "reference_answer": "Lima"},
            ],
        }
    ]


@pytest.fixture
def responses() -> dict[str, Any]:
    """An answer with a step, and an error."""
    return {
        "q1": {
            "question_id": "q1",
            "actual_answer": "Oslo",
            "actual_steps": [
                {"name": "lookup", "args": {"q": "Norway"}, "id": "c1", "status": "success", "output": "Oslo"}
            ],
            "input_tokens": 10,
            "output_tokens": 2,
            "total_tokens": 12,
            "elapsed_sec": 0.5,
        },
        "q2": {"question_id": "q2", "status": "error", "error": "timeout"},
    }
