//! References and graphs that move, by whole commands: a graph in a file, and a server on loopback that speaks
//! the SPARQL protocol and answers from triples in memory, well or badly.
#![cfg(feature = "graph")]

mod kept;
mod stale;

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

use juror_graph::{Graph, LoadOptions, Query, QueryLimits, QueryOptions, Triples};
use juror_testing::{Ended, HttpReply, HttpRequest, HttpServer, project};
use serde_json::Value;
use tempfile::TempDir;

const JSON: &str = "application/sparql-results+json";

struct Place(TempDir);

impl Place {
    /// A folder with the files of the example.
    fn with_example() -> Place {
        let place = Place(tempfile::tempdir().expect("a folder"));
        for name in ["reference.yaml", "responses.jsonl", "graph.ttl", "templates.yaml"] {
            place.write(name, &example(name));
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("written");
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
    }

    fn run(&self, line: &str) -> Ended {
        let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
        Ended::of(command.args(line.split(' ')).current_dir(self.0.path()).env_clear())
    }

    fn json(&self, line: &str) -> Value {
        let ended = self.run(line);
        serde_json::from_str(&ended.stdout).unwrap_or_else(|why| panic!("{why}: {ended}"))
    }
}

fn example(name: &str) -> String {
    std::fs::read_to_string(project("examples").join(name)).expect("an example")
}

/// The graph without one triple: the spleenwort, which the agent does not find, is in no house any more.
fn without_one_triple() -> String {
    let (turtle, gone) =
        (example("graph.ttl"), "lr:growsIn house:fern-vault ; lr:plantedIn \"1962\"");
    assert!(turtle.contains(gone));
    turtle.replace(gone, "lr:plantedIn \"1962\"")
}

/// An endpoint whose graph can be replaced.
struct Endpoint {
    server: HttpServer,
    turtle: Arc<Mutex<String>>,
}

impl Endpoint {
    fn start(turtle: &str) -> Endpoint {
        let turtle = Arc::new(Mutex::new(turtle.to_owned()));
        let own = Arc::clone(&turtle);
        let server =
            HttpServer::start(move |request| answer(&own.lock().expect("a graph"), request));
        Endpoint { server, turtle }
    }

    fn becomes(&self, turtle: &str) {
        turtle.clone_into(&mut self.turtle.lock().expect("a graph"));
    }

    fn url(&self) -> String {
        self.server.url("/sparql")
    }
}

/// The query of a request, as the protocol sends it.
fn query_of(request: &HttpRequest) -> String {
    let mut fields = url::form_urlencoded::parse(&request.body);
    fields.find(|(name, _)| name == "query").expect("a query").1.into_owned()
}

fn answer(turtle: &str, request: &HttpRequest) -> HttpReply {
    let query = Query::parse(&query_of(request), &QueryOptions::default()).expect("a query");
    let graph = Triples::parse("graph.ttl", turtle.as_bytes(), &LoadOptions::default());
    let answer = Graph::Triples(graph.expect("Turtle")).ask(&query, &QueryLimits::default());
    let format = juror_sparql::ResultFormat::Json;
    HttpReply::of(200, JSON, answer.expect("an answer").write(format))
}

/// The lines that differ, as `-` and `+`.
fn changed_lines(old: &str, new: &str) -> Vec<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let n_same = old.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[n_same..], &new[n_same..]);
    let n_end = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let gone = old[..old.len() - n_end].iter().map(|line| format!("-{}", line.trim()));
    let come = new[..new.len() - n_end].iter().map(|line| format!("+{}", line.trim()));
    gone.chain(come).collect()
}

