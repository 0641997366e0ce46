"""Whether retrieved contexts support an answer, judged by a model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..._errors import JurorError
from .._judged import Settings, ajudge, judge, named_model, settings_of, starting, why
from ..llm_factory import LLM

__all__ = ["Evaluator", "get_retrieval_evaluation_dict"]

_Contexts = Sequence[Mapping[str, Any]]


def get_retrieval_evaluation_dict(
    question_text: str,
    actual_contexts: _Contexts,
    reference_answer: str | None = None,
    actual_answer: str | None = None,
    model_name: str = "openai/gpt-4o-mini",
    max_tokens: int = 65_536,
) -> dict[str, Any]:
    """Returns `retrieval_answer_recall`, `_precision` and `_f1`, or their errors (release 5)."""
    answer = reference_answer or actual_answer
    if not answer:
        return {}
    settings = settings_of(["retrieval_answer"], named_model(model_name, max_tokens))
    try:
        return _found(judge(*_asked(question_text, answer, actual_contexts), settings))
    except JurorError as error:
        return _errors(error)


class Evaluator:
    """Judges retrieved contexts by the reference answer (release 6)."""

    def __init__(self, ragas_llm: LLM) -> None:
        self._settings: Settings = settings_of(["retrieval_answer"], ragas_llm.settings)

    async def get_retrieval_evaluation_dict(
        self, question_text: str, reference_answer: str, actual_contexts: _Contexts
    ) -> dict[str, Any]:
        """Returns `retrieval_answer_recall`, `_precision` and `_f1`, or their errors."""
        try:
            return _found(await ajudge(*_asked(question_text, reference_answer, actual_contexts), self._settings))
        except JurorError as error:
            return _errors(error)


def _asked(question: str, answer: str, contexts: _Contexts) -> tuple[dict[str, Any], dict[str, Any]]:
    output = json.dumps([dict(context) for context in contexts])
    step = {"name": "retrieval", "id": "retrieval", "status": "success", "output": output}
    return {"question_text": question, "reference_answer": answer}, {"actual_steps": [step]}


def _found(result: Mapping[str, Any]) -> dict[str, Any]:
    return starting("retrieval_answer_", result["actual_steps"][0])


def _errors(error: JurorError) -> dict[str, Any]:
    return {f"retrieval_answer_{what}_error": why(error) for what in ("recall", "precision")}
