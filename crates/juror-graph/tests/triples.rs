//! Graphs in memory: formats, mistakes in files, limits, named graphs.

use std::io::Write;
use std::time::Duration;

use juror_graph::{
    Answer, Graph, LoadError, LoadOptions, Query, QueryFailure, QueryLimits, QueryOptions, Triples,
};
use juror_sparql::ResultFormat;

fn parse(name: &str, text: &str) -> Result<Triples, LoadError> {
    Triples::parse(name, text.as_bytes(), &LoadOptions::default())
}

fn ask(triples: Triples, query: &str) -> Result<Answer, QueryFailure> {
    let query = Query::parse(query, &QueryOptions::default()).expect("a query");
    Graph::Triples(triples).ask(&query, &QueryLimits::default())
}

fn csv(triples: Triples, query: &str) -> String {
    ask(triples, query).expect("an answer").write(ResultFormat::Csv)
}

#[test]
fn every_format_gives_the_same_triples() {
    let files = [
        ("g.ttl", "@prefix x: <http://x.org/> . x:a x:b \"c\" ."),
        ("g.nt", "<http://x.org/a> <http://x.org/b> \"c\" ."),
        ("g.nq", "<http://x.org/a> <http://x.org/b> \"c\" ."),
        ("g.trig", "@prefix x: <http://x.org/> . { x:a x:b \"c\" }"),
        ("g.jsonld", r#"{"@id": "http://x.org/a", "http://x.org/b": "c"}"#),
        (
            "g.rdf",
            r#"<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x.org/"><rdf:Description rdf:about="http://x.org/a"><x:b>c</x:b></rdf:Description></rdf:RDF>"#,
        ),
    ];
    for (name, text) in files {
        let triples = parse(name, text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(
            csv(triples, "SELECT ?s ?p ?o { ?s ?p ?o }"),
            "s,p,o\nhttp://x.org/a,http://x.org/b,c\n"
        );
    }
}

#[test]
fn several_files_are_one_graph_and_may_be_compressed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (plain, packed) = (path("a.nt"), path("b.ttl.gz"));
    std::fs::write(&plain, "<x:a> <x:p> _:n .\n_:n <x:q> \"1\" .\n").expect("written");
    let file = std::fs::File::create(&packed).expect("a file");
    let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    gzip.write_all(b"<x:b> <x:p> _:n . _:n <x:q> \"2\" .").expect("written");
    gzip.finish().expect("written");
    let mut told = Vec::new();
    let load = |told: &mut Vec<usize>| {
        Triples::load(&[plain.clone(), packed.clone()], &LoadOptions::default(), &mut |loading| {
            told.push(loading.triples);
        })
        .expect("loaded")
    };
    let triples = load(&mut told);
    assert_eq!((triples.len(), told.last()), (4, Some(&4)));
    // A blank node is that of its file.
    let query = "SELECT ?s ?o { ?s <x:p>/<x:q> ?o } ORDER BY ?s";
    assert_eq!(csv(triples, query), "s,o\nx:a,1\nx:b,2\n");
    let blank = "SELECT ?n { ?s <x:p> ?n }";
    assert_eq!(
        csv(load(&mut told), blank),
        csv(load(&mut told), blank),
        "the same from run to run"
    );
}

#[test]
fn mistakes_in_files_have_a_place() {
    let told = |name: &str, text: &str| parse(name, text).expect_err("a mistake").to_string();
    let turtle = told("g.ttl", "@prefix x: <http://x.org/> .\nx:a x:b x:c .\nx:a y:b x:c .\n");
    assert!(turtle.starts_with("g.ttl:3:5: "), "{turtle}");
    assert!(turtle.contains("y:"), "{turtle}");
    let cut = told("g.nt", "<x:a> <x:b> <x:c> .\n<x:a> <x:b>");
    assert!(cut.starts_with("g.nt:2:"), "{cut}");
    let unknown = told("g.csv", "a,b");
    assert!(unknown.starts_with("g.csv: its name does not say which format"), "{unknown}");
    let missing = Triples::load(&["none.ttl".into()], &LoadOptions::default(), &mut |_| ());
    let missing = missing.expect_err("no file").to_string();
    assert!(missing.starts_with("none.ttl: "), "{missing}");
}

fn numbered_triples(n_triples: usize) -> String {
    let triples: Vec<String> = (0..n_triples).map(|n| format!("<x:{n}> <x:p> {n} .\n")).collect();
    triples.concat()
}

#[test]
fn a_graph_that_is_too_large_says_what_it_would_take() {
    let text = numbered_triples(100);
    let options = LoadOptions { most_triples: 50, ..LoadOptions::default() };
    let error = Triples::parse("g.ttl", text.as_bytes(), &options).expect_err("too large");
    let told = error.to_string();
    assert!(told.starts_with("g.ttl: more than 50 triples, which take about 0 MB"), "{told}");
    assert!(told.contains("--graph-triples"), "{told}");
}

#[test]
fn named_graphs_are_found_by_name_or_in_the_union() {
    let quads = "<x:a> <x:p> 1 . <x:g> { <x:a> <x:p> 2 } <x:h> { <x:a> <x:p> 3 . <x:a> <x:p> 1 }";
    let rows = [
        ("SELECT ?o { <x:a> <x:p> ?o }", "1"),
        ("SELECT ?o { GRAPH <x:g> { <x:a> <x:p> ?o } }", "2"),
        ("SELECT ?o { GRAPH ?g { <x:a> ?p ?o } } ORDER BY ?o", "1 2 3"),
        ("SELECT ?o FROM <x:h> { <x:a> <x:p> ?o } ORDER BY ?o", "1 3"),
        ("SELECT ?o FROM <x:g> FROM <x:h> { ?s <x:p> ?o } ORDER BY ?o", "1 2 3"),
        ("SELECT ?o { GRAPH <x:none> { ?s ?p ?o } }", ""),
        ("SELECT (?g AS ?o) { GRAPH ?g { } } ORDER BY ?g", "x:g x:h"),
    ];
    for (query, wanted) in rows {
        let text = csv(parse("g.trig", quads).expect("TriG"), query);
        let found: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(found.join(" "), wanted, "{query}");
    }
    let options = LoadOptions { union_default: true, ..LoadOptions::default() };
    let union = Triples::parse("g.trig", quads.as_bytes(), &options).expect("TriG");
    assert_eq!(csv(union, "SELECT ?o { ?s ?p ?o } ORDER BY ?o"), "o\n1\n2\n3\n");
    let only = parse("g.trig", "<x:g> { <x:a> <x:p> 2 }").expect("TriG");
    assert!(only.has_only_named() && only.n_named() == 1);
}

#[test]
fn a_query_stops_when_its_time_is_up_and_when_its_table_is_full() {
    let text = numbered_triples(300);
    let graph = Graph::Triples(parse("g.ttl", &text).expect("Turtle"));
    let all = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }";
    let query = Query::parse(all, &QueryOptions::default()).expect("a query");
    let limits = QueryLimits { timeout: Duration::from_millis(20), ..QueryLimits::default() };
    assert_eq!(graph.ask(&query, &limits), Err(QueryFailure::TimedOut(limits.timeout)));
    let query = Query::parse("SELECT * { ?a ?b ?c . ?d ?e ?f }", &QueryOptions::default());
    let limits = QueryLimits { cells: 1000, ..QueryLimits::default() };
    assert_eq!(graph.ask(&query.expect("a query"), &limits), Err(QueryFailure::TooLarge(1000)));
    for triples in ["CONSTRUCT { ?a ?b ?c } { ?a ?b ?c }", "DESCRIBE <x:1>"] {
        let query = Query::parse(triples, &QueryOptions::default()).expect("a query");
        let failure = graph.ask(&query, &QueryLimits::default()).expect_err("triples");
        assert!(failure.to_string().ends_with("gives triples, not a table or a truth"));
    }
}

