"""``assert_answers``: recorded answers that must be good enough."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._comparison import compare
from .._evaluation import Config, Responses, Templates, run_evaluation
from .._gates import gate
from .._given import GivenRun
from .._metrics import Metric
from ._misses import Missed, listed

Result = Mapping[str, Any]


def assert_answers(
    responses: Responses,
    reference: Templates,
    *,
    baseline: GivenRun | None = None,
    margin: float = 0.02,
    coverage: float | str | None = None,
    max_errors: int | str | None = None,
    config: Config | None = None,
    profile: str | int | None = None,
    metrics: Mapping[str, Metric] | None = None,
    ask_models: bool = True,
    trials_in_responses: bool = False,
    most_listed: int = 100,
    **minimums: float,
) -> list[dict[str, Any]]:
    """Evaluates recorded answers; raises `AssertionError` if they are not good enough.

        assert_answers("responses.jsonl", "reference.yaml", steps_score=0.9, baseline="runs/main")

    The error says what was not met, and lists each question that missed it, with the reasons. If all
    is met, the results are returned, as `juror.run_evaluation` returns them with `explain`.

    Args:
        responses: As for `juror.run_evaluation`; so are `reference`, `config`, `profile`, `metrics`,
            `ask_models` and `trials_in_responses`.
        baseline: A run to compare with: the path of a run folder or of a file of results, or results.
            No score may be worse than there by more than `margin`.
        margin: How much the mean of a score may fall, over the questions that both runs have. Tokens,
            times and costs are not compared.
        coverage: The share of the questions a metric applies to that must have a verdict on it: 0.95,
            if neither this nor the settings say otherwise.
        max_errors: How many responses may have failed or be missing: a number, or such as "2%".
        most_listed: How many questions the error lists.
        minimums: The least mean of each metric, by its name; metrics of your own, too.

    Raises:
        AssertionError: The answers are not good enough.
        SettingsError: A metric is not known, or a setting is wrong.
    """
    __tracebackhide__ = True
    if not minimums and baseline is None and max_errors is None:
        raise TypeError("assert_answers() asks for nothing: give the least mean of a metric, such as steps_score=0.9")
    results = run_evaluation(
        reference,
        responses,
        config,
        profile,
        metrics=metrics,
        ask_models=ask_models,
        explain=True,
        trials_in_responses=trials_in_responses,
    )
    own = None if metrics is None else list(metrics)
    unmet = [*_unmet_gates(results, minimums, max_errors, config, profile, coverage, own)]
    missed = {name: Missed(least=least) for name, least in minimums.items()}
    if baseline is not None:
        for name, worse in _worse(baseline, results, margin, config, profile).items():
            unmet.append(worse.why)
            missed.setdefault(name, Missed()).broken |= worse.broken
    if unmet:
        raise AssertionError(_message(unmet, results, missed, most_listed))
    return results


def _unmet_gates(
    results: Sequence[Result],
    minimums: Mapping[str, float],
    max_errors: int | str | None,
    config: Config | None,
    profile: str | int | None,
    coverage: float | str | None,
    own: Sequence[str] | None,
) -> Iterator[str]:
    gates: list[dict[str, Any]] = [{"metric": name, "min": least} for name, least in minimums.items()]
    if max_errors is not None:
        gates.append({"errors": max_errors})
    if gates:
        outcomes = gate(results, gates, config, profile, coverage=coverage, metrics=own)
        yield from (one["why"] for one in outcomes if one["verdict"] not in ("pass", "warn"))


class _Worse:
    """A metric that is worse than in the baseline."""

    def __init__(self, name: str, numbers: Mapping[str, Any], flips: Mapping[str, Any], margin: float) -> None:
        self.why = (
            f"{name} fell by {-numbers['delta']:.4f}, from {numbers['a']:.4f} to {numbers['b']:.4f} "
            f"over {numbers['n']} questions of the baseline; it may fall by {margin}"
        )
        self.broken = {(flip["group"], flip["id"]): flip["a"] for flip in flips.get("broken", ())}


def _worse(
    baseline: GivenRun, results: GivenRun, margin: float, config: Config | None, profile: str | int | None
) -> dict[str, _Worse]:
    (candidate,) = compare(baseline, results, config=config, profile=profile, flips="all").candidates
    flips = {one["metric"]: one for one in candidate["flips"]}
    return {
        name: _Worse(name, numbers, flips.get(name, {}), margin)
        for name, numbers in candidate["metrics"].items()
        if numbers["better"] != "lower" and (numbers["delta"] or 0.0) < -margin - 1e-12
    }


def _message(unmet: Sequence[str], results: Sequence[Result], missed: Mapping[str, Missed], most: int) -> str:
    lines = ["the answers are not good enough", *(f"  {one}" for one in unmet)]
    return "\n".join([*lines, *listed(results, missed, most)])
