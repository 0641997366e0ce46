//! Endpoints over HTTP on loopback: one that answers from triples in memory, and those that misbehave.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use juror_graph::{
    Answer, Endpoint, EndpointFailure, EndpointOptions, Graph, LoadOptions, Query, QueryFailure,
    QueryLimits, QueryOptions, Triples,
};
use juror_sparql::ResultFormat;
use juror_testing::{HttpReply, HttpRequest, HttpServer};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};

const CITIES: &str = "@prefix : <http://example.org/> .
    :oslo :in :norway ; :name \"Oslo\"@no ; :people 709037 .
    :rome :in :italy ; :name \"Rome, \\\"eternal\\\"\" ; :height 21.0 .
    [] :in :italy ; :name 'Nemi' .";

fn triples() -> Triples {
    Triples::parse("cities.ttl", CITIES.as_bytes(), &LoadOptions::default()).expect("Turtle")
}

fn query(text: &str) -> Query {
    let text = format!("PREFIX : <http://example.org/>\n{text}");
    Query::parse(&text, &QueryOptions::default()).expect("a query")
}

/// The query of a request, as the protocol sends it.
fn asked(request: &HttpRequest) -> String {
    assert_eq!(request.header("content-type"), Some("application/x-www-form-urlencoded"));
    let mut fields = url::form_urlencoded::parse(&request.body);
    fields.find(|(name, _)| name == "query").expect("a query").1.into_owned()
}

fn endpoint(server: &HttpServer) -> Graph {
    let options = EndpointOptions { first_wait: Duration::ZERO, ..EndpointOptions::default() };
    Graph::Endpoint(Endpoint::new(&server.url("/sparql"), options).expect("an endpoint"))
}

fn failure(server: &HttpServer, limits: &QueryLimits) -> QueryFailure {
    endpoint(server).ask(&query("ASK { ?s ?p ?o }"), limits).expect_err("a failure")
}

fn fails_by(reply: HttpReply) -> QueryFailure {
    failure(&HttpServer::start(move |_| reply.clone()), &QueryLimits::default())
}

#[test]
fn an_endpoint_and_triples_in_memory_give_the_same_answers_in_every_format() {
    let formats = [
        (ResultFormat::Json, "application/sparql-results+json; charset=utf-8"),
        (ResultFormat::Json, "application/json"),
        (ResultFormat::Xml, "application/sparql-results+xml"),
        (ResultFormat::Tsv, "text/tab-separated-values"),
        (ResultFormat::Xml, "text/plain"),
    ];
    for (format, media_type) in formats {
        let server = HttpServer::start(move |request| {
            let asked = Query::parse(&asked(request), &QueryOptions::default()).expect("a query");
            let answer = Graph::Triples(triples()).ask(&asked, &QueryLimits::default());
            HttpReply::of(200, media_type, answer.expect("an answer").write(format))
        });
        let (remote, local) = (endpoint(&server), Graph::Triples(triples()));
        for text in [
            "SELECT * { ?city :in ?land } ORDER BY ?city",
            "SELECT ?name ?people ?height { ?city :name ?name OPTIONAL { ?city :people ?people } OPTIONAL { ?city :height ?height } }",
            "SELECT ?none { ?none :in :france }",
            "SELECT (COUNT(*) AS ?n) { ?city :in/^:in :rome }",
        ] {
            let query = query(text);
            let limits = QueryLimits::default();
            let (one, other) = (remote.ask(&query, &limits), local.ask(&query, &limits));
            assert_eq!(one, other, "{media_type}: {text}");
        }
        // TSV has no form for truths.
        if format != ResultFormat::Tsv {
            let ask = query("ASK { :oslo :in :norway }");
            assert_eq!(remote.ask(&ask, &QueryLimits::default()), Ok(Answer::Truth(true)));
        }
    }
}

