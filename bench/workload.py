"""Makes a workload: questions about an invented seed bank, and the recorded answers of an agent.

Writes OUTDIR/reference.json (a list of templates of twenty questions), OUTDIR/responses.jsonl (one
response a line) and, with --yaml, OUTDIR/reference.yaml. The same number of questions always makes
the same files.

Every question expects a SPARQL result of about twenty rows and two to four columns; half of them
expect an IRI to be looked up first, a tenth expect documents to be retrieved. Agents take three or
four steps. About four in five answers are right, with columns renamed and permuted, rows shuffled
and sometimes a column too many; a tenth are wrong in one cell, a twentieth ended in an error.
"""

import argparse
import json
import random
from pathlib import Path

XSD = "http://www.w3.org/2001/XMLSchema#"
BANK = "https://seeds.example/"
GENERA = "Alnus Betula Carex Dianthus Erica Fagus Galium Hedera Iris Juncus Lilium Malva".split()
SPECIES = "alba montana palustris repens vulgaris minor elegans borealis sativa rubra".split()
VAULTS = "Amber Basalt Cobalt Dolomite Emerald Flint Granite Halite".split()
QUESTIONS_A_TEMPLATE = 20

Term = dict[str, str]
Row = dict[str, Term]


def iri(value: str) -> Term:
    return {"type": "uri", "value": value}


def literal(value: object, datatype: str | None = None) -> Term:
    term = {"type": "literal", "value": str(value)}
    return term | {"datatype": XSD + datatype} if datatype else term


def sparql_json(names: list[str], rows: list[Row], indent: int | None = None) -> str:
    return json.dumps({"head": {"vars": names}, "results": {"bindings": rows}}, indent=indent)


