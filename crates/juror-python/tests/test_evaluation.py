"""What users of `run_evaluation` and `compute_aggregates` rely on."""

from __future__ import annotations

import asyncio
import collections
import copy
import datetime
import decimal
import itertools
import json
import math
import os
import re
import signal
import subprocess
import sys
import threading
import time
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scripted import scripted

import juror

Data = Any


def test_the_usage_code_of_the_document_runs(reference: Data, responses: Data) -> None:
    import juror as graphrag_eval

    results = graphrag_eval.run_evaluation(reference, responses)
    aggregates = graphrag_eval.compute_aggregates(results)
    assert [result["status"] for result in results] == ["success", "error"]
    assert results[0]["steps_score"] == 1.0
    assert results[0]["reference_steps"][0][0]["matches"] == "c1"
    assert aggregates["micro"]["number_of_error_samples"] == 1
    assert aggregates["per_template"]["capitals"]["steps_score"]["mean"] == 1.0


def test_nothing_to_evaluate_is_no_error() -> None:
    results = juror.run_evaluation([], {})
    assert results == []
    assert juror.compute_aggregates(results)["micro"]["number_of_success_samples"] == 0


def test_inputs_are_left_unchanged_and_results_are_apart(reference: Data, responses: Data) -> None:
    before = copy.deepcopy((reference, responses))
    results = juror.run_evaluation(reference, responses)
    results[0]["reference_steps"][0][0]["args"]["q"] = "changed"
    results[0]["actual_steps"].clear()
    assert (reference, responses) == before


def test_paths_and_objects_give_the_same(reference: Data, responses: Data, tmp_path: Path) -> None:
    (tmp_path / "reference.json").write_text(json.dumps(reference))
    lines = "".join(json.dumps(response) + "\n" for response in responses.values())
    (tmp_path / "responses.jsonl").write_text(lines)
    by_objects = juror.run_evaluation(reference, responses)
    by_paths = juror.run_evaluation(str(tmp_path / "reference.json"), tmp_path / "responses.jsonl")
    mixed = juror.run_evaluation(reference, tmp_path / "responses.jsonl")
    as_list = juror.run_evaluation(iter(reference), list(responses.values()))
    assert by_objects == by_paths == mixed == as_list
    (tmp_path / "results.json").write_text(json.dumps(by_objects))
    by_file = juror.compute_aggregates(tmp_path / "results.json")
    assert by_file == juror.compute_aggregates(by_objects)


def test_the_awaitable_gives_the_same(reference: Data, responses: Data) -> None:
    awaited = asyncio.run(juror.aio.run_evaluation(reference, responses, profile="5"))
    assert awaited == juror.run_evaluation(reference, responses)
    newer = asyncio.run(juror.aio.run_evaluation(reference, responses))
    assert newer == juror.run_evaluation(reference, responses, profile="6")
    assert juror.aio.compute_aggregates(newer) == juror.compute_aggregates(newer, profile="6")


def test_settings_name_the_profile_unless_an_argument_does(reference: Data, responses: Data) -> None:
    six = juror.run_evaluation(reference, responses, profile="6")
    assert juror.run_evaluation(reference, responses, {"profile": 6}) == six
    Path("juror.yaml").write_text("profile: 6\n")
    assert juror.run_evaluation(reference, responses, "juror.yaml") == six
    five = juror.run_evaluation(reference, responses)
    assert juror.run_evaluation(reference, responses, "juror.yaml", profile="5") == five
    in_the_loop = asyncio.run(juror.aio.run_evaluation(reference, responses, {"profile": 5}))
    assert in_the_loop == five


def test_numbers_as_ids_stay_numbers(reference: Data, responses: Data) -> None:
    reference[0]["template_id"], reference[0]["questions"][0]["id"] = 7, 42
    responses[42] = {**responses.pop("q1"), "question_id": 42}
    results = juror.run_evaluation(reference, responses)
    assert (results[0]["template_id"], results[0]["question_id"]) == (7, 42)
    assert list(juror.compute_aggregates(results)["per_template"]) == [7]


class Numeric:
    """As numbers of numpy are: neither `int` nor `float`."""

    def __init__(self, value: float) -> None:
        self.value = value

    def tolist(self) -> float:
        return self.value


