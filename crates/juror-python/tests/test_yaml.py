"""YAML says to Juror what it says to PyYAML's safe loader."""

from __future__ import annotations

import datetime
import math
import random
from itertools import product
from pathlib import Path
from typing import Any

import juror
import pytest
import yaml

# Truths for PyYAML, texts for Juror.
WORDS = [form for word in ("yes", "no", "on", "off") for form in (word, word.title(), word.upper())]


def scalars() -> list[str]:
    """Plain scalars that look like numbers, truths, times or nearly so."""
    wholes = ["0", "7", "00", "017", "08", "1_000", "12_", "0b1_01", "0b2", "0o17", "0x1F", "0x_f"]
    wholes += ["1:30", "1:60", "0:30", "190:20:30", "1_0:5", "123456789012345678901", "0xg"]
    wholes += ["36660e59", "1e3", "1E+3", "9" * 30 + ":59", "0x" + "Ff" * 20, "0_7", "1__2"]
    reals = ["1.5", "1.", ".5", "._5", "1_0.2_5", "01.5", "6.8523015", "1:30.5", "20:30.15", ".", "1.5.2"]
    reals += ["190:20:30.15", "0.1", "123456789.123456789", "1:60.5", "5._", "0:0.5"]
    exponents = ["", "e3", "e+3", "E-3", "e+30", "e", "e+"]
    words = ["~", "null", "Null", "NULL", "nULL", "true", "True", "TRUE", "tRUE", "false", "False"]
    words += [*WORDS, "y", "n", "Y", "N", ".inf", ".Inf", ".INF", ".iNF", ".nan", ".NaN", ".NAN", "NaN"]
    words += ["2025-04-22", "2025-4-2", "2001-12-14t21:59:43.10-05:00", "2001-12-14 21:59:43.10 -5"]
    words += ["inf", "Infinity", "-", "+", "a", "text of words", "1 000", "1,000", "12:30:45", "0xZZ"]
    made = [sign + whole for sign, whole in product(["", "+", "-"], wholes)]
    made += [sign + real + end for sign, real, end in product(["", "+", "-"], reals, exponents)]
    made += [sign + word for sign, word in product(["", "+", "-"], words)]
    chance = random.Random(1)
    for alphabet in ("0123456789abcdef", "0123456789._:+-eE", "01_bxo", "0123456789:.", "0123456789e+."):
        for _ in range(600):
            made.append("".join(chance.choices(alphabet, k=chance.randrange(1, 10))))
    return [scalar for scalar in dict.fromkeys(made) if is_scalar(scalar)]


def is_scalar(text: str) -> bool:
    """Whether a text is one plain scalar, whatever it says."""
    try:
        node = yaml.compose(f"v: {text}\n", yaml.SafeLoader)
    except yaml.YAMLError:
        return False
    value = node.value[0][1]
    return isinstance(value, yaml.ScalarNode) and value.style is None and value.value == text


def wanted(text: str) -> Any:
    """What PyYAML reads, but for what Juror reads otherwise on purpose."""
    try:
        value = yaml.safe_load(f"v: {text}\n")["v"]
    except (ValueError, yaml.YAMLError):
        # What PyYAML cannot make, such as a number without digits or the 99th of May.
        return text
    if isinstance(value, (datetime.date, datetime.datetime)) or text in WORDS:
        return text
    if isinstance(value, float) and not math.isfinite(value):
        return {math.inf: "Infinity", -math.inf: "-Infinity"}.get(value, "NaN")
    return value


def reference(steps: str) -> str:
    step = f"- - name: s\n        output: x\n        args:\n{steps}"
    question = f"- id: q\n    question_text: x\n    reference_steps:\n    {step}"
    return f"- template_id: t\n  questions:\n  {question}"


def test_plain_scalars_say_what_they_say_to_pyyaml(tmp_path: Path) -> None:
    texts = scalars()
    assert len(texts) >= 2000
    path = tmp_path / "reference.yaml"
    path.write_text(reference("".join(f"          v{n}: {text}\n" for n, text in enumerate(texts))))
    [template] = juror.read_reference(path)
    args = template["questions"][0]["reference_steps"][0][0]["args"]
    expected = [wanted(text) for text in texts]
    assert sum(not isinstance(value, str) for value in expected) > 500
    for number, (text, value) in enumerate(zip(texts, expected)):
        read = args[f"v{number}"]
        assert (type(read), read) == (type(value), value), text


def test_what_pyyaml_dumps_is_read_as_it_loads_it(tmp_path: Path) -> None:
    chance = random.Random(2)

    def hexadecimal() -> str:
        return "%0*x" % (length := chance.randrange(1, 13), chance.randrange(16**length))

    def value() -> Any:
        kinds = [hexadecimal, chance.random, lambda: chance.randrange(10**25), lambda: None]
        kinds += [lambda: chance.random() * 10 ** chance.randrange(-30, 30), lambda: chance.random() < 0.5]
        kinds += [lambda: chance.choice(["1:30", "0o17", "017", "1e3", "", "null", "=", "<<", "a: b", "é\u2028\n x"])]
        return chance.choice(kinds)()

    def question(number: int) -> Any:
        step = {"name": hexadecimal(), "args": {hexadecimal(): value() for _ in range(2)}, "output": hexadecimal()}
        return {"id": f"{number:04x}{hexadecimal()}", "question_text": hexadecimal(), "reference_steps": [[step]]}

    dataset = [
        {"template_id": f"{n:02x}{hexadecimal()}", "questions": [question(100 * n + k) for k in range(100)]}
        for n in range(100)
    ]
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text = yaml.dump(dataset, Dumper=dumper, allow_unicode=True, sort_keys=False)
    path = tmp_path / "reference.yaml"
    path.write_text(text, encoding="utf-8")
    loaded = yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    assert loaded == dataset
    assert juror.read_reference(path) == loaded
    ids = [question["id"] for template in loaded for question in template["questions"]]
    responses = {id: {"question_id": id, "actual_answer": "x"} for id in ids}
    results = juror.run_evaluation(path, responses)
    assert len(results) == 10_000 and all("error" not in result for result in results)


def test_ids_are_the_texts_that_were_written(tmp_path: Path) -> None:
    path = tmp_path / "reference.yaml"
    ids = ["007", "36660e59", "1_000", "0x10", "1:30", "True", "1.10", "2025-04-22", "no"]
    questions = "".join(f"  - id: {id}\n    question_text: x\n" for id in ids)
    path.write_text(f"- template_id: 0b1\n  questions:\n{questions}")
    responses = {id: {"actual_answer": "x"} for id in ids}
    results = juror.run_evaluation(path, responses)
    assert [result["question_id"] for result in results] == ids
    assert all("error" not in result for result in results)
    assert results[0]["template_id"] == "0b1"


def test_a_key_that_is_used_twice_is_told_where_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "reference.yaml"
    path.write_text(reference("          k: 1\n          k: 2\n"))
    with pytest.raises(juror.DatasetError) as caught:
        juror.read_reference(path)
    assert "10:11: the key `k` is used twice" in str(caught.value)
