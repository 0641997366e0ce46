"""Times `juror.Evaluator` on rows of Arrow, from inside one process.

usage: evaluator_times.py rows|reference REFERENCE RESPONSES RESULTS BATCH

With `rows` each row has its question, with `reference` the evaluator has the reference. The table is
made before the clock starts. Checks that the results are those of `juror eval` in the file RESULTS,
and prints `cpu seconds: …` of all threads for the whole table, and `megabytes: …`, how much the
process grew at most while it evaluated the same rows batch by batch.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from typing import Any

import juror
import pyarrow


def table_of(reference_path: str, responses_path: str) -> pyarrow.Table:
    with open(responses_path, encoding="utf-8") as file:
        responses = {json.loads(line)["question_id"]: line.rstrip("\n") for line in file}
    with open(reference_path, encoding="utf-8") as file:
        templates = json.load(file)
    questions = [(template["template_id"], question) for template in templates for question in template["questions"]]
    return pyarrow.table(
        {
            "template_id": [template for template, _ in questions],
            "question_id": [question["id"] for _, question in questions],
            "question": [json.dumps(question, ensure_ascii=False) for _, question in questions],
            "response": [responses.get(question["id"]) for _, question in questions],
        }
    )


def megabytes() -> float:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def main(how: str, reference: str, responses: str, results: str, batch: str) -> None:
    table = table_of(reference, responses)
    evaluate = juror.Evaluator(reference if how == "reference" else None, profile="6")
    start = time.process_time()
    made = evaluate(table)
    print(f"cpu seconds: {time.process_time() - start:.6f}")
    check(pyarrow.table(made), results)
    del made
    before, most = megabytes(), 0.0
    for part in table.to_batches(max_chunksize=int(batch)):
        done: Any = evaluate(part)
        most = max(most, megabytes() - before)
        del done
    print(f"megabytes: {most:.1f}")


def check(made: pyarrow.Table, results: str) -> None:
    """Each result is the line that the program wrote, but for spaces between questions' tokens."""
    with open(results, encoding="utf-8") as file:
        for line, own in zip(file, made.column("result"), strict=True):
            if json.loads(line) != json.loads(own.as_py()):
                sys.exit(f"the results are not those of the program:\n{line}\n{own}")


if __name__ == "__main__":
    main(*sys.argv[1:])