@pytest.mark.parametrize(
    "odd",
    [
        (1, 2, ("three",)),
        2**70,
        -(2**63) - 1,
        math.nan,
        -math.inf,
        "lone \ud800 surrogate",
        {"lone \udc00": 1},
        {1: "one", None: "none", True: "yes", 1.5: "half"},
        collections.OrderedDict(a=1),
        types.MappingProxyType({"a": [1]}),
        range(3),
        collections.deque(["a"]),
        datetime.date(2024, 5, 6),
        decimal.Decimal("0.1"),
        Numeric(2.5),
        Path("a/b"),
        "x" * 1000 + '"\\\n\x00\x1f é 😀',
        1e-320,
        -0.0,
        0.1 + 0.2,
        1e22,
    ],
    ids=repr,
)
def test_odd_values_are_handed_on(odd: Any, reference: Data, responses: Data) -> None:
    responses["q1"]["actual_steps"][0]["args"] = {"odd": odd, "list": [odd]}
    responses["q1"]["elapsed_sec"] = odd
    result = juror.run_evaluation(reference, responses)[0]
    for got in (*result["actual_steps"][0]["args"]["list"], result["elapsed_sec"]):
        assert type(got) is type(odd) or isinstance(odd, dict)
        assert got is odd or got == odd
    assert result["status"] == "success"
    elapsed = juror.compute_aggregates([result])["micro"]["elapsed_sec"]
    assert all(math.isfinite(value) for value in elapsed.values())


def test_a_response_that_cannot_be_read_is_an_error_of_its_question(
    reference: Data, responses: Data, caplog: pytest.LogCaptureFixture
) -> None:
    loop: list[Any] = []
    loop.append(loop)
    for bad in (object(), b"bytes", {1, 2}, loop):
        bad_responses = {**responses, "q1": {**responses["q1"], "actual_answer": [bad]}}
        for form in (bad_responses, list(bad_responses.values())):
            results = juror.run_evaluation(reference, form)
            assert results[0]["status"] == "error"
            assert "could not be read" in results[0]["error"]
            assert "actual_answer[0]" in results[0]["error"]
            assert results[1]["error"] == "timeout"
    assert "actual_answer[0]" in caplog.text
    for bad_record in (None, 5, "text", [1], {"question_id": "q1", "actual_steps": "none"}):
        caplog.clear()
        results = juror.run_evaluation(reference, {**responses, "q1": bad_record})
        assert results[0]["status"] == "error", bad_record
        assert "q1" in caplog.text, bad_record
    caplog.clear()
    juror.run_evaluation(reference, [{"question_id": "q2"}, {"question_id": "q1", "actual_steps": 5}])
    assert "at [1]" in caplog.text


def test_missing_and_unknown_responses_are_told(
    reference: Data, responses: Data, caplog: pytest.LogCaptureFixture
) -> None:
    del responses["q1"]
    responses["q9"] = {"question_id": "q9"}
    results = juror.run_evaluation(reference, responses)
    assert (results[0]["status"], results[0]["error"]) == ("error", "no response")
    assert len(results) == 2
    assert "the dataset has no question `q9`" in caplog.text


def test_problems_of_inputs_are_told_before_models_are_set_up(
    reference: Data, responses: Data, caplog: pytest.LogCaptureFixture
) -> None:
    responses["q9"] = {"question_id": "q9"}
    config = {"llm": {"generation": {"provider": "x", "model": "m"}}}
    with pytest.raises(juror.SettingsError, match="there is no provider"):
        juror.run_evaluation(reference, responses, config)
    assert "the dataset has no question `q9`" in caplog.text


def test_a_bad_dataset_raises_once_with_all_problems(reference: Data, responses: Data) -> None:
    first, second = reference[0]["questions"]
    del first["question_text"]
    second["id"] = "q1"
    second["reference_steps"] = [[{"name": "s", "output": object()}]]
    with pytest.raises(juror.DatasetError) as raised:
        juror.run_evaluation(reference, responses)
    problems = {problem.path: problem for problem in raised.value.problems}
    output = problems["[0].questions[1].reference_steps[0][0].output"]
    assert output.message == "a value of type `object` cannot be read"
    assert any("has no `question_text`" in problem.message for problem in problems.values())
    assert any("used twice" in problem.message for problem in problems.values())
    assert all(problem.file is None and problem.line is None for problem in problems.values())
    assert isinstance(raised.value, ValueError)


def test_problems_of_files_have_their_place(tmp_path: Path) -> None:
    path = tmp_path / "reference.yaml"
    path.write_text("- template_id: t\n  questions:\n  - id: q\n  - id: q2\n")
    with pytest.raises(juror.DatasetError) as raised:
        juror.run_evaluation(path, [])
    error = raised.value
    assert len(error.problems) == 2
    assert (error.file, error.line, error.column) == (str(path), 3, 5)
    assert error.path == "[0].questions[0]"
    assert error.hint == "add `question_text` to the question"
    assert str(error).startswith(f"{path}:3:5: this question has no `question_text`\n  at ")


def test_files_that_are_not_there_and_settings_that_are_wrong(reference: Data, responses: Data) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere.json"):
        juror.run_evaluation("nowhere.json", responses)
    with pytest.raises(FileNotFoundError, match="nowhere.yaml"):
        juror.run_evaluation(reference, responses, "nowhere.yaml")
    with pytest.raises(juror.SettingsError, match="unknown setting `stpes`") as raised:
        juror.run_evaluation(reference, responses, {"stpes": {}})
    assert raised.value.hint == "did you mean `steps`?"
    with pytest.raises(juror.SettingsError, match="there is no provider"):
        juror.run_evaluation(reference, responses, {"llm": {"generation": {"provider": "x", "model": "m"}}})
    with pytest.raises(ValueError, match="there is no profile `7`"):
        juror.run_evaluation(reference, responses, profile="7")


