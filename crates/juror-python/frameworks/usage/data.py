"""Questions and what a system did, for code that uses graphrag-eval."""

from __future__ import annotations

import json
from typing import Any


def rows(*names: str) -> str:
    bindings = [{"name": {"type": "literal", "value": name}} for name in names]
    return json.dumps({"head": {"vars": ["name"]}, "results": {"bindings": bindings}})


def sparql(*names: str, **more: Any) -> dict[str, Any]:
    kind = {"output_media_type": "application/sparql-results+json", "required_columns": ["name"]}
    return {"name": "sparql_query", "args": {"query": "SELECT ?name {}"}, "output": rows(*names), **kind, **more}


def taken(name: str, output: str, number: int, **more: Any) -> dict[str, Any]:
    return {"name": name, "args": {}, "id": f"call_{number}", "status": "success", "output": output, **more}


REFERENCE = [
    {
        "template_id": "taxa_in_HOUSE",
        "questions": [
            {
                "id": "fern",
                "question_text": "Which taxa grow in the Fern Vault?",
                "reference_answer": "Spleenwort and hart's tongue",
                "reference_steps": [
                    [{"name": "lookup", "args": {"house": "Fern Vault"}, "output": "house-3"}],
                    [sparql("spleenwort", "hart's tongue")],
                ],
            },
            {
                "id": "palm",
                "question_text": "Which taxa grow in the Palm House?",
                "reference_steps": [[sparql("kentia"), sparql("date palm")]],
            },
        ],
    },
    {
        "template_id": "hours_of_GARDEN",
        "questions": [
            {
                "id": "hours",
                "question_text": "When is Thornfold open?",
                "reference_steps": [
                    [{"name": "hours", "args": {}, "output": '{"open": "09:00"}', "output_media_type": "application/json"}]
                ],
            },
            {"id": "closed", "question_text": "When is Hollow open?", "reference_steps": [[{"name": "hours", "output": "never"}]]},
        ],
    },
]

USED = {"input_tokens": 120, "output_tokens": 8, "total_tokens": 128, "elapsed_sec": 0.5}

RESPONSES = {
    "fern": {
        "question_id": "fern",
        **USED,
        "actual_steps": [
            taken("lookup", "house-3", 1),
            taken("sparql_query", rows("hart's tongue", "spleenwort"), 2),
        ],
    },
    "palm": {"question_id": "palm", **USED, "actual_steps": [taken("sparql_query", rows("kentia"), 3)]},
    "hours": {"question_id": "hours", **USED, "actual_steps": [taken("hours", '{ "open": "09:00" }', 4)]},
    "closed": {"question_id": "closed", "error": "timeout", "actual_steps": []},
}
