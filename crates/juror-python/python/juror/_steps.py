"""Finding expected steps among actual ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from . import _juror


class Pair(NamedTuple):
    """An expected step and the actual step found for it, both by position."""

    group: int
    """The group of the expected step."""
    expected: int
    """The expected step in its group."""
    actual: int
    """The actual step."""
    similarity: float
    """How alike they are, above 0 and at most 1."""


class Matching(NamedTuple):
    """Which expected steps were found, and the score that follows."""

    score: float
    """The steps score, from 0 to 1."""
    pairs: list[Pair]
    """By group and expected step."""


def match_steps(
    reference_steps: Sequence[Sequence[Mapping[str, Any]]],
    actual_steps: Sequence[Mapping[str, Any]],
    profile: str = "5",
) -> Matching:
    """Pairs expected steps, in groups, with the steps that were taken.

    Raises `DatasetError` for steps that cannot be read, and `ValueError` for an empty group.
    """
    score, pairs = _juror.match_steps(reference_steps, actual_steps, profile)
    return Matching(score, [Pair(*pair) for pair in pairs])
