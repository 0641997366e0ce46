//! Knowledge graphs: RDF files, queries, templates of references, and what references keep of a graph.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use juror_document::{Document, Format};
use juror_graph::{
    Answer, Graph, Literal, LoadOptions, Query, QueryLimits, QueryOptions, QueryPattern, Term,
    Triples, with_room,
};
use juror_read::read_reference;
use juror_reference::{AskOptions, AskedGraph, Choice, Reviewed, Templates, lint};
use juror_score::KindNames;
use juror_sparql::ResultFormat;

use super::{Kind, Target, seeds, shapes};

/// What queries are asked of.
const CITIES: &str = "@prefix : <x:> . :oslo :in :norway ; :name 'Oslo', \"Oslo\"@nb ; :people 717710 .
    :rome :in :italy ; :name 'Rome' ; :founded '-0752-04-21'^^<http://www.w3.org/2001/XMLSchema#date> .
    [] :about :oslo, :rome .";

/// What a query may take here. One that is stopped has taken its time.
const LIMITS: QueryLimits =
    QueryLimits { timeout: Duration::from_millis(100), cells: 10_000, bytes: 1 << 20 };

pub(super) fn all() -> Vec<Target> {
    vec![
        of_terms(Target::new("rdf-turtle", seeds::turtle, turtle)).hurt_by(&[shapes::deep_turtle]),
        of_terms(Target::new("rdf-n-triples", seeds::n_triples, n_triples)),
        of_terms(Target::new("rdf-trig", seeds::trig, trig)).hurt_by(&[shapes::deep_turtle]),
        of_terms(Target::new("rdf-xml", seeds::rdf_xml, rdf_xml)).hurt_by(&[shapes::deep_xml]),
        of_terms(Target::new("rdf-json-ld", seeds::json_ld, json_ld)).hurt_by(&[shapes::deep_json]),
        of_queries(Target::new("sparql-queries", seeds::sparql_queries, queries))
            .hurt_by(&[shapes::deep_query, shapes::joined_query]),
        of_queries(Target::new("query-patterns", seeds::query_patterns, patterns)),
        of_queries(Target::new("templates", seeds::templates, templates)),
        Target {
            kind: Kind::Comparison,
            ..of_queries(Target::new("refresh", seeds::asking_references, refresh))
        },
    ]
}

/// A triple takes 36 bytes of index, sorted three times, and a line of N-Triples may have 13; terms are held
/// in hash tables that grow by doubling. Parsers of RDF have buffers of their own.
const fn of_terms(target: Target) -> Target {
    target.in_memory(96 << 20).within(200)
}

/// A query may run for as long as [`LIMITS`] say, a file may have several, and is refreshed twice.
const fn of_queries(target: Target) -> Target {
    target.in_memory(128 << 20).within(2_000)
}

fn turtle(input: &[u8], _: &Path) {
    rdf("a.ttl", input);
}

fn n_triples(input: &[u8], _: &Path) {
    rdf("a.nt", input);
}

fn trig(input: &[u8], _: &Path) {
    rdf("a.trig", input);
}

fn rdf_xml(input: &[u8], _: &Path) {
    rdf("a.rdf", input);
}

fn json_ld(input: &[u8], _: &Path) {
    rdf("a.jsonld", input);
}

/// Reads a graph, asks for all of it, and reads the answer back.
fn rdf(name: &str, input: &[u8]) {
    let options =
        LoadOptions { union_default: input.len().is_multiple_of(2), ..LoadOptions::default() };
    match Triples::parse(name, input, &options) {
        Ok(triples) => {
            black_box((triples.len(), triples.extent()));
            // One in four is asked: asking takes a thread, and reading is what is tested here.
            if input.len().is_multiple_of(4) {
                ask(&Graph::Triples(triples), "SELECT ?s ?p ?o { ?s ?p ?o } LIMIT 50");
            }
        }
        Err(error) => drop(black_box(error.to_string())),
    }
}

/// Asks a query. Its answer is the same after it was written and read.
fn ask(graph: &Graph, query: &str) {
    let Ok(query) = Query::parse(query, &QueryOptions::default()) else { return };
    match graph.ask(&query, &LIMITS) {
        Ok(answer) => {
            for format in [ResultFormat::Json, ResultFormat::Xml, ResultFormat::Tsv] {
                let written = answer.write(format);
                black_box(answer.without_blank_labels());
                if let Some(again) = Answer::parse(&written, format) {
                    let twice = again.write(format);
                    assert!(twice == written, "an answer changes: {written:?} {twice:?}");
                } else {
                    let is_truth =
                        matches!(answer, Answer::Truth(_)) && format == ResultFormat::Tsv;
                    assert!(
                        is_truth || has_odd_text(&written),
                        "an answer is not read: {written:?}"
                    );
                }
            }
        }
        Err(failure) => drop(black_box((failure.to_string(), failure.hint()))),
    }
}

