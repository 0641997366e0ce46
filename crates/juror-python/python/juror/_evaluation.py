"""Evaluating recorded answers."""

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
    trials_in_responses: bool = False,
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
    trials_in_responses: bool = False,
    progress: bool | Progress | None = None,
    threads: int | None = None,
    _stop: _juror.Stop | None = None,
) -> list[dict[str, Any]]:
    """Evaluates recorded answers and returns one result per question, in the order of the reference.

    `reference` is a list of templates, or the path of a file (YAML, JSON, JSONL). `responses` is a
    mapping from question id to response, a list of responses, or the path of a file. Inputs are not
    modified. If both are paths, Python builds a result's dict when you first access it.

    `config` is a mapping of settings, or the path of a settings file. `profile` selects the rules:
    "5", the library's published documentation, or "6", its newer release. It overrides the profile
    of the settings; the default is "5".

    If a model is configured, or OPENAI_API_KEY is set, the model judges the answers; `ask_models`
    turns that off. Replies are cached, as in `juror eval`.

    With `explain`, an expected step that was missed, or only partly found, has the reason in its
    `missed`.

    Several responses to a question are several answers if they have a `trial`, from 1 on, or with
    `trials_in_responses`. Each has a result of its own, with its `trial`.

    `metrics` maps names to functions and replaces those registered with `juror.metric`. `progress` is
    true for a bar on standard error, or a function that is called during the run. `threads` is the
    number of threads; all cores by default.

    The library's names for the first three parameters, `qa_dataset`, `responses_dict` and
    `config_file_path`, work too.

    A bad response is an error of its question. An unusable reference raises `DatasetError` with all
    of its problems, invalid settings `SettingsError`, and an unreadable file `OSError`.
    """
    own = _metrics.chosen(metrics)
    if threads is not None and threads < 1:
        raise ValueError(f"threads is {threads}, and should be at least 1")
    made = _juror.run_evaluation(
        reference,
        responses,
        config,
        name_of(profile),
        may_ask=bool(ask_models),
        explain=bool(explain),
        trials_in_responses=bool(trials_in_responses),
        threads=threads,
        progress=teller(progress),
        stop=_stop,
    )
    results = Results(made) if isinstance(made, _juror.LazyResults) else made
    if own:
        _metrics.add(results, own, _juror.scores_errors(config, name_of(profile)))
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
    """Computes statistics of results: `per_template`, `micro` and `macro`.

    `results` is what `run_evaluation` returns, or the path of a results file. `config` and `profile`
    are those of the evaluation. `metrics` names metrics of your own; by default, all registered ones
    count.

    An unusable result is reported to the logger `juror` and left out. The library's names for the
    first two parameters, `samples` and `config_file_path`, work too.
    """
    own, profile = _metrics.names(metrics), name_of(profile)
    # A result that was never accessed has no custom metrics.
    untouched = results.untouched(config, profile) if isinstance(results, Results) else None
    if untouched is not None:
        return untouched.aggregates()
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
    """Returns the reasons why results do not pass, or an empty list if they do.

    `fail_under` maps metrics to the minimum of their mean. `coverage` is the share of the questions
    to which a metric applies that must have a verdict on it; failed and missing responses have none.
    The default is that of the settings, or 0.95. `max_errors` is how many responses may have failed
    or be missing, as a count or a percentage such as "2%".

    The other parameters are those of `compute_aggregates`.
    """
    asked = [(name, float(least)) for name, least in (fail_under or {}).items()]
    return _juror.unmet_gates(
        results,
        asked,
        None if coverage is None else str(coverage),
        None if max_errors is None else str(max_errors),
        config,
        name_of(profile),
        metrics=_metrics.names(metrics),
    )


def name_of(profile: str | int | None) -> str | None:
    """Returns the name of a profile, which can also be given as a number."""
    return None if profile is None else str(profile)
