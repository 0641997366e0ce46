"""How well retrieved contexts agree with the expected ones.

Release 5 compares texts, which needs no model; release 6 has a model judge them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..._errors import JurorError
from ..._juror import compare_contexts
from .._judged import ajudge, settings_of, starting, why
from ..llm_factory import LLM

__all__ = ["Evaluator", "get_retrieval_evaluation_dict"]

_Contexts = Sequence[Mapping[str, Any]]


def get_retrieval_evaluation_dict(
    reference_contexts: _Contexts,
    actual_contexts: _Contexts,
    model_name: str = "openai/gpt-4o-mini",
    max_tokens: int = 65_536,
) -> dict[str, Any]:
    """Returns `retrieval_context_recall`, `_precision` and `_f1`; asks no model (release 5)."""
    texts = [[context["text"] for context in contexts] for contexts in (reference_contexts, actual_contexts)]
    return starting("retrieval_context_", compare_contexts(*texts))


class Evaluator:
    """Judges retrieved contexts by the expected ones (release 6)."""

    def __init__(self, ragas_llm: LLM) -> None:
        self._settings = settings_of(["retrieval_context"], ragas_llm.settings)

    async def get_retrieval_evaluation_dict(
        self, question_text: str, actual_contexts: _Contexts, reference_contexts: _Contexts
    ) -> dict[str, Any]:
        """Returns `retrieval_context_recall`, `_precision` and `_f1`, or their errors."""
        expected, actual = _step(reference_contexts), _step(actual_contexts)
        question = {"question_text": question_text, "reference_steps": [[expected]]}
        try:
            result = await ajudge(question, {"actual_steps": [actual]}, self._settings)
        except JurorError as error:
            return {f"retrieval_context_{what}_error": why(error) for what in ("recall", "precision")}
        return starting("retrieval_context_", result["actual_steps"][0])


def _step(contexts: _Contexts) -> dict[str, Any]:
    # Steps are paired by the ids of documents, and here the two belong together whatever those are.
    output = json.dumps([{"id": str(at), "text": context["text"]} for at, context in enumerate(contexts)])
    return {"name": "retrieval", "args": {"k": len(contexts)}, "id": "retrieval", "status": "success", "output": output}
