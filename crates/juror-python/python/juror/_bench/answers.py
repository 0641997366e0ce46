"""What agents answer, in the form that Juror reads."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any

from .plain import plain

LOG = logging.getLogger("juror")

_ANSWERS = ("final_answer", "actual_answer", "answer_details", "steps", "actual_steps", "messages", "error")
"""The parts of which one makes an answer."""

_TOKENS = ("tokens", "total_tokens", "input_tokens", "output_tokens")
_PARTS = (*_ANSWERS, *_TOKENS, "called_apis", "usd", "elapsed_sec")


class NoAnswer(Exception):
    """What an agent returned is no answer."""


def answer_as_json(said: object) -> str:
    """An answer as JSON: of a text, or of a dict in the document's or MASBench's form.

    The engine reads it as it reads answers of any agent: no part of it that cannot be read costs the
    others.
    """
    if isinstance(said, str):
        return json.dumps({"final_answer": said})
    if not isinstance(said, Mapping):
        raise NoAnswer(f"the agent returned {_kind(said)}, which is not an answer")
    parts = _parts(said)
    if not any(key in parts for key in _ANSWERS):
        raise NoAnswer("the dict that the agent returned has no `final_answer`")
    written = {key: _written(key, parts[key]) for key in _PARTS if parts.get(key) is not None}
    return "{" + ", ".join(f'"{key}": {value}' for key, value in written.items() if value) + "}"


def _parts(said: Mapping[Any, Any]) -> dict[Any, Any]:
    """All parts side by side; under `answer` may stand some of them, or the answer itself."""
    inner = said.get("answer")
    if isinstance(inner, Mapping):
        return {**said, **{key: value for key, value in inner.items() if value is not None or key not in said}}
    return {"final_answer": inner, **said} if inner is not None else dict(said)


def _written(key: str, value: object) -> str | None:
    try:
        return json.dumps(value, default=plain)
    except (TypeError, ValueError, RecursionError) as error:
        why = f"`{key}` cannot be written as JSON: {error}"
        if key == "final_answer":
            raise NoAnswer(why) from error
        LOG.warning("a part of an agent's answer is left out: %s", why)
        return None


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a value of type `{type(value).__name__}`"
