"""`juror.graphrag_eval`: code written for graphrag-eval, unchanged but for its imports."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
from pathlib import Path
from typing import Any

import juror
import juror.graphrag_eval as graphrag_eval
import pytest
import yaml
from juror.graphrag_eval import compute_aggregates, run_evaluation
from juror.graphrag_eval.steps.evaluation import evaluate_steps
from juror.graphrag_eval.steps.retrieval_context_ids import average_precision, recall_at_k
from juror.graphrag_eval.steps.sparql import compare_sparql_results
from scripted import scripted

Data = Any


def test_code_of_release_5_runs(reference: Data, responses: Data) -> None:
    evaluation_results = run_evaluation(reference, responses)
    aggregates = compute_aggregates(evaluation_results)
    assert type(evaluation_results) is list and yaml.safe_dump(evaluation_results)
    assert evaluation_results == juror.run_evaluation(reference, responses, profile="5")
    assert aggregates == juror.compute_aggregates(evaluation_results, profile="5")
    assert graphrag_eval.run_evaluation(qa_dataset=reference, responses_dict=responses) == evaluation_results
    assert graphrag_eval.compute_aggregates(samples=evaluation_results) == aggregates
    assert graphrag_eval.evaluation.run_evaluation is graphrag_eval.run_evaluation
    assert graphrag_eval.aggregation.compute_aggregates is graphrag_eval.compute_aggregates


def test_code_of_release_6_runs(reference: Data, responses: Data, tmp_path: Path) -> None:
    (tmp_path / "reference_data.yaml").write_text(yaml.safe_dump(reference))
    (tmp_path / "eval_config.yaml").write_text("{}\n")

    async def main(config_file_path: str | None) -> tuple[Data, Data]:
        with open("reference_data.yaml", encoding="utf-8") as f:
            reference_data = yaml.safe_load(f)
        response_records = {}
        for template in reference_data:
            for reference_item in template["questions"]:
                question_id = reference_item["id"]
                response_records[question_id] = responses[question_id]
        evaluation_results = await run_evaluation(
            reference_data,
            response_records,
            config_file_path=config_file_path,
        )
        return evaluation_results, compute_aggregates(evaluation_results, config_file_path=config_file_path)

    for config in (None, "eval_config.yaml"):
        results, aggregates = asyncio.run(main(config))
        assert results == juror.run_evaluation(reference, responses, profile="6")
        assert aggregates == juror.compute_aggregates(results, profile="6") and "steps" in aggregates["micro"]
        # After the loop has ended, statistics are still those of the evaluation.
        assert compute_aggregates(results) == aggregates


def test_the_parameter_of_release_6_tells_it_from_release_5(reference: Data, responses: Data) -> None:
    results = asyncio.run(run_evaluation(reference, responses, config_file_path=None))
    assert results == juror.run_evaluation(reference, responses, profile="6")
    assert compute_aggregates(results) == juror.compute_aggregates(results, profile="6")
    older = run_evaluation(reference, responses)
    assert compute_aggregates(older) == juror.compute_aggregates(older, profile="5")
    assert compute_aggregates(older, None) == juror.compute_aggregates(older, profile="6")


def test_a_call_that_is_mistaken_fails_with_a_hint(reference: Data, responses: Data) -> None:
    async def in_a_notebook() -> None:
        compute_aggregates(run_evaluation(reference, responses))

    with pytest.raises(TypeError, match="import from `juror.graphrag_eval.v5`"):
        asyncio.run(in_a_notebook())


def test_each_release_can_be_named(reference: Data, responses: Data) -> None:
    from juror.graphrag_eval import v5, v6

    async def older() -> Data:
        return v5.run_evaluation(reference, responses)

    assert asyncio.run(older()) == juror.run_evaluation(reference, responses, profile="5")
    results = asyncio.run(v6.run_evaluation(reference, responses))
    assert results == juror.run_evaluation(reference, responses, profile="6")
    assert v6.compute_aggregates(results) != v5.compute_aggregates(results)


MODULES = {
    "aggregation": ["compute_aggregates", "stats_for_series", "METRICS", "STEPS_METRICS", "RETAINED_METRICS"],
    "answer_correctness": ["AnswerCorrectnessEvaluator", "AnswerCorrectnessConfig", "InvalidPromptException"],
    "answer_relevance": ["get_relevance_dict", "AnswerRelevanceEvaluator", "AnswerRelevanceConfig"],
    "cli.answer_correctness": ["run", "main"],
    "custom_evaluation": ["CustomEvaluator", "EvaluatorConfig"],
    "evaluation": ["run_evaluation", "Config", "parse_config_and_init_evaluators"],
    "evaluator": ["Evaluator"],
    "llm_factory": ["LLMConfig", "GenerationConfig", "EmbeddingConfig", "create_llm", "create_embedder"],
    "steps.evaluation": ["evaluate_steps", "get_steps_evaluation_result_dict", "match_groups", "compare_steps"],
    "steps.iri_discovery": ["do_iri_discovery_steps_equal"],
    "steps.retrieval_answer": ["get_retrieval_evaluation_dict", "Evaluator"],
    "steps.retrieval_context_ids": ["recall_at_k", "average_precision"],
    "steps.retrieval_context_texts": ["get_retrieval_evaluation_dict", "Evaluator"],
    "steps.sparql": ["compare_sparql_results"],
    "steps.timeseries": ["do_retrieve_time_series_steps_equal", "do_retrieve_data_points_steps_equal"],
    "util": ["compute_f1", "get_f1_dict"],
}


@pytest.mark.parametrize("module", MODULES)
def test_submodules_have_the_library_s_names(module: str) -> None:
    imported = importlib.import_module(f"juror.graphrag_eval.{module}")
    assert [name for name in MODULES[module] if not hasattr(imported, name)] == []


def test_single_rules_take_the_keywords_of_code_and_documents() -> None:
    assert recall_at_k(relevant_docs={1, 3, 5, 6}, retrieved_docs=[1, 4, 3, 5, 7], k=5) == 0.75
    assert recall_at_k(relevant_ids=[1, 3, 5, 6], retrieved_ids=[1, 4, 3, 5, 7], k=5) == 0.75
    assert average_precision(relevant_ids=[1, 2], retrieved_ids=[1, 2]) == 1.0
    rows = {"head": {"vars": ["a"]}, "results": {"bindings": [{"a": {"type": "literal", "value": "x"}}]}}
    asked = {"reference_sparql_result": rows, "actual_sparql_result": rows, "required_vars": ["a"]}
    assert compare_sparql_results(**asked, results_are_ordered=False, ignore_duplicates=True) == 1.0


STEPS = [[{"name": "a", "output": "1"}], [{"name": "b", "output": "2"}, {"name": "c", "output": "3"}]]
TAKEN = [
    {"name": "a", "id": "x", "status": "success", "output": "1"},
    {"name": "c", "id": "y", "status": "success", "output": "3"},
]


def test_steps_are_scored_as_each_release_does() -> None:
    assert evaluate_steps(STEPS, TAKEN) == 0.5
    both = [(-1, 0, 0, 1.0), (-1, 1, 1, 1.0)]
    assert evaluate_steps(reference_steps_groups=STEPS, actual_steps=TAKEN, matches=both) == 1.0
    question = {"question_text": "Why?", "reference_steps": STEPS}
    newer = evaluate_steps(question, {"actual_steps": TAKEN}, None)
    assert inspect.isawaitable(newer)
    assert asyncio.run(_awaited(newer)) == {"actual_steps": TAKEN, "steps_score": 0.25}
    from juror.graphrag_eval.steps import evaluation as steps

    assert steps.get_steps_evaluation_result_dict(question, {"actual_steps": TAKEN})["steps_score"] == 0.5
    assert steps.get_steps_matches(STEPS, TAKEN) == [(-1, 1, 1, 1.0)]
    matches = steps.match_groups(STEPS, TAKEN)
    assert matches == [(1, 1, 1, 1.0)] == steps.match_group(STEPS, 1, TAKEN, 2)
    assert steps.calculate_steps_score(STEPS, TAKEN, matches) == 0.25
    candidates = steps.collect_possible_matches_by_name_and_status(STEPS[1], TAKEN, 2)
    assert candidates == {"c": [1]}
    assert steps.match_group_by_output(STEPS, 1, TAKEN, candidates) == [(1, 1, 1, 1.0)]
    assert steps.compare_steps(STEPS[0][0], TAKEN[0]) == steps.compare_steps_outputs(STEPS[0][0], TAKEN[0]) == 1.0
    assert steps.compare_steps_outputs(STEPS[0][0], TAKEN[1]) == 0.0
    assert "matches" not in STEPS[0][0]


async def _awaited(value: Any) -> Any:
    return await value


def test_steps_of_time_series_and_iris_compare() -> None:
    from juror.graphrag_eval.steps.iri_discovery import do_iri_discovery_steps_equal
    from juror.graphrag_eval.steps.timeseries import do_retrieve_data_points_steps_equal as same_points
    from juror.graphrag_eval.steps.timeseries import do_retrieve_time_series_steps_equal as same_series

    series = {"name": "retrieve_time_series", "args": {"mrid": "m"}}
    assert same_series(series, series) and not same_series(series, {**series, "args": {"mrid": "n"}})
    points = {"name": "retrieve_data_points", "args": {"external_id": "e", "start": "1h-ago"}}
    other = {**points, "args": {"external_id": "e", "start": "2026-01-01T11:00:00Z"}}
    assert same_points(points, other, "2026-01-01T12:00:00Z")
    assert not same_points(points, other, "2026-01-01T18:00:00Z")
    found = {"head": {"vars": ["a"]}, "results": {"bindings": [{"a": {"type": "uri", "value": "urn:a"}}]}}
    searched = {"name": "autocomplete_search", "output": json.dumps(found)}
    assert do_iri_discovery_steps_equal({"name": "iri_discovery", "output": "urn:a"}, searched)
    assert not do_iri_discovery_steps_equal({"name": "iri_discovery", "output": "urn:b"}, searched)


def test_means_of_recall_and_precision() -> None:
    from juror.graphrag_eval.aggregation import stats_for_series
    from juror.graphrag_eval.util import compute_f1, get_f1_dict

    assert compute_f1(0.5, 0.5) == 0.5 and compute_f1(0, 0) == 0.0 and compute_f1(None, 1) is None
    costs = {"a_recall": 1, "a_precision": 1, "a_recall_cost": 1, "a_precision_cost": 2}
    assert get_f1_dict(costs, "a") == {"a_f1": 1.0, "a_f1_cost": 3} and get_f1_dict({}, "a") == {}
    assert stats_for_series([1, 2, 6]) == {"sum": 9, "mean": 3, "median": 2, "min": 1, "max": 6}


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Data:
    """A model on loopback, as the settings of release 6 and the environment of release 5 name it."""
    with scripted({}, tmp_path) as address:
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
        llm = {"provider": "openai", "model": "gpt-4o-mini", "base_url": f"{address}/v1", "api_key": "x"}
        yield {"llm": {"generation": llm, "embedding": {**llm, "model": "text-embedding-3-small"}}}


def test_models_judge_single_answers_as_in_release_5(model: Data) -> None:
    from juror.graphrag_eval.answer_correctness import AnswerCorrectnessEvaluator
    from juror.graphrag_eval.answer_relevance import get_relevance_dict
    from juror.graphrag_eval.steps.retrieval_answer import get_retrieval_evaluation_dict

    relevance = get_relevance_dict("Capital of Peru?", "Lima")
    assert -1 <= relevance["answer_relevance"] <= 1
    evaluator = AnswerCorrectnessEvaluator()
    *counts, reason, error = evaluator.evaluate_answer("Capital of Peru?", "Lima", "Lima")
    assert all(isinstance(count, int) for count in counts) and reason and error == ""
    reference = {"question_text": "Capital of Peru?", "reference_answer": "Lima"}
    found = evaluator.get_correctness_dict(reference, {"actual_answer": "Lima"})
    assert {"answer_recall", "answer_precision", "answer_f1", "answer_correctness_reason"} <= found.keys()
    contexts = [{"id": "1", "text": "Lima is the capital of Peru."}]
    asked = {"question_text": "Capital of Peru?", "actual_contexts": contexts, "reference_answer": "Lima"}
    found = get_retrieval_evaluation_dict(**asked)
    assert {"retrieval_answer_recall", "retrieval_answer_precision", "retrieval_answer_f1"} <= found.keys()


def test_models_judge_single_answers_as_in_release_6(model: Data, tmp_path: Path) -> None:
    from juror.graphrag_eval.evaluation import Config, parse_config_and_init_evaluators
    from juror.graphrag_eval.steps import retrieval_answer, retrieval_context_texts

    custom: Data = {"name": "own", "inputs": ["question", "actual_answer"], "instructions": "Rate it."}
    custom["outputs"] = {"own_score": "0 to 1"}
    settings = tmp_path / "settings.yaml"
    settings.write_text(yaml.safe_dump({**model, "custom_evaluations": [custom]}))
    config = Config.parse(settings)
    assert config.llm is not None and config.llm.generation.model == "gpt-4o-mini"
    evaluators, llm = parse_config_and_init_evaluators(settings)
    assert len(evaluators) == 3 and llm is not None
    reference = {"id": "q", "question_text": "Capital of Peru?", "reference_answer": "Lima"}
    contexts = [{"id": "1", "text": "Lima is the capital of Peru."}]

    async def main() -> list[Any]:
        found = [await one.evaluate(reference, {"question_id": "q", "actual_answer": "Lima"}) for one in evaluators]
        asked = {"question_text": "Capital of Peru?", "actual_contexts": contexts}
        by_answer, by_texts = retrieval_answer.Evaluator(llm), retrieval_context_texts.Evaluator(llm)
        found.append(await by_answer.get_retrieval_evaluation_dict(**asked, reference_answer="Lima"))
        found.append(await by_texts.get_retrieval_evaluation_dict(**asked, reference_contexts=contexts))
        return found

    relevance, correctness, own, by_answer, by_texts = asyncio.run(main())
    assert "answer_relevance" in relevance and "answer_f1" in correctness
    assert "own_score" in own
    assert "retrieval_answer_f1" in by_answer and "retrieval_context_f1" in by_texts


def test_the_command_judges_a_table(model: Data, tmp_path: Path) -> None:
    from juror.graphrag_eval.cli.answer_correctness import run

    (tmp_path / "settings.yaml").write_text(yaml.safe_dump(model))
    (tmp_path / "in.tsv").write_text("Question\tReference answer\tActual answer\nCapital of Peru?\tLima\tLima\n")
    run("settings.yaml", Path("in.tsv"), Path("out/judged.tsv"))
    assert (tmp_path / "out/judged.tsv").read_text().startswith("#Reference\t#PTarget\t#Matching\tReasoning\tError")
    with pytest.raises(ValueError, match="nowhere.tsv"):
        run("settings.yaml", "nowhere.tsv", "out.tsv")


def test_what_is_wrong_is_told_before_a_model_is_asked(tmp_path: Path) -> None:
    from juror.graphrag_eval.answer_correctness import AnswerCorrectnessEvaluator, InvalidPromptException
    from juror.graphrag_eval.answer_relevance import get_relevance_dict
    from juror.graphrag_eval.evaluation import Config
    from juror.graphrag_eval.llm_factory import LLMConfig

    assert Config.parse(None).llm is None
    with pytest.raises(ValueError, match="`model` is missing"):
        LLMConfig(generation={"provider": "openai"})
    with pytest.raises(ValueError, match="unknown setting `lmm`"):
        Config(lmm={})
    with pytest.raises(ValueError):
        Config(answer_relevance={"enabled": True})
    with pytest.raises(FileNotFoundError):
        Config.parse(tmp_path / "none.yaml")
    prompt = tmp_path / "prompt.md"
    prompt.write_text("{answer}")
    with pytest.raises(InvalidPromptException, match="answer"):
        AnswerCorrectnessEvaluator(prompt_file_path=prompt)
    assert "OPENAI_API_KEY" in get_relevance_dict("Why?", "Because.")["answer_relevance_error"]
