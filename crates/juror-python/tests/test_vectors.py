"""Recorded cases through Python: by the functions, and by whole evaluations."""

from __future__ import annotations

import asyncio
import copy
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import cases
from same import differences, is_number

import juror

PROFILES = {"5.2.0": "5", "6.4": "6"}


def evaluate(reference: Any, responses: Any, profile: str, config: Any = None) -> list[dict[str, Any]]:
    """An evaluation: profile 6 through the awaitable, as the newer library is used."""
    before = copy.deepcopy((reference, responses))
    if profile == "6":
        results = asyncio.run(juror.aio.run_evaluation(reference, responses, config))
    else:
        results = juror.run_evaluation(reference, responses, config)
    assert (reference, responses) == before, "inputs were changed"
    return results


def aggregate(results: Any, profile: str, config: Any = None) -> dict[str, Any]:
    return juror.compute_aggregates(results, config, profile)


def check_all(files: list[str], check: Callable[[dict[str, Any], str], list[str]]) -> None:
    counts: Counter[str] = Counter()
    failures = []
    for case in cases("qa", *files):
        if case["family"] in ("llm", "answer_correctness", "cli"):
            continue
        for peer in (case.get("peer"), case.get("also_peer")):
            if peer in PROFILES:
                counts[case["family"]] += 1
                failures += [f"{case['id']}: {why}" for why in check(case, PROFILES[peer])]
    print(dict(counts))
    assert counts
    assert not failures, f"{len(failures)}:\n" + "\n".join(failures[:20])


def recorded(case: dict[str, Any]) -> Any:
    return case.get("recommended", case["expected"])


def sparql(data: dict[str, Any]) -> float:
    return juror.compare_sparql_results(
        data["reference"],
        data["actual"],
        data["required_columns"],
        results_are_ordered=data["ordered"],
        ignore_duplicates=data["ignore_duplicates"],
    )


def test_sparql_results() -> None:
    check_all(["sparql"], lambda case, _: differences(sparql(case["input"]), recorded(case)))


def retrieval(data: dict[str, Any]) -> float:
    if data["op"] == "recall_at_k":
        return juror.recall_at_k(data["relevant"], data["retrieved"], data["k"])
    return juror.average_precision(data["relevant"], data["retrieved"])


def test_retrieval() -> None:
    check_all(["retrieval"], lambda case, _: differences(retrieval(case["input"]), recorded(case)))


def contexts(data: dict[str, Any]) -> dict[str, float]:
    return juror.compare_contexts(data["reference_contexts"], data["actual_contexts"])


def test_contexts() -> None:
    check_all(
        ["retrieval_context_text"], lambda case, _: differences(contexts(case["input"]), recorded(case))
    )


def evaluate_steps(data: dict[str, Any], profile: str) -> dict[str, Any]:
    """The result of a question made of expected and actual steps."""
    question = {"id": "q", "question_text": "Q", "reference_steps": data["reference_steps"]}
    reference = [{"template_id": "t", "questions": [question]}]
    return evaluate(reference, [{"question_id": "q", "actual_steps": data["actual_steps"]}], profile)[0]


def check_steps(case: dict[str, Any], profile: str) -> list[str]:
    result, wanted = evaluate_steps(case["input"], profile), recorded(case)
    matching = juror.match_steps(case["input"]["reference_steps"], case["input"]["actual_steps"], profile)
    found = differences(matching.score, result["steps_score"], "match_steps")
    if "greedy" in case:
        is_less = result["steps_score"] + 1e-9 < wanted["steps_score"]
        return found + (["less than the greedy score"] if is_less else [])
    matches = [[step.get("matches") for step in group] for group in result["reference_steps"]]
    found += differences(result["steps_score"], wanted["steps_score"], "steps_score")
    return found + differences(matches, wanted["matched_ids"], "matched_ids")


def test_steps() -> None:
    check_all(["steps"], check_steps)


def with_moved_metrics(aggregates: dict[str, Any]) -> dict[str, Any]:
    """The library nests `retrieval_*` statistics inside `steps`; they belong beside it."""
    aggregates = copy.deepcopy(aggregates)
    for template in aggregates["per_template"].values():
        steps = template.get("steps", {})
        for name in [name for name in steps if name.startswith("retrieval_")]:
            template[name] = steps.pop(name)
    return aggregates


def check_evaluation(case: dict[str, Any], profile: str) -> list[str]:
    data, wanted = case["input"], recorded(case)
    results = evaluate(data["reference"], data["responses"], profile)
    if "greedy" in case:
        concerned = case.get("questions") or dict(case["greedy"] if isinstance(case["greedy"], dict) else {}).get("questions")
        found = []
        for result, one in zip(results, wanted["results"]):
            if not concerned or result["question_id"] in concerned:
                if result.get("steps_score", 0) + 1e-9 < one.get("steps_score", 0):
                    found.append("less than the greedy score")
            else:
                found += differences(result, one)
        return found
    found = differences(results, wanted["results"], "results")
    aggregates = aggregate(results, profile)
    return found + differences(aggregates, with_moved_metrics(wanted["aggregates"]), "aggregates")


def test_evaluations() -> None:
    check_all(["evaluation", "evaluation_retrieval"], check_evaluation)