#[test]
fn headers_are_sent_and_never_told() {
    let server = HttpServer::start(|request| {
        assert_eq!(request.header("authorization"), Some("Bearer s3cret-token-of-ours"));
        assert!(
            request.header("accept").is_some_and(|kinds| kinds.contains("sparql-results+json"))
        );
        HttpReply::of(500, "text/plain", "no table for s3cret-token-of-ours\nand nobody else")
    });
    let mut value = HeaderValue::from_static("Bearer s3cret-token-of-ours");
    value.set_sensitive(true);
    let headers = HeaderMap::from_iter([(AUTHORIZATION, value)]);
    let address = server
        .url("/sparql?key=an0ther-secret-of-ours-7")
        .replace("http://", "http://me:pass-word-9@");
    let endpoint =
        Endpoint::new(&address, EndpointOptions { headers, ..EndpointOptions::default() });
    let graph = Graph::Endpoint(endpoint.expect("an endpoint"));
    let failure = graph.ask(&query("ASK { ?s ?p ?o }"), &QueryLimits::default()).expect_err("500");
    assert_eq!(
        failure.to_string(),
        "the endpoint failed (HTTP 500): no table for *** and nobody else"
    );
    let shown = format!("{} {graph:?}", graph.describe());
    for secret in ["s3cret", "an0ther", "pass-word-9"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[test]
fn what_is_no_result_is_told_as_what_it_is() {
    let page = "<!DOCTYPE html><p>Welcome</p>";
    let rows = [
        (
            HttpReply::of(200, "text/html", page),
            "the endpoint sends an HTML page, not SPARQL results",
        ),
        (
            HttpReply::of(200, "text/turtle", "<a> <b> <c> ."),
            "the endpoint sends `text/turtle`, not SPARQL results",
        ),
        (
            HttpReply::of(401, "text/html", page),
            "the endpoint asks for a password or key (HTTP 401)",
        ),
        (
            HttpReply::of(400, "text/plain", "MALFORMED QUERY:\n  no such thing"),
            "the endpoint refuses the query: MALFORMED QUERY: no such thing",
        ),
        (HttpReply::of(404, "text/html", page), "the endpoint failed (HTTP 404)"),
        (HttpReply::of(302, "text/html", page), "the endpoint failed (HTTP 302)"),
        (
            HttpReply::of(200, "application/sparql-results+xml", BAD_IRI),
            "the result has a value that RDF does not allow: ",
        ),
    ];
    for (reply, told) in rows {
        let failure = fails_by(reply);
        let is_whole = !told.ends_with(' ');
        assert!(failure.to_string().starts_with(told), "{failure}");
        assert!(!is_whole || failure.to_string() == told, "{failure}");
        let is_ours = told.contains("refuses the query") || !is_whole;
        assert_eq!(failure.is_outside(), !is_ours, "{told}");
    }
    let elsewhere = vec![("Location".to_owned(), "https://x.example/login?key=1".to_owned())];
    let elsewhere = fails_by(HttpReply::Whole(302, elsewhere, Vec::new()));
    assert_eq!(
        elsewhere.to_string(),
        "the endpoint redirects to `https://x.example/login` (HTTP 302)"
    );
    assert!(elsewhere.hint().is_some_and(|hint| hint.contains("name that address")));
    let garbled = fails_by(HttpReply::of(200, "application/sparql-results+json", "{\"head\": oh}"));
    assert!(
        garbled.to_string().starts_with("the endpoint's reply is no SPARQL result"),
        "{garbled}"
    );
}

/// A result whose IRI has a space.
const BAD_IRI: &str = r#"<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="a"/></head><results><result><binding name="a"><uri>http://x/a b</uri></binding></result></results></sparql>"#;

#[test]
fn an_endpoint_with_terms_that_are_none_is_not_given_up() {
    let json = r#"{"head":{"vars":["a"]},"results":{"bindings":[{"a":{"type":"uri","value":"http://x/a b"}}]}}"#;
    for (media_type, reply) in
        [("application/sparql-results+json", json), ("application/sparql-results+xml", BAD_IRI)]
    {
        let server = HttpServer::start(move |_| HttpReply::of(200, media_type, reply));
        let graph = endpoint(&server);
        for _ in 0..7 {
            let answer = graph.ask(&query("SELECT ?a { ?a ?b ?c }"), &QueryLimits::default());
            match answer {
                Ok(answer) => assert_eq!(answer.write(ResultFormat::Json), json),
                Err(failure) => assert!(matches!(failure, QueryFailure::BadTerm(_)), "{failure}"),
            }
        }
        assert_eq!(server.seen().len(), 7, "{media_type}");
    }
}

#[test]
fn a_reply_that_is_cut_off_or_never_comes_is_told() {
    let cut = fails_by(HttpReply::CutOff(br#"{"head": {}, "boolean": true}"#.to_vec()));
    assert!(matches!(cut, QueryFailure::Endpoint(EndpointFailure::CutOff(_))), "{cut:?}");
    let limits = QueryLimits { timeout: Duration::from_millis(50), ..QueryLimits::default() };
    let hanging = failure(&HttpServer::start(|_| HttpReply::Hang), &limits);
    assert_eq!(hanging.to_string(), "the endpoint did not answer within 0.05 s");
    let limits = QueryLimits { bytes: 20, ..QueryLimits::default() };
    let long = HttpReply::of(200, "application/json", r#"{"head": {}, "boolean": true}"#);
    let long = failure(&HttpServer::start(move |_| long.clone()), &limits);
    assert_eq!(long.to_string(), "the endpoint's reply has more than 20 bytes");
}

#[test]
fn a_busy_endpoint_is_asked_again_and_one_that_is_down_is_given_up() {
    let n = Arc::new(AtomicUsize::new(0));
    let server = HttpServer::start(move |_| match n.fetch_add(1, Ordering::Relaxed) {
        0 | 1 => HttpReply::of(503, "text/plain", "starting"),
        _ => HttpReply::of(200, "application/json", r#"{"boolean": true}"#),
    });
    let ask = query("ASK { ?s ?p ?o }");
    assert_eq!(endpoint(&server).ask(&ask, &QueryLimits::default()), Ok(Answer::Truth(true)));
    assert_eq!(server.seen().len(), 3);

    let server = HttpServer::start(|_| HttpReply::of(401, "text/plain", ""));
    let graph = endpoint(&server);
    for _ in 0..8 {
        graph.ask(&ask, &QueryLimits::default()).expect_err("denied");
    }
    assert_eq!(server.seen().len(), 5);
    let last = graph.ask(&ask, &QueryLimits::default()).expect_err("given up");
    assert_eq!(last.to_string(), "not asked: the endpoint failed 5 times in a row");
}
