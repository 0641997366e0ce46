"""The library's names of parameters."""

from __future__ import annotations

import asyncio
import inspect
import sys
import typing
from pathlib import Path
from typing import Any

import juror
import pytest

Data = Any


def test_the_library_s_names_are_taken_besides_our_own(reference: Data, responses: Data, tmp_path: Path) -> None:
    settings = tmp_path / "settings.yaml"
    settings.write_text("profile: 6\n")
    own = juror.run_evaluation(reference=reference, responses=responses, config=settings)
    theirs = juror.run_evaluation(qa_dataset=reference, responses_dict=responses, config_file_path=settings)
    assert theirs == own
    assert juror.run_evaluation(reference, responses_dict=responses, config_file_path=settings) == own
    aggregates = juror.compute_aggregates(results=own, config=settings)
    assert juror.compute_aggregates(samples=own, config_file_path=settings) == aggregates


def test_so_they_are_where_they_are_awaited(reference: Data, responses: Data) -> None:
    settings = {"profile": 5}

    async def main() -> tuple[Data, Data]:
        own = await juror.aio.run_evaluation(reference=reference, responses=responses, config=settings, ask_models=False)
        named = {"qa_dataset": reference, "responses_dict": responses, "config_file_path": settings}
        return own, await juror.aio.run_evaluation(**named, ask_models=False)

    own, theirs = asyncio.run(main())
    assert own == theirs
    aggregates = juror.aio.compute_aggregates(results=own, config=settings)
    assert juror.aio.compute_aggregates(samples=own, config_file_path=settings) == aggregates


def test_metrics_of_retrieval_take_them_too() -> None:
    relevant, retrieved = [1, 2, 3], [3, 9, 1]
    for metric in (juror.recall_at_k, juror.average_precision, juror.average_precision_over_hits):
        assert metric(relevant_ids=relevant, retrieved_ids=retrieved) == metric(relevant, retrieved_docs=retrieved)
    assert juror.recall_at_k(relevant_ids=[1, 2], retrieved_ids=[2], k=1) == 0.0


TWICE: list[tuple[Any, tuple[Any, ...], dict[str, Any], str]] = [
    (juror.run_evaluation, ([], {}), {"qa_dataset": []}, "run_evaluation() is given `reference` twice: `qa_dataset`"),
    (juror.run_evaluation, ([],), {"responses": {}, "responses_dict": {}}, "`responses` twice: `responses_dict`"),
    (juror.run_evaluation, ([], {}), {"config": {}, "config_file_path": {}}, "`config` twice: `config_file_path`"),
    (juror.compute_aggregates, ([],), {"samples": []}, "`results` twice: `samples` is another name for it"),
    (juror.aio.compute_aggregates, ([],), {"samples": []}, "`results` twice: `samples`"),
    (juror.aio.run_evaluation, ([], {}), {"qa_dataset": []}, "`reference` twice: `qa_dataset`"),
    (juror.recall_at_k, ([1], [1]), {"relevant_ids": [1]}, "`relevant_docs` twice: `relevant_ids`"),
]


@pytest.mark.parametrize(("function", "values", "named", "words"), TWICE)
def test_a_parameter_by_both_names_is_refused(
    function: Any, values: tuple[Any, ...], named: dict[str, Any], words: str
) -> None:
    with pytest.raises(TypeError) as refused:
        if inspect.iscoroutinefunction(function):
            asyncio.run(function(*values, **named))
        else:
            function(*values, **named)
    assert words in str(refused.value)


TWO_NAMED = [
    juror.run_evaluation,
    juror.compute_aggregates,
    juror.aio.run_evaluation,
    juror.aio.compute_aggregates,
    juror.recall_at_k,
    juror.average_precision,
    juror.average_precision_over_hits,
]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="overloads are forgotten")
@pytest.mark.parametrize("function", TWO_NAMED)
def test_type_checkers_know_the_parameters_that_there_are(function: Any) -> None:
    own, theirs = map(inspect.signature, typing.get_overloads(function))
    known = inspect.signature(function).parameters
    assert [one for name, one in known.items() if name != "_stop"] == list(own.parameters.values())
    options = {name: value for name, value in theirs.parameters.items() if name != "options"}
    # The same in the same order, by other names: up to where theirs end.
    for mine, other in zip(known.values(), options.values()):
        assert mine.replace(name=other.name) == other
