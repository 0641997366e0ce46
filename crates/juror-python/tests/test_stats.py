"""Statistical methods: recorded cases, what is accepted as numbers, and what is refused."""

from __future__ import annotations

import doctest
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any

import juror
import pytest
from conftest import PROJECT, recorded_cases

from juror import stats

PROBABILITIES = {"p", "p_exact", "p_mid", "p_sign_flip_exact", "probability_positive"}
INTERVALS = {"interval", "wilson", "clopper_pearson", "mde"}
INFINITY = float("inf")
NAN = float("nan")


def differences(got: Any, wanted: Any, key: str = "") -> list[str]:
    """What differs by more than the tolerance; a result may have more keys than are expected."""
    if isinstance(wanted, dict) and isinstance(got, dict):
        missing = [f"`{name}` is missing" for name in wanted if name not in got]
        return missing + [why for name in wanted.keys() & got for why in differences(got[name], wanted[name], name)]
    if isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        return [why for one, other in zip(got, wanted) for why in differences(one, other, key)]
    return [] if got == wanted or is_near(got, wanted, key) else [f"{key}: got {got}, wanted {wanted}"]


def is_near(got: Any, wanted: Any, key: str) -> bool:
    if not all(type(value) in (int, float) for value in (got, wanted)):
        return False
    tolerance = 1e-7 if key in PROBABILITIES | INTERVALS else 1e-9
    floor = 0.0 if key in PROBABILITIES else 1e-14
    return bool(abs(got - wanted) <= tolerance * abs(wanted) + floor)


def check(cases: Iterable[str]) -> Counter[str]:
    """Runs cases by the function of their family, with the input's keys as arguments."""
    counts: Counter[str] = Counter()
    failures = []
    for case in map(json.loads, cases):
        if case["family"] == "bootstrap":
            continue
        counts[case["family"]] += 1
        failures += [f"{case['id']}: {why}" for why in outcome(case)]
    print(dict(counts))
    assert not failures, f"{len(failures)}:\n" + "\n".join(failures[:20])
    return counts


def outcome(case: dict[str, Any]) -> list[str]:
    function = getattr(stats, case["family"])
    if case["expected"] is not None:
        return differences(function(**case["input"]), case["expected"])
    try:
        return [f"got {function(**case['input'])}, wanted a refusal"]
    except ValueError:
        return []


def test_our_own_cases_hold() -> None:
    with open(PROJECT / "conformance/own_statistics.jsonl", encoding="utf-8") as cases:
        assert len(check(cases)) == 16


def test_the_recorded_cases_hold() -> None:
    folder = recorded_cases()
    file = folder / "stats/stats.jsonl" if folder else None
    if file is None or not file.is_file():
        pytest.skip("no recorded cases here")
    with open(file, encoding="utf-8") as cases:
        assert len(check(cases)) >= 14


def test_the_examples_are_true() -> None:
    found = doctest.testmod(stats, extraglobs={"stats": stats})
    assert found.attempted > 16 and found.failed == 0


def test_every_method_is_exported_and_explained() -> None:
    assert juror.stats is stats
    for name in stats.__all__:
        assert ">>> " in getattr(stats, name).__doc__, name


class Odd:
    """A sequence that is not registered as one, as arrays are."""

    def __init__(self, values: list[Any]) -> None:
        self.values = values

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)


def test_numbers_may_come_in_any_sequence() -> None:
    values = [0.25, 1.0, 0.5, 0.75]
    wanted = stats.mean(values)
    for same in (tuple(values), Odd(values), iter(values), map(Decimal, values), dict.fromkeys(values)):
        assert stats.mean(same) == wanted
    assert stats.mean([True, False]) == stats.mean([1, 0])
    assert stats.judge_noise(Odd([(1, 0), Odd([1, 1])])) == stats.judge_noise([[1, 0], [1, 1]])
    assert stats.macro([[1.0, 0.0], [1.0]]) == stats.macro({"a": [1.0, 0.0], ("b", 2): [1.0]})


def test_arrays_and_series_are_sequences() -> None:
    numpy = pytest.importorskip("numpy")
    values = numpy.array([0.25, 1.0, 0.5, 0.75])
    clusters = numpy.array(["a", "b", "a", "c"])
    assert stats.mean(values, clusters) == stats.mean(values.tolist(), clusters.tolist())
    assert stats.mean(values.astype("float32")) == stats.mean(values.tolist())
    assert stats.mean(numpy.array([1, 0, 1])) == stats.mean([1, 0, 1])
    assert stats.proportion(numpy.int64(9), numpy.uint8(10)) == stats.proportion(9, 10)
    table = numpy.array([[20, 5], [10, 15]])
    assert stats.agreement(table) == stats.agreement(table.tolist())
    assert stats.paired(values, values[::-1])["delta"] == 0.0
    pandas = pytest.importorskip("pandas")
    assert stats.mean(pandas.Series(values)) == stats.mean(values.tolist())


