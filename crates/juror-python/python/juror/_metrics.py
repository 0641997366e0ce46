"""Custom metrics: functions from a case to a number, or to a dict of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from ._juror import metric_name_problem

Case = Mapping[str, Any]
"""A question and its outcome: the documented result, before custom metrics."""

Metric = Callable[[dict[str, Any]], Any]
"""Returns a number, a dict of numbers, or `None` if it does not apply."""

_M = TypeVar("_M", bound=Metric)

_registered: dict[str, Metric] = {}


def metric(name: str) -> Callable[[_M], _M]:
    """Registers a function as a metric for all later evaluations.

        @juror.metric("brevity")
        def brevity(case):
            return 1 / len(case["actual_answer"].split())

    Each result contains the number under `name`, or the numbers of a dict under `name_key`. If the
    function raises, the result contains the error under `name_error`, and the run goes on. A function
    returns `None` if it does not apply to a case. Registering a name again replaces its function.
    """
    _check_name(name)

    def register(function: _M) -> _M:
        _registered[name] = function
        return function

    return register


def chosen(metrics: Mapping[str, Metric] | None) -> dict[str, Metric]:
    """Returns the metrics of a run: those given, or all registered ones."""
    if metrics is None:
        return dict(_registered)
    if not isinstance(metrics, Mapping):
        raise TypeError(f"metrics is a mapping of names to functions, not `{type(metrics).__name__}`")
    for name, function in metrics.items():
        _check_name(name)
        if not callable(function):
            raise TypeError(f"the metric `{name}` is not a function, but `{type(function).__name__}`")
    return dict(metrics)


def names(metrics: Iterable[str] | None) -> list[str]:
    """Returns the names of the custom metrics in statistics."""
    return list(_registered) if metrics is None else list(metrics)


def _check_name(name: str) -> None:
    problem = metric_name_problem(name)
    if problem is not None:
        raise ValueError(f"{problem}: choose another name")


def add(
    results: Iterable[dict[str, Any]], metrics: Mapping[str, Metric], with_errors: bool
) -> None:
    """Adds the values of metrics to results. An exception becomes an error of its result."""
    for result in results:
        if result["status"] == "error" and not with_errors:
            continue
        # Every metric sees the result as Juror made it.
        found: dict[str, Any] = {}
        for name, function in metrics.items():
            try:
                found.update(_values(name, function(result)))
            except Exception as error:
                found[f"{name}_error"] = f"{type(error).__name__}: {error}"
        result.update(found)


def _values(name: str, value: Any) -> dict[str, float]:
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return {f"{name}_{key}": _number(number) for key, number in value.items()}
    return {name: _number(value)}


def _number(value: Any) -> float:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value
    if isinstance(value, str):
        raise TypeError(f"expected a number, found the text {value!r}")
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"the value is {number}")
    return number
