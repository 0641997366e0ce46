"""Statistics of a run: means, and how far they can be trusted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from . import _juror, _metrics
from ._evaluation import Config, name_of
from ._given import GivenRun, given_confidence, given_run
from ._report import Report, with_ends

_COLUMNS: dict[str, type] = {
    **dict.fromkeys(("scope", "group", "metric"), str),
    **dict.fromkeys(("n", "n_scored", "n_error", "n_not_applicable"), int),
    **dict.fromkeys(("coverage", "mean", "median", "sd", "se", "low", "high"), float),
    "method": str,
    "clusters": int,
    "deff": float,
}


class Statistics(Report):
    """The statistics of a run, with the keys of `juror.statistics/1`.

        statistics = juror.statistics(results)
        print(statistics)                                       # a table with ±
        statistics["micro"]["steps_score"]["interval"]
        statistics.to_pandas()                                  # a row per scope, group and metric

    In a notebook it shows as a table.
    """

    _columns = _COLUMNS

    @property
    def micro(self) -> dict[str, Any]:
        """By metric, over all questions or attempts."""
        return dict(self["micro"])

    @property
    def macro(self) -> dict[str, Any]:
        """By metric, the means over the means of templates or sets."""
        return dict(self["macro"])

    @property
    def groups(self) -> dict[str, Any]:
        """By template or set, and by metric."""
        return dict(self["groups"])

    def __repr__(self) -> str:
        what = "questions" if self["kind"] == "eval" else "queries"
        return f"<juror.Statistics of {self['questions']} {what}: {len(self['micro'])} metrics>"

    def _rows(self) -> Iterator[dict[str, Any]]:
        groups = [("group", group, metrics) for group, metrics in self["groups"].items()]
        for scope, group, metrics in [*groups, ("micro", None, self["micro"]), ("macro", None, self["macro"])]:
            for metric, numbers in metrics.items():
                yield {"scope": scope, "group": group, "metric": metric, **with_ends(numbers)}


def statistics(
    results: GivenRun,
    config: Config | None = None,
    profile: str | int | None = None,
    *,
    confidence: float = 0.95,
    metrics: Iterable[str] | None = None,
) -> Statistics:
    """Computes statistics of a run: means with intervals, coverage, and means by template.

        statistics = juror.statistics(juror.run_evaluation(reference, responses))
        steps = statistics["micro"]["steps_score"]
        steps["mean"], steps["interval"], steps["coverage"]

    Questions of one template resemble each other, so intervals count whole templates; for several
    attempts at a query, they count queries. `docs/statistics.md` in the project explains each number.

    `results` is the path of a run folder or of a file of results, what `run_evaluation` returns, or
    what `bench` returns. `config` and `profile` are those of the evaluation. `confidence` is that of
    intervals. `metrics` names metrics of your own; by default, all registered ones count.

    An unusable result is reported to the logger `juror` and left out.
    """
    name, own = name_of(profile), _metrics.names(metrics)
    run = given_run(results, config, name)
    return Statistics(_juror.run_statistics(run, config, name, own, given_confidence(confidence)))
