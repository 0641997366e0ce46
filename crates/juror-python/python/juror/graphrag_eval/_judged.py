"""One question, judged by models."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from .. import aio
from .._errors import JurorError
from .._evaluation import run_evaluation

Settings = dict[str, Any]

_METRICS = ("answer_correctness", "answer_relevance", "retrieval_answer", "retrieval_context")

EMBEDDING = {"provider": "openai", "model": "text-embedding-ada-002"}
"""The embedding model of release 5."""


def settings_of(metrics: Collection[str], llm: Mapping[str, Any], **more: Any) -> Settings:
    """Returns settings by which models judge these metrics alone."""
    off: Settings = {name: {"enabled": False} for name in _METRICS if name not in metrics}
    return {"llm": dict(llm), **off, **more}


def named_model(name: str, max_tokens: int | None = None, **more: Any) -> Settings:
    """Returns a model by the name that release 5 has for it: `provider/model`."""
    provider, _, model = name.rpartition("/")
    asked = {"provider": provider or "openai", "model": model, "max_tokens": max_tokens, **more}
    return {"generation": {name: value for name, value in asked.items() if value is not None}}


def judge(question: Mapping[str, Any], response: Mapping[str, Any], settings: Settings) -> dict[str, Any]:
    """Returns the result of a question, by the rules of release 5."""
    reference, responses = as_dataset(question, response)
    return run_evaluation(reference, responses, settings, profile="5")[0]


async def ajudge(
    question: Mapping[str, Any], response: Mapping[str, Any], settings: Settings | None
) -> dict[str, Any]:
    """Returns the result of a question, by the rules of release 6; without settings, no model is asked."""
    reference, responses = as_dataset(question, response)
    return (await aio.run_evaluation(reference, responses, settings, profile="6"))[0]


def starting(prefix: str, result: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the keys of a result that start with a word."""
    return {key: value for key, value in result.items() if key.startswith(prefix)}


def why(error: JurorError) -> str:
    """Returns an error as results have it: on one line."""
    return " ".join(str(error).split())


def as_dataset(
    question: Mapping[str, Any], response: Mapping[str, Any]
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Returns a reference and responses of one question, by an id of its own."""
    asked = {"question_text": "", **question, "id": "question"}
    answered = {**response, "question_id": "question"}
    return [{"template_id": "template", "questions": [asked]}], {"question": answered}
