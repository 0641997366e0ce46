"""What agents answer, in the form that Juror reads."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping

from .plain import plain, text_of


class NoAnswer(Exception):
    """What an agent returned is no answer."""


def answer_as_json(said: object) -> str:
    """An answer as JSON: of a text, or of a dict in the document's or MASBench's form."""
    if isinstance(said, str):
        return json.dumps({"final_answer": text_of(said)})
    if not isinstance(said, Mapping):
        raise NoAnswer(f"the agent returned {_kind(said)}, which is no answer")
    inner = said.get("answer", said)
    if not isinstance(inner, Mapping):
        raise NoAnswer(f"`answer` is {_kind(inner)} and no dict")
    fields: dict[str, object] = {}
    if "final_answer" in inner:
        fields["final_answer"] = _text(inner, "final_answer")
    if "error" in said:
        fields["error"] = _text(said, "error")
    if not fields:
        raise NoAnswer("the dict that the agent returned has no `final_answer`")
    called = said.get("called_apis", inner.get("called_apis"))
    if called is not None:
        fields["called_apis"] = [_pair(pair) for pair in _items(called)]
    for key in ("tokens", "usd"):
        fields[key] = _figure(said.get(key, inner.get(key)))
    text = json.dumps(fields)
    details = inner.get("answer_details")
    if details is None:
        return text
    # Written apart: what agents did may be long, and no half of a pair in it does harm.
    return f'{text[:-1]}, "answer_details": {_details(details)}}}'


def _text(fields: Mapping[object, object], key: str) -> str | None:
    value = fields[key]
    if value is None:
        return None
    if isinstance(value, str):
        return text_of(value)
    raise NoAnswer(f"`{key}` is {_kind(value)} and no text")


def _figure(value: object) -> float | None:
    """A number that says what was used; no answer is lost over one that cannot be read."""
    if not isinstance(value, (str, bytes)) and hasattr(value, "__float__"):
        number = float(value)
        return number if math.isfinite(number) else None
    return None


def _items(called: object) -> Iterable[object]:
    if isinstance(called, Iterable) and not isinstance(called, (str, bytes, Mapping)):
        return called
    raise NoAnswer(f"`called_apis` is {_kind(called)} and no list")


def _pair(pair: object) -> list[str]:
    if isinstance(pair, (list, tuple)) and len(pair) == 2:
        tool, api = pair
        if isinstance(tool, str) and isinstance(api, str):
            return [text_of(tool), text_of(api)]
    raise NoAnswer(f"`called_apis` has {pair!r:.80}, which is no pair of tool and API")


def _details(details: object) -> str:
    try:
        return json.dumps(details, default=plain, allow_nan=False)
    except ValueError:
        # JSON has no such number as nan.
        known = json.loads(json.dumps(details, default=plain), parse_constant=lambda _: None)
        return json.dumps(known)
    except TypeError as error:
        raise NoAnswer(f"`answer_details` cannot be written as JSON: {error}") from error


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a value of type `{type(value).__name__}`"
