"""Evaluates data frames of Spark: every executor evaluates batches of rows, wherever they are.

    import juror.spark

    results = juror.spark.evaluate(df, "reference.jsonl", profile="6")
    results.write.parquet("results")

PySpark and pyarrow have to be installed (`pip install "pyspark[sql]"`), and Juror on every node.
`docs/scale.md` in the project tells which engine is for whom.
"""

from __future__ import annotations

import functools
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ._juror import Evaluator, Partial

__all__ = ["aggregates", "evaluate"]

_Path = str | os.PathLike[str]


def evaluate(
    df: Any,
    reference: _Path | Iterable[Mapping[str, Any]] | None = None,
    config: _Path | Mapping[str, Any] | None = None,
    profile: str | int | None = None,
    *,
    response: str = "response",
    question: str = "question",
    question_id: str = "question_id",
    template_id: str = "template_id",
    ask_models: bool = False,
    threads: int = 1,
) -> Any:
    """Evaluates the rows of a data frame; returns a data frame with a row for each of them.

    Rows and columns are those of `juror.Evaluator`. How many rows an executor holds at a time is
    Spark's setting `spark.sql.execution.arrow.maxRecordsPerBatch`.

    Args:
        df: A data frame of PySpark.
        reference: The path of a reference, the same on every node, or a few templates. Without it,
            each row has its question: let Spark join them if there are more than some 50,000.
        config: Settings; a path is the same on every node.
        profile: The rules, "5" or "6".
        response: The column of responses.
        question: The column of questions.
        question_id: The column of the questions' ids.
        template_id: The column of the questions' templates.
        ask_models: Whether models judge the answers.
        threads: How many threads evaluate a batch.
    """
    names = {"response": response, "question": question, "question_id": question_id, "template_id": template_id}
    evaluator = Evaluator(reference, config, profile, **names, ask_models=ask_models, threads=threads)
    return _selected(df, names).mapInArrow(_mapped(pickle.dumps(evaluator), _results), _spark_schema(evaluator))


def aggregates(
    df: Any,
    reference: _Path | Iterable[Mapping[str, Any]] | None = None,
    config: _Path | Mapping[str, Any] | None = None,
    profile: str | int | None = None,
    *,
    response: str = "response",
    question: str = "question",
    question_id: str = "question_id",
    template_id: str = "template_id",
    ask_models: bool = False,
    threads: int = 1,
    confidence: float = 0.95,
) -> dict[str, Any]:
    """Evaluates the rows of a data frame; returns their `aggregates` and `statistics`.

    Results stay where they are made: each partition is reduced to its numbers, which merge to the
    same for any split. Arguments are those of `evaluate`, and the `confidence` of intervals.
    """
    names = {"response": response, "question": question, "question_id": question_id, "template_id": template_id}
    evaluator = Evaluator(reference, config, profile, **names, ask_models=ask_models, threads=threads)
    mapped = _selected(df, names).mapInArrow(_mapped(pickle.dumps(evaluator), _partials), "partial binary")
    parts = (Partial.from_bytes(bytes(row["partial"])) for row in mapped.toLocalIterator())
    return _merged(parts, evaluator.partial(_no_rows(names))).finish(confidence)


def _selected(df: Any, names: Mapping[str, str]) -> Any:
    """The columns that are needed alone: the others would be sent to Python in vain."""
    return df.select(*[name for name in names.values() if name in df.columns])


def _spark_schema(evaluator: Evaluator) -> Any:
    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]
    from pyspark.sql.pandas.types import (  # type: ignore[import-not-found, import-untyped, unused-ignore]
        from_arrow_schema,
    )

    return from_arrow_schema(pyarrow.schema(evaluator.schema))


_Mapper = Callable[[Evaluator, Iterator[Any]], Iterator[Any]]


def _mapped(pickled: bytes, mapper: _Mapper) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """A function that Spark sends to its executors."""

    def mapped(batches: Iterator[Any]) -> Iterator[Any]:
        yield from mapper(_evaluator(pickled), batches)

    return mapped


_EVALUATORS: dict[bytes, Evaluator] = {}


def _evaluator(pickled: bytes) -> Evaluator:
    """The evaluator of a task; the tasks of a process share it, and with it the reference."""
    if pickled not in _EVALUATORS:
        _EVALUATORS.clear()
        _EVALUATORS[pickled] = pickle.loads(pickled)
    return _EVALUATORS[pickled]


def _results(evaluate: Evaluator, batches: Iterator[Any]) -> Iterator[Any]:
    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

    for batch in batches:
        yield from pyarrow.table(evaluate(batch)).to_batches()


def _partials(evaluate: Evaluator, batches: Iterator[Any]) -> Iterator[Any]:
    """The numbers of a partition, in one row if it has any."""
    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

    for batch in batches:
        first = evaluate.partial(batch)
        yield from pyarrow.table(_merged(map(evaluate.partial, batches), first)).to_batches()


def _merged(parts: Iterable[Partial], first: Partial) -> Partial:
    return functools.reduce(Partial.merge, parts, first)


def _no_rows(names: Mapping[str, str]) -> Any:
    import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

    return pyarrow.table({name: pyarrow.array([], pyarrow.string()) for name in names.values()})