class Maker:
    """Makes questions and responses by chance, always the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def happens(self, probability: float) -> bool:
        return self.random.random() < probability

    def hex(self, digits: int) -> str:
        return f"{self.random.getrandbits(4 * digits):0{digits}x}"

    def accession(self) -> Term:
        return iri(f"{BANK}accession/{self.hex(8)}-{self.hex(4)}-{self.hex(12)}")

    def taxon(self) -> Term:
        name = f"{self.random.choice(GENERA)} {self.random.choice(SPECIES)}"
        return literal(f"{name} no. {self.random.randint(1, 999)}")

    def count(self) -> Term:
        return literal(self.random.randint(0, 100_000), "integer")

    def mass(self) -> Term:
        return literal(round(self.random.uniform(0, 500), 4), "double")

    def rows(self) -> tuple[list[str], list[Row]]:
        """A table: its columns and its rows."""
        makers = [self.accession, self.taxon]
        makers += self.random.choices([self.taxon, self.count, self.mass, self.accession], k=2)
        n_columns = self.random.choice([2, 2, 3, 3, 4])
        names = ["accession", "taxon", "amount", "origin"][:n_columns]
        n_rows = self.random.randint(15, 25)
        return names, [{name: make() for name, make in zip(names, makers)} for _ in range(n_rows)]

    def documents(self) -> list[dict[str, str]]:
        numbers = self.random.sample(range(1000), 5)
        texts = (f"Notes on {self.random.choice(GENERA)}, sheet {number}." for number in numbers)
        return [
            {"id": f"{BANK}notes/{number}", "text": text} for number, text in zip(numbers, texts)
        ]

    def step(self, name: str, **fields: object) -> dict[str, object]:
        """An actual step that succeeded, unless its fields say otherwise."""
        call = {"name": name, "args": {"query": "seeds"}, "id": f"call_{self.hex(8)}"}
        return call | {"status": "success"} | fields

    def question(self, number: int) -> tuple[dict, dict]:
        """A question with its reference, and the response to it."""
        names, rows = self.rows()
        vault = self.random.choice(VAULTS)
        place = f"{BANK}vault/{self.hex(12)}"
        documents = self.documents() if self.happens(0.1) else None
        expected = {
            "name": "sparql_query",
            "args": {"query": f"SELECT ?{' ?'.join(names)} WHERE {{ <{place}> ?p ?o }}"},
            "output": sparql_json(names, rows),
            "output_media_type": "application/sparql-results+json",
            "required_columns": names,
            "ordered": self.happens(0.1),
        }
        groups = [[expected]]
        if documents:
            groups[0].insert(0, expected_retrieval(documents))
        if self.happens(0.5):
            lookup = {"name": "iri_discovery", "args": {"query": vault}, "output": place}
            groups.insert(0, [lookup])
        question = {
            "id": self.hex(32),
            "question_text": f"What is kept in vault {vault}, shelf {number}?",
            "reference_answer": ", ".join(term["value"] for term in rows[0].values()),
            "reference_steps": groups,
        }
        table = self.actual_table(names, rows, expected["ordered"])
        steps = self.actual_steps(vault, place, documents, table)
        return question, self.response(question, steps)

    def actual_table(self, names: list[str], rows: list[Row], ordered: bool) -> str:
        """The table as an agent returns it: as a rule right, and looking different."""
        rows = [dict(row) for row in rows]
        if self.happens(0.1):
            self.random.choice(rows)[names[-1]] = literal("a wrong value")
        if not ordered:
            self.random.shuffle(rows)
        renamed = {name: f"{name}_found" if self.happens(0.5) else name for name in names}
        rows = [{renamed[name]: term for name, term in row.items()} for row in rows]
        names = list(renamed.values())
        self.random.shuffle(names)
        if len(names) < 4 and self.happens(0.3):
            names.append("vault")
            for row in rows:
                row["vault"] = literal(self.random.choice(VAULTS))
        return sparql_json(names, rows, indent=2)

    def actual_steps(
        self, vault: str, place: str, documents: list[dict] | None, table: str
    ) -> list[dict[str, object]]:
        found = [] if self.happens(0.1) else [{"iri": iri(place), "name": literal(vault)}]
        steps = [self.step("autocomplete_search", output=sparql_json(["iri", "name"], found, 2))]
        if self.happens(0.6):
            error = "the query has an undeclared prefix"
            steps.append(self.step("sparql_query", status="error", error=error))
        if documents:
            kept = self.random.sample(documents, self.random.randint(2, 5))
            args = {"query": "seeds", "k": len(documents)}
            steps.append(self.step("retrieval", args=args, output=json.dumps(kept)))
        if len(steps) < 2:
            probe = sparql_json(["n"], [{"n": self.count()}], 2)
            steps.append(self.step("sparql_query", output=probe))
        return steps + [self.step("sparql_query", output=table)]

    def response(self, question: dict, steps: list[dict[str, object]]) -> dict:
        if self.happens(0.05):
            error = "the agent ran out of steps"
            return {"question_id": question["id"], "status": "error", "error": error}
        tokens_in, tokens_out = self.random.randint(10**5, 3 * 10**5), self.random.randint(50, 900)
        return {
            "question_id": question["id"],
            "input_tokens": tokens_in,
            "output_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
            "elapsed_sec": self.random.uniform(3, 60),
            "actual_steps": steps,
            "actual_answer": f"The vault holds {question['reference_answer']}.",
        }


def expected_retrieval(documents: list[dict[str, str]]) -> dict[str, object]:
    args = {"query": "seeds", "k": len(documents)}
    return {"name": "retrieval", "args": args, "output": json.dumps(documents)}


def make(n_questions: int) -> tuple[list[dict], list[dict]]:
    """Templates of questions, and a response to each question."""
    maker = Maker(n_questions)
    pairs = [maker.question(number) for number in range(n_questions)]
    questions, responses = [question for question, _ in pairs], [response for _, response in pairs]
    templates = [
        {
            "template_id": f"shelf_{start // QUESTIONS_A_TEMPLATE:05}",
            "questions": questions[start : start + QUESTIONS_A_TEMPLATE],
        }
        for start in range(0, n_questions, QUESTIONS_A_TEMPLATE)
    ]
    return templates, responses


def write_yaml(templates: list[dict], path: Path) -> None:
    try:
        import yaml
    except ImportError:
        raise SystemExit("--yaml needs PyYAML: pip install pyyaml") from None
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text = yaml.dump(templates, Dumper=dumper, sort_keys=False, allow_unicode=True)
    path.write_text(text, encoding="utf-8")


def main() -> None:
    summary, _, details = __doc__.partition("\n\n")
    parser = argparse.ArgumentParser(
        description=summary, epilog=details, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", type=int, help="how many questions to make")
    parser.add_argument("outdir", type=Path, help="where to write the files")
    parser.add_argument("--yaml", action="store_true", help="write reference.yaml too")
    options = parser.parse_args()
    templates, responses = make(options.questions)
    options.outdir.mkdir(parents=True, exist_ok=True)
    (options.outdir / "reference.json").write_text(json.dumps(templates), encoding="utf-8")
    with open(options.outdir / "responses.jsonl", "w", encoding="utf-8") as file:
        file.writelines(json.dumps(response) + "\n" for response in responses)
    if options.yaml:
        write_yaml(templates, options.outdir / "reference.yaml")


if __name__ == "__main__":
    main()