#[test]
fn a_query_that_would_be_planned_for_minutes_is_not_evaluated() {
    let triples = || parse("a.ttl", "<x:a> <x:p> <x:b> .").expect("triples");
    let joins = |n: usize| format!("ASK {{ {} }}", "?a ?b ?c . ".repeat(n));
    // The MINUS keeps the evaluator from using its first plan of what is optional.
    let optional = |n: usize| {
        let open = "OPTIONAL { ?a ?b ?c MINUS { ?x ?y ?z } ".repeat(n);
        format!("ASK {{ ?a ?b ?c {open} {} }}", "}".repeat(n))
    };
    for (large, small) in [(joins(250), joins(40)), (optional(40), optional(8))] {
        let failure = ask(triples(), &large).expect_err("too much");
        assert_eq!(failure, QueryFailure::TooManyJoins, "{large}");
        assert!(failure.hint().is_some());
        assert_eq!(ask(triples(), &small), Ok(Answer::Truth(true)), "{small}");
    }
}

#[test]
fn values_that_only_the_query_knows_compare_with_those_of_the_graph() {
    let text = "<x:a> <x:p> 5 , 5.0 , \"5\" , \"fünf\"@de . <x:b> <x:p> 2 .";
    let rows = [
        ("SELECT ?o { <x:a> <x:p> ?o FILTER(?o = 5) } ORDER BY STR(?o)", "5 5.0"),
        ("SELECT ?o { ?s <x:p> ?n BIND(?n + 3 AS ?o) FILTER(?s = <x:b>) }", "5"),
        ("SELECT ?o { VALUES ?o { 5 7 } ?s <x:p> ?o }", "5"),
        ("SELECT ?o { BIND(2 + 3 AS ?o) <x:a> <x:p> ?o }", "5"),
        ("SELECT ?o { <x:a> <x:p> ?o FILTER(LANG(?o) = 'de') }", "fünf"),
        ("SELECT (SUM(?v) AS ?o) { VALUES ?v { 1 2 39 } }", "42"),
        ("SELECT ?o { <x:a> <x:p> ?o FILTER REGEX(?o, '^F', 'i') }", "fünf"),
    ];
    for (query, wanted) in rows {
        let text = csv(parse("g.ttl", text).expect("Turtle"), query);
        let found: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(found.join(" "), wanted, "{query}");
    }
}

#[test]
fn a_file_that_is_not_what_its_name_says_is_told_as_what_it_is_read() {
    for (name, format) in [("g.owl", "RDF/XML"), ("g.rdf", "RDF/XML"), ("g.txt", "N-Triples")] {
        let error = Triples::parse(name, b"@prefix : <x:> . :a :b :c .", &LoadOptions::default());
        let told = error.expect_err(name).to_string();
        assert!(told.contains(&format!("hint: it is read as {format} by the ending")), "{told}");
    }
    let turtle = Triples::parse("g.ttl", b"no", &LoadOptions::default()).expect_err("no Turtle");
    assert!(!turtle.to_string().contains("hint"), "{turtle}");
}
