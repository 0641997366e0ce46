"""Matching expected steps with actual ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, overload

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
    """Their similarity, above 0 and at most 1."""


class Matching(NamedTuple):
    """Which expected steps were found, and the resulting score."""

    score: float
    """The steps score, from 0 to 1."""
    pairs: list[Pair]
    """By group and expected step."""


class Missed(NamedTuple):
    """An expected step that was not found, or only partly."""

    group: int
    """Its group."""
    expected: int
    """Its position in the group."""
    name: str
    """Its name."""
    reason: str
    """How the nearest actual step differs, or why there is none."""


class Explained(NamedTuple):
    """A matching with the reasons why expected steps were missed."""

    score: float
    """The steps score, from 0 to 1."""
    pairs: list[Pair]
    """By group and expected step."""
    missed: list[Missed]
    """The expected steps that lower the score, by group and expected step."""


@overload
def match_steps(
    reference_steps: Sequence[Sequence[Mapping[str, Any]]],
    actual_steps: Sequence[Mapping[str, Any]],
    profile: str = "5",
    *,
    explain: Literal[False] = False,
) -> Matching: ...
@overload
def match_steps(
    reference_steps: Sequence[Sequence[Mapping[str, Any]]],
    actual_steps: Sequence[Mapping[str, Any]],
    profile: str = "5",
    *,
    explain: Literal[True],
) -> Explained: ...
def match_steps(
    reference_steps: Sequence[Sequence[Mapping[str, Any]]],
    actual_steps: Sequence[Mapping[str, Any]],
    profile: str = "5",
    *,
    explain: bool = False,
) -> Matching | Explained:
    """Pairs expected steps, in groups, with actual steps.

    With `explain`, the returned value also has `missed`: why each of the others was not found.

    Raises `DatasetError` for steps that cannot be read, and `ValueError` for an empty group.
    """
    score, found, missed = _juror.match_steps(reference_steps, actual_steps, profile, explain)
    pairs = [Pair(*pair) for pair in found]
    if not explain:
        return Matching(score, pairs)
    return Explained(score, pairs, [Missed(*miss) for miss in missed])
