//! What else is told of a reference that was true once: answers, results without rows, queries that are not
//! there, and endpoints that send what no graph holds.

use super::{Endpoint, JSON, Place, query_of, questions, without_one_triple};
use juror_testing::{HttpReply, HttpServer};
use serde_json::{Value, json};

fn place() -> Place {
    Place(tempfile::tempdir().expect("a folder"))
}

#[test]
fn answers_that_may_be_out_of_date_are_told_by_check_and_refresh() {
    let place = Place::with_example();
    place.write("moved.ttl", &without_one_triple());
    let told = "warning: 1 reference answer may be out of date, since the results of its question moved: taxa-fern-vault\n  hint: compare `reference_answer`";
    let check = place.run("reference check reference.yaml --graph moved.ttl");
    assert!(check.code == 1 && check.stderr.contains(told), "{check}");
    let checked = place.json("reference check reference.yaml --json --graph moved.ttl");
    assert_eq!(checked["answers_in_doubt"], json!(["taxa-fern-vault"]));
    let refresh = place.run("reference refresh reference.yaml -o fresh.yaml --graph moved.ttl");
    assert!(refresh.code == 0 && refresh.stderr.contains(told), "{refresh}");
    let again = place.run("reference check fresh.yaml --graph moved.ttl");
    assert!(again.code == 0 && !again.stderr.contains("out of date"), "{again}");
}

#[test]
fn results_that_become_empty_are_told_and_doubted() {
    let place = Place::with_example();
    place.write("empty.ttl", "");
    let refresh = place.run("reference refresh reference.yaml -q -o fresh.yaml --graph empty.ttl");
    assert_eq!(refresh.code, 0, "{refresh}");
    let told = "fresh results have no rows: taxa-palm-court, taxa-fern-vault, ";
    assert!(refresh.stderr.contains(told) && refresh.stderr.contains("a typo in a query"));
    let lint = place.run("reference lint fresh.yaml");
    assert!(lint.code == 1 && lint.stdout.contains("the result has no rows"), "{lint}");

    let query = "SELECT ?a { ?a <x:none> ?b }";
    let step = format!("{{name: sparql_query, args: {{query: '{query}'}}}}");
    place.write("one.yaml", &one_question(&step));
    let filled = place.run("reference refresh one.yaml -o one.yaml --graph graph.ttl");
    assert!(
        filled.code == 0 && filled.stderr.contains("1 fresh result has no rows: q"),
        "{filled}"
    );
}

fn one_question(step: &str) -> String {
    format!(
        "- template_id: t\n  questions:\n  - id: q\n    question_text: What is it?\n    reference_steps:\n    - - {step}\n"
    )
}

#[test]
fn a_check_of_no_queries_does_not_pass() {
    let place = Place::with_example();
    place.write("none.yaml", &one_question("{name: query, args: {query: 'ASK {}'}}"));
    for options in ["", " --json", " -q"] {
        let check = place.run(&format!("reference check none.yaml --graph graph.ttl{options}"));
        assert_eq!(check.code, 2, "{check}");
        assert!(check.stderr.contains("none.yaml: no step has a query\n  hint: "), "{check}");
        assert!(check.stderr.contains("`steps.kinds` in settings"), "{check}");
    }
    place.write("juror.yaml", "steps:\n  kinds: {query: sparql_query}\n");
    let named = place.run("reference check none.yaml --graph graph.ttl -c juror.yaml");
    assert!(named.code == 1 && named.stdout.contains("1 new"), "{named}");
}

/// An endpoint that gives an IRI with a space for values, and a proper one.
fn sloppy() -> HttpServer {
    HttpServer::start(|request| {
        let iri = |value: &str| json!({"type": "uri", "value": value});
        let name = |value: &str| json!({"type": "literal", "value": value});
        let (columns, rows) = if query_of(request).contains("x:values") {
            let rows = ["x:a b", "x:c", "x:d> } #"];
            let rows = rows.map(|own| json!({"a": iri(own), "n": name(own)}));
            (json!(["a", "n"]), json!(rows))
        } else {
            (json!(["o"]), json!([{"o": iri("http://x/a b")}]))
        };
        let result = json!({"head": {"vars": columns}, "results": {"bindings": rows}});
        HttpReply::of(200, JSON, result.to_string())
    })
}