def test_results_without_a_template_are_left_out(caplog: pytest.LogCaptureFixture) -> None:
    good = {"template_id": "t", "status": "success", "steps_score": 1}
    aggregates = juror.compute_aggregates([good, {"status": "success"}, 5, {**good, "actual_steps": 7}])
    assert aggregates["micro"]["number_of_success_samples"] == 1
    assert "[1]" in caplog.text and "[2]" in caplog.text and "[3]" in caplog.text
    with pytest.raises(juror.DatasetError, match="has no `template_id`"):
        juror.compute_aggregates([{"status": "success"}])


def many(n: int) -> tuple[list[Data], list[Data]]:
    """Questions enough to take a while."""
    bindings = [{"a": {"type": "literal", "value": f"{i}"}} for i in range(200)]
    output = json.dumps({"head": {"vars": ["a"]}, "results": {"bindings": bindings}})
    renamed = [{"b": row["a"]} for row in reversed(bindings)]
    other = json.dumps({"head": {"vars": ["b"]}, "results": {"bindings": renamed}})
    media = "application/sparql-results+json"
    step = {"name": "s", "args": {}, "output": output, "output_media_type": media, "required_columns": ["a"]}
    questions = [{"id": f"q{i}", "question_text": "?", "reference_steps": [[step]]} for i in range(n)]
    taken = {"name": "s", "args": {}, "id": "c", "status": "success", "output": other}
    responses = [{"question_id": f"q{i}", "actual_steps": [taken]} for i in range(n)]
    return [{"template_id": "t", "questions": questions}], responses


def test_other_threads_go_on_meanwhile() -> None:
    reference, responses = many(1500)
    ticks, done = 0, threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        before = ticks
        juror.run_evaluation(reference, responses, threads=1)
        after = ticks
    finally:
        done.set()
        thread.join()
    assert after > before + 1, "nothing else runs while the lock is held"


def test_the_loop_goes_on_meanwhile() -> None:
    reference, responses = many(500)
    begun, gone_on = threading.Event(), threading.Event()
    waited: list[bool] = []

    def hold(event: Data) -> None:
        begun.set()
        waited.append(gone_on.wait(60))

    async def run() -> list[Data]:
        work = asyncio.create_task(juror.aio.run_evaluation(reference, responses, progress=hold))
        while not begun.is_set():
            await asyncio.sleep(0)
        gone_on.set()
        return await work

    assert len(asyncio.run(run())) == 500
    assert waited and all(waited), "the loop stood still"


def test_progress_is_told(reference: Data, responses: Data, capsys: pytest.CaptureFixture[str]) -> None:
    events: list[Data] = []
    juror.run_evaluation(reference, responses, progress=events.append)
    assert events[0] == {"phase": "started", "done": 0, "total": 2}
    assert events[-1] == {"phase": "judging", "done": 2, "total": 2, "errors": 1}
    juror.run_evaluation(reference, responses, progress=True)

    def fail(event: Data) -> None:
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        juror.run_evaluation(reference, responses, progress=fail)
    capsys.readouterr()


