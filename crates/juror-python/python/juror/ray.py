"""Evaluates datasets of Ray Data: every worker evaluates batches of rows, wherever they are.

    import juror.ray

    results = juror.ray.evaluate(dataset, "reference.jsonl", workers=8, profile="6")
    results.write_parquet("results")

Ray has to be installed (`pip install "ray[data]"`), and Juror on every node. `docs/scale.md` in the
project tells which engine is for whom.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterable, Mapping
from typing import Any

from ._juror import Evaluator

__all__ = ["evaluate"]

_Path = str | os.PathLike[str]

_LARGEST = 10 << 20
"""The most bytes that are sent to each worker."""


def evaluate(
    dataset: Any,
    reference: _Path | Iterable[Mapping[str, Any]] | None = None,
    config: _Path | Mapping[str, Any] | None = None,
    profile: str | int | None = None,
    *,
    workers: int,
    batch_size: int = 1000,
    num_cpus: int = 1,
    response: str = "response",
    question: str = "question",
    question_id: str = "question_id",
    template_id: str = "template_id",
    ask_models: bool = False,
) -> Any:
    """Evaluates the rows of a Ray dataset; returns a dataset with a row for each of them.

    Rows and columns are those of `juror.Evaluator`. Ray does not keep the order of rows unless its
    `DataContext` says so.

    Args:
        dataset: A `ray.data.Dataset`.
        reference: The path of a reference, the same on every node, or a few templates. Without it,
            each row has its question: let Ray join them if there are more than some 50,000.
        config: Settings; a path is the same on every node.
        profile: The rules, "5" or "6".
        workers: How many actors evaluate. Ray has to have at least one processor more than they take.
        batch_size: How many rows a worker holds at a time.
        num_cpus: The processors of a worker: as many threads evaluate its batches.
        response: The column of responses.
        question: The column of questions.
        question_id: The column of the questions' ids.
        template_id: The column of the questions' templates.
        ask_models: Whether models judge the answers.

    Raises:
        ValueError: Ray would wait forever for the processors of the workers, or the reference is too
            large to be sent to them.
    """
    _check(workers, num_cpus)
    evaluator = Evaluator(
        reference,
        config,
        profile,
        response=response,
        question=question,
        question_id=question_id,
        template_id=template_id,
        ask_models=ask_models,
        threads=num_cpus,
    )
    pickled = pickle.dumps(evaluator)
    if len(pickled) > _LARGEST:
        raise ValueError(
            "the reference is too large to be sent to every worker\n"
            "  hint: save it to a file that every node has, and give the path"
        )
    import ray.data  # type: ignore[import-not-found, import-untyped, unused-ignore]

    return dataset.map_batches(
        Worker,
        fn_constructor_args=(pickled,),
        batch_size=batch_size,
        batch_format="pyarrow",
        compute=ray.data.ActorPoolStrategy(size=workers),
        num_cpus=num_cpus,
    )


class Worker:
    """Evaluates batches on a node of Ray."""

    def __init__(self, pickled: bytes) -> None:
        self._evaluate: Evaluator = pickle.loads(pickled)

    def __call__(self, batch: Any) -> Any:
        """Evaluates a table of pyarrow, and returns one."""
        import pyarrow  # type: ignore[import-not-found, import-untyped, unused-ignore]

        return pyarrow.table(self._evaluate(batch))


def _check(workers: int, num_cpus: int) -> None:
    """Refuses what Ray would not refuse, but wait for without a word."""
    if workers < 1 or workers != int(workers):
        raise ValueError(f"`workers` is a whole number from 1 on, not {workers!r}")
    if num_cpus < 1 or num_cpus != int(num_cpus):
        raise ValueError(f"`num_cpus` is a whole number from 1 on, not {num_cpus!r}")
    import ray  # type: ignore[import-not-found, import-untyped, unused-ignore]

    if not ray.is_initialized():
        ray.init()
    n_cpus = int(ray.cluster_resources().get("CPU", 0))
    if workers * num_cpus >= n_cpus:
        raise ValueError(
            f"{workers} workers take {workers * num_cpus} of the {n_cpus} processors that Ray has, and it needs one "
            "to read the data\n  hint: fewer workers, or more processors (`ray.init(num_cpus=…)` on one machine)"
        )
