"""Which claims of the reference answer an answer makes, judged by a model.

`AnswerCorrectnessEvaluator` is a class in both releases: with a model of `llm_factory.create_llm` it
is that of release 6, whose methods are awaited, and otherwise that of release 5.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .._errors import JurorError
from ._fields import REQUIRED, Fields
from ._judged import Settings, ajudge, judge, named_model, settings_of, starting, why
from .llm_factory import LLM
from .util import compute_f1

__all__ = [
    "AnswerCorrectnessConfig",
    "AnswerCorrectnessEvaluator",
    "AnswerCorrectnessResult",
    "InvalidPromptException",
    "compute_recall_precision_f1",
    "evaluate_and_write",
    "main",
]

LLM_MODEL = "gpt-4o-mini"
TEMPERATURE = 0.0

_PLACES = {"question": "Q?", "reference_answer": "R", "actual_answer": "A"}
_COUNTS = tuple(f"answer_{name}_claims_count" for name in ("reference", "actual", "matching"))
_Counted = tuple[int | None, int | None, int | None, str, str]


class AnswerCorrectnessConfig(Fields):
    """Whether correctness is judged, and by which prompt; `None` is Juror's own."""

    enabled: bool
    prompt: str | None
    _fields = {"enabled": True, "prompt": None}


class AnswerCorrectnessResult(Fields):
    """The claims that a model counted."""

    reference_claims_count: int
    actual_claims_count: int
    matching_claims_count: int
    reason: str
    _fields = dict.fromkeys(
        ("reference_claims_count", "actual_claims_count", "matching_claims_count", "reason"), REQUIRED
    )


class InvalidPromptException(Exception):
    """A prompt that cannot be filled in."""

    def __init__(self, message: str = "the prompt cannot be filled in") -> None:
        super().__init__(message)


class AnswerCorrectnessEvaluator:
    """Judges the correctness of answers; see the module for the two releases."""

    def __new__(cls, *given: Any, **named: Any) -> Any:
        """Returns the evaluator of the release that the arguments are those of."""
        if cls is AnswerCorrectnessEvaluator:
            has_model = any(isinstance(one, LLM) for one in given)
            cls = _Awaited if has_model or named.keys() & {"ragas_llm", "config"} else _Plain
        return super().__new__(cls)

    @classmethod
    def from_config(cls, ragas_llm: LLM | None, config: AnswerCorrectnessConfig | None) -> Any:
        """Returns an evaluator of release 6, if there is a model and it is enabled."""
        if ragas_llm is None or config is None or not config.enabled:
            return None
        return _Awaited(ragas_llm, config)

    @staticmethod
    def compute_recall_precision_f1(
        n_pos: int | None, n_pred_pos: int | None, n_true_pos: int | None
    ) -> tuple[float | None, float | None, float | None]:
        """Returns recall, precision and F1 of counted claims."""
        return compute_recall_precision_f1(n_pos, n_pred_pos, n_true_pos)


