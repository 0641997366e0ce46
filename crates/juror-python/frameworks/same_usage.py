"""Runs code on graphrag-eval and, with nothing but its imports changed, on Juror; compares what it says.

    python same_usage.py RELEASE PYTHON_WITH_THE_LIBRARY PYTHON_WITH_JUROR
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

USAGE = Path(__file__).parent / "usage"

IMPORT = re.compile(r"^(from|import) graphrag_eval\b", re.MULTILINE)


def main(release: str, library: str, juror: str) -> int:
    code = (USAGE / f"release_{release[0]}.py").read_text()
    changed, n_lines = IMPORT.subn(r"\1 juror.graphrag_eval", code)
    theirs, ours = said(library, code), said(juror, changed)
    found = [*differences("", theirs, ours)]
    for line in found:
        print(f"  {line}")
    verdict = f"{len(found)} differences" if found else f"all {len(theirs)} values are the same"
    print(f"graphrag-eval {release}: {verdict}, with {n_lines} import lines changed")
    return 1 if found else 0


def differences(place: str, theirs: Any, ours: Any) -> Iterator[str]:
    """Yields where two values differ."""
    if isinstance(theirs, dict) and isinstance(ours, dict):
        for key in theirs | ours:
            yield from differences(f"{place}.{key}", theirs.get(key), ours.get(key))
    elif isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        for number, pair in enumerate(zip(theirs, ours)):
            yield from differences(f"{place}[{number}]", *pair)
    elif theirs != ours:
        yield f"{place}: {theirs!r} in the library, {ours!r} in Juror"


def said(python: str, code: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "usage.py"
        script.write_text(code)
        environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
        environment["PYTHONPATH"] = str(USAGE)
        done = subprocess.run([python, script], capture_output=True, text=True, cwd=folder, env=environment)
    if done.returncode != 0:
        sys.exit(f"{python}: {done.stderr}")
    said: dict[str, Any] = json.loads(done.stdout)
    return said


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
