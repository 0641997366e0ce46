"""Reports to look at: runs as one HTML file."""

from __future__ import annotations

import os
import warnings

from . import _juror, _metrics
from ._evaluation import Config, Path, name_of
from ._given import GivenRun, given_run


def report(
    path: Path,
    run: GivenRun,
    *more: GivenRun,
    config: Config | None = None,
    profile: str | int | None = None,
    redact: bool = False,
    max_size: float = 25,
    allow_mismatch: bool = False,
) -> None:
    """Writes runs as one HTML file that opens in any browser, offline.

        results = juror.run_evaluation("reference.yaml", "responses.jsonl")
        juror.report("report.html", results)
        juror.report("changes.html", "runs/main", results)

    A run is the path of a run folder or of a file of results, what `run_evaluation` returns, or what
    `bench` returns. With several runs, the first is the baseline.

    Args:
        config: Juror's settings: a file, or the same as a dict.
        profile: The rules, "5" or "6", for results that do not name theirs; run folders do.
        redact: Leave answers, outputs, arguments and reasons out.
        max_size: How many MB the details of all questions may take; above that they are shortened,
            those of questions that are right first, with a warning.
        allow_mismatch: Show the questions that runs have in common, though references or rules
            differ.

    Raises:
        ComparisonError: Several runs cannot be compared.
        DatasetError: A run cannot be read; `OSError` if a file cannot be opened or written.
    """
    if not 0.1 <= max_size <= 2000:
        raise ValueError(f"max_size is {max_size}, and should be from 0.1 to 2000 MB")
    name = os.fspath(path)
    if not name.lower().endswith((".html", ".htm")):
        raise ValueError(f"{name}: a report is an HTML file\n  hint: use .html")
    profile_name = name_of(profile)
    choices = {
        "own": _metrics.names(None),
        "redact": bool(redact),
        "max_size": int(max_size * 1e6),
        "allow_mismatch": bool(allow_mismatch),
    }
    runs = [given_run(own, config, profile_name) for own in (run, *more)]
    note = _juror.write_report(name, runs, config, profile_name, choices)
    if note is not None:
        warnings.warn(note.replace("--max-size", "max_size="), UserWarning, stacklevel=2)
