"""Evaluates on a Spark cluster of two executors on this machine.

usage: with_spark.py lost|figures QUESTIONS

`lost` kills an executor while it evaluates, and compares the results with those of `juror eval` byte
by byte; `figures` takes down what the engine costs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark

os.environ |= {
    "SPARK_HOME": str(Path(pyspark.__file__).parent),
    "SPARK_LOCAL_IP": "127.0.0.1",
    "PYSPARK_PYTHON": sys.executable,
}

import juror.spark
from answers import answers, measure, same
from pyspark.sql import SparkSession

PATIENCE = 120
"""Seconds until something has to have happened."""


@contextlib.contextmanager
def session() -> Iterator[SparkSession]:
    """A cluster of two executors with one processor and 1,024 MB each."""
    settings = {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "1000",
        "spark.sql.files.maxPartitionBytes": "16m",
        "spark.driver.memory": "2g",
        "spark.driver.maxResultSize": "0",
    }
    with tempfile.TemporaryDirectory(prefix="juror-spark-") as folder:
        builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.local.dir", folder)
        for key, value in settings.items():
            builder = builder.config(key, value)
        spark = builder.getOrCreate()
        spark.sparkContext.setLogLevel("FATAL")
        try:
            yield spark
        finally:
            spark.stop()


def lost(n: int) -> None:
    given = answers(n)
    expected, _ = given.evaluated()
    with session() as spark:
        rows = spark.read.parquet(str(given.table)).repartition(n // 10)
        results = juror.spark.evaluate(rows, profile="6").select("question_id", "result")
        found: list[Any] = []
        running = threading.Thread(target=lambda: found.extend(results.collect()), daemon=True)
        running.start()
        n_done, n_all = kill_one(spark)
        running.join(PATIENCE)
        made = {row["question_id"]: row["result"] for row in found}
        frame = spark.read.parquet(str(given.table))
        aggregates = juror.spark.aggregates(frame, profile="6")["aggregates"]
    same(made, expected)
    whole = juror.compute_aggregates(given.folder / "results.jsonl", profile="6")
    if aggregates != whole:
        sys.exit("the aggregates are not those of the results")
    print(f"Spark lost an executor after {n_done} of {n_all} tasks; all results are those of juror eval", flush=True)


def kill_one(spark: SparkSession) -> tuple[int, int]:
    """Kills an executor as soon as some tasks of the evaluation are done; returns how many of how many."""
    tracker, end = spark.sparkContext.statusTracker(), time.monotonic() + PATIENCE
    while time.monotonic() < end:
        stages = map(tracker.getStageInfo, tracker.getActiveStageIds())
        for stage in stages:
            if stage is not None and stage.numTasks > 20 and 5 <= stage.numCompletedTasks < stage.numTasks // 2:
                os.kill(executors()[0], signal.SIGKILL)
                return stage.numCompletedTasks, stage.numTasks
        time.sleep(0.01)
    sys.exit("no executor was killed while it evaluated")


def executors() -> list[int]:
    """The processes of the executors that this program has begun."""
    parents, names = {}, {}
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            names[int(folder.name)] = (folder / "cmdline").read_bytes()
    own = [pid for pid, name in names.items() if b"CoarseGrainedExecutorBackend" in name and b"java" in name]

    def is_ours(pid: int) -> bool:
        while pid in parents and pid != os.getpid():
            pid = parents[pid]
        return pid == os.getpid()

    return [pid for pid in own if is_ours(pid)]


def figures(n: int) -> None:
    given = answers(n)
    with session() as spark:

        def seconds(made: Any) -> float:
            start = time.perf_counter()
            made.write.format("noop").mode("overwrite").save()
            return time.perf_counter() - start

        def read() -> Any:
            return spark.read.parquet(str(given.table))

        def one_column(batches: Iterator[Any]) -> Iterator[Any]:
            return (batch.select(["question_id"]) for batch in batches)

        def only_read() -> Any:
            return read().mapInArrow(one_column, "question_id string")

        def evaluate() -> Any:
            return juror.spark.evaluate(read(), profile="6")

        measure("Spark", n, lambda: seconds(only_read()), lambda: seconds(evaluate()))


if __name__ == "__main__":
    {"lost": lost, "figures": figures}[sys.argv[1]](int(sys.argv[2]))
