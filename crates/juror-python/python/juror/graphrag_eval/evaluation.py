"""Evaluating recorded answers, and the configuration of release 6."""

from __future__ import annotations

import os
from typing import Any

from .. import _juror
from .._errors import Problem, SettingsError
from ._fields import Fields, set_values
from ._release import run_evaluation
from .answer_correctness import AnswerCorrectnessConfig, AnswerCorrectnessEvaluator
from .answer_relevance import AnswerRelevanceConfig, AnswerRelevanceEvaluator
from .custom_evaluation import CustomEvaluator, EvaluatorConfig
from .llm_factory import LLM, LLMConfig, create_embedder, create_llm
from .steps.evaluation import get_steps_evaluation_result_dict

__all__ = ["Config", "get_steps_evaluation_result_dict", "parse_config_and_init_evaluators", "run_evaluation"]


class Config(Fields):
    """A configuration: models, what they judge, and custom evaluations."""

    llm: LLMConfig | None
    custom_evaluations: list[EvaluatorConfig] | None
    answer_correctness: AnswerCorrectnessConfig | None
    answer_relevance: AnswerRelevanceConfig | None
    _fields = dict.fromkeys(("llm", "custom_evaluations", "answer_correctness", "answer_relevance"))
    _parts = {
        "llm": LLMConfig,
        "custom_evaluations": EvaluatorConfig,
        "answer_correctness": AnswerCorrectnessConfig,
        "answer_relevance": AnswerRelevanceConfig,
    }

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        _juror.read_settings(set_values(self))  # Says what else is wrong.
        self._check_models()
        if self.llm is not None and self.answer_correctness is None:
            self.answer_correctness = AnswerCorrectnessConfig()
        if self.llm is not None and self.llm.embedding is not None and self.answer_relevance is None:
            self.answer_relevance = AnswerRelevanceConfig()

    def _check_models(self) -> None:
        """Raises `SettingsError` if something is asked for that no model is there for."""
        has_model, has_embedding = self.llm is not None, self.llm is not None and self.llm.embedding is not None
        lacking = {
            "custom_evaluations": bool(self.custom_evaluations) and not has_model,
            "answer_correctness": _is_on(self.answer_correctness) and not has_model,
            "answer_relevance": _is_on(self.answer_relevance) and not has_embedding,
        }
        problems = [Problem("no model is configured for this", path=name) for name in lacking if lacking[name]]
        if problems:
            raise SettingsError(problems)

    @classmethod
    def parse(cls, config_file_path: str | os.PathLike[str] | None) -> Config:
        """Reads a file of settings; without one, nothing is configured."""
        return cls(**(_juror.read_settings(config_file_path) or {})) if config_file_path else cls()


def _is_on(part: AnswerCorrectnessConfig | AnswerRelevanceConfig | None) -> bool:
    return part is not None and part.enabled


def parse_config_and_init_evaluators(
    config_file_path: str | os.PathLike[str] | None,
) -> tuple[list[Any], LLM | None]:
    """Returns the evaluators of a file of settings, and its model."""
    config = Config.parse(config_file_path)
    llm, embedder = create_llm(config.llm), create_embedder(config.llm)
    built_in = (
        AnswerRelevanceEvaluator.from_config(llm, embedder, config.answer_relevance),
        AnswerCorrectnessEvaluator.from_config(llm, config.answer_correctness),
    )
    custom = CustomEvaluator.from_config(llm, config.custom_evaluations)
    return [*(one for one in built_in if one is not None), *custom], llm