SLOW = """
import signal, sys, juror
# Whoever started the tests may have turned interrupts off.
signal.signal(signal.SIGINT, signal.default_int_handler)
reference = [{"template_id": "t", "questions": [
    {"id": f"q{i}", "question_text": "Q?", "reference_answer": "A"} for i in range(1000)]}]
responses = [{"question_id": f"q{i}", "actual_answer": f"a{i}"} for i in range(1000)]
print("ready", flush=True)
try:
    juror.run_evaluation(reference, responses, {"llm": {"concurrency": 2}})
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_ctrl_c_ends_a_run_and_keeps_what_was_paid_for(tmp_path: Path) -> None:
    with scripted({"latency_ms": 100}, tmp_path) as address:
        environment = {**os.environ, "OPENAI_API_KEY": "sk-x", "OPENAI_BASE_URL": f"{address}/v1"}
        process = subprocess.Popen(
            [sys.executable, "-c", SLOW], stdout=subprocess.PIPE, text=True, env=environment, cwd=tmp_path
        )
        assert process.stdout and process.stdout.readline() == "ready\n"
        while not any((tmp_path / ".juror").rglob("*")):
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.stdout.read() == "interrupted\n"
        assert process.wait() == 0
        process.stdout.close()
    assert any((tmp_path / ".juror").rglob("*")), "no reply was kept"


def test_cancelling_the_task_ends_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = [{"id": f"q{i}", "question_text": "?", "reference_answer": "A"} for i in range(200)]
    reference = [{"template_id": "t", "questions": questions}]
    responses = [{"question_id": f"q{i}", "actual_answer": f"{i}"} for i in range(200)]
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")

    async def run() -> None:
        work = juror.aio.run_evaluation(reference, responses, {"llm": {"concurrency": 1}})
        await asyncio.wait_for(work, timeout=0.5)

    with scripted({"latency_ms": 100}, tmp_path) as address:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
        with pytest.raises(asyncio.TimeoutError):
            asyncio.run(run())


def test_models_are_asked_only_where_wanted(
    reference: Data, responses: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-x")
    claims = [{"text": "1\t1\t1\tsame"}]
    with scripted({"replies": {"answer_claims": claims}}, tmp_path) as address:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
        asked = juror.run_evaluation(reference, responses)
        assert asked[0]["answer_f1"] == 1.0
        assert juror.run_evaluation(reference, responses) == asked, "replies are kept"
        assert "answer_f1" not in juror.run_evaluation(reference, responses, ask_models=False)[0]
        newer = asyncio.run(juror.aio.run_evaluation(reference, responses))
        assert "answer_f1" not in newer[0]
        newer = asyncio.run(juror.aio.run_evaluation(reference, responses, {}))
        assert newer[0]["answer_f1"] == 1.0


def test_an_address_from_a_dotenv_file_is_sent_no_key_of_the_user(
    reference: Data, responses: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with scripted({"key": "sk-of-the-file"}, tmp_path) as address:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-mine")
        (tmp_path / ".env").write_text(f"OPENAI_BASE_URL={address}/v1\n")
        wanted = r"is from \.env \(OPENAI_BASE_URL\), and OPENAI_API_KEY is not"
        with pytest.raises(juror.SettingsError, match=wanted):
            juror.run_evaluation(reference, responses)
        # What the file brings along is used as a whole.
        (tmp_path / ".env").write_text(f"OPENAI_BASE_URL={address}/v1\nOPENAI_API_KEY=sk-of-the-file\n")
        assert "answer_f1" in juror.run_evaluation(reference, responses)[0]


def test_many_objects_are_judged_as_files_are(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A few at a time or as a whole: the results are the same, whatever is odd about them."""
    reference, responses = many(300)
    questions = reference[0]["questions"]
    by_id = {response["question_id"]: response for response in responses}

    def check(reference: Data, responses: Data) -> list[Data]:
        before = copy.deepcopy((reference, responses))
        results = juror.run_evaluation(reference, responses)
        assert (reference, responses) == before
        (tmp_path / "reference.json").write_text(json.dumps(reference))
        (tmp_path / "responses.json").write_text(json.dumps(responses))
        assert juror.run_evaluation(tmp_path / "reference.json", tmp_path / "responses.json") == results
        return results

    assert all(result["steps_score"] == 1.0 for result in check(reference, responses))
    assert check(reference, by_id) == check(reference, responses)
    assert not caplog.records
    by_id["q7"] = {"question_id": "q7", "error": "none", "actual_answer": "long text " * 10 + '"\n'}
    del by_id["q150"]
    errors = [result["question_id"] for result in check(reference, by_id) if result["status"] == "error"]
    assert errors == ["q7", "q150"]
    by_id["q9"] = {"question_id": "q9", "actual_steps": "none"}
    assert check(reference, by_id)[9]["status"] == "error"
    check(reference, {**by_id, "unknown": {"question_id": "unknown"}})
    assert "the dataset has no question `unknown`" in caplog.text
    questions[200]["id"] = "q1"
    with pytest.raises(juror.DatasetError, match="used twice"):
        juror.run_evaluation(reference, by_id)
    questions[200] = {"id": "q200"}
    with pytest.raises(juror.DatasetError, match="has no `question_text`") as raised:
        juror.run_evaluation(reference, by_id)
    assert raised.value.path == "[0].questions[200]"


def test_outputs_of_many_objects_are_judged_where_they_are(tmp_path: Path) -> None:
    """Texts that stand beside the JSON count as those inside it, and results hand them on."""
    reference, responses = many(200)

    def table(*values: str, indent: int | None = None) -> str:
        rows = [{"x": {"type": "literal", "value": value}} for value in values]
        result = {"head": {"vars": ["x"]}, "results": {"bindings": rows}}
        return json.dumps(result, indent=indent, ensure_ascii=False)

    def set_outputs(number: int, expected: str, actual: Data, **fields: Data) -> None:
        step = {"name": "sparql_query", "args": {"q": ["s"]}, "output": expected, **fields}
        step["output_media_type"] = "application/sparql-results+json"
        reference[0]["questions"][number]["reference_steps"] = [[step]]
        step = {"name": "sparql_query", "id": "c", "status": "success", "output": actual}
        responses[number]["actual_steps"] = [step]

    set_outputs(0, table("Ås", 'a "quoted"\n'), table('a "quoted"\n', "Ås", indent=2))
    set_outputs(1, table("Ås"), table("ås"))
    set_outputs(2, table("1"), table("1", indent=4), required_columns=["x"])
    set_outputs(3, "no result, but a text that is long", "no result, but a text that is long")
    set_outputs(4, table(), table())
    set_outputs(5, table("1"), json.loads(table("1")))
    set_outputs(6, "", "a text that is longer than the one above")
    results = juror.run_evaluation(reference, responses)
    scores = [result["steps_score"] for result in results]
    assert scores[:8] == [1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0, 1.0]
    assert results[0]["actual_steps"][0]["output"] is responses[0]["actual_steps"][0]["output"]
    (tmp_path / "reference.json").write_text(json.dumps(reference))
    (tmp_path / "responses.json").write_text(json.dumps(responses))
    assert juror.run_evaluation(tmp_path / "reference.json", tmp_path / "responses.json") == results
    steps = juror.compute_aggregates(results)["per_template"]["t"]["steps"]
    assert steps["empty_results"] == {"sparql_query": 1}
    before = copy.deepcopy(reference)
    results[0]["reference_steps"][0][0]["args"]["q"].append("changed")
    assert reference == before
    set_outputs(2, table("1"), table("1"), required_columns=["y"])
    with pytest.raises(juror.DatasetError, match="y") as raised:
        juror.run_evaluation(reference, responses)
    assert raised.value.path == "[0].questions[2].reference_steps[0][0].required_columns[0]"