#[test]
fn an_iri_that_is_none_is_a_value_as_any_other_and_costs_no_more_than_its_row() {
    let (place, server) = (place(), sloppy());
    let graph = server.url("/sparql");
    let step = |at: usize| {
        format!(
            "  - {{id: q{at}, question_text: x, reference_steps: [[{{name: sparql_query, args: {{query: 'SELECT ?o {{ <x:{at}> ?p ?o }}'}}}}]]}}\n"
        )
    };
    let steps: String = (0..9).map(step).collect();
    place.write("reference.yaml", &format!("- template_id: t\n  questions:\n{steps}"));
    let refresh = format!("reference refresh reference.yaml -o fresh.yaml --graph {graph}");
    let ended = place.run(&refresh);
    assert_eq!(ended.code, 0, "{ended}");
    let check = place.run(&format!("reference check fresh.yaml --graph {graph}"));
    assert!(check.code == 0 && check.stdout.ends_with("\n9 same\n"), "{check}");

    place.write("templates.yaml", "- template_id: t\n  values: 'SELECT ?a ?n { ?a <x:values> ?n }'\n  question_text: What of {n}?\n  reference_steps:\n  - - {name: sparql_query, args: {query: 'SELECT ?o { {a} <x:p> ?o }'}}\n");
    let new = place.run(&format!("reference new templates.yaml -o new.yaml --graph {graph}"));
    assert_eq!(new.code, 0, "{new}");
    assert!(
        new.stderr.contains("2 rows of values have an empty cell, a blank node or no proper IRI")
    );
    assert!(place.read("new.yaml").contains("What of x:c?"));
    assert!(server.seen().iter().all(|seen| !query_of(seen).contains("} #")));
}

