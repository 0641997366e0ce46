"""A stored run as an object, for notebooks."""

from __future__ import annotations

import functools
import json
import os
import pathlib
from collections.abc import Iterable
from typing import Any

from ._errors import DatasetError, Problem
from ._evaluation import Config, Path
from ._page import report
from ._statistics import Statistics, statistics

Result = dict[str, Any]


class Run(os.PathLike[str]):
    """A run that is stored: the folder of a run, or a file of results.

        run = juror.Run("runs/monday")
        run                                   # in a notebook: its metrics as a table
        run.statistics()["micro"]["steps_score"]["interval"]
        run.results[0]["actual_answer"]
        run.report("monday.html")
        juror.compare(run, juror.Run("runs/tuesday"))

    It is read when something of it is asked for. `config` and `profile` are those of its evaluation,
    for results that do not name theirs; run folders do. Whatever takes the path of a run takes a `Run`, and
    reads it by settings of its own.

    Raises:
        FileNotFoundError: There is nothing at this path.
    """

    def __init__(self, path: Path, config: Config | None = None, profile: str | int | None = None) -> None:
        self._path = pathlib.Path(path)
        self._config = config
        self._profile = profile
        if not self._path.exists():
            raise FileNotFoundError(f"{os.fspath(path)}: there is no run and no file of results here")

    def __fspath__(self) -> str:
        return os.fspath(self._path)

    @property
    def path(self) -> pathlib.Path:
        """Where it is stored."""
        return self._path

    @property
    def name(self) -> str:
        """Its name, or that of the file."""
        return str(self.manifest.get("name") or self._path.name)

    @functools.cached_property
    def manifest(self) -> dict[str, Any]:
        """What the run says about itself, as in `run.json`; empty for a file of results."""
        if not self._path.is_dir():
            return {}
        file = self._path / "run.json"
        manifest = _read_json(file)
        if not isinstance(manifest, dict):
            raise DatasetError([Problem("not a manifest of a run", file=str(file))])
        return manifest

    @functools.cached_property
    def results(self) -> list[Result]:
        """The results, a dict each, as the file has them."""
        file = self._path / "results.jsonl" if self._path.is_dir() else self._path
        return _read_results(file)

    def statistics(self, *, confidence: float = 0.95, metrics: Iterable[str] | None = None) -> Statistics:
        """Computes means with intervals, as `juror.statistics` does."""
        return statistics(self, self._config, self._profile, confidence=confidence, metrics=metrics)

    def report(self, path: Path, *, redact: bool = False, max_size: float = 25) -> None:
        """Writes the run as one HTML file, as `juror.report` does."""
        report(path, self, config=self._config, profile=self._profile, redact=redact, max_size=max_size)

    def __repr__(self) -> str:
        return f"juror.Run({os.fspath(self)!r})"

    def _repr_html_(self) -> str:
        return self.statistics()._repr_html_()


def _read_results(path: pathlib.Path) -> list[Result]:
    """Reads results: one a line, a list of them, or the file of a benchmark."""
    if path.suffix.lower() == ".jsonl":
        lines = enumerate(path.read_text(encoding="utf-8").split("\n"), 1)
        return [_parsed(line, path, number) for number, line in lines if line.strip()]
    read = _read_json(path)
    results = read.get("results") if isinstance(read, dict) else read
    if not isinstance(results, list):
        raise DatasetError([Problem("there is no list of results here", file=str(path))])
    return results


def _read_json(path: pathlib.Path) -> Any:
    return _parsed(path.read_text(encoding="utf-8"), path, None)


def _parsed(text: str, path: pathlib.Path, line: int | None) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        problem = Problem(f"not JSON: {error.msg}", file=str(path), line=line or error.lineno, column=error.colno)
        raise DatasetError([problem]) from error
