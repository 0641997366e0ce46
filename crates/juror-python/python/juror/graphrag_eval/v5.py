"""The functions of release 5 of graphrag-eval, whose rules are profile 5."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .. import _evaluation
from .._evaluation import Path, Responses, Templates

__all__ = ["compute_aggregates", "run_evaluation"]


def run_evaluation(qa_dataset: Templates, responses_dict: Responses) -> list[dict[str, Any]]:
    """Evaluates recorded answers; a model judges them if OPENAI_API_KEY is set."""
    return list(_evaluation.run_evaluation(qa_dataset, responses_dict, profile="5"))


def compute_aggregates(samples: Path | Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Computes statistics of results: `per_template`, `micro` and `macro`."""
    return _evaluation.compute_aggregates(samples, profile="5")
