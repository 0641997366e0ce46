"""A fixture for pytest: virtual tools. In `conftest.py`:

    pytest_plugins = ["juror.testing.plugin"]

The fixture `juror_tools` takes its folders from pytest's settings `juror_tools`, `juror_cache` and
`juror_config`, such as

    [tool.pytest.ini_options]
    juror_tools = "examples/tools"
    juror_cache = ["examples/tool_cache"]

which are relative to the file that has them.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ._served import VirtualTools, virtual_tools

__all__ = ["juror_tools"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Names the settings of the fixture."""
    parser.addini("juror_tools", "folder of tool files for the fixture `juror_tools`")
    parser.addini("juror_cache", "folders of stored replies for the fixture `juror_tools`", type="linelist")
    parser.addini("juror_config", "settings file for the fixture `juror_tools`")


@pytest.fixture
def juror_tools(request: pytest.FixtureRequest) -> Iterator[VirtualTools]:
    """Virtual tools on a free port, for one test."""
    config = request.config
    place = Path(config.inipath).parent if config.inipath else config.rootpath

    def path(name: str) -> Path | None:
        given = config.getini(name)
        return place / given if given else None

    folders = {"tools": path("juror_tools"), "config": path("juror_config")}
    cache = [place / folder for folder in config.getini("juror_cache")]
    if not cache and not any(folders.values()):
        raise pytest.UsageError("the fixture `juror_tools` needs pytest's setting `juror_tools` or `juror_cache`")
    with virtual_tools(**folders, cache=cache, on_miss=None if folders["config"] else "fail") as tools:
        yield tools
