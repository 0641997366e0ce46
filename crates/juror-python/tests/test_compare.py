"""Comparing runs, their statistics, and gates."""

from __future__ import annotations

import copy
import csv
import json
import logging
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from conftest import PROJECT

import juror
from juror import _metrics

Data = Any

GATES: list[Data] = [
    {"metric": "steps_score", "max_drop": 0.02},
    {"metric": "total_tokens", "max_rise": "10%", "level": "warn"},
    {"questions": ["t0-q1"], "may_break": 0},
    {"errors": "5%"},
]


def reference() -> list[Data]:
    """Twelve templates of four questions."""
    return [{"template_id": f"t{t}", "questions": [question(f"t{t}-q{q}") for q in range(4)]} for t in range(12)]


def question(name: str) -> Data:
    steps = [[{"name": "lookup", "args": {"q": name}, "output": f"right {name}"}]]
    return {"id": name, "question_text": f"What is {name}?", "reference_steps": steps}


def responses(wrong: set[str], tokens: int = 100, failed: str = "t11-q3") -> dict[str, Data]:
    """Answers to all questions, some of them wrong and one an error."""
    names = [question["id"] for template in reference() for question in template["questions"]]
    return {name: response(name, name in wrong, tokens + at % 7) for at, name in enumerate(names)} | {
        failed: {"question_id": failed, "status": "error", "error": "timeout"}
    }


def response(name: str, is_wrong: bool, tokens: int) -> Data:
    output = f"{'wrong' if is_wrong else 'right'} {name}"
    step = {"name": "lookup", "args": {"q": name}, "id": "c1", "status": "success", "output": output}
    return {"question_id": name, "actual_answer": output, "actual_steps": [step], "total_tokens": tokens}


BEFORE = responses({"t0-q0", "t1-q2", "t2-q2", "t9-q1"})
AFTER = responses({"t0-q1", "t1-q2", "t3-q0", "t3-q1", "t7-q2", "t9-q1"}, tokens=130)


@pytest.fixture
def before() -> list[Data]:
    return juror.run_evaluation(reference(), BEFORE)


@pytest.fixture
def after() -> list[Data]:
    return juror.run_evaluation(reference(), AFTER)