def test_labels_may_be_anything_hashable() -> None:
    values = [1.0, 0.0, 0.5, 1.0, 0.0]
    wanted = stats.mean(values, ["a", "b", "a", "c", "b"])
    for labels in ("abacb", [1, 2, 1, 3, 2], [("t", 1), None, ("t", 1), 2.5, None], [7, "7", 7, b"7", "7"]):
        assert stats.mean(values, labels) == wanted, labels
    assert wanted["n_clusters"] == 3


def test_where_there_is_no_number_there_is_none() -> None:
    one = stats.mean([0.5], ["a"])
    assert (one["mean"], one["se"], one["interval"], one["deff"]) == (0.5, None, None, None)
    assert stats.trials(4, 3, 10) == {"pass_at_k": None, "pass_hat_k": None}
    assert stats.alpha([[1, None], [None, 2]])["nominal"] is None
    assert stats.gate(None, 0.02) == {"verdict": "inconclusive"}
    refused = stats.corrected_rate(190, 200, 50, 27, 29, 16)
    assert refused["refused"] and refused["rate"] is None
    assert "sensitivity + specificity - 1 is 0.092" in refused["reason"]
    kept = stats.corrected_rate(140, 200, 50, 45, 50, 40)
    assert (kept["refused"], kept["reason"], kept["sensitivity"]) == (False, None, 0.9)


def test_a_plan_goes_both_ways() -> None:
    found = stats.planning(questions=969, variance_of_differences=1 / 9)
    assert found["questions"] is None and math.isclose(found["delta"], 0.03, rel_tol=1e-3)
    assert stats.planning(-0.03, variance_of_differences=1 / 9)["questions"] == 969


def test_inputs_are_left_as_they_were() -> None:
    values, clusters = [3.0, 1.0, 2.0], ["b", "a", "b"]
    stats.paired(values, values[::-1], clusters)
    assert (values, clusters) == ([3.0, 1.0, 2.0], ["b", "a", "b"])


