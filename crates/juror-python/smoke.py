"""A short look at an installed module: that it loads, judges, and refuses, on any Python."""

import asyncio
import json
import sys
import tempfile
from pathlib import Path

import juror
import juror.graphrag_eval
import juror.testing

reference = [
    {
        "template_id": "capitals",
        "questions": [
            {
                "id": "q1",
                "question_text": "Capital of Norway?",
                "reference_steps": [[{"name": "lookup", "args": {}, "output": "Oslo"}]],
            }
        ],
    }
]
step = {"name": "lookup", "args": {}, "id": "c1", "status": "success", "output": "Oslo"}
responses = {"q1": {"question_id": "q1", "actual_answer": "Oslo", "actual_steps": [step]}}

results = juror.run_evaluation(reference, responses, ask_models=False)
assert results[0]["steps_score"] == 1.0, results
assert juror.compute_aggregates(results)["micro"]["steps_score"]["mean"] == 1.0
assert juror.compare(results, results).passed
assert juror.statistics(results)["micro"]["steps_score"]["mean"] == 1.0
assert asyncio.run(juror.aio.run_evaluation(reference, responses))[0]["steps_score"] == 1.0
older, newer = juror.graphrag_eval.v5, juror.graphrag_eval.v6
assert older.run_evaluation(reference, responses) == juror.graphrag_eval.run_evaluation(reference, responses)
assert asyncio.run(newer.run_evaluation(reference, responses))[0]["steps_score"] == 1.0
assert juror.testing.assert_answers(responses, reference, steps_score=1.0, ask_models=False) == results
assert juror.to_arrow(results).to_pydict()["steps_score"] == [1.0]
with tempfile.TemporaryDirectory() as folder:
    paths = Path(folder, "reference.json"), Path(folder, "responses.json")
    for path, data in zip(paths, (reference, responses)):
        path.write_text(json.dumps(data))
    by_paths = juror.run_evaluation(*paths, ask_models=False)
    # Python's own `json` reads lists in its own way, which is another in each release.
    assert json.loads(json.dumps(by_paths)) == results, by_paths
try:
    juror.run_evaluation([{"questions": []}], {})
except juror.DatasetError as error:
    assert error.path == "[0]", error
else:
    raise AssertionError("a template without an id was taken")
print(f"juror {juror.__version__} works with Python {sys.version.split()[0]}")
