"""What evaluators of release 6 have in common."""

from __future__ import annotations

from typing import Any, Protocol

__all__ = ["Evaluator"]


class Evaluator(Protocol):
    """Judges the answer to a question."""

    async def evaluate(self, reference: dict[str, Any], actual: dict[str, Any]) -> dict[str, Any]:
        """Returns the keys that it adds to the result."""
        ...
