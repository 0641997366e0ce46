"""Progress of long runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

Progress = Callable[[dict[str, Any]], object]
"""Called with `phase`, `done`, `total` and counts of the phase."""

_LINE_EVERY = 10.0
_BAR_EVERY = 0.1
_WIDTH = 30


def teller(progress: bool | Progress | None) -> Progress | None:
    """Returns the function to call with progress, or `None`."""
    if callable(progress):
        return progress
    return _Bar() if progress else None


class _Bar:
    """Shows a bar on a terminal, or a line every few seconds elsewhere, on standard error."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._next = self._start
        self._is_terminal = sys.stderr.isatty()
        if not self._is_terminal:
            self._next += _LINE_EVERY

    def __call__(self, event: Mapping[str, Any]) -> None:
        if event["phase"] == "stopping":
            print("stopping: waiting for calls on their way (Ctrl-C again to end at once)", file=sys.stderr)
            return
        done, total = event["done"], event["total"]
        is_last = event["phase"] == "judging" and done == total
        now = time.monotonic()
        if now < self._next and not (is_last and self._is_terminal):
            return
        self._next = now + (_BAR_EVERY if self._is_terminal else _LINE_EVERY)
        text = f"{event['phase']} {done}/{total} questions{_details(event)}, {now - self._start:.0f} s"
        if self._is_terminal:
            filled = _WIDTH * done // max(total, 1)
            bar = "█" * filled + "░" * (_WIDTH - filled)
            end = "\n" if is_last else ""
            print(f"\r{bar} {text}\x1b[K", end=end, file=sys.stderr, flush=True)
        else:
            print(text, file=sys.stderr, flush=True)


def _details(event: Mapping[str, Any]) -> str:
    if event["phase"] == "asking":
        counts = [f"{event['answered']} calls done", f"{event['under_way']} under way"]
        counts += [f"{event[key]} {key}" for key in ("known", "failed") if event[key]]
        if event["usd"]:
            counts.append(f"{event['usd']:.4f} USD")
        if event["left"] is not None:
            counts.append(f"about {event['left']:.0f} s left")
        return ", " + ", ".join(counts)
    return f", {event['errors']} errors" if event.get("errors") else ""
