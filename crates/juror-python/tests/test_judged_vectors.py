"""Recorded cases with a model, over HTTP: a scripted server gives the verdicts of each case."""

from __future__ import annotations

import asyncio
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import cases
from same import differences
from scripted import scripted

import juror


def say_all(case: dict[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """The verdicts of a case, by the purposes that Juror asks for."""
    data = case["input"]
    verdicts, chat = data.get("verdicts", {}), data.get("script", {}).get("chat", [])
    replies: dict[str, list[dict[str, Any]]] = {}

    def say(purpose: str, **reply: Any) -> None:
        replies.setdefault(purpose, []).append(reply)

    def attribution(subject: str, attributed: list[int]) -> None:
        statements = [{"statement": "s", "reason": "r", "attributed": value} for value in attributed]
        say(f"{subject}_attribution", json={"statements": statements})

    def usefulness(subject: str, useful: list[int]) -> None:
        for value in useful:
            say(f"{subject}_usefulness", json={"reason": "r", "useful": value})

    generated = verdicts.get("generated_questions") or [
        reply["json"] for reply in chat if "question" in (reply.get("json") or {})
    ]
    for question in generated:
        say("generated_question", json=question)
    if "correctness_reply" in verdicts:
        say("answer_claims", text=verdicts["correctness_reply"])
    plain = "context" if "retrieval_context" in case["id"] else "answer"
    subjects = {"context": plain, "answer_context": "answer", "reference_context": "context"}
    for prefix, subject in subjects.items():
        if isinstance(verdicts.get(f"{prefix}_recall_attributed"), list):
            attribution(subject, verdicts[f"{prefix}_recall_attributed"])
        usefulness(subject, verdicts.get(f"{prefix}_precision_verdicts") or [])
    for subject in ("answer", "context"):
        # In the order of steps, which is that of their ids.
        for _, (attributed, useful) in sorted((verdicts.get(subject) or {}).items()):
            attribution(subject, attributed)
            usefulness(subject, useful)
    custom = iter(verdicts.get("custom_replies") or [])
    expected = ((case.get("expected") or {}).get("results") or [{}])[0]
    for evaluation in (data.get("config") or {}).get("custom_evaluations") or []:
        name = evaluation["name"]
        if "missing key" not in str(expected.get(f"{name}_error", "")):
            for reply in itertools.islice(custom, 1):
                say(f"custom_{name}", text=reply)
    return replies


def script_of(case: dict[str, Any]) -> dict[str, Any]:
    recorded = case["input"].get("script", {})
    usage = recorded.get("usage_per_chat") or {"prompt_tokens": 0, "completion_tokens": 0}
    return {"replies": say_all(case), "embeddings": recorded.get("embeddings") or {}, "usage": usage}


def config_of(case: dict[str, Any], address: str) -> dict[str, Any]:
    """The case's settings, asked one call at a time, so that replies are in order."""
    text = json.dumps(case["input"].get("config") or {}).replace("{BASE_URL}", address)
    config: dict[str, Any] = json.loads(text)
    config.setdefault("llm", {})["concurrency"] = 1
    config["llm"]["cache_mode"] = "off"
    return config


def evaluate(case: dict[str, Any], config: dict[str, Any]) -> list[dict[str, Any]]:
    data = case["input"]
    if case["peer"] == "6.4":
        return asyncio.run(juror.aio.run_evaluation(data["reference"], data["responses"], config))
    return juror.run_evaluation(data["reference"], data["responses"], config)


def test_whole_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-recorded")
    n_run, failures = 0, []
    for case in cases("qa", "llm", "departures"):
        if case["family"] != "llm" or not case.get("input"):
            continue
        n_run += 1
        with scripted(script_of(case), tmp_path) as address:
            monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
            results = evaluate(case, config_of(case, address))
        if "peer_value" in case:
            # Never NaN: what cannot be a number stays a text.
            assert [results[0]["my_score"], results[0]["my_reason"]] == ["NaN", "Infinity"]
        else:
            found = differences(results, case["expected"]["results"], lenient=True)
            failures += [f"{case['id']}: {why}" for why in found]
    assert n_run > 150
    assert not failures, f"{len(failures)}:\n" + "\n".join(failures[:20])


def test_replies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-recorded")
    question = {"id": "q", "question_text": "Q?", "reference_answer": "R"}
    data = {
        "reference": [{"template_id": "t", "questions": [question]}],
        "responses": [{"question_id": "q", "actual_answer": "A"}],
        "config": {"answer_relevance": {"enabled": False}},
    }
    failures = []
    for case in cases("qa", "answer_correctness"):
        script = {"replies": {"answer_claims": [{"text": case["input"]["reply"]}]}}
        with scripted(script, tmp_path) as address:
            monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
            whole = {**case, "input": {**data, **case["input"]}}
            (result,) = evaluate(whole, config_of(whole, address))
        found = {key: value for key, value in result.items() if key.startswith("answer_")}
        wanted = case.get("recommended", case["expected"])
        failures += [f"{case['id']}: {why}" for why in differences(found, wanted, lenient=True)]
    assert not failures, f"{len(failures)}:\n" + "\n".join(failures[:20])