#[test]
fn one_triple_moves_one_question_in_a_file_and_at_an_endpoint() {
    let (place, endpoint) = (Place::with_example(), Endpoint::start(&example("graph.ttl")));
    place.write("moved.ttl", &without_one_triple());
    for (then, now) in [("graph.ttl", "moved.ttl"), (&*endpoint.url(), &*endpoint.url())] {
        endpoint.becomes(&example("graph.ttl"));
        let before = place.run(&format!("reference check reference.yaml --graph {then}"));
        assert!(before.code == 0 && before.stdout.ends_with("\n13 same\n"), "{before}");
        endpoint.becomes(&without_one_triple());

        let after = place.json(&format!("reference check reference.yaml --json --graph {now}"));
        let steps = after["steps"].as_array().expect("steps").iter();
        let wrong: Vec<&Value> = steps.filter(|step| step["standing"] != "same").collect();
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        assert_eq!(wrong[0]["question_id"], "taxa-fern-vault");
        assert_eq!(wrong[0]["missing"], serde_json::json!(["cellar spleenwort"]));
        assert_eq!(wrong[0]["n_extra"], 0);

        let refresh = format!("reference refresh reference.yaml -q -o fresh.yaml --graph {now}");
        let ended = place.run(&refresh);
        assert_eq!(ended.code, 0, "{ended}");
        assert_eq!(
            changed_lines(&place.read("reference.yaml"), &place.read("fresh.yaml")),
            [r#"-{"name": {"type": "literal", "value": "cellar spleenwort"}},"#]
        );
        let again = place.run(&format!("reference check fresh.yaml --graph {now}"));
        assert_eq!(again.code, 0, "{again}");
    }
}

/// Returns the score of a question.
fn score(results: &str, id: &str) -> Value {
    let results: Value = serde_json::from_str(results).expect("JSON");
    let all = results.as_array().expect("results");
    let one = all.iter().find(|result| result["question_id"] == id).expect("a result");
    one["steps_score"].clone()
}

#[test]
fn an_agent_gets_its_score_back_from_a_moved_graph_and_results_tell_why() {
    let (place, endpoint) = (Place::with_example(), Endpoint::start(&without_one_triple()));
    let eval = "eval reference.yaml responses.jsonl --no-model";
    place.run(&format!("{eval} -q -o recorded.json"));
    assert_eq!(score(&place.read("recorded.json"), "taxa-fern-vault"), 0.0);
    let graph = endpoint.url();
    let summary = place
        .json(&format!("{eval} --json --graph {graph} -o fresh.json -o fresh.jsonl -o page.html -o report.md -o report.junit.xml"));
    assert_eq!(score(&place.read("fresh.json"), "taxa-fern-vault"), 1.0);

    let how = "1 row missing (`cellar spleenwort`)";
    let blame = "the agent is right by the graph as it is now";
    assert_eq!(
        summary["graph"]["moved"],
        serde_json::json!([{"question_id": "taxa-fern-vault", "how": how, "blame": blame}])
    );
    assert_eq!(summary["graph"]["results"], 13);
    assert_eq!(summary["graph"]["answers_in_doubt"], serde_json::json!(["taxa-fern-vault"]));
    let in_doubt = "the reference answer may be out of date";
    let note = format!("{how}; {blame}; {in_doubt}");
    let results: Value = serde_json::from_str(&place.read("fresh.json")).expect("JSON");
    let steps = |result: &Value| result["reference_steps"].to_string().contains("\"moved\"");
    let marked: Vec<&Value> =
        results.as_array().expect("results").iter().filter(|result| steps(result)).collect();
    assert_eq!(marked.len(), 1);
    assert_eq!(marked[0]["reference_steps"][0][0]["moved"], *note);
    let markdown = place.read("report.md");
    assert!(markdown.contains("**The graph moved**: the expected results of 1 question"));
    assert!(markdown.contains(&note), "{markdown}");
    assert!(place.read("report.junit.xml").contains("name=\"graph_moved\" value=\"1 row missing"));
    let checked = place.run("validate fresh.jsonl");
    assert!(checked.code == 0 && !checked.to_string().contains("moved"), "{checked}");

    // A report that is made later says the same.
    let told = "The graph moved: 1 row missing";
    let report = place.run("report fresh.jsonl -o later.html");
    assert_eq!(report.code, 0, "{report}");
    for page in ["page.html", "later.html"] {
        let opened = juror_page_text(&place.read(page));
        assert!(opened.contains(told), "{page} does not say that the graph moved");
    }
    let plain = place.run(&format!("{eval} --graph {graph}"));
    assert!(plain.stderr.contains(&format!("  taxa-fern-vault: {how}\n    {blame}")), "{plain}");
    let told = "1 reference answer may be out of date, since the results of its question moved: taxa-fern-vault\n  hint: ";
    assert!(plain.stderr.contains(told), "{plain}");
}

#[test]
fn a_reference_from_standard_input_is_refreshed_and_asked_of_an_agent() {
    let place = Place::with_example();
    let agent = HttpServer::start(|_| HttpReply::of(200, "application/json", r#"{"answer": "x"}"#));
    let line =
        "exec \"$0\" eval - --agent \"$1\" --graph graph.ttl --quiet -o out.jsonl <reference.yaml";
    let mut shell = Command::new("sh");
    let juror = env!("CARGO_BIN_EXE_juror");
    let path = std::env::var_os("PATH").unwrap_or_default();
    shell.args(["-c", line, juror, &agent.url("/")]).current_dir(place.0.path());
    let ended = Ended::of(shell.env_clear().env("PATH", path));
    assert_eq!(ended.code, 0, "{ended}");
    assert_eq!(place.read("out.jsonl").lines().count(), 19);
}

/// The questions of a page, which are compressed in it.
fn juror_page_text(page: &str) -> String {
    use base64::Engine as _;
    use std::io::Read as _;
    let mut text = String::new();
    for part in page.split(['"', '>', '<', '\n']).filter(|part| part.len() > 100) {
        let Ok(bytes) = base64::engine::general_purpose::STANDARD.decode(part.trim()) else {
            continue;
        };
        let mut unpacked = Vec::new();
        let is_whole = flate2::read::GzDecoder::new(&bytes[..]).read_to_end(&mut unpacked).is_ok()
            || flate2::read::DeflateDecoder::new(&bytes[..]).read_to_end(&mut unpacked).is_ok()
            || flate2::read::ZlibDecoder::new(&bytes[..]).read_to_end(&mut unpacked).is_ok();
        if is_whole {
            text.push_str(&String::from_utf8_lossy(&unpacked));
        }
    }
    text + page
}

/// A reference of one question for each word, whose query says the word.
fn questions(words: &[&str]) -> String {
    let question = |word: &&str| {
        let query = match *word {
            "update" => "INSERT DATA { <x:s> <x:p> <x:o> }".to_owned(),
            "service" => "ASK { SERVICE <http://127.0.0.1:1/> { ?s ?p ?o } }".to_owned(),
            word => format!("ASK {{ <x:{word}> ?p ?o }}"),
        };
        let output = r#"'{"head": {}, "boolean": true}'"#;
        format!(
            "  - id: {word}\n    question_text: Is it {word}?\n    reference_steps:\n    - - name: sparql_query\n        args: {{query: '{query}'}}\n        output: {output}\n        output_media_type: {JSON}\n"
        )
    };
    let questions: String = words.iter().map(question).collect();
    format!("- template_id: t\n  questions:\n{questions}")
}

/// An endpoint that does what the query says.
fn badly(request: &HttpRequest) -> HttpReply {
    let (query, truth) = (query_of(request), r#"{"head": {}, "boolean": true}"#);
    let page = "<!DOCTYPE html><p>Welcome</p>";
    match query.split("<x:").nth(1).and_then(|rest| rest.split('>').next()) {
        Some("hangs") => HttpReply::Hang,
        Some("cuts") => HttpReply::CutOff(truth.into()),
        Some("page") => HttpReply::of(200, "text/html", page),
        Some("triples") => HttpReply::of(200, "text/turtle", "<x:a> <x:b> <x:c> ."),
        Some("password") => HttpReply::of(401, "text/html", page),
        Some("garbled") => HttpReply::of(200, JSON, "{\"head\": oh}"),
        _ => HttpReply::of(200, JSON, truth),
    }
}

const TOLD: [(&str, &str); 8] = [
    ("hangs", "the endpoint did not answer within 2 s"),
    ("cuts", "the endpoint's reply is cut off: "),
    ("page", "the endpoint sends an HTML page, not SPARQL results"),
    ("triples", "the endpoint sends `text/turtle`, not SPARQL results"),
    ("password", "the endpoint asks for a password or key (HTTP 401)"),
    ("garbled", "the endpoint's reply is no SPARQL result: "),
    ("update", "an update is not run: it would change the graph"),
    ("service", "SERVICE is not allowed: the query would have another server called"),
];

#[test]
fn what_an_endpoint_does_badly_is_told_by_question_and_the_run_goes_on() {
    let place = Place(tempfile::tempdir().expect("a folder"));
    // An endpoint that fails five times in a row would be given up.
    let words: Vec<&str> = TOLD.iter().flat_map(|(word, _)| [*word, "good"]).collect();
    let numbered: Vec<String> = words
        .iter()
        .enumerate()
        .map(|(at, word)| if *word == "good" { format!("good-{at}") } else { (*word).to_owned() })
        .collect();
    let numbered: Vec<&str> = numbered.iter().map(String::as_str).collect();
    place.write("reference.yaml", &questions(&numbered));
    let response = |id: &&str| {
        let step = serde_json::json!({"name": "sparql_query", "id": "1", "status": "success",
            "args": {}, "output": r#"{"head": {}, "boolean": true}"#});
        serde_json::json!({"question_id": id, "actual_steps": [step]}).to_string() + "\n"
    };
    place.write("responses.jsonl", &numbered.iter().map(response).collect::<String>());
    let server = HttpServer::start(badly);
    let graph = format!("--graph {} --graph-timeout 2 -j 1", server.url("/sparql"));

    let check = place.run(&format!("reference check reference.yaml --json {graph}"));
    assert_eq!(check.code, 3, "{check}");
    let checked: Value = serde_json::from_str(&check.stdout).expect("JSON");
    let steps = checked["steps"].as_array().expect("steps");
    assert_eq!(steps.len(), 16);
    for step in steps {
        let id = step["question_id"].as_str().expect("an id");
        match TOLD.iter().find(|(word, _)| *word == id) {
            None => assert_eq!(step["standing"], "same", "{step}"),
            Some((_, told)) => {
                let why = step["why"].as_str().unwrap_or_default();
                assert!(why.starts_with(told), "{id}: {step}");
                let ours = ["update", "service"].contains(&id);
                assert_eq!(step["outside"], !ours, "{step}");
            }
        }
    }
    assert!(check.stdout.contains("say who asks with --graph-header"), "{check}");

    let refresh = place.run(&format!("reference refresh reference.yaml -o fresh.yaml {graph}"));
    assert_eq!(refresh.code, 3, "{refresh}");
    assert_eq!(place.read("fresh.yaml"), place.read("reference.yaml"), "nothing is lost");
    let eval = place
        .run(&format!("eval reference.yaml responses.jsonl --no-model -o results.json {graph}"));
    assert_eq!(eval.code, 3, "{eval}");
    for (_, told) in TOLD {
        assert!(refresh.stderr.contains(told), "{told}: {refresh}");
        let counted = "the recorded result counts, since the graph gives none: ";
        assert!(eval.stderr.contains(&format!("{counted}{told}")), "{told}: {eval}");
    }
    for id in &numbered {
        assert_eq!(score(&place.read("results.json"), id), 1.0, "{id}");
    }
    let seen: Vec<String> = server.seen().iter().map(query_of).collect();
    assert!(!seen.is_empty());
    for query in seen {
        assert!(!query.contains("INSERT") && !query.contains("SERVICE"), "{query} was sent");
    }
}

#[test]
fn results_recorded_in_any_format_are_compared_with_those_of_an_endpoint() {
    let place = Place(tempfile::tempdir().expect("a folder"));
    let recorded = [
        (
            "json",
            JSON,
            r#"{"head": {"vars": ["s", "o"]}, "results": {"bindings": [{"s": {"type": "uri", "value": "x:a"}, "o": {"type": "literal", "value": "1.5", "datatype": "http://www.w3.org/2001/XMLSchema#decimal"}}, {"s": {"type": "uri", "value": "x:a"}, "o": {"type": "literal", "xml:lang": "de", "value": "ja, nein"}}]}}"#,
        ),
        (
            "xml",
            "application/sparql-results+xml",
            r#"<sparql xmlns="http://www.w3.org/2005/sparql-results#"><head><variable name="s"/><variable name="o"/></head><results><result><binding name="s"><uri>x:a</uri></binding><binding name="o"><literal xml:lang="de">ja, nein</literal></binding></result><result><binding name="s"><uri>x:a</uri></binding><binding name="o"><literal datatype="http://www.w3.org/2001/XMLSchema#decimal">1.50</literal></binding></result></results></sparql>"#,
        ),
        ("csv", "text/csv", "s,o\nx:a,1.5\nx:a,\"ja, nein\"\n"),
        ("tsv", "text/tab-separated-values", "?s\t?o\n<x:a>\t1.5\n<x:a>\t\"ja, nein\"@de\n"),
    ];
    let questions = recorded.map(|(id, media_type, output)| {
        serde_json::json!({"id": id, "question_text": "What?", "reference_steps": [[{"name": "sparql_query",
            "args": {"query": "SELECT ?s ?o { ?s <x:p> ?o }"}, "output": output, "output_media_type": media_type}]]})
    });
    let reference = serde_json::json!([{"template_id": "t", "questions": questions}]);
    place.write("reference.json", &reference.to_string());
    let turtle = "<x:a> <x:p> 1.5 , 'ja, nein'@de .";
    let endpoint = Endpoint::start(turtle);
    let same = place.run(&format!("reference check reference.json --graph {}", endpoint.url()));
    assert!(same.code == 0 && same.stdout.ends_with("\n4 same\n"), "{same}");
    endpoint.becomes(&turtle.replace("ja", "doch"));
    let moved = place.run(&format!("reference check reference.json --graph {}", endpoint.url()));
    assert!(moved.code == 1 && moved.stdout.ends_with("\n4 changed\n"), "{moved}");
    let rows = "1 row missing (`x:a, ja, nein`), 1 row extra (`x:a, doch, nein`)";
    assert_eq!(moved.stdout.matches(rows).count(), 4, "{moved}");
    let fresh =
        format!("reference refresh reference.json -o fresh.json --graph {}", endpoint.url());
    assert_eq!(place.run(&fresh).code, 0);
    let again = place.run(&format!("reference check fresh.json --graph {}", endpoint.url()));
    assert!(again.code == 0 && again.stdout.ends_with("\n4 same\n"), "{again}");
}

#[test]
fn templates_make_the_same_reference_from_a_file_and_from_an_endpoint() {
    let (place, endpoint) = (Place::with_example(), Endpoint::start(&example("graph.ttl")));
    let new = "reference new templates.yaml --seed 4 --limit 3 -o";
    let file = place.run(&format!("{new} new.yaml --graph graph.ttl"));
    assert_eq!(
        (file.code, &*file.stderr),
        (0, "8 questions of 3 templates; written to new.yaml\n")
    );
    let remote = place.run(&format!("{new} remote.yaml --graph {}", endpoint.url()));
    assert_eq!(remote.code, 0, "{remote}");
    assert_eq!(place.read("new.yaml"), place.read("remote.yaml"));
    let check = place.run("reference check new.yaml --graph graph.ttl");
    assert!(check.code == 0 && check.stdout.ends_with("\n8 same\n"), "{check}");
    let lint = place.run("reference lint new.yaml");
    assert_eq!(lint.code, 0, "{lint}");
    let as_json = place.run(&format!("{new} new.json --graph graph.ttl"));
    assert_eq!(as_json.code, 0, "{as_json}");
    assert_eq!(place.run("validate new.yaml new.json").code, 0);

    let down = HttpServer::start(|_| HttpReply::of(401, "text/plain", ""));
    let down = place.run(&format!("{new} none.yaml --graph {}", down.url("/sparql")));
    assert_eq!(down.code, 3, "{down}");
    assert!(down.stderr.contains("templates.yaml:7:11: there are no values"), "{down}");
    assert!(
        down.stderr.contains("there are no values: the endpoint asks for a password"),
        "{down}"
    );
    assert!(!place.path("none.yaml").exists());

    let templates = example("templates.yaml").replace("{house_name}?", "{hose_name}?");
    place.write("templates.yaml", &templates);
    let wrong = place.run("reference new templates.yaml --graph no-such-file.ttl");
    assert_eq!(wrong.code, 2, "{wrong}");
    assert!(wrong.stderr.contains("unknown name `{hose_name}`"), "{wrong}");
    assert!(wrong.stderr.contains("hint: known here: house, house_name"), "{wrong}");
}

#[test]
fn a_reference_is_written_over_no_input_and_in_no_other_format() {
    let place = Place::with_example();
    place.write("juror.yaml", "profile: 6\n");
    let new = "reference new templates.yaml -c juror.yaml --graph graph.ttl -o";
    for (name, line) in [
        ("templates.yaml", format!("{new} templates.yaml")),
        ("juror.yaml", format!("{new} juror.yaml")),
        ("graph.ttl", format!("{new} graph.ttl")),
        ("graph.ttl", "reference refresh reference.yaml --graph graph.ttl -o graph.ttl".into()),
    ] {
        let before = place.read(name);
        let ended = place.run(&line);
        assert!(ended.code == 2 && ended.stderr.contains("the output is also an input"), "{ended}");
        assert_eq!(place.read(name), before);
    }
    for name in ["new.jsonl", "new.txt", "new", "new.yaml.gz"] {
        // Without a graph, so that the name is refused before one is read.
        let ended = place.run(&format!("reference new templates.yaml --graph none.ttl -o {name}"));
        assert!(
            ended.code == 2 && ended.stderr.contains("in YAML or JSON\n  hint: end"),
            "{ended}"
        );
        assert!(!place.path(name).exists());
    }
    let loud = place.run("reference new templates.yaml --graph graph.ttl -o NEW.JSON");
    assert!(loud.code == 0 && place.read("NEW.JSON").starts_with('['), "{loud}");
}

#[test]
fn a_reference_is_refreshed_only_in_its_own_format_and_where_it_can_be_written() {
    let place = Place::with_example();
    let yaml = example("reference.yaml");
    place.write("own", &yaml);
    let json = place.run("reference new templates.yaml --graph graph.ttl -o made.json");
    assert_eq!(json.code, 0, "{json}");
    let read_as = |format: &str, ending: &str| {
        format!("is in {format}, and is written as it is\n  hint: end the name with {ending}")
    };
    let no_folder = || "cannot write: there is no such file or folder".to_owned();
    for (line, told) in [
        ("refresh reference.yaml -o x.json", read_as("YAML", ".yaml")),
        ("refresh reference.yaml -o x.jsonl", read_as("YAML", ".yaml")),
        ("refresh reference.yaml -o x.weird", read_as("YAML", ".yaml")),
        ("refresh reference.yaml -o x.yaml.gz", read_as("YAML", ".yaml")),
        ("refresh made.json -o x.yaml", read_as("JSON", ".json")),
        ("refresh reference.yaml -o nodir/x.yaml", no_folder()),
        ("new templates.yaml -o nodir/x.yaml", no_folder()),
    ] {
        // Nothing answers there: whoever asks ends with 3.
        let ended = place.run(&format!("reference {line} --graph http://127.0.0.1:9/sparql"));
        assert!(ended.code == 2 && ended.stderr.contains(&told), "{line}: {ended}");
        let name = line.rsplit(' ').next().expect("a name");
        assert!(!place.path(name).exists() && !place.path("nodir").exists(), "{line}");
    }
    for (from, to) in [("reference.yaml", "x.YML"), ("made.json", "y.json"), ("own", "own")] {
        let ended = place.run(&format!("reference refresh {from} -o {to} --graph graph.ttl"));
        assert_eq!(ended.code, 0, "{from}: {ended}");
        let checked = place.run(&format!("reference check {to} --graph graph.ttl"));
        assert_eq!(checked.code, 0, "{to}: {checked}");
    }
    let piped = place.run("reference refresh reference.yaml -o - -q --graph graph.ttl");
    assert_eq!((piped.code, piped.stdout), (0, place.read("x.YML")));
}

#[test]
fn queries_that_fail_are_told_also_to_the_quiet_and_all_doubts_are_counted() {
    let place = Place::with_example();
    let down = HttpServer::start(|_| HttpReply::of(401, "text/plain", ""));
    let down = place
        .run(&format!("reference new templates.yaml -q -o none.yaml --graph {}", down.url("/")));
    assert_eq!(down.code, 3, "{down}");
    assert!(down.stderr.contains("warning: templates.yaml:7:11: there are no values"), "{down}");

    let template = |n: usize| {
        format!(
            "- {{template_id: t{n}, values: 'SELECT ?a {{ VALUES ?a {{ {n} }} }}', question_text: 'What of {{a}}?'}}\n"
        )
    };
    place.write("many.yaml", &(0..103).map(template).collect::<String>());
    let many = place.run("reference new many.yaml -o new.yaml --graph graph.ttl");
    assert_eq!(many.code, 0, "{many}");
    assert_eq!(many.stderr.matches("the template made only one question").count(), 100, "{many}");
    assert!(many.stderr.contains("\nwarning: and 3 more\n"), "{many}");
    let quiet = place.run("reference new many.yaml -q -o new.yaml --graph graph.ttl");
    assert_eq!((quiet.code, &*quiet.stderr), (0, ""));
}

/// An endpoint that names the columns of its answers in an order of its own.
fn naming_columns(order: fn(&mut Vec<Value>)) -> HttpServer {
    let turtle = example("graph.ttl");
    HttpServer::start(move |request| {
        let query = Query::parse(&query_of(request), &QueryOptions::default()).expect("a query");
        let triples = Triples::parse("graph.ttl", turtle.as_bytes(), &LoadOptions::default());
        let answer = Graph::Triples(triples.expect("Turtle")).ask(&query, &QueryLimits::default());
        let text = answer.expect("an answer").write(juror_sparql::ResultFormat::Json);
        let mut json: Value = serde_json::from_str(&text).expect("JSON");
        let names = json["head"]["vars"].as_array_mut().expect("columns");
        order(names);
        let names = names.clone();
        for row in json["results"]["bindings"].as_array_mut().expect("rows") {
            row.as_object_mut().expect("a row").retain(|name, _| names.contains(&(&**name).into()));
        }
        HttpReply::of(200, JSON, json.to_string())
    })
}

#[test]
fn values_are_found_by_the_names_of_columns_whatever_order_an_endpoint_gives_them_in() {
    let place = Place::with_example();
    let new = "reference new templates.yaml -o";
    let file = place.run(&format!("{new} new.json --graph graph.ttl"));
    assert_eq!(file.code, 0, "{file}");
    let reversed = naming_columns(|names| names.reverse());
    let remote = place.run(&format!("{new} remote.json --graph {}", reversed.url("/sparql")));
    assert_eq!(remote.code, 0, "{remote}");
    let texts = |name: &str| -> Vec<Value> {
        let json: Value = serde_json::from_str(&place.read(name)).expect("JSON");
        let templates = json.as_array().expect("templates").iter();
        let questions = templates.flat_map(|own| own["questions"].as_array().expect("questions"));
        questions.map(|own| own["question_text"].clone()).collect()
    };
    assert_eq!(texts("new.json"), texts("remote.json"));

    let lacking = naming_columns(|names| names.truncate(1));
    let none = place.run(&format!("{new} none.json --graph {}", lacking.url("/sparql")));
    assert_eq!(none.code, 3, "{none}");
    let wanted = "there are no values: the graph answers without the column `house_name`";
    assert!(none.stderr.contains(wanted), "{none}");
}

#[test]
fn without_its_feature_the_program_has_none_of_the_crates_of_graphs() {
    let told = Command::new(env!("CARGO"))
        .args(["tree", "-p", "juror", "-e", "normal", "--prefix", "none", "--offline"])
        .arg("--no-default-features")
        .current_dir(project("."))
        .output()
        .expect("cargo");
    let told = String::from_utf8_lossy(&told.stdout).into_owned();
    assert!(told.contains("juror-score "), "{told}");
    for name in ["juror-graph ", "juror-reference ", "oxrdf", "spareval", "spargebra", "sparesults"]
    {
        assert!(!told.lines().any(|line| line.starts_with(name)), "{name} is still there");
    }
}
