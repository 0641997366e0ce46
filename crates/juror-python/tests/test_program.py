"""The module gives what the program gives, for a few hundred generated answers."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from same import differences

import juror

N_QUESTIONS = 300

TEXTS = ["Oslo", "oslo", "", " ", "it's", '"', "\\", "é", "\U0001f600", "\u2028", "1", "1.0", "1e400", "null", "NaN", "[", "{}"]
NAMES = ["lookup", "sparql_query", "retrieval", "autocomplete_search", "iri_discovery", "retrieve_time_series", "x"]
MEDIA_TYPES = ["application/sparql-results+json", "application/json", "text/csv", "text/tab-separated-values", "text/plain", "x"]


class Generator:
    """Makes data that is nearly right, always the same for a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one_of(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def text(self) -> str:
        return "".join(self.random.choices(TEXTS, k=self.random.randrange(3)))

    def value(self, depth: int = 2) -> Any:
        kind = self.random.randrange(8 if depth else 6)
        if kind < 2:
            return self.text()
        if kind < 6:
            return self.one_of(None, True, 0, -1, 1.0, 0.1, 1e22, 2**63, 10**25, float(self.random.randrange(9)) / 7)
        items = [self.value(depth - 1) for _ in range(self.random.randrange(4))]
        return items if kind == 6 else {self.text(): item for item in items}

    def table(self) -> dict[str, Any]:
        names = self.random.sample(["a", "b", "c"], self.random.randrange(1, 4))
        cell = lambda: {"type": self.one_of("literal", "uri"), "value": self.one_of("1", "1.0", "x", "urn:1", "")}
        rows = [{name: cell() for name in names if self.random.random() < 0.9} for _ in range(self.random.randrange(5))]
        return {"head": {"vars": names}, "results": {"bindings": rows}}

    def output(self) -> str:
        made: Any = self.one_of(self.table, self.table, self.value, self.text)()
        written = made if isinstance(made, str) else json.dumps(made, ensure_ascii=self.one_of(True, False))
        if self.random.random() < 0.2 and written:
            at = self.random.randrange(len(written))
            return written[:at] + self.one_of("", '"', "\\", "}", "9") + written[at + 1 :]
        return written

    def step(self, number: int) -> dict[str, Any]:
        made = {
            "name": self.one_of(*NAMES),
            "args": self.one_of({}, {"query": self.text()}, {"q": self.value()}),
            "id": str(number),
            "status": self.one_of("success", "success", "success", "error"),
            "output": self.output(),
            "output_media_type": self.one_of(*MEDIA_TYPES),
            "required_columns": self.one_of(["a"], ["a", "b"], []),
            "ordered": self.one_of(True, False),
        }
        leave_out = self.random.sample(["required_columns", "ordered", "output_media_type"], self.random.randrange(4))
        return {key: value for key, value in made.items() if key not in leave_out}

    def expected(self) -> dict[str, Any]:
        """A step whose output and columns are what they should be: a reference with mistakes is refused."""
        table = self.table()
        made = {
            "name": self.one_of("lookup", "sparql_query", "x"),
            "args": self.one_of({}, {"query": self.text()}),
            "output": json.dumps(table),
            "output_media_type": "application/sparql-results+json",
            "required_columns": table["head"]["vars"][: self.random.randrange(1, 4)],
            "ordered": self.one_of(True, False),
        }
        return made if self.random.random() < 0.7 else {"name": "lookup", "args": {}, "output": self.text() or "a"}

    def question(self, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
        groups = [[self.expected() for _ in range(self.random.randrange(1, 3))] for _ in range(self.random.randrange(3))]
        expected = [step for group in groups for step in group]
        actual = [self.one_of(step, self.step(at)) for at, step in enumerate(expected)]
        actual += [self.step(len(actual) + at) for at in range(self.random.randrange(2))]
        self.random.shuffle(actual)
        steps = [{"status": "success", **step, "id": str(at)} for at, step in enumerate(actual)]
        question = {"id": f"q{number}", "question_text": self.text() or "?", "reference_answer": self.text() or "a", "reference_steps": groups}
        response = {
            "question_id": f"q{number}",
            "status": self.one_of("success", "success", "error"),
            "actual_answer": self.text(),
            "actual_steps": steps,
            "input_tokens": self.random.randrange(10**6),
            "elapsed_sec": self.random.random(),
        }
        return question, response


def generated(seed: int) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    generator = Generator(seed)
    pairs = [generator.question(number) for number in range(N_QUESTIONS)]
    templates: dict[str, list[Any]] = {}
    for question, _ in pairs:
        templates.setdefault(generator.one_of("t1", "t2", "ü"), []).append(question)
    reference = [{"template_id": name, "questions": questions} for name, questions in templates.items()]
    return reference, [response for _, response in pairs if generator.random.random() < 0.95]


def program(*arguments: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "juror", *map(str, arguments)]
    return subprocess.run(words, capture_output=True, text=True, encoding="utf-8", timeout=120)


@pytest.mark.parametrize("profile", ["5", "6"])
def test_generated_answers_are_evaluated_as_by_the_program(tmp_path: Path, profile: str) -> None:
    reference, responses = generated(int(profile))
    (tmp_path / "reference.json").write_text(json.dumps(reference), encoding="utf-8")
    lines = "".join(json.dumps(response, ensure_ascii=False) + "\n" for response in responses)
    (tmp_path / "responses.jsonl").write_text(lines, encoding="utf-8", newline="\n")
    files = [tmp_path / "results.json", tmp_path / "aggregates.json"]
    done = program(
        "eval", tmp_path / "reference.json", tmp_path / "responses.jsonl", "--no-model", "--quiet",
        "--profile", profile, "--output", files[0], "--aggregates", files[1],
    )
    assert done.returncode == 0, done.stderr
    results, aggregates = (json.loads(file.read_text(encoding="utf-8")) for file in files)
    by_module = list(juror.run_evaluation(reference, responses, profile=profile))
    assert len(results) == N_QUESTIONS and len({result.get("steps_score") for result in results}) > 2
    assert not differences(by_module, results)[:3]
    assert not differences(juror.compute_aggregates(by_module, profile=profile), aggregates)[:3]


def test_what_the_program_refuses_is_refused_with_the_same_words(tmp_path: Path) -> None:
    reference, responses = generated(1)
    text = json.dumps(reference[:1])
    generator = Generator(2)
    (tmp_path / "responses.json").write_text(json.dumps(responses[:1]))
    n_refused = 0
    for _ in range(12):
        at = generator.random.randrange(len(text))
        broken = text[:at] + generator.one_of("", '"', "]", "\\", "x") + text[at + generator.one_of(0, 1, 9) :]
        path = tmp_path / "reference.json"
        path.write_text(broken)
        done = program("eval", path, tmp_path / "responses.json", "--no-model", "--quiet")
        try:
            juror.run_evaluation(path, tmp_path / "responses.json")
        except juror.JurorError as error:
            n_refused += 1
            assert done.returncode == 2, (broken, str(error))
            assert str(error).splitlines()[0] in done.stderr, broken
        else:
            assert done.returncode == 0, (broken, done.stderr)
    assert n_refused > 3
