"""Code in the manner of the documents of graphrag-eval, release 6."""

import asyncio
import copy
import json
import os
import tempfile

import yaml
from data import REFERENCE, RESPONSES, rows
from graphrag_eval import compute_aggregates, run_evaluation
from graphrag_eval.evaluation import Config
from graphrag_eval.steps.evaluation import calculate_steps_score, compare_steps, evaluate_steps, match_groups
from graphrag_eval.steps.retrieval_context_ids import average_precision, recall_at_k
from graphrag_eval.steps.sparql import compare_sparql_results


async def agent(question_id: str) -> dict:
    return copy.deepcopy(RESPONSES[question_id])


async def main() -> dict:
    with open("reference_data.yaml", encoding="utf-8") as f:
        reference_data: list[dict] = yaml.safe_load(f)
    response_records = {}
    for template in reference_data:
        for reference_item in template["questions"]:
            question_id = reference_item["id"]
            response_records[question_id] = {**await agent(question_id), "actual_answer": "Some."}
    evaluation_results = await run_evaluation(reference_data, response_records)
    aggregates = compute_aggregates(evaluation_results)
    configured = await run_evaluation(reference_data, response_records, config_file_path="eval_config.yaml")
    question = copy.deepcopy(REFERENCE[0]["questions"][0])
    groups, steps = question["reference_steps"], RESPONSES["fern"]["actual_steps"]
    matches = match_groups(groups, steps)
    return {
        "results": evaluation_results,
        "aggregates": aggregates,
        "configured": configured,
        "configured aggregates": compute_aggregates(configured, config_file_path="eval_config.yaml"),
        "has a model": Config.parse("eval_config.yaml").llm is not None,
        "steps": (await evaluate_steps(question, {"actual_steps": steps}, None))["steps_score"],
        "matches": sorted(matches),
        "score": calculate_steps_score(groups, steps, matches),
        "same": compare_steps(groups[1][0], steps[1]),
        "recall": recall_at_k(relevant_ids=[1, 3, 5, 6], retrieved_ids=[1, 4, 3, 5, 7], k=5),
        "precision": average_precision(relevant_ids=[1, 3], retrieved_ids=[1, 4, 3]),
        "sparql": compare_sparql_results(json.loads(rows("a")), json.loads(rows("b")), required_vars=["name"]),
    }


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("reference_data.yaml", "w", encoding="utf-8") as file:
        yaml.safe_dump(REFERENCE, file)
    with open("eval_config.yaml", "w", encoding="utf-8") as file:
        file.write("{}\n")
    print(json.dumps(asyncio.run(main())))
    os.chdir("/")
