"""Single rules."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import juror


def test_the_examples_of_the_document() -> None:
    assert juror.recall_at_k(relevant_docs={1, 3, 5, 6}, retrieved_docs=[1, 4, 3, 5, 7], k=5) == 0.75
    precision = juror.average_precision(relevant_docs={1, 3, 5, 6}, retrieved_docs=[1, 4, 3, 5, 7])
    assert precision == pytest.approx(0.6042, abs=1e-4)
    over_hits = juror.average_precision_over_hits({1, 3, 5, 6}, [1, 4, 3, 5, 7])
    assert over_hits == pytest.approx(0.8056, abs=1e-4)
    assert juror.recall_at_k(["1"], [1]) == 0.0
    assert juror.recall_at_k([1], [1.0]) == 1.0


def test_results_may_be_objects_or_texts() -> None:
    one = {"head": {"vars": ["a"]}, "results": {"bindings": [{"a": {"type": "uri", "value": "u"}}]}}
    text = '{"head": {"vars": ["b"]}, "results": {"bindings": [{"b": {"type": "uri", "value": "u"}}]}}'
    assert juror.compare_sparql_results(one, text, ["a"]) == 1.0
    assert juror.compare_sparql_results(one, "not a result", ["a"]) == 0.0
    with pytest.raises(juror.DatasetError, match="cannot be read"):
        juror.compare_sparql_results(one, {"head": object()})


def test_steps_are_matched() -> None:
    expected = [[{"name": "a", "output": "1"}, {"name": "b", "output": "2"}]]
    actual = [
        {"name": "b", "id": "x", "status": "success", "output": "2"},
        {"name": "c", "id": "y", "status": "success", "output": "3"},
    ]
    matching = juror.match_steps(expected, actual)
    assert matching.score == 0.5
    assert matching.pairs == [juror.Pair(0, 1, 0, 1.0)]
    with pytest.raises(ValueError, match="is empty"):
        juror.match_steps([[]], actual)
    with pytest.raises(juror.DatasetError, match=r"reference_steps\[0\]\[0\]"):
        juror.match_steps([[{"output": "1"}]], actual)


def test_steps_that_were_missed_tell_why() -> None:
    expected = [[{"name": "a", "output": "1"}, {"name": "b", "output": 2}, {"name": "c", "output": "3"}]]
    actual = [
        {"name": "a", "status": "success", "output": "1"},
        {"name": "b", "status": "success", "output": "2"},
    ]
    matching = juror.match_steps(expected, actual, explain=True)
    # What comes without reasons is what always came.
    score, pairs = juror.match_steps(expected, actual)
    assert (score, pairs) == (matching.score, matching.pairs)
    assert matching.missed == [
        juror.Missed(0, 1, "b", "expected the number `2`, got the text `\"2\"`"),
        juror.Missed(0, 2, "c", "no step of this name was taken"),
    ]
    assert juror.match_steps([expected[0][:1]], actual, explain=True).missed == []
    later = [[{"name": "b", "output": "2"}], [{"name": "a", "output": "1"}]]
    (missed,) = juror.match_steps(later, actual, "6", explain=True).missed
    assert missed == (0, 0, "b", "the step came only after one that was found for group 2")


def test_keys_of_replies() -> None:
    assert juror.tool_cache_key({"a": "it's", "b": [1, 2.0, None, True]}) == (
        """{'a': "it's", 'b': [1, 2.0, None, True]}"""
    )
    assert juror.tool_cache_key('{"a": 1}') == "{'a': 1}"
    assert juror.tool_cache_key("") == "{}"
    assert juror.tool_cache_key({"a": float("nan")}) == "{'a': nan}"
    assert juror.tool_cache_key({"a": "\ud800"}) == r"{'a': '\ud800'}"
    for bad in ("{", " ", 5, [1], None):
        with pytest.raises(ValueError):
            juror.tool_cache_key(bad)  # type: ignore[arg-type]


def test_calls_may_be_given_as_pairs() -> None:
    gold = [["T", "a"], ["T", "b"]]
    assert juror.api_call_score(gold, [("T", "a"), ("T", "a"), ("U", "c")]) == 0.5
    assert juror.api_call_score([], [("T", "a")]) == 0.0
    details = juror.api_call_details({"relevant APIs": gold}, [("T", "a"), ("U", "c")])
    assert details == {
        "api_call_score": 0.5,
        "applicable": True,
        "precision": 0.5,
        "other_calls": 1,
        "called_apis": [("T", "a"), ("U", "c")],
    }


def test_references_are_read(tmp_path: Path) -> None:
    path = tmp_path / "reference.jsonl"
    path.write_text(
        '{"template_id": "t", "id": "1", "question_text": "a", "extra": 1}\n'
        '{"template_id": "u", "questions": [{"id": "2", "question_text": "b"}]}\n'
        '{"template_id": "t", "id": "3", "question_text": "c"}\n'
    )
    first = {"id": "1", "question_text": "a", "extra": 1}
    templates = juror.read_reference(path)
    assert templates == [
        {"template_id": "t", "questions": [first, {"id": "3", "question_text": "c"}]},
        {"template_id": "u", "questions": [{"id": "2", "question_text": "b"}]},
    ]
    assert juror.read_reference(templates) == templates
    path.write_text('{"template_id": "t"}\n{"template_id": "t", "id": 1, "question_text": }\n')
    with pytest.raises(juror.DatasetError) as raised:
        juror.read_reference(path)
    assert {(problem.file, problem.line) for problem in raised.value.problems} == {
        (str(path), 1),
        (str(path), 2),
    }
    copied = pickle.loads(pickle.dumps(raised.value))
    assert copied.problems == raised.value.problems and str(copied) == str(raised.value)


def test_responses_are_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = tmp_path / "responses.jsonl"
    path.write_text('{"question_id": "1", "actual_answer": "a"}\nnot JSON\n{"question_id": 2}\n')
    good = {"1": {"question_id": "1", "actual_answer": "a"}, 2: {"question_id": 2}}
    assert juror.read_responses(path) == good
    assert f"{path}:2:" in caplog.text
    with pytest.raises(juror.DatasetError) as raised:
        juror.read_responses(path, strict=True)
    assert raised.value.line == 2
    by_id = {"1": {"actual_answer": "a"}, "2": 5}
    read = juror.read_responses(by_id)
    assert read["1"] == {"actual_answer": "a"}
    assert (read["2"]["status"], read["2"]["question_id"]) == ("error", "2")
