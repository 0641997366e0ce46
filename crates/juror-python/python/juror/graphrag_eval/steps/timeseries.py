"""Comparing steps that retrieve time series and data points."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from .evaluation import compare_steps

__all__ = ["do_retrieve_data_points_steps_equal", "do_retrieve_time_series_steps_equal"]


def do_retrieve_time_series_steps_equal(reference_step: Mapping[str, Any], actual_step: Mapping[str, Any]) -> bool:
    """Whether two steps ask for the same time series."""
    return _are_equal("retrieve_time_series", reference_step, actual_step)


def do_retrieve_data_points_steps_equal(
    reference_step: Mapping[str, Any], actual_step: Mapping[str, Any], anchor_time: datetime | str
) -> bool:
    """Whether two steps ask for the same data points, at the time when the actual one was taken."""
    at = anchor_time.isoformat() if isinstance(anchor_time, datetime) else anchor_time
    return _are_equal("retrieve_data_points", reference_step, {**actual_step, "execution_timestamp": at})


def _are_equal(name: str, reference_step: Mapping[str, Any], actual_step: Mapping[str, Any]) -> bool:
    # The arguments decide, and a step without an output would match nothing.
    taken = {"output": "[]", **actual_step, "name": name}
    return compare_steps({**reference_step, "name": name}, taken) == 1.0
