"""The questions that missed what was asked, and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Result = Mapping[str, Any]

_LONGEST = 2000
"""How many characters of a reason are shown."""


@dataclass
class Missed:
    """When a question misses a metric."""

    least: float | None = None
    """Its score is below this."""
    broken: dict[tuple[str, str], float | None] = field(default_factory=dict)
    """It is one of these, by template and id: with the score it had in the baseline."""

    def was(self, result: Result) -> float | None:
        """Returns the score that a question had in the baseline, if it broke."""
        return self.broken.get((str(result["template_id"]), str(result["question_id"])))

    def is_missed_by(self, result: Result, name: str) -> bool:
        """Whether a question misses the metric."""
        score: Any = result.get(name)
        is_low = self.least is not None and is_number(score) and score < self.least
        return is_low or (str(result["template_id"]), str(result["question_id"])) in self.broken


def is_number(value: object) -> bool:
    """Whether a value is a score."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def listed(results: Sequence[Result], missed: Mapping[str, Missed], most: int) -> Iterator[str]:
    """Yields the lines about the questions that missed something."""
    blocks = [(result, lines) for result in results if (lines := _reasons(result, missed))]
    if not blocks:
        return
    yield f"missed by {len(blocks)} of {len(results)} answers"
    for result, lines in blocks[:most]:
        yield f"  {_name(result)}: {_short(result.get('question_text', ''), 200)}"
        yield from (f"    {_short(line)}" for line in lines)
    if len(blocks) > most:
        yield f"  and {len(blocks) - most} more"


def _reasons(result: Result, missed: Mapping[str, Missed]) -> list[str]:
    if result["status"] == "error":
        return [f"error: {result.get('error')}"]
    scores = [name for name, asked in missed.items() if asked.is_missed_by(result, name)]
    errors = [f"{key}: {value}" for key, value in result.items() if _is_error_of(key, missed) and value]
    if not scores and not errors:
        return []
    return [*(_score(name, missed[name], result) for name in scores), *errors, *_why(result, scores)]


def _score(name: str, asked: Missed, result: Result) -> str:
    score, was = result.get(name), asked.was(result)
    said = f"{name} {score:.3f}" if is_number(score) else f"{name} missing"
    return said if was is None else f"{said}, {was:.3f} in the baseline"


def _is_error_of(key: str, missed: Mapping[str, Missed]) -> bool:
    """Whether a key says why a metric that was asked for has no score."""
    if not key.endswith("_error"):
        return False
    kind = key.removesuffix("_error")
    is_of_claims = kind in ("answer_eval", "answer_correctness")
    return any(name.startswith(kind) or (is_of_claims and name in _CLAIMS) for name in missed)


_CLAIMS = ("answer_recall", "answer_precision", "answer_f1")


def _why(result: Result, scores: Sequence[str]) -> Iterator[str]:
    """Yields what was missed, step by step, and what a model said of the answer."""
    if "steps_score" in scores:
        for number, group in enumerate(result.get("reference_steps") or (), 1):
            for step in group:
                if isinstance(step, Mapping) and step.get("missed"):
                    yield f"{step.get('name')} (group {number}): {step['missed']}"
    if any(name in _CLAIMS for name in scores) and result.get("answer_correctness_reason"):
        yield f"{result['answer_correctness_reason']}"
    for name in scores:
        reason = result.get(f"{name}_reason")
        if reason:
            yield f"{name}: {reason}"


def _name(result: Result) -> str:
    trial = f", trial {result['trial']}" if "trial" in result else ""
    return f"{result['question_id']} ({result['template_id']}{trial})"


def _short(text: object, most: int = _LONGEST) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= most else f"{line[:most]}…"