#[test]
fn a_dead_endpoint_is_told_once_for_all_questions() {
    let place = place();
    let ids: Vec<String> = (0..12).map(|at| format!("q{at}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    place.write("reference.yaml", &questions(&ids));
    place.write("responses.jsonl", "{\"question_id\": \"q0\", \"actual_steps\": []}\n");
    let down = HttpServer::start(|_| HttpReply::of(500, "text/plain", "down"));
    let graph = format!("--graph {} -j 1", down.url("/sparql"));
    let eval = place.run(&format!("eval reference.yaml responses.jsonl --no-model {graph}"));
    assert_eq!(eval.code, 3, "{eval}");
    let told = "5 recorded results count, since the graph gives none: the endpoint failed (HTTP 500): down\n  questions: q0, q1, q2, q3, q4\n";
    assert!(eval.stderr.contains(told), "{eval}");
    assert_eq!(eval.stderr.matches("since the graph gives none").count(), 2, "{eval}");
    let refresh = place.run(&format!("reference refresh reference.yaml {graph}"));
    assert!(refresh.stderr.contains("7 outputs stay as they are: not asked: "), "{refresh}");
}

#[test]
fn a_graph_that_is_neither_a_file_nor_an_endpoint_is_told_as_such() {
    let place = Place::with_example();
    let ended = place.run("reference check reference.yaml --graph ftp://x.example/graph.ttl");
    assert_eq!(ended.code, 2, "{ended}");
    assert!(
        ended.stderr.contains("a graph is a file, or an endpoint with http or https"),
        "{ended}"
    );
}

#[test]
fn what_aliases_share_is_refreshed_and_judged() {
    let (place, endpoint) = (place(), Endpoint::start("<x:a> <x:p> 'new' ."));
    let output = r#"{"head": {"vars": ["o"]}, "results": {"bindings": [{"o": {"type": "literal", "value": "old"}}]}}"#;
    let first = format!(
        "{{name: sparql_query, args: &args {{query: 'SELECT ?o {{ ?s <x:p> ?o }}'}}, output: &out '{output}', output_media_type: {JSON}}}"
    );
    let second = format!(
        "  - id: r\n    question_text: And this?\n    reference_steps:\n    - - {{name: sparql_query, args: *args, output: *out, output_media_type: {JSON}}}\n"
    );
    // The answer is the same text, so that it cannot be replaced alone.
    let third = "  - {id: s, question_text: Again?, reference_answer: *out}\n";
    let graph = endpoint.url();
    place.write("reference.yaml", &format!("{}{second}", one_question(&first)));
    let refresh =
        place.run(&format!("reference refresh reference.yaml -o fresh.yaml --graph {graph}"));
    assert_eq!(refresh.code, 0, "{refresh}");
    let text = place.read("fresh.yaml");
    assert!(text.contains("output: &out '") && text.contains("output: *out"), "{text}");
    let check = place.run(&format!("reference check fresh.yaml --graph {graph}"));
    assert!(check.code == 0 && check.stdout.ends_with("\n2 same\n"), "{check}");

    place.write("reference.yaml", &format!("{}{second}{third}", one_question(&first)));
    let left = place.run(&format!("reference refresh reference.yaml --graph {graph}"));
    assert_eq!(left.code, 1, "{left}");
    let told = "reference.yaml:6:50: 2 outputs stay as they are: another part of the file";
    assert!(left.stderr.contains(told), "{left}");
    let response = |id: &str| {
        let step = json!({"name": "sparql_query", "id": "1", "status": "success", "args": {},
            "output": output.replace("old", "new")});
        json!({"question_id": id, "actual_steps": [step]}).to_string() + "\n"
    };
    place.write("responses.jsonl", &(response("q") + &response("r")));
    let eval = "eval reference.yaml responses.jsonl --no-model -o results.json";
    let eval = place.run(&format!("{eval} --graph {graph}"));
    assert_eq!(eval.code, 0, "{eval}");
    let results: Value = serde_json::from_str(&place.read("results.json")).expect("JSON");
    for result in results.as_array().expect("results").iter().take(2) {
        assert_eq!(result["steps_score"], 1.0, "{result}");
        assert!(result["reference_steps"][0][0]["moved"].is_string(), "{result}");
    }
}

#[test]
fn a_query_of_the_agent_that_fails_again_is_told_with_its_question() {
    let place = Place::with_example();
    let step = |query: &str| json!({"name": "sparql_query", "id": "1", "status": "success", "args": {"query": query}});
    let response = |id: &str, query: &str| {
        json!({"question_id": id, "actual_steps": [step(query)]}).to_string() + "\n"
    };
    let both = [response("taxa-palm-court", "ASK {}"), response("taxa-fern-vault", "ASK {")];
    place.write("responses.jsonl", &both.concat());
    let eval = "eval reference.yaml responses.jsonl --no-model --graph graph.ttl --rerun-actual";
    let ended = place.run(eval);
    let told = "the queries of 1 step of the agent were run again; 1 query failed, the first: taxa-fern-vault: not valid SPARQL";
    assert!(ended.stderr.contains(told), "{ended}");
}

#[test]
fn a_stale_number_is_doubted() {
    let place = place();
    let output = r#"{"head": {"vars": ["n"]}, "results": {"bindings": [{"n": {"type": "literal", "value": "3", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}}]}}"#;
    let step = format!(
        "{{name: sparql_query, args: {{query: 'SELECT (COUNT(*) AS ?n) {{ ?s ?p ?o }}'}}, output: '{output}', output_media_type: {JSON}}}"
    );
    let text = one_question(&step);
    for (answer, code) in [("\"17\"", 1), ("\"3\"", 0), ("There are 17 of them.", 1)] {
        let answered = text.replace(
            "    reference_steps",
            &format!("    reference_answer: {answer}\n    reference_steps"),
        );
        place.write("reference.yaml", &answered);
        let lint = place.run("reference lint reference.yaml");
        assert_eq!(lint.code, code, "{lint}");
        let is_told = lint.stdout.contains("q: the answer says 17, and the result is 3");
        assert_eq!(is_told, code == 1, "{lint}");
    }
    let clean = Place::with_example();
    let lint = clean.run("reference lint reference.yaml");
    assert!(!lint.stdout.contains("the answer says"), "{lint}");
}
