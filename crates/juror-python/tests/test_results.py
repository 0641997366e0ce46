"""Results of files: a list whose dicts are made when they are looked at."""

from __future__ import annotations

import asyncio
import copy
import gzip
import json
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import juror
import pytest

Data = Any


@pytest.fixture
def paths(reference: Data, responses: Data, tmp_path: Path) -> tuple[Path, Path]:
    return write(tmp_path, reference, responses)


def write(folder: Path, reference: Data, responses: Data) -> tuple[Path, Path]:
    (folder / "reference.json").write_text(json.dumps(reference))
    lines = "".join(json.dumps(response) + "\n" for response in responses.values())
    (folder / "responses.jsonl").write_text(lines)
    return folder / "reference.json", folder / "responses.jsonl"


def test_they_are_a_list(reference: Data, responses: Data, paths: tuple[Path, Path]) -> None:
    wanted = juror.run_evaluation(reference, responses)

    def results() -> list[Data]:
        made = juror.run_evaluation(*paths)
        assert isinstance(made, list) and len(made) == 2 and type(made) is not list
        return made

    assert results() == wanted and wanted == results() and results() == results()
    assert results() != wanted[:1] and wanted[::-1] != results()
    assert [results()[0], results()[-1]] == wanted and results()[-2] == wanted[0]
    assert (results()[1:], results()[::-1], results()[5:]) == (wanted[1:], wanted[::-1], [])
    assert list(results()) == [*results()] == [result for result in results()] == wanted
    assert tuple(reversed(results())) == tuple(wanted[::-1]) and wanted[1] in results()
    assert (results().index(wanted[1]), results().count(wanted[0])) == (1, 1)
    assert results() + wanted == results() + results() == results() * 2 == 2 * results() == wanted * 2
    assert repr(results()) == repr(wanted) and f"{results()}" == f"{wanted}"
    for options in ({}, {"indent": 2}, {"sort_keys": True}):
        assert json.dumps(results(), **options) == json.dumps(wanted, **options)  # type: ignore[arg-type]
    for index in (2, -3):
        with pytest.raises(IndexError, match="list index out of range"):
            results()[index]
    with pytest.raises(TypeError):
        results()["q1"]  # type: ignore[call-overload]
    with pytest.raises(TypeError):
        hash(results())


def test_they_change_as_lists_do(reference: Data, responses: Data, paths: tuple[Path, Path]) -> None:
    wanted = juror.run_evaluation(reference, responses)

    def change(results: list[Data]) -> Iterator[Data]:
        yield results.append({"n": 1})
        yield results.insert(1, {"n": 2})
        yield results.pop(0)
        yield results.reverse()
        yield results.sort(key=lambda result: str(result))
        results[0] = {"n": 3}
        results[1:1] = [{"n": 4}]
        results += [{"n": 5}]
        del results[0]
        yield results.extend([{"n": 6}])
        yield results.remove({"n": 6})
        yield results.copy()
        yield results

    assert list(change(juror.run_evaluation(*paths))) == list(change(copy.deepcopy(wanted)))
    longer = [{"n": 0}]
    same = longer
    longer += juror.run_evaluation(*paths)
    longer[1:1] = juror.run_evaluation(*paths)
    longer.extend(juror.run_evaluation(*paths))
    assert same == [{"n": 0}, *wanted, *wanted, *wanted]
    results = juror.run_evaluation(*paths)
    for result in results:
        if result == wanted[0]:
            results.append({"n": 1})
    assert results == [*wanted, {"n": 1}]


def test_who_reads_past_the_methods_of_a_list_fails(paths: tuple[Path, Path]) -> None:
    """Better than to miss results: some libraries read the memory of lists."""
    results = juror.run_evaluation(*paths)
    assert "not looked at" in list.__repr__(results)
    assert list.__len__(results) == 2
    (first, *_) = [] + results
    for use in (lambda: first["status"], lambda: first.get("status"), lambda: dict(first), lambda: len(first)):
        with pytest.raises(TypeError, match=r"not looked at: use list\(results\)"):
            use()
    with pytest.raises(juror.DatasetError):
        juror.compute_aggregates([] + results)
    for _ in results:
        pass
    assert "not looked at" not in list.__repr__(results)


def test_they_may_be_evaluated_again(reference: Data, paths: tuple[Path, Path]) -> None:
    """Results are responses, too: lists are gone through by their methods."""
    results = juror.run_evaluation(*paths)
    again = juror.run_evaluation(reference, juror.run_evaluation(*paths))
    assert [result["status"] for result in again] == [result["status"] for result in results]
    assert again[0]["steps_score"] == 1.0


def test_a_number_of_many_digits_spoils_nothing(reference: Data, responses: Data, tmp_path: Path) -> None:
    paths = write(tmp_path, reference, responses)
    text = paths[1].read_text().replace('"args": {', '"args": {"n": ' + "1" * 5000 + ", ", 1)
    assert "11111" in text
    paths[1].write_text(text)
    results = juror.run_evaluation(*paths)
    assert results[0]["steps_score"] == 1.0
    assert len(str(results[0]["actual_steps"][0]["args"]["n"])) == 5000
    results[0]["elapsed_sec"], results[1]["elapsed_sec"] = 10**400, 1.5
    assert juror.to_arrow(results).to_pydict()["elapsed_sec"] == [float("inf"), 1.5]


def test_a_result_stays_the_same_object(paths: tuple[Path, Path]) -> None:
    results = juror.run_evaluation(*paths)
    first = results[0]
    assert first is results[0] is next(iter(results)) is results[:1][0] is results[-2]
    first["note"] = "mine"
    assert [result.get("note") for result in results] == ["mine", None]


