"""Pairing expected steps with actual ones, and scoring them.

Matches are tuples of the group, the expected step, the actual step and their similarity. Unlike the
library, these functions leave steps as they are given: no `matches` are written into them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, overload

from ..._evaluation import run_evaluation
from ..._steps import match_steps
from .._judged import ajudge, as_dataset, settings_of
from ..llm_factory import LLM

__all__ = [
    "calculate_steps_score",
    "collect_possible_matches_by_name_and_status",
    "compare_steps",
    "compare_steps_outputs",
    "evaluate_steps",
    "get_steps_evaluation_result_dict",
    "get_steps_matches",
    "match_group",
    "match_group_by_output",
    "match_groups",
]

Match = tuple[int, int, int, float]
Step = Mapping[str, Any]
StepsGroup = Sequence[Step]

_LAST = -1
"""Release 5 scores the last group alone, and calls it by this number."""


def compare_steps_outputs(reference_step: Step, actual_step: Step) -> float:
    """Returns the similarity of two steps by the rules of release 5."""
    return _similarity(reference_step, actual_step, "5")


def compare_steps(reference_step: Step, actual_step: Step) -> float:
    """Returns the similarity of two steps by the rules of release 6."""
    return _similarity(reference_step, actual_step, "6")


def get_steps_matches(reference_groups: Sequence[StepsGroup], actual_steps: Sequence[Step]) -> list[Match]:
    """Pairs the last group with actual steps (release 5)."""
    return [(_LAST, *pair[1:]) for pair in match_steps(reference_groups, actual_steps, "5").pairs]


def match_groups(reference_groups: Sequence[StepsGroup], actual_steps: Sequence[Step]) -> list[Match]:
    """Pairs all groups with actual steps, from the last to the first incomplete one (release 6)."""
    return [(*pair,) for pair in match_steps(reference_groups, actual_steps, "6").pairs]


def match_group(
    reference_groups: Sequence[StepsGroup], group_idx: int, actual_steps: Sequence[Step], search_upto: int
) -> list[Match]:
    """Pairs one group with the actual steps before a position (release 6)."""
    pairs = match_steps([reference_groups[group_idx]], actual_steps[:search_upto], "6").pairs
    return [(group_idx, *pair[1:]) for pair in pairs]


def match_group_by_output(
    reference_groups: Sequence[StepsGroup],
    group_idx: int,
    actual_steps: Sequence[Step],
    candidates_by_name: Mapping[str, Sequence[int]],
) -> list[Match]:
    """Pairs one group with those actual steps that are candidates (release 5)."""
    numbers = sorted({number for candidates in candidates_by_name.values() for number in candidates})
    pairs = match_steps([reference_groups[group_idx]], [actual_steps[number] for number in numbers], "5").pairs
    return [(group_idx, pair.expected, numbers[pair.actual], pair.similarity) for pair in pairs]


def collect_possible_matches_by_name_and_status(
    group: StepsGroup, actual_steps: Sequence[Step], search_upto: int
) -> dict[str, list[int]]:
    """Returns the positions of successful actual steps, by the names that a group has (release 5)."""
    wanted, found = {step["name"] for step in group}, defaultdict[str, list[int]](list)
    for number, step in enumerate(actual_steps[:search_upto]):
        if step["name"] in wanted and step.get("status") == "success":
            found[step["name"]].append(number)
    return dict(found)


def calculate_steps_score(
    reference_steps_groups: Sequence[StepsGroup], actual_steps: Sequence[Step], matches: Sequence[Match]
) -> float:
    """Returns the score of matches: the mean over all groups (release 6)."""
    found = defaultdict[int, float](float)
    for group, _, _, similarity in matches:
        found[group] += similarity
    shares = [found[number] / len(group) for number, group in enumerate(reference_steps_groups)]
    return sum(shares) / len(shares)


@overload
def evaluate_steps(
    reference_steps_groups: Sequence[StepsGroup],
    actual_steps: Sequence[Step],
    matches: Sequence[Match] | None = None,
) -> float: ...
@overload
def evaluate_steps(
    reference: Mapping[str, Any], actual: Mapping[str, Any], ragas_llm: LLM | None
) -> Awaitable[dict[str, Any]]: ...
def evaluate_steps(*given: Any, **named: Any) -> Any:
    """Scores steps: a number in release 5; in release 6 it is awaited, and returns keys of a result.

    Release 5 gives groups of steps, release 6 the question and the response that have them.
    """
    is_newer = isinstance(given[0], Mapping) if given else "reference" in named
    return (_evaluate_question if is_newer else _evaluate_groups)(*given, **named)


def get_steps_evaluation_result_dict(reference: Mapping[str, Any], actual: Mapping[str, Any]) -> dict[str, Any]:
    """Returns `actual_steps`, and `steps_score` if steps are expected (release 5)."""
    asked, answered = as_dataset(reference, _steps_of(actual))
    return _scored(run_evaluation(asked, answered, profile="5")[0])


def _evaluate_groups(
    reference_steps_groups: Sequence[StepsGroup],
    actual_steps: Sequence[Step],
    matches: Sequence[Match] | None = None,
) -> float:
    if matches is None:
        matches = get_steps_matches(reference_steps_groups, actual_steps)
    found = sum(match[3] for match in matches if match[0] == _LAST)
    return found / len(reference_steps_groups[_LAST])


async def _evaluate_question(
    reference: Mapping[str, Any], actual: Mapping[str, Any], ragas_llm: LLM | None
) -> dict[str, Any]:
    settings = None
    if ragas_llm is not None:
        settings = settings_of(("retrieval_answer", "retrieval_context"), ragas_llm.settings)
    return _scored(await ajudge(reference, _steps_of(actual), settings))


def _similarity(reference_step: Step, actual_step: Step, profile: str) -> float:
    given = [{"id": "step", "status": "success", **actual_step}]
    pairs = match_steps([[reference_step]], given, profile).pairs
    return pairs[0].similarity if pairs else 0.0


def _steps_of(actual: Mapping[str, Any]) -> dict[str, Any]:
    return {"actual_steps": list(actual.get("actual_steps", []))}


def _scored(result: Mapping[str, Any]) -> dict[str, Any]:
    keys = ("actual_steps", "steps_score", "steps_score_error")
    return {key: result[key] for key in keys if key in result}
