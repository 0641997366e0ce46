"""Numbers of any size, and those that JSON does not have."""

from __future__ import annotations

import datetime
import json
import math
from pathlib import Path
from typing import Any

import juror
import pytest
import yaml

LARGE = 123456789012345678901


def step(output: Any, **more: Any) -> dict[str, Any]:
    return {"name": "count", "id": "s1", "status": "success", "output": output, **more}


@pytest.mark.parametrize(
    ("expected", "actual", "score"),
    [
        ({"id": LARGE}, {"id": LARGE}, 1.0),
        ({"id": LARGE}, {"id": LARGE + 1}, 0.0),
        ({"id": 10**22}, {"id": 1e22}, 1.0),
        ([1, 2], [1.0, 2.0], 1.0),
    ],
)
def test_large_numbers_compare_exactly(expected: Any, actual: Any, score: float) -> None:
    media_type = {"output_media_type": "application/json"}
    assert juror.match_steps([[step(expected, **media_type)]], [step(actual)])[0] == score


def test_large_ids_of_documents_compare_exactly() -> None:
    assert juror.recall_at_k([LARGE], [LARGE]) == 1.0
    assert juror.recall_at_k([LARGE], [LARGE + 1]) == 0.0
    assert juror.average_precision([LARGE, 1], [LARGE + 1, 1.0]) == 0.25


def responses_with(value: Any) -> dict[str, Any]:
    step = {"name": "a", "args": {"x": value}, "status": "success", "output": "x"}
    return {"q": {"question_id": "q", "elapsed_sec": value, "input_tokens": 5, "actual_steps": [step]}}


REFERENCE = [
    {
        "template_id": "t",
        "questions": [
            {"id": "q", "question_text": "x", "reference_steps": [[{"name": "a", "output": "x"}]]}
        ],
    }
]


@pytest.mark.parametrize(
    ("value", "word"), [(math.nan, "NaN"), (math.inf, "Infinity"), (-math.inf, "-Infinity")]
)
def test_numbers_that_are_none_are_read_wherever_they_come_from(
    value: float, word: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    responses = responses_with(value)
    (tmp_path / "r.json").write_text(json.dumps(responses))
    (tmp_path / "r.jsonl").write_text(json.dumps(responses["q"]) + "\n")
    (tmp_path / "r.yaml").write_text(yaml.safe_dump(responses))
    for source in (responses, tmp_path / "r.json", tmp_path / "r.jsonl", tmp_path / "r.yaml"):
        caplog.clear()
        [result] = juror.run_evaluation(REFERENCE, source)
        assert "error" not in result and result["steps_score"] == 1.0, source
        kept = value if source is responses else word
        copied = [result["elapsed_sec"], result["actual_steps"][0]["args"]["x"]]
        assert [repr(one) for one in copied] == [repr(kept)] * 2, source
        [told] = [record.getMessage() for record in caplog.records]
        assert f"`{word}` is read as text" in told, source
        aggregates = juror.compute_aggregates([result])
        assert aggregates["micro"]["elapsed_sec"]["sum"] == 0, source
        assert aggregates["micro"]["input_tokens"]["sum"] == 5, source


def test_results_hand_on_what_json_does_not_know() -> None:
    day = datetime.date(2026, 5, 1)
    taken = {"name": "a", "args": {"day": day}, "status": "success", "output": "x"}
    figures: dict[str, Any] = {"elapsed_sec": math.nan, "total_tokens": "12"}
    response = {"question_id": "q", "actual_steps": [taken], **figures}
    [result] = juror.run_evaluation(REFERENCE, {"q": response})
    assert math.isnan(result["elapsed_sec"]) and result["total_tokens"] == "12"
    assert result["actual_steps"][0]["args"]["day"] is day
    with pytest.raises(ValueError, match="not JSON compliant"):
        json.dumps(result, allow_nan=False, default=str)
    micro = juror.compute_aggregates([result])["micro"]
    assert [micro[name]["sum"] for name in ("elapsed_sec", "total_tokens")] == [0, 0]


def test_a_reference_with_numbers_that_are_none_is_read(tmp_path: Path) -> None:
    path = tmp_path / "reference.json"
    path.write_text(json.dumps(REFERENCE).replace('"name"', '"weight": NaN, "name"'))
    [template] = juror.read_reference(path)
    [[step]] = template["questions"][0]["reference_steps"]
    assert step["weight"] == "NaN"
