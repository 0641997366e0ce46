#!/usr/bin/env python3
"""Measures `juror reference check` on a large graph in memory, beside the same queries in Python.

Makes an invented seed bank of a million triples and a reference of 1,000 queries of five kinds: facts
of one accession, joins, paths, counts and sorted lists. Prints time and peak memory of `check`, which loads
the graph, asks all queries and compares the results, and the time in which `rdflib` loads the same file
and answers the queries one by one. As `rdflib` may take minutes, it is given a sample of the queries, and
their time is extrapolated; the output says so. The rows of the sample have to be as many.

At the first run it installs rdflib into bench/.work, which can be deleted at any time.

    python3 bench/graph.py
    python3 bench/graph.py --triples 10000000 --without-rdflib   # time and memory of a larger graph
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import build, juror, option_parser, tell

BENCH = Path(__file__).resolve().parent
FOLDER = BENCH / ".work" / "graph-env"
REQUIREMENTS = ["rdflib==7.1.4"]

BASE = "https://example.org/seeds/"
XSD = "http://www.w3.org/2001/XMLSchema#"
PER_ACCESSION = 8
TAXA, VAULTS, REGIONS = 5000, 400, 40

# Loads a graph, then answers the queries of standard input, and writes times and numbers of rows.
RDFLIB = """
import json, sys, time
import rdflib
queries = json.load(sys.stdin)
began = time.monotonic()
graph = rdflib.Graph()
graph.parse(sys.argv[1], format="nt")
loaded = time.monotonic() - began
answers = []
for query in queries:
    began = time.monotonic()
    n_rows = len(list(graph.query(query)))
    answers.append([time.monotonic() - began, n_rows])
json.dump({"load": loaded, "triples": len(graph), "answers": answers}, sys.stdout)
"""


def write_graph(path: Path, n_triples: int) -> int:
    """Writes N-Triples, always the same for the same number; returns how many accessions there are."""
    rng = random.Random(7)

    def iri(kind: str, number: int) -> str:
        return f"<{BASE}{kind}/{number}>"

    with open(path, "w") as file:
        def put(subject: str, predicate: str, thing: str) -> None:
            file.write(f"{subject} <{BASE}{predicate}> {thing} .\n")

        for taxon in range(TAXA):
            put(iri("taxon", taxon), "name", f'"taxon {taxon}"@en')
        for vault in range(VAULTS):
            put(iri("vault", vault), "inRegion", iri("region", vault % REGIONS))
        n_left = n_triples - TAXA - VAULTS
        n_accessions = n_left // PER_ACCESSION
        for number in range(n_accessions):
            own = iri("accession", number)
            put(own, "name", f'"accession {number}"')
            put(own, "ofTaxon", iri("taxon", rng.randrange(TAXA)))
            put(own, "heldBy", iri("vault", rng.randrange(VAULTS)))
            put(own, "collectedIn", f'"{rng.randint(1900, 2024)}"^^<{XSD}integer>')
            put(own, "seeds", f'"{rng.randint(1, 10 ** 6)}"^^<{XSD}integer>')
            put(own, "moisture", f'"{rng.uniform(2, 9):.2f}"^^<{XSD}decimal>')
            put(own, "tested", '"true"' if rng.random() < 0.5 else '"false"')
            put(own, "parent", iri("accession", rng.randrange(max(number, 1))))
    return n_accessions


def queries(n: int, n_accessions: int) -> list[str]:
    """Queries of five kinds, one after another."""
    rng = random.Random(8)
    prefix = f"PREFIX s: <{BASE}>\n"

    def some(kind: str, most: int) -> str:
        return f"<{BASE}{kind}/{rng.randrange(most)}>"

    kinds = [
        lambda: f"SELECT ?p ?o {{ {some('accession', n_accessions)} ?p ?o }}",
        lambda: f"SELECT ?a ?seeds {{ ?a s:ofTaxon {some('taxon', TAXA)} ; s:seeds ?seeds ; s:heldBy/s:inRegion ?r }}",
        lambda: f"SELECT ?vault ?region {{ ?a s:ofTaxon {some('taxon', TAXA)} ; s:heldBy ?vault . ?vault s:inRegion ?region }}",
        lambda: f"SELECT ?year (COUNT(?a) AS ?n) {{ ?a s:heldBy {some('vault', VAULTS)} ; s:collectedIn ?year }} GROUP BY ?year",
        lambda: f"SELECT ?a ?m {{ ?a s:heldBy {some('vault', VAULTS)} ; s:moisture ?m FILTER(?m > 8.5) }} ORDER BY DESC(?m) ?a",
    ]
    return [prefix + kinds[at % len(kinds)]() for at in range(n)]


def write_reference(path: Path, all_queries: list[str]) -> None:
    questions = [
        {"id": f"q{at}", "question_text": f"Question {at}?",
         "reference_steps": [[{"name": "sparql_query", "args": {"query": query}}]]}
        for at, query in enumerate(all_queries)
    ]
    path.write_text(json.dumps([{"template_id": "t", "questions": questions}]))


def measured(command: list[str]) -> tuple[float, float, float]:
    """Runs a command that has to succeed; returns seconds by the clock, of processors, and peak megabytes."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    complaint = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(map(str, command))} ended with {status}: {complaint}")
    return time.monotonic() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def python() -> Path:
    """A Python that has rdflib."""
    program = FOLDER / "bin" / "python"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", FOLDER], check=True)
        subprocess.run([program, "-m", "pip", "install", "--quiet", *REQUIREMENTS], check=True)
    return program


