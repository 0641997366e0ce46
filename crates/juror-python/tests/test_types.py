"""What type checkers see."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SAMPLE = '''
import asyncio
from pathlib import Path
from typing import Any

import juror
from juror import compute_aggregates, run_evaluation

reference: list[dict[str, Any]] = []
responses: dict[str, Any] = {}
results: list[dict[str, Any]] = run_evaluation(reference, responses)
of_files: list[dict[str, Any]] = run_evaluation(
    "reference.yaml", Path("responses.jsonl"), {"profile": 6}, profile="6", progress=print
)
aggregates: dict[str, Any] = compute_aggregates(results, metrics=["length"])
by_their_names: list[dict[str, Any]] = run_evaluation(qa_dataset=reference, responses_dict=responses)
run_evaluation(reference, responses, config_file_path="settings.yaml", ask_models=False)
compute_aggregates(samples=results, config_file_path=Path("settings.yaml"))
juror.recall_at_k(relevant_ids=[1], retrieved_ids=[1], k=1)
run_evaluation(reference)  # type: ignore[call-overload]


@juror.metric("length")
def length(case: dict[str, Any]) -> float:
    return float(len(case["question_text"]))


async def main() -> list[dict[str, Any]]:
    return await juror.aio.run_evaluation(reference, responses, config_file_path=None)


try:
    asyncio.run(main())
except juror.DatasetError as error:
    line: int | None = error.line
    hints: list[str | None] = [problem.hint for problem in error.problems]

score: float = juror.match_steps([], []).score
key: str = juror.tool_cache_key({"a": 1})
names: list[str] = juror.to_arrow(results).column_names
frame = juror.to_polars(results)
p: float | None = juror.stats.paired([1, 0.5], (0, 1), clusters=["a", 7])["p"]
comparison: juror.Comparison = juror.compare(results, Path("run"), "after.jsonl", gates=[{"errors": 1}], flips="all")
verdict: str = comparison.verdict
delta: float = comparison["candidates"][0]["metrics"]["steps_score"]["delta"]
outcomes: list[dict[str, Any]] = juror.gate(comparison, {"gates": []}, coverage="80%")
passed: bool = juror.gate(results, "gates.yaml").passed
interval: list[float] | None = juror.statistics(results, confidence=0.9).micro["steps_score"]["interval"]
run = juror.Run(Path("run"), profile=6)
mean: float = run.statistics().micro["steps_score"]["mean"]
answers: list[dict[str, Any]] = run.results
juror.compare(run, juror.Run("other")).report("changes.html")
juror.compare(results)  # type: ignore[call-arg]
juror.compare(results, results, flips="some")  # type: ignore[arg-type]
juror.stats.gate(None, 0.02, level="warn")["verdict"].upper()
juror.stats.mean(5)  # type: ignore[arg-type]
wrong: int = juror.recall_at_k([1], [1])  # type: ignore[assignment]
run_evaluation(5, responses)  # type: ignore[call-overload]
'''


def run(*arguments: str) -> None:
    done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(autouse=True)
def mypy() -> None:
    pytest.importorskip("mypy")


def test_users_of_the_package_are_checked(tmp_path: Path) -> None:
    sample = tmp_path / "sample.py"
    sample.write_text(SAMPLE)
    run("mypy", "--strict", "--warn-unused-ignores", str(sample))


def test_the_package_is_checked() -> None:
    run("mypy", "--strict", "--ignore-missing-imports", "-p", "juror")


def test_the_stubs_are_those_of_the_module(tmp_path: Path) -> None:
    # What has the parameters of another function is no `async def` to a type checker.
    allowed = [r"juror\.(_bench\.)?aio\.(ask|bench)"]
    # Names of two kinds are overloads, of which stubtest makes one function with both. That theirs
    # are the parameters that there are is tested with the names.
    retrieval = "recall_at_k|average_precision|average_precision_over_hits"
    allowed += [r"juror\.((_evaluation|aio)\.)?(run_evaluation|compute_aggregates)"]
    allowed += [rf"juror\.(_retrieval\.)?({retrieval})"]
    list_of_them = tmp_path / "allowed.txt"
    list_of_them.write_text("\n".join(allowed))
    run("mypy.stubtest", "juror", "--allowlist", str(list_of_them), "--ignore-unused-allowlist")
