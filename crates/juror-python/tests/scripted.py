"""A model server that answers by script: the program `juror-scripted` of this project."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import PROJECT


def program() -> Path:
    """The program, where it has been built."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", PROJECT / "target"))
    path = Path(os.environ.get("JUROR_SCRIPTED", target / "debug/juror-scripted"))
    if not path.is_file():
        pytest.skip("juror-scripted is not built: cargo build -p juror-scripted")
    return path


@contextmanager
def scripted(script: dict[str, Any], folder: Path) -> Iterator[str]:
    """A server; gives its address."""
    path = folder / "script.json"
    path.write_text(json.dumps(script))
    process = subprocess.Popen([program(), path], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