REFUSED = [
    (lambda: stats.mean([]), "values: there are no numbers"),
    (lambda: stats.mean(5), "values: expected a list, found `5`"),  # type: ignore[arg-type]
    (lambda: stats.mean([1, NAN]), "values[1]: `NaN` is not a finite number; leave out what is missing"),
    (lambda: stats.mean([1, -INFINITY]), "values[1]: `-inf` is not a finite number; leave out what is missing"),
    (lambda: stats.mean([1, None]), "values[1]: expected a number, found `None`"),  # type: ignore[list-item]
    (lambda: stats.mean(["1"]), "values[0]: expected a number, found `'1'`"),  # type: ignore[list-item]
    (lambda: stats.mean([[1.0]]), "values[0]: expected a number, found `[1.0]`"),  # type: ignore[list-item]
    (lambda: stats.mean([10**400]), "values[0]: expected a number, found `int`"),
    (lambda: stats.mean([1, 2], ["a"]), "clusters: 1 entries, but 2 in `values`"),
    (lambda: stats.mean([1, 2], ["a", []]), "clusters[1]: `[]` cannot be a label"),  # type: ignore[list-item]
    (lambda: stats.mean([1, 2], ["a", NAN]), "clusters[1]: `nan` is not a label: it equals nothing"),
    (lambda: stats.mean([1, 2], confidence=95), "confidence: expected a number between 0 and 1, found `95`"),
    (lambda: stats.mean([1, 2], confidence=NAN), "confidence: expected a number between 0 and 1, found `NaN`"),
    (lambda: stats.mean([1e308, 1e308, -1e308]), "the numbers are too large to compute with"),
    (lambda: stats.proportion(-1, 5), "successes: expected a whole number from 0 up, found `-1`"),
    (lambda: stats.proportion(2.5, 5), "successes: expected a whole number from 0 up, found `2.5`"),  # type: ignore[arg-type]
    (lambda: stats.proportion(6, 5), "successes: 6 is more than `n`, which is 5"),
    (lambda: stats.proportion(0, 0), "n: expected at least 1"),
    (lambda: stats.proportion(1, 2**63), "the numbers are too large to compute with"),
    (lambda: stats.proportion(1, 2**70), f"n: expected a whole number from 0 up, found `{2**70}`"),
    (lambda: stats.macro({}), "templates: there are no lists"),
    (lambda: stats.macro({"a": [1], "b": []}), "templates['b']: there are no numbers"),
    (lambda: stats.macro({"a": [1, NAN]}), "templates['a'][1]: `NaN` is not a finite number; leave out what is missing"),
    (lambda: stats.paired([1, 2], [1]), "b: 1 entries, but 2 in `a`"),
    (lambda: stats.paired([1, 2], [1, 2], "abc"), "clusters: 3 entries, but 2 in `a`"),
    (lambda: stats.mcnemar(-1, 2), "lost: expected a whole number from 0 up, found `-1`"),
    (lambda: stats.newcombe(0, 0, 0, 0), "there are no questions: all counts are 0"),
    (lambda: stats.multiplicity([0.5, 1.5]), "p[1]: expected a number from 0 to 1, found `1.5`"),
    (lambda: stats.trials(3, 4, 1), "successes: 4 is more than `trials`, which is 3"),
    (lambda: stats.trials(3, 1, 0), "k: expected at least 1"),
    (lambda: stats.trials(2**40, 1, 1), f"trials: expected at most 4294967295, found `{2**40}`"),
    (lambda: stats.judge_noise([[1, 0], [1]]), "verdicts[1]: 1 entries, but 2 in the first list"),
    (lambda: stats.judge_noise([[1, 0], []]), "verdicts[1]: there are no numbers"),
    (lambda: stats.judge_noise([]), "verdicts: there are no lists"),
    (lambda: stats.agreement([[1, 2]]), "table: expected as many columns as rows, found 2 for 1 rows"),
    (lambda: stats.agreement([[1, 2], [3]]), "table[1]: 1 entries, but 2 in the first list"),
    (lambda: stats.agreement([[1, -2], [3, 4]]), "table[0][1]: expected a whole number from 0 up, found `-2`"),
    (lambda: stats.agreement([[0]]), "table: all counts are 0"),
    (lambda: stats.fleiss([[2, 0], [1, 0]]), "table[1]: 1 judges, but 2 in the first row"),
    (lambda: stats.alpha([[1, 2], [1]]), "ratings[1]: 1 entries, but 2 in the first list"),
    (lambda: stats.alpha([[1, NAN], [1, 2]]), "ratings[0][1]: `NaN` is not a finite number; leave out what is missing"),
    (lambda: stats.corrected_rate(3, 2, 1, 1, 1, 1), "judge_passes: 3 is more than `n`, which is 2"),
    (lambda: stats.corrected_rate(1, 2, 1, 1, 1, 2), "judge_agrees_on_fails: 2 is more than `human_fails`, which is 1"),
    (lambda: stats.prediction_powered([1], [1], [1, 0]), "human_labelled: 2 entries, but 1 in `judge_labelled`"),
    (lambda: stats.planning(variance_of_differences=1), "expected `delta`, `questions` or both, found neither"),
    (lambda: stats.planning(0, variance_of_differences=1), "delta: expected a number above 0, found `0`"),
    (lambda: stats.planning(1, variance_of_differences=-1), "variance_of_differences: expected a number from 0 up, found `-1`"),
    (lambda: stats.planning(1, variance_of_differences=1, repeats=0), "repeats: expected at least 1, found `0`"),
    (lambda: stats.planning(1, variance_of_differences=1, power=1), "power: expected a number between 0 and 1, found `1`"),
    (lambda: stats.planning(variance_of_differences=1, questions=-5), "questions: expected at least 1, found `-5`"),
    (lambda: stats.gate([1], 0), "interval: expected two numbers"),
    (lambda: stats.gate([1, 0], 0), "interval: `1` is above `0`"),
    (lambda: stats.gate([0, 1], -1), "max_drop: expected a number from 0 up, found `-1`"),
    (lambda: stats.gate([0, 1], 0, "stop"), "level: expected `warn` or `block`, found `stop`"),
]


@pytest.mark.parametrize(("call", "words"), REFUSED, ids=[words for _, words in REFUSED])
def test_what_cannot_be_used_is_refused_with_its_place(call: Any, words: str) -> None:
    with pytest.raises(ValueError) as refused:
        call()
    assert str(refused.value) == words


def test_what_is_raised_while_numbers_are_read_is_passed_on() -> None:
    def numbers() -> Iterator[float]:
        yield 1.0
        raise RuntimeError("the source is gone")

    with pytest.raises(RuntimeError, match="the source is gone"):
        stats.mean(numbers())
