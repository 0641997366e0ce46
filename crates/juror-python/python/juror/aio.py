"""The same functions as awaitables, in the style of the library's newer release.

    from juror import aio as graphrag_eval

    results = await graphrag_eval.run_evaluation(reference, responses, config_file_path="c.yaml")
    aggregates = graphrag_eval.compute_aggregates(results, "c.yaml")

The profile is "6" unless the arguments or the settings say otherwise, and models are called only if
settings are given.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any, overload

from . import _evaluation, _juror, _package
from ._bench.aio import ask, bench
from ._evaluation import Config, Path, Responses, Templates
from ._metrics import Metric
from ._names import also_named
from ._progress import Progress

__all__ = ["ask", "bench", "compute_aggregates", "run_evaluation"]

# The `__init__.py` of another package would not check.
_package.check()


@overload
async def run_evaluation(
    reference: Templates,
    responses: Responses,
    config: Config | None = None,
    profile: str | int | None = None,
    *,
    metrics: Mapping[str, Metric] | None = None,
    ask_models: bool | None = None,
    explain: bool = False,
    trials_in_responses: bool = False,
    progress: bool | Progress | None = None,
    threads: int | None = None,
) -> list[dict[str, Any]]: ...
@overload
async def run_evaluation(
    qa_dataset: Templates,
    responses_dict: Responses,
    config_file_path: Config | None = None,
    profile: str | int | None = None,
    **options: Any,
) -> list[dict[str, Any]]: ...
@also_named(qa_dataset="reference", responses_dict="responses", config_file_path="config")
async def run_evaluation(
    reference: Templates,
    responses: Responses,
    config: Config | None = None,
    profile: str | int | None = None,
    *,
    metrics: Mapping[str, Metric] | None = None,
    ask_models: bool | None = None,
    explain: bool = False,
    trials_in_responses: bool = False,
    progress: bool | Progress | None = None,
    threads: int | None = None,
) -> list[dict[str, Any]]:
    """Evaluates recorded answers without blocking the event loop.

    Runs `juror.run_evaluation` on another thread, which also calls the functions of `metrics` and
    `progress`. Cancelling the task ends the run.
    """
    if ask_models is None:
        ask_models = config is not None
    stop = _juror.Stop()
    try:
        return await asyncio.to_thread(
            _evaluation.run_evaluation,
            reference,
            responses,
            config,
            _profile(config, profile),
            metrics=metrics,
            ask_models=ask_models,
            explain=explain,
            trials_in_responses=trials_in_responses,
            progress=progress,
            threads=threads,
            _stop=stop,
        )
    except asyncio.CancelledError:
        stop.set()
        raise


@overload
def compute_aggregates(
    results: Path | Iterable[Mapping[str, Any]],
    config: Config | None = None,
    profile: str | int | None = None,
    *,
    metrics: Iterable[str] | None = None,
) -> dict[str, Any]: ...
@overload
def compute_aggregates(
    samples: Path | Iterable[Mapping[str, Any]],
    config_file_path: Config | None = None,
    profile: str | int | None = None,
    **options: Any,
) -> dict[str, Any]: ...
@also_named(samples="results", config_file_path="config")
def compute_aggregates(
    results: Path | Iterable[Mapping[str, Any]],
    config: Config | None = None,
    profile: str | int | None = None,
    *,
    metrics: Iterable[str] | None = None,
) -> dict[str, Any]:
    """Computes statistics as `juror.compute_aggregates` does; a plain function, as in the library."""
    profile = _profile(config, profile)
    return _evaluation.compute_aggregates(results, config, profile, metrics=metrics)


def _profile(config: Config | None, profile: str | int | None) -> str | int | None:
    if profile is None and not _juror.names_profile(config):
        return "6"
    return profile
