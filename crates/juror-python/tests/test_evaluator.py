"""``juror.Evaluator``: batches of rows in, results as rows out."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import juror
import pytest
from scripted import scripted

Data = Any
CUSTOM = {"name": "tone", "inputs": ["actual_answer"], "instructions": "Is it polite?", "outputs": {"polite": "0 or 1"}}


class Batch:
    """A batch of another library, with the one door that an array has."""

    def __init__(self, table: juror.Table) -> None:
        self.table = table

    def __arrow_c_array__(self, requested_schema: object = None) -> Any:
        return self.table.__arrow_c_array__(requested_schema)


def rows(reference: list[Data], responses: dict[str, Data]) -> list[dict[str, str | None]]:
    """Each question with its template and its response."""
    return [
        {
            "template_id": template["template_id"],
            "question_id": question["id"],
            "question": json.dumps(question),
            "response": json.dumps(responses[question["id"]]) if question["id"] in responses else None,
        }
        for template in reference
        for question in template["questions"]
    ]


def lines(reference: list[Data], responses: Data, *options: str) -> list[str]:
    """What ``juror eval`` writes."""
    Path("reference.json").write_text(json.dumps(reference))
    Path("responses.json").write_text(json.dumps(responses))
    words = ["eval", "reference.json", "responses.json", "-o", "results.jsonl", "--no-model", "--quiet", *options]
    subprocess.run([sys.executable, "-m", "juror", *words], check=True)
    return Path("results.jsonl").read_text().splitlines()


@pytest.fixture
def many() -> tuple[list[Data], dict[str, Data]]:
    """Questions that are answered well, badly, by nothing and by an error."""

    def step(name: str, number: int) -> dict[str, Any]:
        return {"name": name, "args": {"é": number}, "id": str(number), "output": f"ü {number} \\ \n", "status": "success"}

    templates: list[Data] = [{"template_id": f"t{at}", "questions": []} for at in range(3)]
    responses = {}
    for number in range(100):
        name = f"q{number}"
        steps = [[step("lookup", number)], [step("fetch", number), step("fetch", number + 1)]]
        question = {"id": name, "question_text": f"Which {number}?", "reference_steps": steps}
        templates[number % 3]["questions"].append(question)
        given = [step("fetch", number), step("lookup", number // 2 * 2)]
        responses[name] = {"question_id": name, "actual_steps": given, "input_tokens": number, "elapsed_sec": number / 7}
    responses["q7"] = {"question_id": "q7", "error": "timeout", "input_tokens": 3}
    del responses["q8"]
    return templates, responses


@pytest.mark.parametrize("profile", ["5", "6"])
@pytest.mark.parametrize("threads", [1, 3])
def test_results_are_those_of_the_command(many: Any, profile: str, threads: int) -> None:
    reference, responses = many
    expected = lines(reference, responses, "--profile", profile)
    given = juror.to_arrow(rows(reference, responses))
    results = [json.loads(line) for line in expected]
    tables = [
        juror.Evaluator(profile=profile, threads=threads)(given),
        juror.Evaluator("reference.json", profile=int(profile))(Batch(given)),
        juror.Evaluator(reference, profile=profile, threads=threads)(given),
    ]
    for table in tables:
        columns = table.to_pydict()
        assert [json.loads(line) for line in columns["result"]] == results
        for key in ("template_id", "question_id", "status", "error", "steps_score", "input_tokens", "elapsed_sec"):
            assert columns[key] == [result.get(key) for result in results], key
        if table is not tables[-1]:
            assert columns["result"] == expected, "to the byte, unless Juror spells the reference"


def test_the_schema_is_fixed(many: Any) -> None:
    reference, responses = many
    evaluate = juror.Evaluator()
    names = evaluate.schema.names
    assert names[:5] == ["template_id", "question_id", "trial", "status", "error"] and names[-1] == "result"
    assert "steps_score" in names and "retrieval_context_f1" in names
    own = rows(reference, responses)
    for given in (own, own[:1], [{"question": "", "response": ""}]):
        assert evaluate(juror.to_arrow(given)).column_names == names
    settings = {"custom_evaluations": [CUSTOM]}
    assert "polite" in juror.Evaluator(config=settings).schema.names


def test_a_bad_row_is_an_error_of_its_own(reference: list[Data], responses: Any) -> None:
    question = json.dumps(reference[0]["questions"][0])
    good = {"template_id": "capitals", "question_id": "q1", "question": question, "response": "{}"}
    given: list[Data] = [
        good,
        {**good, "response": "{"},
        {**good, "response": None},
        {**good, "response": "[]"},
        {**good, "response": '{"question_id": "q2"}'},
        {**good, "question": None},
        {**good, "question": "nothing"},
        {**good, "question": '{"id": "q1"}'},
        {**good, "question_id": None, "question": '{"question_text": "?"}'},
        {**good, "template_id": None},
        {key: None for key in good},
    ]
    columns = juror.Evaluator()(juror.to_arrow(given)).to_pydict()
    errors = columns["error"]
    assert errors[0] is None and errors[2] == "no response"
    for at, told in {
        1: "the response could not be read: not valid JSON",
        3: "the response could not be read: invalid type",
        4: "the response is to question `q2`, and its row to `q1`",
        5: "the row has no question",
        6: "the question could not be read: not valid JSON",
        7: "the question could not be read: this question has no `question_text`",
        8: "the question could not be read: this question has no `id`",
        9: "the question could not be read: this question has no `template_id`",
        10: "the row has no question",
    }.items():
        assert errors[at].startswith(told), errors[at]
    assert columns["status"] == ["success"] + ["error"] * 10
    assert columns["question_id"] == ["q1"] * 8 + [None, "q1", None]
    results = [json.loads(line) for line in columns["result"]]
    assert [result.get("error") for result in results] == errors
    by_reference = juror.Evaluator(reference)
    given = [{"response": '{"question_id": "q1"}'}, {"response": "{}"}, {"response": '{"question_id": "q9"}'}]
    errors = by_reference(juror.to_arrow(given)).to_pydict()["error"]
    assert errors == [None, "the row has no question id", "the reference has no question `q9`"]


def test_pickles_are_made_from_the_arguments(many: Any) -> None:
    reference, responses = many
    Path("reference.json").write_text(json.dumps(reference))
    given = juror.to_arrow([{"answer": row["response"], "id": row["question_id"]} for row in rows(reference, responses)])
    for named in (reference, "reference.json", Path("reference.json")):
        evaluate = juror.Evaluator(named, {"profile": 6}, response="answer", question_id="id", threads=2)
        again = pickle.loads(pickle.dumps(evaluate))
        assert again(given).to_pydict() == evaluate(given).to_pydict()
        assert repr(again) == repr(evaluate) == "<juror.Evaluator of `answer` by 100 questions>"
        assert copy.copy(evaluate).schema.names == evaluate.schema.names
    assert len(pickle.dumps(juror.Evaluator("reference.json"))) < 1000


def test_tables_are_pickled(many: Any) -> None:
    table = juror.Evaluator()(juror.to_arrow(rows(*many)))
    odd = juror.to_arrow([{"a": 1, "b": True, "c": 0.5, "d": "é"}, {"b": False}, {"e": [1]}])
    for one in (table, odd, juror.to_arrow([])):
        for protocol in (2, 5):
            again = pickle.loads(pickle.dumps(one, protocol))
            assert (again.column_names, len(again)) == (one.column_names, len(one))
            assert again.to_pydict() == one.to_pydict()
    broken = odd.__reduce__()
    with pytest.raises(ValueError):
        broken[0](broken[1][0], [(3, [(None, [b"short"])] * 5)])


def test_texts_of_every_type_are_read(many: Any) -> None:
    arrow = pytest.importorskip("pyarrow")
    reference, responses = many
    own = rows(reference, responses)
    expected = juror.Evaluator()(juror.to_arrow(own)).to_pydict()
    for kind in (arrow.string(), arrow.large_string(), arrow.string_view()):
        schema = arrow.schema([(name, kind) for name in own[0]])
        table = arrow.Table.from_pylist(own, schema=schema)
        batches = table.to_batches(max_chunksize=7)
        for given in (table, batches[0].slice(0, 7), arrow.Table.from_batches(batches), table.to_reader()):
            made = juror.Evaluator(threads=2)(given)
            n_rows = len(made)
            assert made.to_pydict() == {name: values[:n_rows] for name, values in expected.items()}
    table = arrow.Table.from_pylist(own)
    made = juror.Evaluator()(table)
    assert arrow.schema(juror.Evaluator().schema) == arrow.table(made).schema == arrow.record_batch(made).schema
    assert arrow.table(made).column("result").type == arrow.string()
    sliced = juror.Evaluator()(table.slice(5, 10)).to_pydict()
    assert sliced == {name: values[5:15] for name, values in expected.items()}
    nothing = arrow.table({"question": arrow.nulls(1), "response": arrow.nulls(1)})
    assert juror.Evaluator()(nothing).to_pydict()["error"] == ["the row has no question"]


def test_what_is_no_batch_of_rows_is_refused() -> None:
    evaluate = juror.Evaluator()
    with pytest.raises(TypeError, match="`list` is no table"):
        evaluate([{"question": "", "response": ""}])
    with pytest.raises(ValueError, match="no column `response` for responses\n  hint: the columns are question, reply"):
        evaluate(juror.to_arrow([{"question": "", "reply": ""}]))
    with pytest.raises(ValueError, match="no column `question` for questions, and no reference"):
        evaluate(juror.to_arrow([{"response": ""}]))
    with pytest.raises(ValueError, match="`response` is of type Int64, and should be of texts"):
        evaluate(juror.to_arrow([{"question": "", "response": 1}]))


def test_what_it_is_made_from_is_checked() -> None:
    with pytest.raises(FileNotFoundError):
        juror.Evaluator("nowhere.json")
    with pytest.raises(juror.DatasetError, match="template_id"):
        juror.Evaluator([{"questions": []}])
    with pytest.raises(juror.SettingsError):
        juror.Evaluator(config={"profil": 5})
    with pytest.raises(ValueError, match="no profile `7`"):
        juror.Evaluator(profile=7)


@pytest.mark.parametrize("profile", ["5", "6"])
def test_partials_of_any_split_merge_to_the_same_bytes(many: Any, profile: str) -> None:
    reference, responses = many
    own = rows(reference, responses)
    evaluate = juror.Evaluator(profile=profile)
    whole = juror.Evaluator(profile=profile, threads=3).partial(juror.to_arrow(own))
    assert whole.n_answers == len(own) and repr(whole) == "<juror.Partial of 100 answers>"
    for n_parts in (2, 7, 40):
        parts = [evaluate.partial(juror.to_arrow(own[at::n_parts])) for at in range(n_parts)]
        last, *others = (pickle.loads(pickle.dumps(part)) for part in reversed(parts))
        merged = last.merge(*others)
        assert merged.to_bytes() == whole.to_bytes()
        assert juror.Partial.from_bytes(merged.to_bytes()).n_answers == len(own)
    finished = whole.finish()
    results = juror.run_evaluation(reference, responses, profile=profile, ask_models=False)
    assert finished["aggregates"] == juror.compute_aggregates(results, profile=profile)
    statistics = juror.statistics(results, profile=profile)
    assert finished["statistics"]["micro"]["steps_score"]["mean"] == statistics.micro["steps_score"]["mean"]
    assert whole.finish(confidence=0.9)["statistics"] != finished["statistics"]


def test_partials_that_do_not_belong_together_are_refused(many: Any) -> None:
    given = juror.to_arrow(rows(*many))
    five, six = (juror.Evaluator(profile=profile).partial(given) for profile in (5, 6))
    with pytest.raises(ValueError, match="partial 1 .* scored by profile 6, and others by profile 5"):
        five.merge(five, six)
    with pytest.raises(ValueError, match="this is no partial"):
        juror.Partial.from_bytes(b"nothing")
    with pytest.raises(ValueError, match="damaged"):
        juror.Partial.from_bytes(five.to_bytes()[:-1])
    with pytest.raises(ValueError, match="confidence is 1"):
        five.finish(confidence=1)


def test_a_partial_is_a_table_of_one_row(many: Any) -> None:
    arrow = pytest.importorskip("pyarrow")
    partial = juror.Evaluator().partial(juror.to_arrow(rows(*many)))
    assert arrow.table(partial).to_pylist() == [{"partial": partial.to_bytes()}]


def test_models_judge_the_rows(reference: list[Data], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = {"question_id": "q1", "actual_answer": "Oslo"}
    given = juror.to_arrow(rows(reference, {"q1": answer}))
    with scripted({}, tmp_path) as address:
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
        asked = juror.Evaluator(profile="6", ask_models=True)(given).to_pydict()
        expected = juror.run_evaluation(reference, {"q1": answer}, profile="6")
        assert [json.loads(line) for line in asked["result"]] == expected
        assert asked["answer_recall"][0] == expected[0]["answer_recall"] is not None
        silent = juror.Evaluator(profile="6")(given).to_pydict()
        assert silent["answer_recall"] == [None, None]