@pytest.fixture
def files(before: list[Data], after: list[Data], tmp_path: Path) -> tuple[Path, Path]:
    """Both runs as files of results."""
    paths = tmp_path / "before.jsonl", tmp_path / "after.jsonl"
    for path, results in zip(paths, (before, after)):
        path.write_text("".join(json.dumps(result) + "\n" for result in results), "utf-8")
    return paths


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Both runs as run folders."""
    (tmp_path / "reference.json").write_text(json.dumps(reference()))
    return run_folder(tmp_path, "main", BEFORE), run_folder(tmp_path, "pr-412", AFTER)


def run_folder(tmp_path: Path, name: str, answers: Data, reference: str = "reference.json") -> Path:
    (tmp_path / f"{name}.json").write_text(json.dumps(answers))
    files = tmp_path / reference, tmp_path / f"{name}.json"
    program("eval", *files, "--no-model", "--quiet", "--name", name, "--run", tmp_path / name)
    return tmp_path / name


def program(*arguments: object, code: int = 0) -> str:
    words = [sys.executable, "-m", "juror", *map(str, arguments)]
    done = subprocess.run(words, capture_output=True, text=True, encoding="utf-8", timeout=120)
    assert done.returncode == code, done.stderr
    return done.stdout


def nameless(comparison: juror.Comparison) -> Data:
    """What two comparisons of the same runs have in common, wherever the runs were."""
    data = copy.deepcopy(dict(comparison))
    for run in (data["baseline"], *(own["run"] for own in data["candidates"])):
        for key in ("name", "source", "id", "began", "reference"):
            run.pop(key, None)
    return data


def test_the_numbers_are_those_of_the_program(files: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "gates.yaml").write_text(json.dumps({"gates": GATES}))
    options = ["--gates", "gates.yaml", "--by", "template", "--flips", "2", "--confidence", "0.9"]
    written = json.loads(program("compare", *files, *options, "--json", code=1))
    comparison = juror.compare(*files, gates=GATES, by_template=True, flips=2, confidence=0.9)
    assert comparison == written
    assert comparison["candidates"][0]["metrics"]["steps_score"]["delta"] < 0
    assert comparison.verdict == "block" and not comparison.passed
    text = program("compare", *files, *options, code=1)
    assert f"{comparison}\n" == text.replace("--flips all", 'flips="all"')
    for ending in ("json", "md", "junit.xml", "tsv"):
        program("compare", *files, *options, "-q", "-o", f"program.{ending}", code=1)
        comparison.save(tmp_path / f"python.{ending}")
        assert Path(f"python.{ending}").read_text("utf-8") == Path(f"program.{ending}").read_text("utf-8")
    assert comparison.to_json() == Path("program.json").read_text("utf-8")
    assert comparison.to_markdown() == Path("program.md").read_text("utf-8")
    assert comparison.to_junit() == Path("program.junit.xml").read_text("utf-8")


def test_run_folders_are_compared(folders: tuple[Path, Path]) -> None:
    comparison = juror.compare(folders[0], str(folders[1]))
    assert comparison == json.loads(program("compare", *folders, "--json"))
    assert comparison.baseline["name"] == "main" and comparison.candidates[0]["run"]["name"] == "pr-412"
    assert repr(comparison) == "<juror.Comparison of main with pr-412: pass>"
    flips = comparison.candidates[0]["flips"][0]["broken"]
    assert flips[0]["why"].startswith("lookup: ")


def test_results_in_memory_are_compared_like_files(
    before: list[Data], after: list[Data], files: tuple[Path, Path], tmp_path: Path
) -> None:
    wanted = nameless(juror.compare(*files, gates=GATES, flips="all"))
    assert len(wanted["candidates"][0]["flips"][0]["broken"]) == 4
    assert nameless(juror.compare(before, after, gates=GATES, flips="all")) == wanted
    assert nameless(juror.compare(iter(before), tuple(after), gates=GATES, flips="all")) == wanted
    assert nameless(juror.compare(files[0], after, gates=GATES, flips="all")) == wanted
    # Results of files, before and after somebody looks at them.
    for name, data in [("reference", reference()), ("before", BEFORE), ("after", AFTER)]:
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    lazy = [juror.run_evaluation("reference.json", f"{name}.json") for name in ("before", "after")]
    assert nameless(juror.compare(*lazy, gates=GATES, flips="all")) == wanted
    assert "not looked at" in repr(list.__getitem__(lazy[1], 0))
    assert lazy[1][0]["question_id"] == "t0-q0"
    assert nameless(juror.compare(*lazy, gates=GATES, flips="all")) == wanted
    # By other rules, they are read anew.
    six = nameless(juror.compare(*lazy, profile=6))
    assert six == nameless(juror.compare(*files, profile="6"))


def test_results_in_memory_have_names_by_their_place(before: list[Data], after: list[Data]) -> None:
    comparison = juror.compare(before, after, before)
    assert str(comparison).startswith("A results 1\nB results 2\nC results 3\n")
    assert [own["run"]["name"] for own in comparison.candidates] == ["results 2", "results 3"]
    assert repr(comparison) == "<juror.Comparison of results 1 with results 2, results 3: pass>"
    steps = [own["metrics"]["steps_score"] for own in comparison.candidates]
    assert steps[0]["p_holm"] == pytest.approx(2 * steps[0]["p"])


def test_swapping_runs_mirrors_everything(before: list[Data], after: list[Data]) -> None:
    there = juror.compare(before, after)["candidates"][0]["metrics"]
    back = juror.compare(after, before)["candidates"][0]["metrics"]
    assert there.keys() == back.keys() >= {"steps_score", "total_tokens"}
    for name, one in there.items():
        other = back[name]
        assert one["delta"] == -other["delta"] and one["p"] == other["p"]
        assert [one["a"], one["won"]] == [other["b"], other["lost"]]
        assert one["interval"] == ([-end for end in reversed(other["interval"])] if other["interval"] else None)


def test_a_run_is_no_different_from_itself(before: list[Data]) -> None:
    comparison = juror.compare(before, before, gates=GATES[:3])
    steps = comparison["candidates"][0]["metrics"]["steps_score"]
    assert (steps["delta"], steps["p"], steps["interval"]) == (0.0, 1.0, None)
    assert comparison.passed and {own["verdict"] for own in juror.gate(comparison)} == {"pass"}


def test_only_the_metrics_asked_for_are_compared(before: list[Data], after: list[Data]) -> None:
    comparison = juror.compare(before, after, metrics=["total_tokens"])
    assert list(comparison["candidates"][0]["metrics"]) == ["total_tokens"]
    with pytest.raises(juror.ComparisonError, match="`metrics=`: no run has `taste`") as error:
        juror.compare(before, after, metrics=["taste"])
    assert error.value.hint == "the baseline has steps_score, total_tokens"
    with pytest.raises(TypeError, match="metrics is a list of names"):
        juror.compare(before, after, metrics="total_tokens")


@pytest.fixture
def taste() -> Data:
    """A metric with two numbers."""

    @juror.metric("taste")
    def taste(case: Data) -> dict[str, float]:
        right = case["actual_answer"].startswith("right")
        return {"salt": 0.75 if right else 0.25, "pepper": 1.0}

    yield taste
    _metrics._registered.clear()


def test_metrics_of_ones_own_are_compared(taste: Data, tmp_path: Path) -> None:
    runs = [juror.run_evaluation(reference(), answers) for answers in (BEFORE, AFTER)]
    for name, results in zip("ab", runs):
        (tmp_path / f"{name}.json").write_text(json.dumps(results))
    for pair in (runs, ["a.json", "b.json"]):
        metrics = juror.compare(*pair)["candidates"][0]["metrics"]
        assert list(metrics)[-2:] == ["taste_salt", "taste_pepper"]
        assert metrics["taste_salt"]["delta"] == pytest.approx(metrics["steps_score"]["delta"] / 2)
        alone = juror.compare(*pair, metrics=["taste"])["candidates"][0]["metrics"]
        assert alone.keys() == {"taste_salt", "taste_pepper"}
        gates = [{"metric": "taste_salt", "min": 0.5}]
        assert juror.gate(pair[0], gates).passed
        assert juror.statistics(pair[0])["micro"]["taste_pepper"]["mean"] == 1.0
        assert "taste_salt" not in juror.statistics(pair[0], metrics=[])["micro"]
    _metrics._registered.clear()
    assert juror.compare("a.json", "b.json", metrics=["taste_salt"])["candidates"][0]["metrics"].keys() == {"taste_salt"}
    with pytest.raises(juror.SettingsError, match="`taste_salt` is not a metric"):
        juror.gate("a.json", [{"metric": "taste_salt", "min": 0.5}])


def test_gates_are_lists_dicts_files_and_settings(before: list[Data], after: list[Data], tmp_path: Path) -> None:
    (tmp_path / "gates.yaml").write_text(json.dumps({"gates": GATES}))
    wanted = juror.compare(before, after, gates=GATES).candidates[0]["gates"]
    assert [outcome["verdict"] for outcome in wanted] == ["inconclusive", "warn", "block", "pass"]
    assert wanted[2]["questions"] == ["t0-q1"]
    for gates in (tuple(GATES), iter(GATES), {"gates": GATES}, "gates.yaml", tmp_path / "gates.yaml"):
        assert juror.compare(before, after, gates=gates).candidates[0]["gates"] == wanted
    settings = {"gates": GATES[:1]}
    both = juror.compare(before, after, gates=GATES[1:], config=settings)
    assert both.candidates[0]["gates"] == wanted
    strict = juror.compare(before, after, gates={"gates": GATES[:1], "coverage": 1})
    assert strict.verdict == "block" and "at least 100 % was asked" in strict.candidates[0]["gates"][0]["why"]


def test_wrong_gates_are_wrong_settings(before: list[Data], tmp_path: Path) -> None:
    (tmp_path / "gates.yaml").write_text("gates:\n- {metric: stps_score, min: 1}\n")
    (tmp_path / "none.yaml").write_text("coverage: 0.9\n")
    unknown = "`stps_score` is not a metric"
    for gates, path, words in [
        ([{"errors": 1}, {"metric": "stps_score", "min": 1}], "gates[1].metric", unknown),
        ({"gates": [{"metric": "stps_score", "min": 1}]}, "gates[0].metric", unknown),
        ("gates.yaml", "gates[0].metric", unknown),
        ([{"metric": "steps_score", "minn": 1}], "gates[0].minn", "unknown setting `minn`"),
        ([{"metric": "steps_score"}], "gates[0]", "a gate has `metric` with one of"),
        ([{"metric": "steps_score", "max_drop": object()}], "gates[0].max_drop", "object"),
        ([5], "gates[0]", ""),
        ({"metric": "steps_score", "min": 1}, "gates", "no list of gates"),
        ({"gates": [], "coverage": 2}, "coverage", "share"),
        ("none.yaml", "", "none.yaml: there are no gates in this file"),
        ([], "", "there are no gates to check"),
        (None, "", "there are no gates to check"),
    ]:
        with pytest.raises(juror.SettingsError, match="^.*") as error:
            juror.gate(before, gates)
        assert error.value.path == path and words in str(error.value), gates
    with pytest.raises(juror.SettingsError) as error:
        juror.compare(before, before, gates="gates.yaml")
    assert (error.value.file, error.value.line) == ("gates.yaml", 2)
    with pytest.raises(FileNotFoundError):
        juror.compare(before, before, gates="nowhere.yaml")


def test_a_run_is_gated(before: list[Data], files: tuple[Path, Path]) -> None:
    gates = [{"metric": "steps_score", "min": 0.95}, {"metric": "total_tokens", "max": 200}, {"errors": 1}]
    outcomes = juror.gate(before, gates)
    assert isinstance(outcomes, juror.GateOutcomes) and not outcomes.passed and outcomes.verdict == "block"
    assert [own["verdict"] for own in outcomes] == ["block", "pass", "pass"]
    assert outcomes[0]["gate"] == "steps_score at least 0.95"
    assert outcomes == juror.gate(files[0], gates) == juror.gate(before, config={"gates": gates})
    # The short form says the same.
    assert [outcomes[0]["why"]] == juror.unmet_gates(before, {"steps_score": 0.95})
    assert juror.gate(before, gates[1:]).passed
    lenient = juror.gate(before, [{"metric": "steps_score", "min": 0.5, "bound": "lower"}], confidence=0.5)
    assert lenient.passed and lenient.verdict == "pass"
    for coverage in (0.99, "99%"):
        (uncovered,) = juror.gate(before, gates[1:2], coverage=coverage)
        assert uncovered["lacks_coverage"] and uncovered["verdict"] == "block"


def test_a_change_is_gated_later(before: list[Data], after: list[Data]) -> None:
    comparison = juror.compare(before, after, before, metrics=["steps_score"])
    with pytest.raises(juror.SettingsError, match="there are no gates to check"):
        juror.gate(comparison)
    outcomes = juror.gate(comparison, GATES)
    wanted = juror.compare(before, after, before, gates=GATES)
    checked = [(own["run"]["name"], gate) for own in wanted.candidates for gate in own["gates"]]
    assert outcomes == [{"candidate": name, **gate} for name, gate in checked]
    assert outcomes == juror.gate(wanted) == juror.gate(comparison, config={"gates": GATES})
    assert outcomes.verdict == wanted.verdict == "block"
    assert {own["verdict"] for own in juror.gate(wanted, coverage=1) if own.get("lacks_coverage")} == {"block", "warn"}


def test_gates_that_are_not_checked_are_told(
    before: list[Data], after: list[Data], caplog: pytest.LogCaptureFixture
) -> None:
    change, agents = GATES[0], {"metric": "sopr_score", "min": 0.5}
    with caplog.at_level(logging.WARNING, "juror"):
        assert len(juror.gate(before, [change, {"errors": 1}])) == 1
        assert len(juror.compare(before, after, gates=[change, agents]).candidates[0]["gates"]) == 1
        # Settings are for all kinds of runs.
        assert len(juror.gate(before, [{"errors": 1}], config={"gates": [change, agents]})) == 1
    told = [record.getMessage() for record in caplog.records]
    assert told == [
        "`steps_score may fall 0.02` is not checked: it takes two runs\n"
        "  hint: give `juror.compare(before, after)` in place of results",
        "`sopr_score at least 0.5` is not checked: these results cannot have the metric",
    ]
    with pytest.raises(juror.SettingsError, match="it takes two runs"):
        juror.gate(before, [change])


def test_runs_that_differ_are_refused(folders: tuple[Path, Path], tmp_path: Path) -> None:
    other = reference()
    other[0]["questions"][0]["question_text"] = "Another?"
    (tmp_path / "other.json").write_text(json.dumps(other))
    third = run_folder(tmp_path, "third", AFTER, "other.json")
    with pytest.raises(juror.ComparisonError) as error:
        juror.compare(folders[0], third)
    assert str(error.value) == (
        f"`{folders[0]}` and `{third}` cannot be compared: the reference questions differ\n"
        "  hint: `allow_mismatch=True` compares the questions that are the same in both"
    )
    assert isinstance(error.value, (juror.JurorError, ValueError)) and error.value.file is None
    comparison = juror.compare(folders[0], third, allow_mismatch=True)
    assert comparison.candidates[0]["questions"] == 47
    assert comparison == json.loads(program("compare", folders[0], third, "--allow-mismatch", "--json"))


def test_what_cannot_be_compared_says_why(before: list[Data], tmp_path: Path) -> None:
    attempt = {"query_id": 1, "test_set": "G1", "scores": {"api_call_score": 1.0}}
    with pytest.raises(juror.ComparisonError, match="`results 1` and `results 2` .* the kind of run differs"):
        juror.compare(before, [attempt])
    stranger = [{**before[0], "question_id": "stranger"}]
    with pytest.raises(juror.ComparisonError, match="no question in common") as error:
        juror.compare(before, stranger)
    assert error.value.hint is not None and "`template_id` and `question_id`" in error.value.hint
    with pytest.raises(FileNotFoundError):
        juror.compare(before, "nowhere.jsonl")
    with pytest.raises(juror.DatasetError, match="there is no run here") as unreadable:
        juror.compare(before, tmp_path)
    assert unreadable.value.hint == "a run is a folder with run.json"
    with pytest.raises(juror.DatasetError, match="has no `template_id`"):
        juror.compare(before, [{"question_id": "q"}])
    for wrong in (0.2, 1, float("nan"), 95):
        with pytest.raises(ValueError, match="confidence is"):
            juror.compare(before, before, confidence=wrong)
        with pytest.raises(ValueError, match="confidence is"):
            juror.statistics(before, confidence=wrong)
    for flips in (-1, "some", 1.5):
        with pytest.raises(ValueError, match="flips is"):
            juror.compare(before, before, flips=flips)  # type: ignore[arg-type]


def test_results_that_cannot_be_read_are_told(before: list[Data], caplog: pytest.LogCaptureFixture) -> None:
    broken: Data = [*before[:3], 5, *before[3:]]
    with caplog.at_level(logging.WARNING, "juror"):
        comparison = juror.compare(broken, before)
    assert comparison.candidates[0]["questions"] == 48
    assert [record.getMessage() for record in caplog.records] == ["expected a result, found `int`\n  at [3]"]
    worse = juror.run_evaluation(reference(), AFTER)
    swapped: Data = [7, *worse]
    flips = juror.compare(before, swapped).candidates[0]["flips"][0]["broken"]
    assert flips == juror.compare(before, worse).candidates[0]["flips"][0]["broken"]


def test_scores_that_cannot_be_are_left_out_as_of_files(
    before: list[Data], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    odd = copy.deepcopy(before)
    odd[0]["steps_score"] = 85
    odd[1]["total_tokens"] = -5
    odd[2]["actual_steps"] = [{"name": "retrieval", "retrieval_context_recall": -0.5}]
    odd[3]["answer_f1"] = 1
    odd[3]["answer_f1_repeats"] = [1, 85]
    path = tmp_path / "odd.json"
    path.write_text(json.dumps(odd))
    with caplog.at_level(logging.WARNING, logger="juror"):
        statistics = juror.statistics(odd)
    assert [record.getMessage().splitlines()[0] for record in caplog.records] == [
        "`steps_score` is 85, outside 0 to 1, and is left out of the statistics",
        "`total_tokens` is -5, and an amount cannot be below 0",
        "`retrieval_context_recall` is -0.5, outside 0 to 1, and is left out of the statistics",
        "`answer_f1_repeats` is [1.0, 85.0], outside 0 to 1, and is left out of the statistics",
    ]
    assert statistics == juror.statistics(path)
    assert juror.compute_aggregates(odd) == juror.compute_aggregates(path)
    gate = {"metric": "steps_score", "min": 0.1}
    assert juror.gate(odd, [gate]) == juror.gate(path, [gate])
    assert juror.compare(before, odd)["candidates"][0]["metrics"] == (
        juror.compare(before, path)["candidates"][0]["metrics"]
    )


def test_verdicts_of_different_judges_in_memory_are_not_compared(before: list[Data]) -> None:
    def judged(model: str) -> list[Data]:
        by = {"model": model, "prompts": {"answer_claims": "1"}}
        return [{**result, "answer_f1": 0.5, "judged_by": dict(by)} for result in before]

    assert "answer_f1" in juror.compare(judged("m"), judged("m")).candidates[0]["metrics"]
    (other,) = juror.compare(judged("m"), judged("n")).candidates
    assert not other["same_judge"] and "answer_f1" in other["left_out"]


def test_results_are_read_by_the_profile_that_they_tell(tmp_path: Path) -> None:
    answers = responses({"t0-q0"})
    results = juror.run_evaluation(reference(), answers, profile="6", ask_models=False)
    assert results[-1]["status"] == "error"
    path = tmp_path / "six.json"
    path.write_text(json.dumps(list(results)))
    told = juror.statistics(list(results), profile="6")
    assert told["micro"]["steps_score"]["n_scored"] == len(results)
    assert juror.statistics(list(results)) == told
    assert juror.statistics(path) == told
    assert juror.compute_aggregates(list(results)) == juror.compute_aggregates(results, profile="6")
    by_five = juror.statistics(path, profile="5")
    assert by_five["micro"]["steps_score"]["n_scored"] == len(results) - 1
    five = juror.run_evaluation(reference(), answers, ask_models=False)
    with pytest.raises(juror.JurorError, match="the rules of scoring differ"):
        juror.compare(list(five), path)


def test_notebooks_see_tables_without_scripts() -> None:
    hostile = "<script>alert('x')</script>&\"$x$"
    ids = [(f"{hostile}{at % 2}", f"{hostile}{at}") for at in range(4)]
    run = [{"template_id": template, "question_id": name, "steps_score": 1.0} for template, name in ids]
    worse = [{**result, "steps_score": 0.0, "error": f"</td>{hostile}"} for result in run]
    gates = [{"questions": [ids[0][1]], "may_break": 0}]
    comparison = juror.compare(run, worse, gates=gates, by_template=True, profile=6)
    for report in (comparison, juror.statistics(run)):
        html = report._repr_html_()
        assert "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;&quot;$x$" in html
        tags = {tag.split(">")[0].split(" ")[0].strip("/") for tag in html.split("<")[1:]}
        assert tags <= {"div", "p", "br", "table", "thead", "tbody", "tr", "th", "td"}
        attributes = {tag.split(">")[0].partition(" ")[2].split("=")[0] for tag in html.split("<")[1:]}
        assert attributes <= {"", "class", "style"}
    assert "&lt;/td&gt;&lt;script" in comparison._repr_html_()


def test_frames_have_the_columns_of_the_table(files: tuple[Path, Path], tmp_path: Path) -> None:
    comparison = juror.compare(*files, files[0], by_template=True)
    for report in (comparison, juror.statistics(files[0])):
        report.save("table.tsv")
        with open("table.tsv", encoding="utf-8", newline="") as lines:
            table = list(csv.DictReader(lines, delimiter="\t"))
        for frame in frames(report):
            rows = [{key: shown(value) for key, value in row.items()} for row in frame]
            assert rows == table and len(rows) > 20


def frames(report: Data) -> list[list[Data]]:
    """The rows of the data frames that can be made here."""
    made = []
    try:
        import polars  # noqa: F401
    except ImportError:
        pass
    else:
        made.append(report.to_polars().to_dicts())
    try:
        import pandas
    except ImportError:
        pass
    else:
        frame = report.to_pandas()
        made.append(frame.astype(object).where(pandas.notna(frame), None).to_dict("records"))
    if not made:
        pytest.skip("there is no library for data frames")
    return made


def shown(value: Any) -> str:
    """A value as the table has it."""
    if value is None:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def test_empty_columns_have_their_types(before: list[Data]) -> None:
    comparison = juror.compare(before, before)
    polars = pytest.importorskip("polars")
    assert comparison.to_polars().schema["mde"] == polars.Float64
    pytest.importorskip("pandas")
    assert str(comparison.to_pandas()["mde"].dtype) == "float64"


def test_statistics_are_those_of_the_program(files: tuple[Path, Path], before: list[Data], tmp_path: Path) -> None:
    program("aggregate", files[0], "-s", "program.json", "-q")
    statistics = juror.statistics(before)
    assert statistics == json.loads(Path("program.json").read_text("utf-8")) == juror.statistics(files[0])
    statistics.save("python.json")
    assert statistics.to_json() == Path("python.json").read_text("utf-8") == Path("program.json").read_text("utf-8")
    for ending in ("yaml", "tsv"):
        program("aggregate", files[0], "-s", f"program.{ending}", "-q")
        statistics.save(f"python.{ending}")
        assert Path(f"python.{ending}").read_text("utf-8") == Path(f"program.{ending}").read_text("utf-8")
    assert statistics.micro["steps_score"]["n_error"] == 1
    assert statistics.macro["steps_score"]["n"] == len(statistics.groups) == 12
    assert repr(statistics) == "<juror.Statistics of 48 questions: 2 metrics>"
    assert str(statistics).startswith("48 questions · errors 1\n\nmetric ") and "±" in str(statistics)
    wide = juror.statistics(before, confidence=0.99)["micro"]["steps_score"]["interval"]
    assert wide[0] < statistics["micro"]["steps_score"]["interval"][0]


def test_a_run_folder_has_statistics_by_its_own_rules(tmp_path: Path) -> None:
    (tmp_path / "reference.json").write_text(json.dumps(reference()))
    (tmp_path / "responses.json").write_text(json.dumps(BEFORE))
    program("eval", "reference.json", "responses.json", "--profile", "6", "--no-model", "-q", "--run", "six")
    statistics = juror.statistics("six")
    assert statistics == json.loads(Path("six/statistics.json").read_text("utf-8"))
    assert statistics.micro["steps_score"]["n_error"] == 0


def test_no_gate_passes_on_the_survivors_of_a_run(
    folders: tuple[Path, Path], caplog: pytest.LogCaptureFixture
) -> None:
    results = folders[0] / "results.jsonl"
    lines = results.read_text("utf-8").splitlines(keepends=True)
    results.write_text(next(line for line in lines if '"steps_score": 1' in line), "utf-8")
    gates = [{"metric": "steps_score", "min": 0.9}, {"errors": 1}]
    lost = f"`{folders[0]}` is damaged: results.jsonl has no result of 47 of the run's 48 questions"
    with pytest.raises(juror.DatasetError) as refused:
        juror.gate(folders[0], gates)
    assert str(refused.value).startswith(lost) and "`fresh=True`" in str(refused.value)
    with caplog.at_level(logging.WARNING, "juror"):
        statistics = juror.statistics(folders[0])
    assert caplog.messages[0].startswith(lost)
    steps = statistics["micro"]["steps_score"]
    assert statistics["missing"] == 47 and steps["coverage"] == pytest.approx(1 / 48)
    # What is not finished is told, and its other questions count as errors.
    manifest = json.loads((folders[0] / "run.json").read_text("utf-8"))
    (folders[0] / "run.json").write_text(json.dumps({**manifest, "is_complete": False}))
    caplog.clear()
    with caplog.at_level(logging.WARNING, "juror"):
        outcomes = juror.gate(folders[0], gates)
    assert caplog.messages == [f"`{folders[0]}` is not finished: this is what there is of it"]
    assert [own["verdict"] for own in outcomes] == ["block", "block"] and outcomes[0]["lacks_coverage"]
    assert "47 of 48 responses failed or are missing" in outcomes[1]["why"]


def test_repeated_verdicts_in_memory_are_those_of_files(before: list[Data], tmp_path: Path) -> None:
    for at, result in enumerate(before):
        result.update({"answer_f1": 0.5, "answer_f1_repeats": [0.25, 0.75] if at % 2 else [0.5, 0.5]})
    before[0]["answer_f1_repeats"], before[2]["answer_f1_repeats"] = ["?", 1.0], [0.5, None]
    Path("results.json").write_text(json.dumps(before))
    statistics = juror.statistics(before)
    assert statistics["judge"]["answer_f1"]["flip_rate"] == pytest.approx(23 / 45)
    assert statistics == juror.statistics("results.json")


def test_the_example_of_four_templates_supports_little() -> None:
    solved = {"A": (8, 10), "B": (0, 10), "C": (9, 9), "D": (0, 10)}
    results = [
        {"template_id": name, "question_id": f"{name}{at}", "steps_score": float(at < right)}
        for name, (right, n) in solved.items()
        for at in range(n)
    ]
    steps = juror.statistics(results)["micro"]["steps_score"]
    assert steps["mean"] == pytest.approx(17 / 39) and steps["se"] == pytest.approx(0.259863129)
    assert (steps["clusters"], steps["caution"]) == (4, "few_clusters")
    assert "4 templates are too few for a reliable interval" in str(juror.statistics(results))


def test_reports_are_mappings_that_become_dicts(before: list[Data], tmp_path: Path) -> None:
    for report in (juror.compare(before, before), juror.statistics(before)):
        data = json.loads(report.to_json())
        assert report == data and dict(report) == data and list(report) == list(data)
        assert len(report) == len(data) and "format" in report and report.get("nothing") is None
        assert pickle.loads(pickle.dumps(report)) == copy.deepcopy(report) == data
        with pytest.raises(ValueError, match=r"the ending names no format\n  hint: use .json"):
            report.save("report.txt")
        with pytest.raises(FileNotFoundError):
            report.save("nowhere/report.json")
        with pytest.raises(IsADirectoryError):
            (tmp_path / "folder.json").mkdir(exist_ok=True)
            report.save(tmp_path / "folder.json")


def test_reports_for_pipelines_take_a_name_and_a_threshold(before: list[Data], after: list[Data]) -> None:
    comparison = juror.compare(before, after)
    assert comparison.to_markdown().startswith("<!-- juror compare: results 1 and results 2 -->\n")
    assert comparison.to_markdown("nightly").startswith("<!-- juror compare: nightly -->\n")
    assert comparison.to_junit().count("<failure") == 0
    assert comparison.to_junit({"steps_score": 0.5}).count("<failure") == 6
    with pytest.raises(ValueError, match="threshold has one metric, not 2"):
        comparison.to_junit({"steps_score": 0.5, "total_tokens": 1})


def test_benchmarks_are_compared(tmp_path: Path) -> None:
    examples = PROJECT / "examples"
    places: Data = {name: examples / folder for name, folder in [("tools", "tools"), ("cache", "tool_cache")]}
    known = {"garden": "Thornfold", "date": "2026-05-01", "name": "spleenwort", "is_id": "P-118"}

    def careful(query: str, tools: dict[str, juror.Tool]) -> str:
        for tool in tools.values():
            tool(**{name: known.get(name, "") for name in tool.parameters["required"]})
        return "done"

    def lazy(query: str) -> str:
        return "no idea"

    runs = []
    for agent in (careful, lazy):
        name = agent.__name__
        options: Data = {"pool": "own", "judge": "heuristic", "output": tmp_path / f"{name}.json", "name": name}
        runs.append(juror.bench(agent, queries=examples / "queries.json", **options, **places))
    comparison = juror.compare(*runs)
    assert nameless(comparison) == nameless(juror.compare("careful.json", "lazy.json"))
    assert [comparison.baseline["name"], comparison.candidates[0]["run"]["name"]] == ["careful", "lazy"]
    assert comparison.candidates[0]["metrics"]["api_call_score"]["delta"] == -1.0
    listed = juror.compare(*(run["results"] for run in runs))
    assert listed.candidates[0]["metrics"] == comparison.candidates[0]["metrics"]
    assert juror.statistics(runs[0]) == juror.statistics("careful.json")
    assert juror.statistics(runs[0])["kind"] == "bench"
    assert juror.gate(runs[0], [{"metric": "api_call_score", "min": 1}]).passed
    assert not juror.gate(runs[1], [{"metric": "api_call_score", "min": 1}]).passed


def test_a_conversation_may_be_of_any_depth() -> None:
    deep: Data = []
    for _ in range(5000):
        deep = [deep]
    attempt: Data = {"query_id": 1, "scores": {"api_call_score": 1.0}, "system_answer": {"answer_details": deep}}
    assert juror.statistics({"metadata": {}, "results": [attempt]})["micro"]["api_call_score"]["mean"] == 1.0
