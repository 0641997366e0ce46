"""Statistics of results."""

from __future__ import annotations

import os
from collections.abc import Iterable
from statistics import mean, median
from typing import Any

from ._release import compute_aggregates
from .evaluation import Config

__all__ = [
    "METRICS",
    "RETAINED_METRICS",
    "STEPS_METRICS",
    "compute_aggregates",
    "parse_custom_metrics",
    "stats_for_series",
]

RETAINED_METRICS = ["input_tokens", "output_tokens", "total_tokens", "elapsed_sec"]
"""Metrics that responses report."""

METRICS = ["answer_recall", "answer_precision", "answer_relevance", "answer_f1", "steps_score", *RETAINED_METRICS]
"""Metrics of questions."""

STEPS_METRICS = {
    "retrieval": [f"retrieval_{of}_{what}" for of in ("answer", "context") for what in ("recall", "precision", "f1")]
}
"""Metrics of steps, by their name."""


def stats_for_series(values: Iterable[int | float]) -> dict[str, float]:
    """Returns sum, mean, median, minimum and maximum; all are 0 if there are no values."""
    known = list(values)
    if not known:
        return dict.fromkeys(("sum", "mean", "median", "min", "max"), 0)
    return {"sum": sum(known), "mean": mean(known), "median": median(known), "min": min(known), "max": max(known)}


def parse_custom_metrics(config_file_path: str | os.PathLike[str] | None) -> list[str]:
    """Returns the outputs of the custom evaluations of a settings file."""
    found: list[Any] = Config.parse(config_file_path).custom_evaluations or []
    return [output for evaluation in found for output in evaluation.outputs]
