"""Runs, gates and shares as users give them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ._errors import Problem, SettingsError
from ._evaluation import Config, Path
from ._results import Results

GivenRun = Path | Mapping[str, Any] | Iterable[Mapping[str, Any]]
"""The path of a run folder or a file of results, results of an evaluation, or the dict of a benchmark."""

Gates = Path | Mapping[str, Any] | Iterable[Mapping[str, Any]]
"""A list of gates, a mapping with `gates` and `coverage`, or the path of a file with these."""


def given_run(run: GivenRun, config: Config | None, profile: str | None) -> Any:
    """Returns what the engine reads of a run: results that nobody accessed as they were made."""
    if isinstance(run, Results):
        return run.untouched(config, profile) or run
    return run


def given_gates(gates: Gates | None) -> Any:
    """Returns gates as settings have them: a path, or a mapping with the key `gates`."""
    if gates is None or isinstance(gates, (str, os.PathLike)):
        return gates
    if not isinstance(gates, Mapping):
        return {"gates": list(gates)}
    if "gates" not in gates:
        hint = 'give a list of gates, or a dict such as {"gates": [...], "coverage": 0.95}'
        raise SettingsError([Problem("there is no list of gates in this dict", path="gates", hint=hint)])
    return gates


def given_confidence(confidence: float) -> float:
    """Returns the confidence of intervals, or raises `ValueError`."""
    if not 0.5 <= confidence < 1:
        raise ValueError(f"confidence is {confidence}, and should be from 0.5 to below 1, such as 0.95")
    return float(confidence)


def given_names(metrics: Iterable[str]) -> list[str]:
    """Returns the names of metrics, or raises `TypeError` for a single one."""
    if isinstance(metrics, str):
        raise TypeError(f"metrics is a list of names, such as [{metrics!r}], and not one name")
    return list(metrics)