def test_copies_are_lists(paths: tuple[Path, Path]) -> None:
    results = juror.run_evaluation(*paths)
    for copied in (pickle.loads(pickle.dumps(results)), copy.deepcopy(results), copy.copy(results)):
        assert type(copied) is list
        assert copied == results


def test_statistics_need_no_look(reference: Data, responses: Data, paths: tuple[Path, Path]) -> None:
    wanted = juror.run_evaluation(reference, responses)
    results = juror.run_evaluation(*paths)
    assert juror.compute_aggregates(results) == juror.compute_aggregates(wanted)
    six = juror.compute_aggregates(wanted, profile="6")
    assert juror.compute_aggregates(results, profile="6") == six
    results = juror.run_evaluation(*paths)
    results[0]["steps_score"] = 0.5
    assert juror.compute_aggregates(results)["micro"]["steps_score"]["mean"] == 0.5


def test_ids_that_are_numbers_stay_numbers(reference: Data, responses: Data, tmp_path: Path) -> None:
    reference[0]["template_id"] = 7
    wanted = juror.run_evaluation(reference, responses)
    results = juror.run_evaluation(*write(tmp_path, reference, responses))
    aggregates = juror.compute_aggregates(results)
    assert aggregates == juror.compute_aggregates(wanted)
    assert list(aggregates["per_template"]) == [7]
    assert results == wanted


def test_metrics_of_ones_own_are_added(paths: tuple[Path, Path]) -> None:
    results = juror.run_evaluation(*paths, metrics={"length": lambda case: len(case["question_text"])})
    assert [result.get("length") for result in results] == [18, None]
    aggregates = juror.compute_aggregates(results, metrics=["length"])
    assert aggregates["micro"]["length"]["mean"] == 18


def test_the_awaitable_gives_them_too(paths: tuple[Path, Path]) -> None:
    results = asyncio.run(juror.aio.run_evaluation(*paths, profile="5"))
    assert results == juror.run_evaluation(*paths)


def test_progress_is_told(paths: tuple[Path, Path]) -> None:
    events: list[Data] = []
    juror.run_evaluation(*paths, progress=events.append)
    assert events[0] == {"phase": "started", "done": 0, "total": 2}
    assert events[-1]["done"] == 2


def test_files_of_all_kinds(reference: Data, responses: Data, tmp_path: Path) -> None:
    wanted = juror.run_evaluation(reference, responses)
    pretty = tmp_path / "reference.json"
    pretty.write_text(json.dumps(reference, indent=4))
    yaml = tmp_path / "reference.yaml"
    yaml.write_text(json.dumps(reference))
    packed = tmp_path / "responses.json.gz"
    packed.write_bytes(gzip.compress(json.dumps(responses, indent=1).encode()))
    for path in (pretty, yaml):
        assert juror.run_evaluation(path, packed) == wanted


@pytest.fixture
def large(tmp_path: Path) -> tuple[Data, Data]:
    """Questions whose files are large enough to be read in place."""
    output = json.dumps({"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"value": "é" * 3000}}]}})
    step = {"name": "sparql_query", "args": {"query": "SELECT"}, "output": output}
    expected = {**step, "output_media_type": "application/sparql-results+json"}
    questions = [
        {"id": f"q{number}", "question_text": "?", "reference_steps": [[expected]]} for number in range(500)
    ]
    responses = {
        question["id"]: {
            "question_id": question["id"],
            "actual_steps": [{**step, "id": "call", "status": "success"}],
        }
        for question in questions
    }
    return [{"template_id": "t", "questions": questions}], responses


def test_files_may_go_once_they_were_judged(large: Data, tmp_path: Path) -> None:
    wanted = juror.run_evaluation(*large)
    reference, responses = write(tmp_path, *large)
    assert min(reference.stat().st_size, responses.stat().st_size) > 1 << 20
    results = juror.run_evaluation(reference, responses)
    reference.unlink()
    assert results[0] == wanted[0]
    responses.write_text("")
    assert results == wanted
    assert results[499]["steps_score"] == 1.0


def test_threads_may_look_at_once(large: Data, tmp_path: Path) -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        results = juror.run_evaluation(*write(tmp_path, *large))
        seen: list[list[Data]] = [[] for _ in range(6)]

        def look(number: int) -> None:
            mine = seen[number]
            mine.extend(results if number % 2 else [results[at] for at in range(len(results))])

        threads = [threading.Thread(target=look, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert all(one is other for mine in seen for one, other in zip(mine, results, strict=True))


FORK = """
import os, sys, juror
results = juror.run_evaluation(*sys.argv[1:])
if sys.argv[0] == "-c" and os.fork() == 0:
    try:
        sys.stdout.write(f"{results[3]['steps_score']}")
    except RuntimeError as error:
        sys.stdout.write(f"{error}")
    sys.stdout.flush()
    os._exit(0)
os.wait()
"""


def test_a_forked_process_sees_them_or_says_why_not(large: Data, tmp_path: Path) -> None:
    paths = map(str, write(tmp_path, *large))
    done = subprocess.run([sys.executable, "-c", FORK, *paths], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1.0" or "before the process was forked" in done.stdout
    assert "panicked" not in done.stderr


def test_what_was_taken_out_is_let_go(large: Data, tmp_path: Path) -> None:
    results = juror.run_evaluation(*write(tmp_path, *large))
    results.clear()
    assert not results and not results._seen  # type: ignore[attr-defined]
