"""Judging recorded answers."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any, overload

from . import _juror, _metrics
from ._metrics import Metric
from ._names import also_named
from ._progress import Progress, teller
from ._results import Results

Path = str | os.PathLike[str]
Templates = Path | Iterable[Mapping[str, Any]]
Responses = Path | Mapping[Any, Any] | Iterable[Mapping[str, Any]]
Config = Path | Mapping[str, Any]


@overload
def run_evaluation(
    reference: Templates,
    responses: Responses,
    config: Config | None = None,
    profile: str | int | None = None,
    *,
    metrics: Mapping[str, Metric] | None = None,
    ask_models: bool = True,
    explain: bool = False,
    progress: bool | Progress | None = None,
    threads: int | None = None,
) -> list[dict[str, Any]]: ...
@overload
def run_evaluation(
    qa_dataset: Templates,
    responses_dict: Responses,
    config_file_path: Config | None = None,
    profile: str | int | None = None,
    **options: Any,
) -> list[dict[str, Any]]: ...
@also_named(qa_dataset="reference", responses_dict="responses", config_file_path="config")
def run_evaluation(
    reference: Templates,
    responses: Responses,
    config: Config | None = None,
    profile: str | int | None = None,
    *,
    metrics: Mapping[str, Metric] | None = None,
    ask_models: bool = True,
    explain: bool = False,
    progress: bool | Progress | None = None,
    threads: int | None = None,
    _stop: _juror.Stop | None = None,
) -> list[dict[str, Any]]:
    """Judges recorded answers: one result a question, in the order of the reference.

    `reference` is a list of templates, or the path of a file of them (YAML, JSON, JSONL).
    `responses` are responses by question id, a list of them, or the path of a file. What is given
    is left unchanged. Of two paths, Python sees only the results that somebody looks at: their
    dicts are made then.

    `config` is a mapping of settings, or the path of a settings file. `profile` is the set of
    rules: "5", the published document, or "6", the library's newer release; it comes before the
    profile of the settings, and is "5" where neither says.

    Where a model is configured, or OPENAI_API_KEY is set, answers are judged by it; `ask_models`
    turns that off. Replies are kept and used again, as `juror eval` does.

    With `explain`, an expected step that was missed, or not found whole, tells why in its `missed`.

    `metrics` are functions by name, in place of those registered with `juror.metric`. `progress` is
    true for a bar on standard error, or a function that is called as work goes on. `threads` is how
    many threads judge; all cores by default.

    The library's names of the first three, `qa_dataset`, `responses_dict` and `config_file_path`, are
    taken as well.

    One bad response is that question's error. A reference that cannot be used raises
    `DatasetError` with all of its problems, settings `SettingsError`, a file `OSError`.
    """
    own = _metrics.chosen(metrics)
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}, and should be at least 1")
    made = _juror.run_evaluation(
        reference,
        responses,
        config,
        _name_of(profile),
        may_ask=bool(ask_models),
        explain=bool(explain),
        threads=threads,
        progress=teller(progress),
        stop=_stop,
    )
    results = Results(made) if isinstance(made, _juror.Kept) else made
    if own:
        _metrics.add(results, own, _juror.scores_errors(config, _name_of(profile)))
    return results


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
    """Statistics of results: `per_template`, `micro` and `macro`.

    `results` are what `run_evaluation` returns, or the path of a file of results. `config` and
    `profile` are those of the evaluation. `metrics` names metrics of your own; all that are
    registered count when it is left out.

    A result that cannot be used is told in the log of `juror` and left out. The library's names of
    the first two, `samples` and `config_file_path`, are taken as well.
    """
    own, profile = _metrics.names(metrics), _name_of(profile)
    # No result has a metric of the user's own before somebody has looked at it.
    known = results.aggregates(config, profile) if isinstance(results, Results) else None
    if known is not None:
        return known
    return _juror.compute_aggregates(results, config, profile, metrics=own)


def unmet_gates(
    results: Path | Iterable[Mapping[str, Any]],
    fail_under: Mapping[str, float] | None = None,
    config: Config | None = None,
    profile: str | int | None = None,
    *,
    coverage: float | str | None = None,
    max_errors: int | str | None = None,
    metrics: Iterable[str] | None = None,
) -> list[str]:
    """Why results do not pass, in words; an empty list where they do.

    `fail_under` has the least that the mean of each metric may be. `coverage` is the share of the
    questions to which such a metric applies that must have a verdict on it, 0.95 where neither this
    nor the settings say: failed and missing responses have none. `max_errors` is how many responses
    may have failed or be missing, a count or a percentage such as "2%".

    The rest is as for `compute_aggregates`.
    """
    asked = [(name, float(least)) for name, least in (fail_under or {}).items()]
    return _juror.unmet_gates(
        results,
        asked,
        None if coverage is None else str(coverage),
        None if max_errors is None else str(max_errors),
        config,
        _name_of(profile),
        metrics=_metrics.names(metrics),
    )


def _name_of(profile: str | int | None) -> str | None:
    """The name of a profile, which may also be given as a number."""
    return None if profile is None else str(profile)
