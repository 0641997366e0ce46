"""That documents are true."""

from __future__ import annotations

import re

import pytest
from conftest import PROJECT

import juror
from juror import _metrics


def test_the_tutorial_runs(capsys: pytest.CaptureFixture[str]) -> None:
    text = (PROJECT / "docs/python-tutorial.md").read_text(encoding="utf-8")
    blocks = list(re.finditer(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    assert len(blocks) > 5
    names: dict[str, object] = {}
    try:
        for block in blocks:
            # Lines are counted as in the document.
            before = text[: block.start(1)].count("\n")
            exec(compile("\n" * before + block[1], "docs/python-tutorial.md", "exec"), names)
    finally:
        _metrics._registered.clear()
    assert "norway success 1.0" in capsys.readouterr().out


def test_everything_public_is_documented() -> None:
    pages = ["docs/python.md", "docs/python-agents.md"]
    page = "".join((PROJECT / page).read_text(encoding="utf-8") for page in pages)
    for name in juror.__all__:
        assert getattr(juror, name).__doc__, name
        hidden = name in ("JurorError", "LocatedError", "Problem", "Matching", "Pair", "__version__")
        assert hidden or name in page, f"{pages} do not tell of {name}"
