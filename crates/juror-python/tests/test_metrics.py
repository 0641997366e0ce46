"""Metrics of the user's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import juror
from juror import _metrics

Data = Any


@pytest.fixture(autouse=True)
def nothing_registered() -> Iterator[None]:
    _metrics._registered.clear()
    yield
    _metrics._registered.clear()


def test_a_registered_metric_takes_part(reference: Data, responses: Data) -> None:
    @juror.metric("length")
    def length(case: Data) -> int:
        return len(case["actual_answer"])

    assert length({"actual_answer": "four"}) == 4
    results = juror.run_evaluation(reference, responses)
    assert results[0]["length"] == 4
    assert "length" not in results[1] and "length_error" not in results[1]
    aggregates = juror.compute_aggregates(results)
    spread = {"sum": 4, "mean": 4.0, "median": 4, "min": 4, "max": 4}
    assert aggregates["micro"]["length"] == spread
    assert aggregates["per_template"]["capitals"]["length"] == spread
    assert aggregates["macro"]["length"] == {"mean": 4.0}


def test_metrics_can_be_given(reference: Data, responses: Data, tmp_path: Any) -> None:
    import json

    metrics = {
        "tone": lambda case: {"warmth": 0.5, "clarity": 1},
        "broken": lambda case: case["nothing"],
        "absent": lambda case: None,
        "wordy": lambda case: "many words",
        "endless": lambda case: float("inf"),
    }
    results = juror.run_evaluation(reference, responses, metrics=metrics)
    first = results[0]
    assert (first["tone_warmth"], first["tone_clarity"]) == (0.5, 1)
    assert first["broken_error"] == "KeyError: 'nothing'"
    assert "expected a number" in first["wordy_error"]
    assert first["endless_error"] == "ValueError: the value is inf"
    assert not [key for key in first if key.startswith("absent")]
    aggregates = juror.compute_aggregates(results, metrics=metrics)
    assert aggregates["micro"]["tone_warmth"]["mean"] == 0.5
    assert aggregates["macro"]["tone_clarity"]["mean"] == 1.0
    assert "tone_warmth" not in juror.compute_aggregates(results)["micro"]
    path = tmp_path / "results.json"
    path.write_text(json.dumps(results))
    assert juror.compute_aggregates(path, metrics=metrics) == aggregates


def test_errors_are_cases_where_the_profile_scores_them(reference: Data, responses: Data) -> None:
    metrics = {"one": lambda case: 1}
    results = juror.run_evaluation(reference, responses, profile="6", metrics=metrics)
    assert [result["one"] for result in results] == [1, 1]


@pytest.mark.parametrize("name", ["steps_score", "answer", "retrieval", "question_id", "", "error"])
def test_names_of_results_are_taken(name: str, reference: Data, responses: Data) -> None:
    with pytest.raises(ValueError, match="choose another name"):
        juror.metric(name)
    with pytest.raises(ValueError, match="choose another name"):
        juror.run_evaluation(reference, responses, metrics={name: lambda case: 1})
