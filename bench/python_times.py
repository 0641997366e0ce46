"""Times one thing done in Python, by the library or by Juror, from inside one process.

usage: python_times.py library|juror objects|paths|looks|aggregates REFERENCE RESPONSES

`objects` evaluates what was loaded before the clock starts; `paths` includes the reading: for the
library by Python's `json`, for Juror by handing over the paths. `looks` is the same and goes through
all results, whose dicts Juror makes only then. `aggregates` computes statistics of the results, ten
times over. Prints a line `seconds: …`, and the mean steps score as a check.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from typing import Any


def load(reference_path: str, responses_path: str) -> tuple[list[Any], dict[str, Any]]:
    with open(reference_path, encoding="utf-8") as file:
        reference = json.load(file)
    with open(responses_path, encoding="utf-8") as file:
        responses = {record["question_id"]: record for record in map(json.loads, file)}
    return reference, responses


def by_library(reference: Any, responses: Any) -> list[Any]:
    import asyncio

    from graphrag_eval import run_evaluation

    if isinstance(reference, str):
        reference, responses = load(reference, responses)
    return asyncio.run(run_evaluation(reference, responses))


def by_juror(reference: Any, responses: Any) -> list[Any]:
    import juror

    return juror.run_evaluation(reference, responses, profile="6", ask_models=False)


def aggregates_by(side: str) -> Any:
    if side == "library":
        from graphrag_eval import compute_aggregates

        return compute_aggregates
    import juror

    return lambda results: juror.compute_aggregates(results, profile="6")


def main(side: str, what: str, reference: Any, responses: Any) -> None:
    evaluate = by_library if side == "library" else by_juror
    if what not in ("paths", "looks"):
        reference, responses = load(reference, responses)
    evaluate([], {})  # so that modules are loaded for everyone
    start = time.perf_counter()
    results = evaluate(reference, responses)
    if what == "looks":
        results = list(results)
    seconds = time.perf_counter() - start
    if what == "aggregates":
        compute, many = aggregates_by(side), results * 10
        start = time.perf_counter()
        compute(many)
        seconds = time.perf_counter() - start
    scores = [result["steps_score"] for result in results if "steps_score" in result]
    print(f"seconds: {seconds:.6f}")
    print(f"mean steps score: {statistics.fmean(scores):.6f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
