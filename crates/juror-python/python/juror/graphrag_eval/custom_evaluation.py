"""Metrics that a user describes and a model judges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._errors import JurorError
from ._fields import REQUIRED, Fields, set_values
from ._judged import ajudge, settings_of, why
from .llm_factory import LLM

__all__ = ["CustomEvaluator", "EvaluatorConfig"]


class EvaluatorConfig(Fields):
    """What a model is told, given and asked for."""

    name: str
    inputs: list[str]
    instructions: str
    outputs: dict[str, str]
    steps_name: str | None
    steps_keys: set[str] | None
    _fields = {
        **dict.fromkeys(("name", "inputs", "instructions", "outputs"), REQUIRED),
        **dict.fromkeys(("steps_name", "steps_keys")),
    }


class CustomEvaluator:
    """Has a model judge one custom evaluation (release 6)."""

    def __init__(self, ragas_llm: LLM, config: EvaluatorConfig) -> None:
        self.name = config.name
        self.output_variables = list(config.outputs)
        self._settings = settings_of((), ragas_llm.settings, custom_evaluations=[set_values(config)])

    @classmethod
    def from_config(
        cls, ragas_llm: LLM | None, evaluation_configs: Iterable[EvaluatorConfig] | None
    ) -> list[CustomEvaluator]:
        """Returns the evaluators, if there is a model."""
        return [] if ragas_llm is None else [cls(ragas_llm, config) for config in evaluation_configs or ()]

    async def evaluate(self, reference: Mapping[str, Any], actual: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the outputs; if there are none, they are `None`, and `<name>_error` says why."""
        try:
            result = await ajudge(reference, actual, self._settings)
        except JurorError as error:
            return {**dict.fromkeys(self.output_variables), f"{self.name}_error": why(error)}
        keys = (*self.output_variables, f"{self.name}_error")
        return {key: result[key] for key in keys if key in result}
