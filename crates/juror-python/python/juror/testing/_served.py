"""``virtual_tools``: tools that answer on a free port of this machine while a test runs."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import urllib.parse
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from .._bench.plain import path_of
from .._bench.served import asked, called, called_later
from .._bench.tools import Tool

Path = str | os.PathLike[str]

_PAGE = 1000
"""How many tools are listed at a time."""

_NOT_PASSED_ON = ("JUROR_ALLOW_HOST", "JUROR_HOST", "JUROR_PORT", "JUROR_TOKEN", "JUROR_QUIET")


class VirtualTools(Mapping[str, Tool]):
    """Tools by name, served at `url`; calls of each of them, and to `virtual`, are recorded."""

    def __init__(self, url: str) -> None:
        self.url = url
        """The address of the server, such as `http://127.0.0.1:50123`."""
        opened = json.loads(asked(f"{url}/runs/test/test", b"")[1])
        self.virtual: str = url + opened["virtual"]
        """The address that agents post calls to, in the protocol of `juror serve`."""
        self._calls, self._key = url + opened["calls"], opened["key"]
        self._tools: dict[str, Tool] | None = None

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls so far: `category`, `tool_name`, `api_name`, `tool_input`, `reply`, `source`."""
        _, text = asked(self._calls, headers={"juror-run-key": self._key})
        return list(json.loads(text)["calls"])

    def search_tools(self, text: str, k: int = 10) -> list[Tool]:
        """Returns the k tools that fit a text best, best first."""
        wanted = urllib.parse.urlencode({"q": text, "k": k})
        return self._made(asked(f"{self.url}/tools/search?{wanted}")[1])

    def __getitem__(self, name: str) -> Tool:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"<juror.testing.VirtualTools at {self.url}>"

    @property
    def _by_name(self) -> dict[str, Tool]:
        if self._tools is None:
            self._tools = {tool.name: tool for tool in self._listed()}
        return self._tools

    def _listed(self) -> Iterator[Tool]:
        offset, page = 0, [None] * _PAGE
        while len(page) == _PAGE:
            page = json.loads(asked(f"{self.url}/tools?offset={offset}&limit={_PAGE}")[1])
            yield from (Tool(one, _Served(self.virtual)) for one in page)
            offset += _PAGE

    def _made(self, listed: str) -> list[Tool]:
        return [Tool(one, _Served(self.virtual)) for one in json.loads(listed)]


class _Served:
    """Calls tools at an address."""

    def __init__(self, url: str) -> None:
        self._url = url

    def call(self, body: str) -> tuple[int, str]:
        return called(self._url, body)

    def call_later(self, body: str, done: Callable[[int | None, str], object]) -> None:
        called_later(self._url, body, done)


@contextlib.contextmanager
def virtual_tools(
    *,
    tools: Path | None = None,
    cache: Path | Iterable[Path] | None = None,
    config: Path | None = None,
    on_miss: str | None = "fail",
) -> Iterator[VirtualTools]:
    """Serves virtual tools on a free port of loopback, as `juror serve` does.

        with virtual_tools(tools="examples/tools", cache="examples/tool_cache") as tools:
            tools["current_for_garden_weather"](garden="Thornfold")
            assert tools.calls[0]["api_name"] == "Current"

    Args:
        tools: The folder of tool files.
        cache: A folder of stored replies, or several.
        config: A settings file, such as one with a simulator.
        on_miss: "fail": a call without a stored reply is an error, and nothing is written. `None`
            asks the sources of the settings.
    """
    words = ["--host", "127.0.0.1", "--port", "0", "--quiet"]
    for option, value in (("--tools", tools), ("--config", config)):
        words += [] if value is None else [option, path_of(value)]
    for folder in [cache] if isinstance(cache, (str, os.PathLike)) else cache or ():
        words += ["--cache", path_of(folder)]
    words += [] if on_miss is None else ["--on-miss", on_miss]
    with _server(words) as url:
        yield VirtualTools(url)


@contextlib.contextmanager
def _server(words: list[str]) -> Iterator[str]:
    environment = {name: value for name, value in os.environ.items() if name not in _NOT_PASSED_ON}
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "juror", "serve", *words],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, text=True, env=environment,
        )  # fmt: skip
        assert process.stdout is not None
        try:
            url = process.stdout.readline().strip()
            if not url:
                process.wait()
                said.seek(0)
                raise RuntimeError(f"the tools cannot be served: {said.read().strip()}")
            yield url
        finally:
            _end(process)


def _end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()
