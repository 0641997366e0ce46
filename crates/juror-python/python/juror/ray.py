"""Evaluates datasets of Ray Data, and makes the attempts of benchmarks on a Ray cluster.

    import juror.ray

    results = juror.ray.evaluate(dataset, "reference.jsonl", workers=8, profile="6")
    results.write_parquet("results")

    juror.bench(Agent, queries="queries.json", tools="tools", runner=juror.ray.Runner())

Ray has to be installed (`pip install "ray[data]"`), and Juror on every node. `docs/scale.md` in the
project tells which engine is for whom.
"""

from __future__ import annotations

import concurrent.futures
import ipaddress
import os
import pickle
import urllib.parse
from collections.abc import Iterable, Mapping
from typing import Any

from ._bench.attempt import Attempt, AttemptLost, Outcome
from ._juror import Evaluator

__all__ = ["Runner", "evaluate"]

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


class Runner:
    """Makes the attempts of `juror.bench` as tasks of Ray.

        result = juror.bench(Agent, **places, runner=juror.ray.Runner(num_cpus=1, max_retries=2))

    Queries, virtual tools, judges and results stay in the process that calls `juror.bench`. Each
    attempt makes its own agent, calls tools at an address of its own, and has its time counted from
    when Ray begins it. An attempt that is lost with its worker or node is made again at another
    address: what the lost one called does not count. Without `jobs`, as many attempts are made at a
    time as leave one of Ray's processors free; with more `jobs` than processors, tasks wait in Ray.

    Args:
        num_cpus: The processors that an attempt takes, a whole number.
        max_retries: How often an attempt is made again that was lost; then it has an error.
        host: The address of this machine at which nodes on other machines call tools. Without it,
            tools are served on loopback. Calls carry a token, but are not encrypted.
        options: Anything else that `ray.remote` takes for a task, such as `num_gpus` or `runtime_env`.
    """

    def __init__(self, *, num_cpus: int = 1, max_retries: int = 2, host: str | None = None, **options: Any) -> None:
        self.num_cpus = _whole("num_cpus", num_cpus)
        self.max_retries = _whole("max_retries", max_retries, least=0)
        self.host = host
        self._options, self._task = options, None

    def prepare(self, server: str | None) -> None:
        """Raises `ValueError` if Ray cannot make attempts, or they could not call tools."""
        ray = _started()
        nodes = [node for node in ray.nodes() if node["Alive"]]
        most = max((int(node["Resources"].get("CPU", 0)) for node in nodes), default=0)
        if self.num_cpus > most or self.jobs < 1:
            raise ValueError(
                f"an attempt takes {self.num_cpus} of Ray's processors, and one more has to stay free: "
                f"there are {_n_cpus(ray)}, {most} at most on a node\n"
                "  hint: a smaller `num_cpus`, or more processors (`ray.init(num_cpus=…)` on one machine)"
            )
        others = {node["NodeManagerAddress"] for node in nodes} - {ray.util.get_node_ip_address()}
        others = {address for address in others if not _is_loopback(address)}
        if others and self._serves_here_alone(server):
            raise ValueError(
                f"Ray has nodes on other machines ({', '.join(sorted(others)[:3])}), which cannot call tools on "
                "loopback of this one\n"
                f'  hint: `Runner(host="{ray.util.get_node_ip_address()}")`, or the address by which they reach '
                "this machine; or `server=`, a `juror serve` that they reach"
            )
        self._task = ray.remote(num_cpus=self.num_cpus, max_retries=0, **self._options)(_made)

    @property
    def jobs(self) -> int:
        """How many attempts are made at a time, unless `juror.bench` is told."""
        return (_n_cpus(_started()) - 1) // self.num_cpus

    def dumps(self, agent: Any) -> bytes:
        """Pickles an agent as Ray does: what the main module defines goes along."""
        from ray import cloudpickle  # type: ignore[import-not-found, import-untyped, unused-ignore]

        pickled: bytes = cloudpickle.dumps(agent)
        return pickled

    def submit(self, attempt: Attempt) -> concurrent.futures.Future[Outcome]:
        """Has an attempt made."""
        if self._task is None:
            raise RuntimeError("the runner is made ready by `juror.bench`")
        return _Made(self._task.remote(attempt))

    def _serves_here_alone(self, server: str | None) -> bool:
        host = self.host if server is None else urllib.parse.urlsplit(server).hostname
        return host is None or _is_loopback(host)


def _made(attempt: Attempt) -> Outcome:
    """Makes an attempt, on a node of Ray."""
    return attempt()


class _Made(concurrent.futures.Future[Outcome]):
    """The outcome of a task of Ray. A task that is cancelled ends at once."""

    def __init__(self, ref: Any) -> None:
        super().__init__()
        self._ref = ref
        ref.future().add_done_callback(self._settle)

    def cancel(self) -> bool:
        import ray  # type: ignore[import-not-found, import-untyped, unused-ignore]

        if ray.is_initialized() and not self.done():
            # Its agent cannot be stopped otherwise than with its process.
            ray.cancel(self._ref, force=True)
        return super().cancel()

    def _settle(self, done: concurrent.futures.Future[Outcome]) -> None:
        error = done.exception()
        try:
            self.set_result(done.result()) if error is None else self.set_exception(_meant(error))
        except concurrent.futures.InvalidStateError:
            pass  # It was cancelled.


def _meant(error: BaseException) -> BaseException:
    """What an error of Ray is for Juror: attempts do not raise, so that one was lost or cannot be made."""
    from ray import exceptions  # type: ignore[import-not-found, import-untyped, unused-ignore]

    lost = (
        exceptions.WorkerCrashedError,
        exceptions.NodeDiedError,
        exceptions.LocalRayletDiedError,
        exceptions.OutOfMemoryError,
        exceptions.ObjectLostError,
    )
    if not isinstance(error, lost):
        return error
    # Ray tells at length what to look at; the first sentence is what happened.
    return AttemptLost(str(error).strip().partition(". ")[0].partition("\n")[0] or type(error).__name__)


def _started() -> Any:
    """Ray, which is started on this machine unless the program is connected to a cluster."""
    import ray  # type: ignore[import-not-found, import-untyped, unused-ignore]

    if not ray.is_initialized():
        ray.init()
    return ray


def _n_cpus(ray: Any) -> int:
    return int(ray.cluster_resources().get("CPU", 0))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _whole(name: str, value: int, least: int = 1) -> int:
    if value < least or value != int(value):
        raise ValueError(f"`{name}` is a whole number from {least} on, not {value!r}")
    return int(value)


def _check(workers: int, num_cpus: int) -> None:
    """Refuses what Ray would not refuse, but wait for without a word."""
    workers, num_cpus = _whole("workers", workers), _whole("num_cpus", num_cpus)
    n_cpus = _n_cpus(_started())
    if workers * num_cpus >= n_cpus:
        raise ValueError(
            f"{workers} workers take {workers * num_cpus} of the {n_cpus} processors that Ray has, and it needs one "
            "to read the data\n  hint: fewer workers, or more processors (`ray.init(num_cpus=…)` on one machine)"
        )