class _Plain(AnswerCorrectnessEvaluator):
    """The evaluator of release 5: OpenAI's model, and a prompt from a file."""

    def __init__(
        self, prompt_file_path: str | os.PathLike[str] | None = None, temperature: float = TEMPERATURE
    ) -> None:
        more: Settings = {}
        if prompt_file_path is not None:
            text = Path(prompt_file_path).read_text("utf-8").replace("{candidate_answer}", "{actual_answer}")
            more["answer_correctness"] = {"prompt": checked_prompt(text)}
        llm = named_model(f"openai/{LLM_MODEL}", temperature=temperature)
        self._settings = settings_of(["answer_correctness"], llm, **more)

    def evaluate_answer(self, question: str, reference_answer: str, actual_answer: str) -> _Counted:
        """Returns the claims of the reference answer, of the answer, matching ones, reason, error."""
        return _counted(self._judge(question, reference_answer, actual_answer))

    def get_correctness_dict(self, reference: Mapping[str, Any], actual: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the keys of a result, `answer_eval_error` among them if there are no counts."""
        texts = (reference["question_text"], reference["reference_answer"], actual["actual_answer"])
        return {"reference_answer": texts[1], **_without_answers(self._judge(*texts))}

    def _judge(self, question: str, reference_answer: str, actual_answer: str) -> dict[str, Any]:
        asked = {"question_text": question, "reference_answer": reference_answer}
        try:
            return starting("answer_", judge(asked, {"actual_answer": actual_answer}, self._settings))
        except JurorError as error:
            return {"answer_eval_error": why(error)}


class _Awaited(AnswerCorrectnessEvaluator):
    """The evaluator of release 6."""

    def __init__(self, ragas_llm: LLM, config: AnswerCorrectnessConfig | None = None) -> None:
        self.config = config or AnswerCorrectnessConfig()
        more: Settings = {}
        if self.config.prompt is not None:
            more["answer_correctness"] = {"prompt": checked_prompt(self.config.prompt)}
        self._settings = settings_of(["answer_correctness"], ragas_llm.settings, **more)

    async def evaluate_answer(
        self, question: str, reference_answer: str, actual_answer: str
    ) -> AnswerCorrectnessResult:
        """Returns the claims that the model counted; raises `ValueError` if there are none."""
        found = await self._judge(question, reference_answer, actual_answer)
        *counts, reason, error = _counted(found)
        if error:
            raise ValueError(error)
        names = [name for name in AnswerCorrectnessResult._fields if name != "reason"]
        return AnswerCorrectnessResult(**dict(zip(names, counts)), reason=reason)

    async def evaluate(self, reference: Mapping[str, Any], actual: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the keys of a result, `answer_correctness_error` if there are no counts."""
        if "actual_answer" not in actual or "reference_answer" not in reference:
            return {}
        texts = (reference["question_text"], reference["reference_answer"], actual["actual_answer"])
        try:
            return _without_answers(await self._judge(*texts))
        except (JurorError, ValueError) as error:
            return {"answer_correctness_error": " ".join(str(error).split())}

    async def _judge(self, question: str, reference_answer: str, actual_answer: str) -> dict[str, Any]:
        if not (question.strip() and reference_answer.strip() and actual_answer.strip()):
            raise ValueError("the question or one of the answers is blank")
        asked = {"question_text": question, "reference_answer": reference_answer}
        return starting("answer_", await ajudge(asked, {"actual_answer": actual_answer}, self._settings))


def compute_recall_precision_f1(
    n_pos: int | None, n_pred_pos: int | None, n_true_pos: int | None
) -> tuple[float | None, float | None, float | None]:
    """Returns recall, precision and F1 of counted claims; `None` where there is no such number."""
    recall = n_true_pos / n_pos if n_true_pos is not None and n_pos else None
    precision = n_true_pos / n_pred_pos if n_true_pos is not None and n_pred_pos else None
    return recall, precision, compute_f1(recall, precision)


def checked_prompt(prompt: str) -> str:
    """Returns a prompt that can be filled in, or raises `InvalidPromptException`."""
    try:
        prompt.format(**_PLACES)
    except (LookupError, ValueError, AttributeError) as error:
        places = ", ".join(f"{{{name}}}" for name in _PLACES)
        raise InvalidPromptException(f"the prompt may use {places} alone: {error!r}") from error
    return prompt


def evaluate_and_write(in_file_path: str | os.PathLike[str], out_file_path: str | os.PathLike[str]) -> None:
    """Judges the answers of a table, as `juror answer-correctness` does (release 5)."""
    from .cli.answer_correctness import judge_table

    judge_table(in_file_path, out_file_path, None, "5")


def main() -> None:
    """The command `answer-correctness`."""
    from .cli.answer_correctness import main as command

    command()


def _counted(found: Mapping[str, Any]) -> _Counted:
    error = found.get("answer_eval_error") or found.get("answer_correctness_error") or ""
    reference, actual, matching = (found.get(name) for name in _COUNTS)
    return reference, actual, matching, found.get("answer_correctness_reason", ""), error


def _without_answers(found: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in found.items() if not key.startswith("answer_relevance")}