/// Whether a text has characters that XML cannot have.
fn has_odd_text(text: &str) -> bool {
    text.chars()
        .any(|c| (c.is_control() && !"\t\n\r".contains(c)) || matches!(c, '\u{fffe}' | '\u{ffff}'))
}

fn cities() -> Graph {
    let triples = Triples::parse("cities.ttl", CITIES.as_bytes(), &LoadOptions::default());
    Graph::Triples(triples.unwrap_or_default())
}

fn queries(input: &[u8], _: &Path) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let prefixes = vec![("p".to_owned(), "x:".to_owned())];
    let options = QueryOptions { prefixes, allow_service: input.len().is_multiple_of(8) };
    with_room(|| match Query::parse(text, &options) {
        Ok(query) => {
            black_box((query.form(), query.columns(), query.is_ordered(), query.is_distinct()));
            black_box((query.cuts_without_order(), query.is_repeatable()));
            // What endpoints get is what was read.
            let again =
                Query::parse(query.text(), &QueryOptions { prefixes: Vec::new(), ..options });
            assert!(again.is_ok_and(|again| again.form() == query.form()), "{:?}", query.text());
            if !query.text().contains("SERVICE") {
                ask(&cities(), text);
            }
        }
        Err(refusal) => drop(black_box((refusal.to_string(), refusal.hint()))),
    });
}

fn patterns(input: &[u8], _: &Path) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    with_room(|| {
        let Ok(pattern) = QueryPattern::parse(text, &QueryOptions::default()) else { return };
        black_box((pattern.names().count(), pattern.quoted_names().count()));
        for term in [Literal::new_simple_literal("a\"\\\n} UNION {"), Literal::from(5)] {
            let term = Term::Literal(term);
            let Ok(filled) = pattern.fill(|_| Some(&term)) else { continue };
            let read = Query::parse(&filled, &QueryOptions::default());
            let is_same = read.is_ok_and(|read| read.form() == pattern.query().form());
            assert!(is_same, "a value is no value: {filled:?}");
        }
    });
}

fn ask_options() -> AskOptions {
    AskOptions { limits: LIMITS, ..AskOptions::default() }
}

fn templates(input: &[u8], _: &Path) {
    let Ok(document) = Document::new("templates.yaml", input.to_vec(), Format::Yaml) else {
        return;
    };
    match Templates::read(&document, &ask_options()) {
        Ok(templates) if templates.len() <= 4 => {
            let choice = Choice { limit: 3, most_rows: 10, ..Choice::default() };
            let mut graph = AskedGraph::from(cities());
            if let Ok(made) = templates.make(&mut graph, &ask_options(), &choice, &mut |_| ()) {
                black_box((made.templates.len(), made.doubts.len()));
            }
        }
        Ok(_) => {}
        Err(problems) => drop(black_box(problems.to_string())),
    }
}

/// Puts results into a reference. What comes out is read as one, and is fresh.
fn refresh(input: &[u8], _: &Path) {
    let format =
        if input.trim_ascii_start().starts_with(b"[") { Format::Json } else { Format::Yaml };
    let Some(first) = refreshed(input, format) else { return };
    let Some(second) = refreshed(first.as_bytes(), format) else {
        panic!("not read again: {first:?}")
    };
    assert!(first == second, "refreshing twice differs: {first:?} {second:?}");
}

fn refreshed(input: &[u8], format: Format) -> Option<String> {
    let document = Document::new("reference", input.to_vec(), format).ok()?;
    let dataset = read_reference(&document).ok()?;
    let doubted = lint(&document, &dataset, &KindNames::NONE, &QueryOptions::default()).1;
    black_box(doubted.len());
    let mut graph = AskedGraph::from(cities());
    let (options, mut progress) = (ask_options(), |_| ());
    let asked = Reviewed::ask(&document, &dataset, &mut graph, &options, None, &mut progress);
    let refreshed = asked.ok()?.refresh(&document, &dataset);
    refreshed.map_err(|error| black_box(error.to_string())).ok().map(|refreshed| refreshed.text)
}
