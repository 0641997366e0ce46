"""Tools that are served at an address, as processes elsewhere call them."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows nothing: the token is for the server that was named."""

    def redirect_request(self, *_: object) -> None:
        return None


# What serves tools is never behind a proxy.
_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect())

_PATIENCE = 600
"""Seconds until there is a reply."""


def asked(
    url: str, body: bytes | None = None, headers: Mapping[str, str] | None = None, token: str | None = None
) -> tuple[int, str]:
    """Returns the status and the text of a reply; raises `ConnectionError` if there is none."""
    known = {"content-type": "application/json", **(headers or {})}
    if token is not None:
        known["authorization"] = f"Bearer {token}"
    try:
        with _opener.open(urllib.request.Request(url, body, known), timeout=_PATIENCE) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode("utf-8", "replace")
    except OSError as error:
        raise ConnectionError(f"the tools do not answer: {error}") from error


def called(url: str, body: str, token: str | None = None) -> tuple[int, str]:
    """Calls a tool; returns the status and the text of its reply."""
    # Frameworks may write 5 as 5.0, and the other way round.
    return asked(url, body.encode(), {"juror-match": "numbers"}, token)


def called_later(url: str, body: str, done: Callable[[int | None, str], object], token: str | None = None) -> None:
    """Calls a tool on another thread, and hands on the same; without a status, the text is what went wrong."""

    def call() -> None:
        try:
            done(*called(url, body, token))
        except ConnectionError as error:
            done(None, str(error))

    threading.Thread(target=call, name="juror-call", daemon=True).start()