def without_reasons(results: list[Data]) -> list[Data]:
    """Copies that do not tell why steps were missed."""
    results = copy.deepcopy(list(results))
    for result in results:
        for step in [step for group in result.get("reference_steps", []) for step in group]:
            step.pop("missed", None)
    return results


@pytest.mark.parametrize("n", [3, 300])
@pytest.mark.parametrize("profile", ["5", "6"])
def test_results_tell_why_steps_were_missed_where_that_is_asked_for(n: int, profile: str, tmp_path: Path) -> None:
    step = {"name": "s", "id": "c", "status": "success"}
    questions, responses = [], {}
    for number in range(n):
        id, wanted = f"q{number}", f"the output {number}"
        steps = [{"name": "s", "output": wanted}, {"name": "t", "output": "x"}]
        questions.append({"id": id, "question_text": "?", "reference_steps": [steps]})
        got = [wanted, wanted + " or another", number][number % 3]
        responses[id] = {"question_id": id, "actual_steps": [{**step, "output": got}]}
    reference = [{"template_id": "t", "questions": questions}]
    plain = juror.run_evaluation(reference, responses, profile=profile)
    assert "missed" not in json.dumps(plain)
    results = juror.run_evaluation(reference, responses, profile=profile, explain=True)
    assert without_reasons(results) == plain
    missed = [[step.get("missed") for step in result["reference_steps"][0]] for result in results]
    absent = "no step of this name was taken"
    assert missed[:3] == [
        [None, absent],
        ["expected `the output 1`, got `the output 1 or another`", absent],
        ["expected `the output 2`, got `2`", absent],
    ]
    assert all(both[1] == absent for both in missed)
    # Statistics do not depend on it.
    assert juror.compute_aggregates(results, profile=profile) == juror.compute_aggregates(plain, profile=profile)
    paths = tmp_path / "reference.json", tmp_path / "responses.json"
    for path, data in zip(paths, (reference, responses)):
        path.write_text(json.dumps(data))
    of_files = juror.run_evaluation(*paths, profile=profile, explain=True)
    # Looked at one by one, before all are.
    assert of_files[1]["reference_steps"][0][0]["missed"] == missed[1][0]
    assert list(of_files) == results
    awaited = juror.aio.run_evaluation(*paths, profile=profile, explain=True)
    assert list(asyncio.run(awaited)) == results
    # A result that serves as a reference keeps nothing of what it was told.
    again = [{"id": result["question_id"], **result} for result in results]
    again = juror.run_evaluation([{"template_id": "t", "questions": again}], responses, profile=profile)
    assert again == plain


@pytest.mark.parametrize("n", [1, 200])
def test_settings_may_map_names_to_kinds_and_match_by_arguments(n: int) -> None:
    found = [{"id": 1, "text": "one one one"}, {"id": 3, "text": "three three"}]
    expected = [{"id": 1, "text": "one one one"}, {"id": 2, "text": "two two two"}]
    groups = [[{"name": "retrieval", "output": expected}, {"name": "open", "args": {"page": 4}}]]
    steps = [
        {"name": "open", "id": "o", "args": {"page": 4}, "status": "success"},
        {"name": "search_documents", "id": "s", "args": {"k": 2}, "status": "success", "output": found},
    ]
    questions = [{"id": f"q{number}", "question_text": "?", "reference_steps": groups} for number in range(n)]
    reference = [{"template_id": "t", "questions": questions}]
    responses = {f"q{number}": {"question_id": f"q{number}", "actual_steps": steps} for number in range(n)}
    rules = {"kinds": {"search_documents": "retrieval"}, "match_without_output": "args"}
    for chosen, score in (([], 0.0), (["kinds"], 0.25), (["match_without_output"], 0.5), (list(rules), 0.75)):
        config = {"steps": {name: rules[name] for name in chosen}}
        results = juror.run_evaluation(reference, responses, config)
        assert [result["steps_score"] for result in results] == [score] * n
        aggregates = juror.compute_aggregates(results, config)
        assert aggregates["micro"]["steps_score"]["mean"] == score
        recall = results[-1]["actual_steps"][1].get("retrieval_context_recall")
        assert recall == (0.5 if "kinds" in chosen else None)
        assert ("retrieval_context_recall" in aggregates["micro"]) == ("kinds" in chosen)


