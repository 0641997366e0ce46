"""Comparing runs: did a change make it better?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from . import _juror, _metrics
from ._evaluation import Config, Path, name_of
from ._given import Gates, GivenRun, given_confidence, given_gates, given_names, given_run
from ._page import report
from ._report import Report, with_ends

_COLUMNS: dict[str, type] = {
    **dict.fromkeys(("baseline", "candidate", "group", "metric", "better"), str),
    "n": int,
    **dict.fromkeys(("a", "b", "delta", "se", "low", "high", "p", "p_holm"), float),
    **dict.fromkeys(("p_benjamini_hochberg", "probability_better"), float),
    **dict.fromkeys(("won", "lost", "tied"), int),
    "mde": float,
    "clusters": int,
    "delta_errors_as_zero": float,
}


class Comparison(Report):
    """How runs differ from a baseline, with the keys of `juror.compare/1`.

        comparison = juror.compare("runs/main", "runs/pr-412")
        print(comparison)                                       # as `juror compare` prints it
        comparison["candidates"][0]["metrics"]["steps_score"]["delta"]
        comparison.to_pandas().query("p < 0.05")

    In a notebook it shows as tables.
    """

    _columns = _COLUMNS
    _engine: _juror.Compared
    _runs: tuple[GivenRun, ...] = ()
    _rules: dict[str, Any]

    @property
    def verdict(self) -> str:
        """The worst verdict of all gates: "pass", "warn", "inconclusive" or "block"."""
        return str(self["verdict"])

    @property
    def passed(self) -> bool:
        """Whether the verdict is "pass" or "warn"; without gates it is "pass"."""
        return self.verdict in ("pass", "warn")

    @property
    def baseline(self) -> dict[str, Any]:
        """The run that the others are compared with: its name, source and more."""
        return dict(self["baseline"])

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """How each candidate compares: `run`, `metrics`, `flips`, `gates` and more."""
        return list(self["candidates"])

    def to_markdown(self, name: str | None = None) -> str:
        """Returns a comment for a pull request, below 60,000 characters.

        Its first line is an HTML comment with `name`, by which a bot finds its earlier comment; by
        default it has the names of the runs.
        """
        return self._engine.markdown(name)

    def to_junit(self, threshold: Mapping[str, float] | None = None) -> str:
        """Returns a test report in JUnit's format: a suite per template, a case per question.

        A question fails when a gate on it is not met, and with `threshold`, such as
        `{"steps_score": 0.5}`, when its score is below that.
        """
        if threshold is not None and len(threshold) != 1:
            raise ValueError(f"threshold has one metric, not {len(threshold)}")
        return self._engine.junit(next(iter(threshold.items())) if threshold else None)

    def report(self, path: Path, *, redact: bool = False, max_size: float = 25) -> None:
        """Writes the comparison as one HTML file, as `juror.report` does."""
        report(path, *self._runs, redact=redact, max_size=max_size, **self._rules)

    def __repr__(self) -> str:
        names = [_name(candidate["run"]) for candidate in self.candidates]
        return f"<juror.Comparison of {_name(self.baseline)} with {', '.join(names)}: {self.verdict}>"

    def _rows(self) -> Iterator[dict[str, Any]]:
        baseline = _name(self.baseline)
        for candidate in self.candidates:
            names = {"baseline": baseline, "candidate": _name(candidate["run"])}
            groups = [(None, candidate["metrics"]), *candidate.get("by_group", {}).items()]
            for group, metrics in groups:
                for metric, numbers in metrics.items():
                    yield {**names, "group": group, "metric": metric, **with_ends(numbers)}


def compare(
    a: GivenRun,
    b: GivenRun,
    *more: GivenRun,
    gates: Gates | None = None,
    config: Config | None = None,
    profile: str | int | None = None,
    metrics: Iterable[str] | None = None,
    confidence: float = 0.95,
    by_template: bool = False,
    allow_mismatch: bool = False,
    allow_incomplete: bool = False,
    flips: int | Literal["all"] = 5,
) -> Comparison:
    """Compares runs with a baseline, question by question: did the change make it better?

        before = juror.run_evaluation(reference, responses_of_main)
        after = juror.run_evaluation(reference, responses_of_branch)
        comparison = juror.compare(before, after, gates=[{"metric": "steps_score", "max_drop": 0.02}])
        print(comparison)
        assert comparison.passed

    A run is the path of a run folder or of a file of results, what `run_evaluation` returns, or what
    `bench` returns. `a` is the baseline. With several candidates, p-values are adjusted for their
    number. Questions are joined by template and id; those of one template count as a cluster.

    Args:
        gates: What a change may cost: a list of gates, such as
            `{"metric": "total_tokens", "max_rise": "10%", "level": "warn"}`; a dict with `gates` and
            `coverage`; or the path of a file with them. Those of `config` are checked, too.
        config: Juror's settings: a file, or the same as a dict.
        profile: The rules, "5" or "6", for results that do not name theirs; run folders do.
        metrics: Compare these alone. By default all that both runs have are compared, including
            registered metrics of your own.
        confidence: The confidence of intervals, from 0.5 to below 1.
        by_template: Also compare within each template, or each set of queries.
        allow_mismatch: Compare the questions that both runs have in common, though references or
            rules differ.
        allow_incomplete: Compare what there is of runs that are not finished.
        flips: How many of the questions that broke or were fixed are listed and explained, or "all".

    Raises:
        ComparisonError: The runs cannot be compared: they are of different kinds, or of different
            references or rules, one is not finished, or they have no question in common.
        SettingsError: A gate or a setting is wrong; `path` leads to it.
        DatasetError: A run cannot be read; `OSError` if its file cannot be opened.
    """
    name = name_of(profile)
    wanted = [] if metrics is None else given_names(metrics)
    choices = {
        "metrics": wanted,
        "own": [*_metrics.names(None), *wanted],
        "confidence": given_confidence(confidence),
        "by_template": bool(by_template),
        "allow_mismatch": bool(allow_mismatch),
        "allow_incomplete": bool(allow_incomplete),
        "flips": _number_of(flips),
    }
    runs = [given_run(run, config, name) for run in (a, b, *more)]
    comparison = Comparison(_juror.compare_runs(runs, given_gates(gates), config, name, choices))
    comparison._runs = (a, b, *more)
    comparison._rules = {"config": config, "profile": profile, "allow_mismatch": allow_mismatch}
    return comparison


def _number_of(flips: int | Literal["all"]) -> int | None:
    if flips == "all":
        return None
    if not isinstance(flips, int) or flips < 0:
        raise ValueError(f'flips is {flips!r}, and should be a number or "all"')
    return flips


def _name(run: Mapping[str, Any]) -> str:
    return str(run["name"] or run["source"])
