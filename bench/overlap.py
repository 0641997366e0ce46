#!/usr/bin/env python3
"""Compares metrics of answer overlap with published implementations.

`answer_exact_match` and `answer_token_f1` are compared with SQuAD's script as the package
`transformers` has it, `answer_rouge_l` with `rouge-score`, on 500 generated pairs of answers: accents,
punctuation, articles, other scripts, empty texts. At the first run it installs the packages into
bench/.work, which can be deleted at any time. Numbers must be the same in every bit.

usage: overlap.py [--juror PROGRAM] [--pairs N] [--seed N] [--record]

--record prints cases for conformance/own.jsonl instead, with the numbers of the packages. Ends with 1
where anything differs.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

BENCH = Path(__file__).resolve().parent
FOLDER = BENCH / ".work" / "overlap-env"
REQUIREMENTS = ["rouge-score==0.1.2", "transformers==4.46.3"]

# Reads pairs from standard input, and writes the numbers of the packages.
PACKAGES = """
import json, sys
from rouge_score.rouge_scorer import RougeScorer
from transformers.data.metrics.squad_metrics import compute_exact, compute_f1
scorer = RougeScorer(["rougeL"], use_stemmer=False)
for line in sys.stdin:
    reference, actual = json.loads(line)
    print(json.dumps({
        "answer_exact_match": float(compute_exact(reference, actual)),
        "answer_token_f1": float(compute_f1(reference, actual)),
        "answer_rouge_l": scorer.score(reference, actual)["rougeL"].fmeasure,
    }))
"""

WORDS = (
    "the a an The AN A theatre another Oslo oslo OSLO Norway's capital city is in of and not "
    "1,234.50 1234.5 42 -7 3.14 Q42 CO2 U.S. U.S.A. e.g. well-known under_score don't Café café "
    "cafe\u0301 naïve Zürich Größe STRASSE straße İstanbul ΟΔΟΣ οδός Осло столица Норвегии 東京 首都 "
    "القاهرة दिल्ली \u212a 212\u212a ½ ² ٣٤ ! ... — “quoted” (brackets) a/b x=y 100% #tag @name $5 <b> "
    "\\ ` ^ ~ | the. .the a. the\u0301 an\u0301 🙂 ﬁne Ⅳ"
).split(" ")
SPACES = [" ", " ", " ", " ", "  ", "\t", "\n", "\u00a0", "\u3000", "\u2003", "", ", ", ". ", "\x1f"]

RECORDED = [
    ("same-words", "The Eiffel Tower", "eiffel tower!"),
    ("any-order", "Oslo is the capital of Norway.", "The capital of Norway is Oslo."),
    ("a-denial-overlaps", "Oslo is the capital of Norway.", "Oslo is not the capital of Norway."),
    ("a-word-counts-as-often-as-both-have-it", "no no no", "no no yes yes"),
    ("no-words-left", "the", "a"),
    ("words-left-on-one-side", "the", "Oslo"),
    ("accents", "Café in Zürich", "cafe in Zurich"),
    ("numbers-by-value", "It has 1,234.50 m.", "It has 1234.5 m."),
    ("another-script", "Столица Норвегии — Осло", "Осло"),
    ("nothing-in-common", "In 2020, Oslo had 693,494 inhabitants.", "unknown"),
    ("no-mentions", "nobody knows", "somebody knows"),
    ("long-answer", "Q42", "The item that you are looking for is Q42, a writer."),
]


def text(chance: random.Random, words: list[str], most: int) -> str:
    """Words with what separates them, one after another."""
    parts = []
    for _ in range(chance.randint(0, most)):
        parts += [chance.choice(words), chance.choice(SPACES)]
    return "".join(parts)


def changed(chance: random.Random, answer: str) -> str:
    """An answer with some words dropped, doubled, moved and replaced."""
    words = answer.split(" ")
    for _ in range(chance.randint(0, 6)):
        at = chance.randrange(len(words)) if words else 0
        match chance.randrange(4):
            case 0 if words:
                del words[at]
            case 1 if words:
                words.insert(at, words[at])
            case 2:
                chance.shuffle(words)
            case _:
                words.insert(at, chance.choice(WORDS))
    return " ".join(words)


def pairs(n: int, seed: int) -> list[tuple[str, str]]:
    """Generated pairs, always the same for the same seed."""
    chance = random.Random(seed)
    made = []
    for at in range(n):
        most = chance.choice([3, 12, 40, 200])
        reference = text(chance, WORDS, most)
        actual = changed(chance, reference) if at % 3 else text(chance, WORDS, most)
        made.append((reference, actual))
    return made


def published(made: list[tuple[str, str]]) -> list[dict[str, float]]:
    """The numbers of the packages, which are installed at the first run."""
    python, told = FOLDER / "bin/python", FOLDER / "requirements.txt"
    wanted = "\n".join(REQUIREMENTS)
    if not told.is_file() or told.read_text() != wanted:
        print(f"installing {', '.join(REQUIREMENTS)}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", FOLDER], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *REQUIREMENTS], check=True)
        told.write_text(wanted)
    lines = "".join(json.dumps(pair) + "\n" for pair in made)
    ran = subprocess.run([python, "-c", PACKAGES], input=lines, text=True, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in ran.stdout.splitlines()]


def own(program: Path, made: list[tuple[str, str]]) -> list[dict[str, float]]:
    """The results of `juror eval`."""
    questions = [
        {"id": str(at), "question_text": "Q", "reference_answer": reference}
        for at, (reference, _) in enumerate(made)
    ]
    responses = [{"question_id": str(at), "actual_answer": actual} for at, (_, actual) in enumerate(made)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        reference = [{"template_id": "t", "questions": questions}]
        (folder / "reference.json").write_text(json.dumps(reference))
        (folder / "responses.json").write_text(json.dumps(responses))
        files = ["reference.json", "responses.json", "--answer-overlap", "-o", "results.json"]
        command = [program, "eval", *files, "--no-model", "--quiet"]
        subprocess.run(command, cwd=folder, check=True)
        return list(json.loads((folder / "results.json").read_text()))


def record() -> None:
    """Prints cases; `answer_mention_recall` is added by hand, since no package has it."""
    numbers = published([(reference, actual) for _, reference, actual in RECORDED])
    for (name, reference, actual), expected in zip(RECORDED, numbers):
        case = {
            "id": f"own/answer_overlap/{name}",
            "family": "answer_overlap",
            "peer": "5.2.0",
            "also_peer": "6.4",
            "input": {"reference": reference, "actual": actual},
            "expected": expected,
        }
        print(json.dumps(case, ensure_ascii=False))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--juror", type=Path, default=BENCH.parent / "target/release/juror")
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=21)
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    if args.record:
        record()
        return 0
    made = pairs(args.pairs, args.seed)
    n_different, n_left_out, n_compared = 0, 0, 0
    for (reference, actual), theirs, ours in zip(made, published(made), own(args.juror.resolve(), made)):
        for name, wanted in theirs.items():
            if name in ours:
                n_compared += 1
                if ours[name] != wanted:
                    n_different += 1
                    print(f"{name}: {ours[name]}, not {wanted}: {reference!r} and {actual!r}")
            elif name == "answer_rouge_l" or not reference.strip() or not actual.strip():
                n_left_out += 1
            else:
                n_different += 1
                print(f"{name} is missing: {reference!r} and {actual!r}")
    print(f"{len(made)} pairs, {n_compared} numbers compared, {n_different} different, {n_left_out} do not apply")
    return 1 if n_different else 0


if __name__ == "__main__":
    sys.exit(main())
