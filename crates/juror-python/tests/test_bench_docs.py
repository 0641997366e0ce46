"""The page about agents in Python does what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from conftest import PROJECT


def test_the_page_runs(tmp_path: Path) -> None:
    page = PROJECT / "docs/python-agents.md"
    text = page.read_text("utf-8")
    (tmp_path / "examples").symlink_to(PROJECT / "examples", target_is_directory=True)
    names: dict[str, Any] = {"__name__": "page"}
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    assert len(blocks) > 5
    for block in blocks:
        # Lines of a failure are those of the page.
        line = text.count("\n", 0, block.start(1))
        exec(compile("\n" * line + block[1], str(page), "exec"), names)
