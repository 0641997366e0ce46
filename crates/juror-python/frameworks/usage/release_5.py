"""Code in the manner of the documents of graphrag-eval, release 5."""

import copy
import json

from data import REFERENCE, RESPONSES, rows, taken
from graphrag_eval import compute_aggregates, run_evaluation
from graphrag_eval.steps.evaluation import evaluate_steps, get_steps_matches
from graphrag_eval.steps.retrieval_context_ids import average_precision, recall_at_k
from graphrag_eval.steps.sparql import compare_sparql_results
from graphrag_eval.util import compute_f1

reference_qas: list[dict] = copy.deepcopy(REFERENCE)
chat_responses: dict = copy.deepcopy(RESPONSES)
evaluation_results = run_evaluation(reference_qas, chat_responses)
aggregates = compute_aggregates(evaluation_results)

by_keyword = run_evaluation(qa_dataset=copy.deepcopy(REFERENCE), responses_dict=copy.deepcopy(RESPONSES))
question = copy.deepcopy(REFERENCE[0]["questions"][0])
said = {
    "results": evaluation_results,
    "aggregates": aggregates,
    "by keyword": by_keyword,
    "aggregates by keyword": compute_aggregates(samples=by_keyword),
    "recall": recall_at_k(relevant_ids=[1, 3, 5, 6], retrieved_ids=[1, 4, 3, 5, 7], k=5),
    "precision": average_precision(relevant_ids=[1, 3, 5, 6], retrieved_ids=[1, 4, 3, 5, 7]),
    "sparql": compare_sparql_results(
        reference_sparql_result=json.loads(rows("a", "b")),
        actual_sparql_result=json.loads(rows("b", "a")),
        required_vars=["name"],
        results_are_ordered=False,
        ignore_duplicates=True,
    ),
    "matches": get_steps_matches(question["reference_steps"], [taken("sparql_query", rows("x"), 1)]),
    "steps": evaluate_steps(question["reference_steps"], RESPONSES["fern"]["actual_steps"]),
    "f1": compute_f1(0.5, 1.0),
}
print(json.dumps(said))
