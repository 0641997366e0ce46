"""How close an answer is to its question, judged by models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._errors import JurorError
from ._fields import Fields
from ._judged import EMBEDDING, ajudge, judge, named_model, settings_of, starting, why
from .llm_factory import LLM, Embedder

__all__ = ["AnswerRelevanceConfig", "AnswerRelevanceEvaluator", "get_relevance_dict"]


def get_relevance_dict(
    question_text: str,
    actual_answer: str,
    model_name: str = "openai/gpt-4o-mini",
    max_tokens: int = 65_536,
) -> dict[str, Any]:
    """Returns `answer_relevance` with its cost, or `answer_relevance_error` (release 5)."""
    llm = {**named_model(model_name, max_tokens), "embedding": EMBEDDING}
    question, response = {"question_text": question_text}, {"actual_answer": actual_answer}
    try:
        return starting("answer_relevance", judge(question, response, settings_of(["answer_relevance"], llm)))
    except JurorError as error:
        return {"answer_relevance_error": why(error)}


class AnswerRelevanceConfig(Fields):
    """Whether relevance is judged."""

    enabled: bool
    _fields = {"enabled": True}


class AnswerRelevanceEvaluator:
    """Judges the relevance of answers (release 6)."""

    def __init__(self, ragas_llm: LLM, ragas_embedder: Embedder) -> None:
        llm = {**ragas_llm.settings, "embedding": ragas_embedder.settings["embedding"]}
        self._settings = settings_of(["answer_relevance"], llm)

    @classmethod
    def from_config(
        cls,
        ragas_llm: LLM | None,
        ragas_embedder: Embedder | None,
        config: AnswerRelevanceConfig | None,
    ) -> AnswerRelevanceEvaluator | None:
        """Returns an evaluator, if there are models and it is enabled."""
        if ragas_llm is None or ragas_embedder is None or config is None or not config.enabled:
            return None
        return cls(ragas_llm, ragas_embedder)

    async def evaluate(self, reference: Mapping[str, Any], actual: Mapping[str, Any]) -> dict[str, Any]:
        """Returns `answer_relevance`, or `answer_relevance_error`."""
        if "actual_answer" not in actual:
            return {}
        question = {"question_text": reference["question_text"]}
        response = {"actual_answer": actual["actual_answer"]}
        try:
            return starting("answer_relevance", await ajudge(question, response, self._settings))
        except JurorError as error:
            return {"answer_relevance_error": why(error)}
