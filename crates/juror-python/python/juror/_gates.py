"""Gates: conditions that a run, or the change from one run to another, must meet."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import _juror, _metrics
from ._comparison import Comparison
from ._evaluation import Config, name_of
from ._given import Gates, GivenRun, given_confidence, given_gates, given_run

_VERDICTS = ("pass", "warn", "inconclusive", "block")


class GateOutcomes(list[dict[str, Any]]):
    """How gates came out: a list of dicts with `gate`, `verdict`, `why` and more."""

    @property
    def verdict(self) -> str:
        """The worst verdict: "pass", "warn", "inconclusive" or "block"."""
        return max((str(own["verdict"]) for own in self), key=_VERDICTS.index, default="pass")

    @property
    def passed(self) -> bool:
        """Whether the worst verdict is "pass" or "warn"."""
        return self.verdict in ("pass", "warn")


def gate(
    results: GivenRun | Comparison,
    gates: Gates | None = None,
    config: Config | None = None,
    profile: str | int | None = None,
    *,
    coverage: float | str | None = None,
    metrics: Iterable[str] | None = None,
    confidence: float = 0.95,
) -> GateOutcomes:
    """Checks gates on a run, or on a comparison, and returns how each of them came out.

        outcomes = juror.gate(results, [{"metric": "steps_score", "min": 0.8}, {"errors": "2%"}])
        for outcome in outcomes:
            print(outcome["verdict"], outcome["gate"], outcome["why"])
        assert outcomes.passed

    A gate on a change (`max_drop`, `max_rise`) needs two runs:

        comparison = juror.compare(before, after)
        assert juror.gate(comparison, [{"metric": "steps_score", "max_drop": 0.02}]).passed

    `results` is a run as for `compare`, or a comparison, whose outcomes also have `candidate`. `gates`
    are given as for `compare`; those of `config` are checked, too. Without either, those that a
    comparison has checked are. `coverage` is the share of the questions to which a metric applies
    that must have a verdict on it; the default is that of the gates or settings, or 0.95. `metrics`
    names metrics of your own; by default, gates can be on all registered ones.

    A run folder whose results were lost or changed since it ended is refused with `DatasetError`. Of
    a run that is not finished, the questions without a result count as errors, and the logger tells.

    A gate that these results cannot be checked by is reported to the logger `juror`: it needs two
    runs, or is on a metric of agents where questions were answered. If no gate is left, or one is
    wrong, `SettingsError` is raised. `unmet_gates` is a shorter form for means of one run.
    """
    own, name = _metrics.names(metrics), name_of(profile)
    asked, share = given_gates(gates), None if coverage is None else str(coverage)
    if isinstance(results, Comparison):
        return GateOutcomes(results._engine.check(asked, config, share, own))
    run, share_of_intervals = given_run(results, config, name), given_confidence(confidence)
    return GateOutcomes(_juror.check_gates(run, asked, config, name, share, own, share_of_intervals))
