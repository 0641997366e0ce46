"""What `juror eval` does, done by the Python library, as a whole program.

usage: library_eval.py REFERENCE RESPONSES RESULTS AGGREGATES

Reads a reference (JSON) and responses (one JSON object a line), evaluates them without a
configuration, so that no model is asked, aggregates the results, and writes both as JSON.
"""

import asyncio
import json
import sys

from graphrag_eval import compute_aggregates, run_evaluation


def main(reference_path: str, responses_path: str, results_path: str, aggregates_path: str) -> None:
    with open(reference_path, encoding="utf-8") as file:
        reference = json.load(file)
    with open(responses_path, encoding="utf-8") as file:
        responses = {record["question_id"]: record for record in map(json.loads, file)}
    results = asyncio.run(run_evaluation(reference, responses))
    aggregates = compute_aggregates(results)
    for path, value in ((results_path, results), (aggregates_path, aggregates)):
        with open(path, "w", encoding="utf-8") as file:
            json.dump(value, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
