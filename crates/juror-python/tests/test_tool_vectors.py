"""Recorded cases of the benchmark of tools that have a function in Python."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from conftest import cases, recorded_cases

import juror

NAMES = {
    "standardize": juror.standardize,
    "change_name": juror.change_name,
    "change_name(standardize)": lambda name: juror.change_name(juror.standardize(name)),
    "standardize_category": juror.standardize_category,
    "normalize_category": juror.normalize_category,
    "sanitize_param_name": juror.sanitize_param_name,
}


def recorded(case: dict[str, Any]) -> Any:
    return case.get("recommended", case["expected"])


def test_names() -> None:
    n_run = 0
    for case in cases("toolbench", "names"):
        data, wanted = case["input"], recorded(case)
        if data["fn"] in NAMES:
            got: Any = NAMES[data["fn"]](data["s"])
        elif data["fn"] == "official_function_name":
            got = juror.official_function_name(data["tool_name"], data["api_name"])
        else:
            got = juror.tool_cache_file(data["category"], data["tool_name"], data["api_name"])
            wanted = wanted.get("cache_file")
        if wanted is not None:
            n_run += 1
            assert got == wanted, case["id"]
    assert n_run > 400


def test_sanitized_names() -> None:
    for case in cases("toolbench", "sanitize"):
        assert juror.sanitize_name(**case["input"]) == recorded(case), case["id"]


def test_keys_of_replies() -> None:
    n_objects = 0
    for case in cases("toolbench", "py_repr"):
        text, wanted = case["input"]["json"], recorded(case)
        if not isinstance(wanted, str):
            continue
        assert juror.tool_cache_key(text) == wanted, case["id"]
        value = json.loads(text)
        if isinstance(value, dict):
            n_objects += 1
            assert juror.tool_cache_key(value) == str(value), case["id"]
    assert n_objects > 50


def test_recorded_requests() -> None:
    folder = recorded_cases()
    path = folder and folder.parent / "data/toolbench/requests_20000.jsonl.gz"
    if path is None or not path.is_file():
        pytest.skip("no recorded requests here")
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            request = json.loads(line)
            body = request["body"]
            names = (body["category"], body["tool_name"], body["api_name"])
            assert juror.tool_cache_file(*names) == request["cache_file"], line
            assert juror.tool_cache_key(body["tool_input"]) == request["key"], line


def test_calls() -> None:
    for case in cases("toolbench", "api_score"):
        data, wanted = case["input"], recorded(case)
        query, answer = data["query"], data["answer"]
        assert juror.api_call_score(query, answer) == pytest.approx(wanted["score"]), case["id"]
        details = juror.api_call_details(query, answer)
        own = {(api["tool_name"], api["api_name"]) for api in query.get("api_list", [])}
        own |= {tuple(pair) for pair in query.get("relevant APIs", [])}
        pairs = [pair and tuple(pair) for pair in wanted["called_apis"]]
        called = [pair if pair in own else None for pair in pairs]
        assert details["called_apis"] == called, case["id"]