def beside_rdflib(graph: Path, reference: Path, all_queries: list[str], sample: int, seconds: float, loading: float) -> None:
    """Prints what rdflib takes, and how often that of `check` goes into it."""
    step = max(1, len(all_queries) // sample)
    # Not a multiple of the kinds, so that the sample has all of them.
    chosen = list(range(0, len(all_queries), step + 1 if step % 5 == 0 else step))
    ran = subprocess.run(
        [python(), "-c", RDFLIB, graph], input=json.dumps([all_queries[at] for at in chosen]),
        capture_output=True, text=True, check=True,
    )
    told = json.loads(ran.stdout)
    questions = json.loads(reference.read_text())[0]["questions"]
    for at, (_, n_rows) in zip(chosen, told["answers"]):
        recorded = json.loads(questions[at]["reference_steps"][0][0]["output"])
        if len(recorded["results"]["bindings"]) != n_rows:
            sys.exit(f"query {at} has {n_rows} rows in rdflib: {all_queries[at]}")
    asked = sum(own for own, _ in told["answers"])
    all_of_them = asked * len(all_queries) / len(chosen)
    tell("rdflib: loading", told["load"], "s")
    tell(f"rdflib: {len(chosen)} queries", asked, "s")
    if len(chosen) < len(all_queries):
        tell(f"rdflib: {len(all_queries)} queries, extrapolated", all_of_them, "s")
    whole = (told["load"] + all_of_them) / seconds
    alone = all_of_them / max(seconds - loading, 0.001)
    for what, ratio in [("the whole, as a multiple of check", whole), ("queries alone, as a multiple", alone)]:
        print(f"  {what:44} {ratio:>10.1f} ×   budget 20 ×  {'met' if ratio >= 20 else 'MISSED'}")


def main() -> None:
    parser = option_parser(__doc__)
    parser.add_argument("--triples", type=int, default=1_000_000)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--sample", type=int, default=200, help="how many queries rdflib is given")
    parser.add_argument("--without-rdflib", action="store_true")
    parser.add_argument("--juror", type=Path, help="a program that is built already")
    options = parser.parse_args()
    if options.juror is None:
        build("juror")
    program = options.juror or juror()
    with tempfile.TemporaryDirectory() as folder:
        graph, reference = Path(folder, "graph.nt"), Path(folder, "reference.json")
        n_accessions = write_graph(graph, options.triples)
        all_queries = queries(options.queries, n_accessions)
        write_reference(reference, all_queries)
        # Answers that are kept would be measured in place of the graph.
        asked = ["--graph", graph, "--no-graph-cache", "-q"]
        measured([program, "reference", "refresh", reference, *asked, "-o", reference])
        nothing = Path(folder, "nothing.json")
        write_reference(nothing, ["ASK {}"])
        measured([program, "reference", "refresh", nothing, *asked, "-o", nothing])
        print(f"{options.triples:,} triples, {graph.stat().st_size / 1e6:,.0f} MB of N-Triples, {len(all_queries):,} queries")
        loading, _, memory_of_loading = measured([program, "reference", "check", nothing, *asked])
        seconds, processors, memory = measured([program, "reference", "check", reference, *asked])
        tell("check of one query: loading", loading, "s")
        tell("its peak memory", memory_of_loading, "MB")
        tell(f"check of {len(all_queries)} queries: everything", seconds, "s")
        tell("time of processors", processors, "s")
        tell("peak memory", memory, "MB")
        if not options.without_rdflib:
            beside_rdflib(graph, reference, all_queries, options.sample, seconds, loading)


if __name__ == "__main__":
    main()
