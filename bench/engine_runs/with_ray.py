"""Evaluates on a Ray cluster of two nodes on this machine.

usage: with_ray.py lost|figures QUESTIONS

`lost` removes a node while its worker evaluates, and compares the results with those of `juror eval`
byte by byte; `figures` takes down what the engine costs.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

# Set before Ray is imported: no words to its makers; a folder of its own, with a short name because
# the paths of sockets are short; and loopback, by the setting for systems whose firewalls would ask.
FOLDER = tempfile.mkdtemp(prefix="jr-", dir="/tmp")
os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_TMPDIR": FOLDER, "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}

import juror.ray
import pyarrow
import ray
import ray.data
from answers import answers, measure, same
from ray.cluster_utils import Cluster

STORE = 600 << 20
WORKERS = 3
"""Of six processors: with one node less there are four, one of which reads."""


@contextlib.contextmanager
def cluster(first: str = "127.0.0.1", other: str = "127.0.0.1") -> Iterator[tuple[Cluster, Any]]:
    """Two nodes at these addresses, of four processors and of two; gives the second one, too."""
    head = {"num_cpus": 4, "object_store_memory": STORE, "include_dashboard": False, "node_ip_address": first}
    own = Cluster(initialize_head=True, head_node_args=head)
    try:
        second = own.add_node(num_cpus=2, object_store_memory=STORE, node_ip_address=other)
        ray.init(address=own.address, log_to_driver=False, logging_level="ERROR", _node_ip_address=first)
        own.wait_for_nodes(timeout=60)
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield own, second
    finally:
        ray.shutdown()
        own.shutdown()
        shutil.rmtree(FOLDER, ignore_errors=True)


def lost(n: int) -> None:
    given = answers(n)
    expected, _ = given.evaluated()
    with cluster() as (own, second):
        dataset = ray.data.read_parquet(str(given.table)).repartition(n // 10)
        results = juror.ray.evaluate(dataset, profile="6", workers=WORKERS, batch_size=10)
        made: dict[str, str] = {}
        n_before = None
        for batch in results.iter_batches(batch_size=None, batch_format="pyarrow", prefetch_batches=0):
            made |= zip(batch["question_id"].to_pylist(), batch["result"].to_pylist(), strict=True)
            if n_before is None and has_worker(second):
                n_before = len(made)
                own.remove_node(second, allow_graceful=False)
    if n_before is None or n_before == n:
        sys.exit("no node was removed while it evaluated")
    same(made, expected)
    print(f"Ray lost a node after {n_before} of {n} results; all are those of juror eval", flush=True)


def has_worker(node: Any) -> bool:
    """Whether a worker holds a processor of a node."""
    free = ray._private.state.available_resources_per_node().get(node.node_id, {})
    return bool(free) and free.get("CPU", 0) < 2


class OneColumn:
    """Reads batches, and returns one column of them."""

    def __call__(self, batch: pyarrow.Table) -> pyarrow.Table:
        return batch.select(["question_id"])


def figures(n: int) -> None:
    given = answers(n)
    with cluster():

        def seconds(made: Any) -> float:
            start = time.perf_counter()
            n_rows = sum(batch.num_rows for batch in made.iter_batches(batch_size=None, batch_format="pyarrow"))
            if n_rows != n:
                sys.exit(f"{n_rows} rows came of {n}")
            return time.perf_counter() - start

        def read() -> Any:
            return ray.data.read_parquet(str(given.table))

        def only_read() -> Any:
            pool = ray.data.ActorPoolStrategy(size=2)
            return read().map_batches(OneColumn, batch_size=1000, batch_format="pyarrow", compute=pool, num_cpus=1)

        def evaluate() -> Any:
            return juror.ray.evaluate(read(), profile="6", workers=2)

        measure("Ray", n, lambda: seconds(only_read()), lambda: seconds(evaluate()))


if __name__ == "__main__":
    {"lost": lost, "figures": figures}[sys.argv[1]](int(sys.argv[2]))