def test_evaluations_by_paths_are_those_of_objects(tmp_path: Path) -> None:
    for case in cases("qa", "evaluation", "evaluation_retrieval"):
        data, profile = case["input"], PROFILES[case["peer"]]
        reference, responses = tmp_path / "reference.json", tmp_path / "responses.json"
        reference.write_text(json.dumps(data["reference"]))
        responses.write_text(json.dumps(data["responses"]))
        by_paths = juror.run_evaluation(reference, str(responses), profile=profile)
        by_objects = juror.run_evaluation(data["reference"], data["responses"], profile=profile)
        assert by_paths == by_objects, case["id"]
        results = tmp_path / "results.json"
        results.write_text(json.dumps(by_paths))
        assert aggregate(results, profile) == aggregate(by_objects, profile), case["id"]


def config_of(data: dict[str, Any]) -> dict[str, Any] | None:
    """Settings that need no model: only the names of outputs matter for statistics."""
    custom = (data.get("config") or {}).get("custom_evaluations")
    return {"custom_evaluations": custom} if custom else None


def check_aggregates(case: dict[str, Any], profile: str) -> list[str]:
    data = case["input"]
    custom = (data.get("config") or {}).get("custom_evaluations") or []
    names = [name for evaluation in custom for name in evaluation["outputs"]]
    got = juror.compute_aggregates(data["samples"], profile=profile, metrics=names)
    return differences(got, with_moved_metrics(recorded(case)))


def test_aggregates() -> None:
    check_all(["aggregates", "aggregates_retrieval"], check_aggregates)


def wanted_of_departure(case: dict[str, Any]) -> Any:
    recommended, spec = case["recommended"], case["spec_value"]
    if not isinstance(recommended, str):
        return recommended
    if recommended.startswith("peer"):
        return case["peer_value"]
    if isinstance(spec, dict) and recommended in spec:
        return spec[recommended]
    return spec


def distinct(items: list[Any]) -> list[Any]:
    return [item for at, item in enumerate(items) if item not in items[:at]]


def check_departure(case: dict[str, Any], profile: str) -> list[str]:
    data, topic, wanted = case["input"], case.get("topic", ""), wanted_of_departure(case)
    family = case["family"]
    if family == "sparql":
        return differences(sparql(data), wanted)
    if family == "retrieval" and topic == "recall-duplicate-relevant":
        lists = {key: distinct(data[key]) for key in ("relevant", "retrieved")}
        return differences(retrieval(data), retrieval({**data, **lists}))
    if family == "retrieval" and topic == "id-equality":
        both = all(is_number(data[key][0]) for key in ("relevant", "retrieved"))
        return differences(retrieval(data), float(both))
    if family == "retrieval":
        return differences(retrieval(data), wanted)
    if family == "retrieval_context_text":
        return differences(contexts(data), wanted)
    if family == "steps" and topic == "steps-empty-group":
        result = evaluate_steps(data, profile)
        failed = "steps_score" not in result and isinstance(result["steps_score_error"], str)
        return [] if failed else ["expected an error of the question"]
    if family == "steps":
        return differences(evaluate_steps(data, profile)["steps_score"], wanted)
    if family == "evaluation":
        return check_evaluation_departure(data, topic, wanted, profile)
    return check_aggregates_departure(data, topic, wanted, profile)


def check_evaluation_departure(data: dict[str, Any], topic: str, wanted: Any, profile: str) -> list[str]:
    if topic in ("evaluation-missing-question-text", "evaluation-missing-template-id"):
        with pytest.raises(juror.DatasetError, match="has no `") as raised:
            evaluate(data["reference"], data["responses"], profile)
        return [] if raised.value.path else ["expected a located problem"]
    results = evaluate(data["reference"], data["responses"], profile)
    if topic == "error-record-detection":
        return differences([result["status"] for result in results], wanted)
    if topic == "evaluation-missing-response":
        return differences([results[0]["status"], results[0]["error"]], ["error", "no response"])
    if topic == "evaluation-missing-one-token":
        return ["elapsed_sec should be left out"] if "elapsed_sec" in results[0] else []
    assert topic == "evaluation-numeric-step-output", topic
    steps = aggregate(results, profile)["per_template"]["t"]["steps"]
    return differences(steps, {"total": {"calc": 1}, "once_per_sample": {"calc": 1}})


def check_aggregates_departure(data: dict[str, Any], topic: str, wanted: Any, profile: str) -> list[str]:
    got = aggregate(data["samples"], profile)
    if topic == "aggregates-retrieval-location":
        templates = wanted["per_template.<t>"].items()
        return [
            line
            for template, metrics in templates
            for name, spread in metrics.items()
            for line in differences(got["per_template"][template][name], spread)
        ]
    if topic in ("macro-of-empty-template", "aggregates-step-named-mean"):
        return differences(got["macro"], wanted)
    if topic == "error-record-detection":
        return differences(got["micro"]["number_of_error_samples"], wanted)
    if topic == "compensated-sum":
        spread = {"sum": 1.0, "mean": 1 / 3, "median": 1.0, "min": -1e16, "max": 1e16}
        return differences(got["micro"]["elapsed_sec"], spread)
    if topic in ("aggregates-string-metric", "aggregates-bool-metric"):
        return ["steps_score should be ignored"] if "steps_score" in got["micro"] else []
    return differences(got["per_template"]["t"]["steps"]["total"]["s"], 1)


def test_departures() -> None:
    check_all(["departures"], check_departure)
