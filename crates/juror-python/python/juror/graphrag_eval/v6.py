"""The functions of release 6 of graphrag-eval, whose rules are profile 6."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .. import aio
from .._evaluation import Config, Path, Responses, Templates

__all__ = ["compute_aggregates", "run_evaluation"]


async def run_evaluation(
    qa_dataset: Templates,
    responses_dict: Responses,
    config_file_path: Config | None = None,
) -> list[dict[str, Any]]:
    """Evaluates recorded answers; models judge them if settings name one."""
    return list(await aio.run_evaluation(qa_dataset, responses_dict, config_file_path))


def compute_aggregates(
    samples: Path | Iterable[Mapping[str, Any]], config_file_path: Config | None = None
) -> dict[str, Any]:
    """Computes statistics of results: `per_template`, `micro` and `macro`."""
    return aio.compute_aggregates(samples, config_file_path)