def test_empty_tables_count_in_every_form(tmp_path: Path) -> None:
    empty = {"head": {"vars": ["x"]}, "results": {"bindings": []}}
    xml = "<sparql><head><variable name='x'/></head><results/></sparql>"
    rows = {"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"value": "1"}}]}}
    outputs = [empty, json.dumps(empty), xml, {"results": {"bindings": None}}, rows, json.dumps(rows), [], "x\n"]
    steps = [{"name": "s", "status": "success", "output": output} for output in outputs]
    steps += [{"name": "s", "output": "x\n", "output_media_type": "Text/CSV; header=present"}]
    results = [{"template_id": "t", "status": "success", "actual_steps": steps}]
    aggregates = juror.compute_aggregates(results)
    assert aggregates["per_template"]["t"]["steps"]["empty_results"] == {"s": 5}
    (tmp_path / "results.json").write_text(json.dumps(results))
    assert juror.compute_aggregates(tmp_path / "results.json") == aggregates


class Items(list[Data]):
    pass


@pytest.mark.parametrize("n", [2, 200])
def test_objects_of_any_kind_are_copied_or_handed_on(n: int) -> None:
    """However many questions there are, results are the same, and inputs stay as they are."""
    kinds: list[Callable[[Data], Data]] = [
        dict,
        collections.OrderedDict,
        lambda fields: collections.defaultdict(list, fields),
        collections.UserDict,
        lambda fields: types.MappingProxyType(dict(fields)),
        lambda fields: collections.OrderedDict({**fields, 1: "a key that is no text"}),
    ]
    args = [
        collections.OrderedDict(q=["x"]),
        {"q": Items([{"a": [1]}])},
        {"q": {1: {"b": [2]}}},
        {"q": collections.UserDict(c=[3])},
        {"q": (1, "x" * 40)},
    ]
    reference, responses = many(n)
    for number, (kind, arg) in enumerate(itertools.product(kinds, args)):
        question, response = reference[0]["questions"][number % n], responses[number % n]
        question["reference_steps"] = [[kind({**question["reference_steps"][0][0], "args": arg})]]
        response["actual_steps"] = Items([kind({**response["actual_steps"][0], "args": arg})])
    before = repr((reference, responses))
    results = juror.run_evaluation(reference, responses)
    assert [result["steps_score"] for result in results] == [1.0] * n
    for result in results:
        for step in [*result["reference_steps"][0], *result["actual_steps"]]:
            assert type(step) is dict
            spoil(step)
    assert repr((reference, responses)) == before


def spoil(value: Data) -> None:
    """Changes every dict and list."""
    if isinstance(value, (dict, list)):
        for inner in list(value.values() if isinstance(value, dict) else value):
            spoil(inner)
        value.clear()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"profile": 7}, "there is no profile `7`: choose 5 or 6"),
        ({"threads": 0}, "threads is 0, and should be at least 1"),
        ({"threads": -1}, "threads is -1, and should be at least 1"),
        ({"metrics": 5}, "metrics is a mapping of names to functions, not `int`"),
        ({"metrics": {"m": 5}}, "the metric `m` is not a function, but `int`"),
    ],
)
def test_wrong_arguments_are_named(options: Data, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        juror.run_evaluation([], {}, **options)


def test_a_profile_may_be_a_number(reference: Data, responses: Data) -> None:
    six = juror.run_evaluation(reference, responses, profile="6")
    assert juror.run_evaluation(reference, responses, profile=6) == six
    assert juror.compute_aggregates(six, profile=6) == juror.compute_aggregates(six, profile="6")


def test_progress_of_many_objects() -> None:
    reference, responses = many(200)
    events: list[Data] = []
    juror.run_evaluation(reference, responses, progress=events.append)
    assert events[0] == {"phase": "started", "done": 0, "total": 200}
    assert events[-1] == {"phase": "judging", "done": 200, "total": 200, "errors": 0}
    assert [event["done"] for event in events] == sorted(event["done"] for event in events)


def test_a_mean_over_few_survivors_meets_no_gate(tmp_path: Path) -> None:
    steps = [[{"name": "lookup", "args": {}, "output": "x"}]]
    questions = [
        {"id": f"q{n}", "question_text": "?", "reference_steps": steps} for n in range(20)
    ]
    step = {"name": "lookup", "id": "1", "status": "success", "output": "x"}
    reference = [{"template_id": "t", "questions": questions}]
    results = juror.run_evaluation(reference, {"q0": {"actual_steps": [step]}})
    (reason,) = juror.unmet_gates(results, {"steps_score": 0.9})
    assert reason.startswith("steps_score has a verdict for 1 of the 20 questions")
    path = tmp_path / "results.json"
    path.write_text(json.dumps(results))
    assert juror.unmet_gates(path, {"steps_score": 0.9}) == [reason]
    assert juror.unmet_gates(results, {"steps_score": 0.9}, coverage=0.05) == []
    assert juror.unmet_gates(results, {"steps_score": 0.9}, {"coverage": "5%"}) == []
    (reason,) = juror.unmet_gates(results, max_errors="50%")
    assert reason == "19 of 20 responses failed or are missing (95 %), at most 50 % was asked"
    with pytest.raises(ValueError, match="`stps` is not a metric"):
        juror.unmet_gates(results, {"stps": 1})


def test_rows_without_a_number_lack_a_verdict_even_without_their_reference() -> None:
    right = {"template_id": "t", "question_id": "0", "steps_score": 1.0}
    for rest in ({"steps_score": float("nan")}, {"steps_score": None}, {"status": "error"}):
        results = [right] + [{"template_id": "t", "question_id": str(n), **rest} for n in range(1, 20)]
        (reason,) = juror.unmet_gates(results, {"steps_score": 0.9})
        assert reason.startswith("steps_score has a verdict for 1 of the 20 questions")


def test_a_name_that_only_begins_like_an_own_metric_is_none() -> None:
    results = [{"template_id": "t", "question_id": "0", "taste": 1.0, "taste_bitter": 0.5}]
    assert juror.unmet_gates(results, {"taste": 0.9, "taste_bitter": 0.5}, metrics=["taste"]) == []
    with pytest.raises(ValueError, match="`tasteless` is not a metric"):
        juror.unmet_gates(results, {"tasteless": 0.5}, metrics=["taste"])


def test_misspelt_keys_and_texts_for_numbers_are_told_once(caplog: pytest.LogCaptureFixture) -> None:
    questions = [
        {"id": f"q{n}", "question_text": "?", "refrence_answer": "x", "mine": 1} for n in range(300)
    ]
    reference = [{"template_id": "t", "questions": questions}]
    responses = {f"q{n}": {"answer": "x", "status": "success", "total_tokens": "12"} for n in range(300)}
    juror.run_evaluation(reference, responses, ask_models=False)
    tokens, answer, expected = sorted(record.getMessage() for record in caplog.records)
    assert "`total_tokens` is a text" in tokens and "in 299 more places" in tokens
    assert "did you mean `actual_answer`?" in answer
    assert "did you mean `reference_answer`?" in expected


def test_a_dump_without_responses_is_refused() -> None:
    reference = [{"template_id": "t", "questions": [{"id": "q", "question_text": "?"}]}]
    with pytest.raises(juror.DatasetError, match="no response in any known form") as raised:
        juror.run_evaluation(reference, {"q": {"answer": "x"}})
    assert "`actual_answer`" in str(raised.value)
    (result,) = juror.run_evaluation(reference, {})
    assert result["error"] == "no response"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"llm": {"generation": {"temperature": 2.1}}}, "expected a number from 0 to 2, found `2.1`"),
        ({"llm": {"generation": {"temperature": "hot"}}}, "expected a number from 0 to 2, found the text `hot`"),
        ({"llm": {"generation": {"max_tokens": 0}}}, "expected a whole number, 1 or more"),
        ({"custom_evaluations": []}, "there is no custom evaluation in the list"),
        ({"llm": {"generation": {}}, "answer_relevance": {"enabled": True}}, "no embedding model"),
        ({"answer_relevance": {"enabled": True}}, "answer_relevance is enabled, but there is no model"),
    ],
)
def test_settings_that_the_library_refuses_are_refused(
    config: Data, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    if "llm" in config:
        config["llm"]["generation"] |= {"provider": "openai", "model": "m", "api_key": "k"}
    reference = [{"template_id": "t", "questions": [{"id": "q", "question_text": "?"}]}]
    with pytest.raises(juror.SettingsError, match=re.escape(message)):
        juror.run_evaluation(reference, {}, config)


CUT_SHORT = """
import os, threading
import juror

os.mkfifo("reference.json")
response = '{"question_id": "q%d", "status": "success", "actual_answer": "' + "x" * 200 + '"}\\n'
with open("responses.jsonl", "w") as file:
    file.writelines(response % n for n in range(10_000))
said = []

def evaluate():
    try:
        said.append(len(juror.run_evaluation("reference.json", "responses.jsonl")))
    except Exception as error:
        said.append(f"{type(error).__name__}: {error}")

evaluating = threading.Thread(target=evaluate)
evaluating.start()
# The reference is waited for while the responses are mapped already.
while evaluating.is_alive() and "responses.jsonl" not in open("/proc/self/maps").read():
    pass
os.truncate("responses.jsonl", 5_000)
with open("reference.json", "w") as file:
    file.write('[{"template_id": "t", "questions": [{"id": "q1", "question_text": "?"}]}]')
evaluating.join()
print(*said)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="it looks at the maps of the process")
def test_a_file_that_is_cut_short_while_it_is_read_is_an_error_and_no_end_of_the_process() -> None:
    done = subprocess.run([sys.executable, "-c", CUT_SHORT], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert done.stdout.startswith("OSError: responses.jsonl: it was cut short while it was read\n"), done.stdout


def dataset_of(n: int, **question: Any) -> Data:
    questions = [{"id": f"q{i}", "question_text": "?", **question} for i in range(n)]
    return [{"template_id": "t", "questions": questions}]


def test_many_objects_without_a_response_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    results = juror.run_evaluation(dataset_of(300), {})
    assert len(results) == 300
    assert "no response answers a question" in caplog.text


def test_a_limit_is_told_among_many_objects(caplog: pytest.LogCaptureFixture) -> None:
    media_type = "text/csv"
    step = {"name": "sparql_query", "args": {"query": "q"}, "output_media_type": media_type}
    reference = dataset_of(300, reference_steps=[[{**step, "output": "a\r\n1\r\n"}]])
    header = ",".join(f"c{i}" for i in range(1000))
    wide = f"{header}\r\n" + "x\r\n" * 10_000
    actual = {**step, "id": "s", "status": "success"}
    responses = {
        f"q{i}": {"question_id": f"q{i}", "actual_steps": [{**actual, "output": "a\r\n1\r\n"}]}
        for i in range(300)
    }
    responses["q200"]["actual_steps"] = [{**actual, "output": wide}]
    juror.run_evaluation(reference, responses)
    assert "question `q200`: step `s` returned" in caplog.text
    assert "`explain=True`" in caplog.text


def _answers(results: Data) -> list[tuple[str, int | None, float | None]]:
    return [(one["question_id"], one.get("trial"), one.get("steps_score")) for one in results]


def _response(output: str, **more: Any) -> dict[str, Any]:
    step = {"name": "lookup", "id": "c", "status": "success", "output": output}
    return {"question_id": "q1", "actual_answer": output, "actual_steps": [step], **more}


@pytest.mark.parametrize("profile", ["5", "6"])
def test_several_answers_to_a_question_have_results_of_their_own(
    reference: Data, tmp_path: Path, profile: str
) -> None:
    responses = [_response("Bergen", trial=2), _response("Oslo", trial=1), {"question_id": "q2"}]
    results = juror.run_evaluation(reference, responses, profile=profile)
    last = None if profile == "5" else results[2].get("steps_score")
    assert _answers(results) == [("q1", 1, 1.0), ("q1", 2, 0.0), ("q2", None, last)]
    assert list(results[0])[:3] == ["template_id", "question_id", "trial"]
    assert juror.compute_aggregates(results, profile=profile)["micro"]["number_of_success_samples"] == 3
    (tmp_path / "reference.json").write_text(json.dumps(reference))
    (tmp_path / "responses.json").write_text(json.dumps(responses))
    files = juror.run_evaluation(tmp_path / "reference.json", tmp_path / "responses.json", profile=profile)
    assert list(files) == results
    assert juror.compute_aggregates(files) == juror.compute_aggregates(results)


def test_repeated_ids_are_trials_where_that_is_said(
    reference: Data, caplog: pytest.LogCaptureFixture
) -> None:
    responses = [_response("Oslo"), _response("Bergen")]
    assert _answers(juror.run_evaluation(reference, responses))[0] == ("q1", None, 0.0)
    assert "the last one counts" in caplog.text
    caplog.clear()
    results = juror.run_evaluation(reference, responses, trials_in_responses=True)
    assert _answers(results)[:2] == [("q1", 1, 1.0), ("q1", 2, 0.0)]
    assert caplog.text == ""
    results = asyncio.run(juror.aio.run_evaluation(reference, responses, trials_in_responses=True))
    assert [one.get("trial") for one in results] == [1, 2, None]


def test_single_answers_of_a_large_dataset_keep_their_trial() -> None:
    ids = [f"q{number}" for number in range(300)]
    questions = [{"id": id, "question_text": "?"} for id in ids]
    responses = [{"question_id": id, "trial": 1, "actual_answer": "x"} for id in ids]
    results = juror.run_evaluation([{"template_id": "t", "questions": questions}], responses)
    assert {one["trial"] for one in results} == {1}


def test_a_mapping_of_responses_says_that_it_holds_one_answer(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    lines = [json.dumps(_response("Oslo", trial=1)), json.dumps(_response("Bergen", trial=2))]
    (tmp_path / "responses.jsonl").write_text("\n".join(lines))
    responses = juror.read_responses(tmp_path / "responses.jsonl")
    assert responses["q1"]["trial"] == 2
    assert "only the last of each is returned" in caplog.text
