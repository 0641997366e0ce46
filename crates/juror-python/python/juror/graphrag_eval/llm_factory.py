"""Models as release 6 configures them. Juror calls them itself, so they need no other library."""

from __future__ import annotations

from typing import Any

from ._fields import REQUIRED, Fields, set_values

__all__ = ["EmbeddingConfig", "GenerationConfig", "LLMConfig", "create_embedder", "create_llm"]


class GenerationConfig(Fields):
    """The model that judges; what else is given is sent to its provider."""

    provider: str
    model: str
    temperature: float
    max_tokens: int | None
    _fields = {"provider": REQUIRED, "model": REQUIRED, "temperature": 0.0, "max_tokens": None}
    _takes_others = True


class EmbeddingConfig(Fields):
    """The embedding model."""

    provider: str
    model: str
    _fields = {"provider": REQUIRED, "model": REQUIRED}
    _takes_others = True


class LLMConfig(Fields):
    """A model that judges, and optionally one for embeddings."""

    generation: GenerationConfig
    embedding: EmbeddingConfig | None
    _fields = {"generation": REQUIRED, "embedding": None}
    _parts = {"generation": GenerationConfig, "embedding": EmbeddingConfig}
    _takes_others = True


class LLM:
    """A model for evaluators; Juror calls it."""

    def __init__(self, config: LLMConfig) -> None:
        self.settings: dict[str, Any] = set_values(config)
        """The section `llm` of Juror's settings."""


class Embedder(LLM):
    """An embedding model for evaluators; Juror calls it."""


def create_llm(config: LLMConfig | None) -> LLM | None:
    """Returns the model of a configuration, if there is one."""
    return None if config is None else LLM(config)


def create_embedder(config: LLMConfig | None) -> Embedder | None:
    """Returns the embedding model of a configuration, if there is one."""
    return None if config is None or config.embedding is None else Embedder(config)
