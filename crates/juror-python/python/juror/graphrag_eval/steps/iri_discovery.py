"""Comparing steps that look up IRIs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .evaluation import compare_steps

__all__ = ["do_iri_discovery_steps_equal"]


def do_iri_discovery_steps_equal(reference_step: Mapping[str, Any], actual_step: Mapping[str, Any]) -> bool:
    """Whether a step found the expected IRI."""
    return compare_steps({**reference_step, "name": "iri_discovery"}, actual_step) == 1.0
