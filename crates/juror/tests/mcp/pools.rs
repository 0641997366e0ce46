//! Tools of every kind as pools.

use serde_json::{Value, json};

use crate::api::DOCUMENT;
use crate::stage::Stage;

#[test]
fn pools_of_every_kind_are_listed_together() {
    let stage = Stage::new();
    stage.write("beds.yaml", DOCUMENT);
    stage.write("functions.json", r#"[{"type": "function", "name": "plant", "parameters": {}}]"#);
    let live = Stage::live();
    let places = ["--tools", "beds.yaml", "--tools", "functions.json", "--tools", &live];
    let listed = stage.prints(&[&["tools", "list", "--json"], &places[..]].concat());
    let listed: Vec<Value> = serde_json::from_str(&listed).expect("JSON");
    let names: Vec<&str> =
        listed.iter().filter_map(|own| own["function"]["name"].as_str()).collect();
    assert_eq!(names, ["getBed", "addBed", "plant", "weather", "ask"]);
    let fields = &listed[0]["function"]["parameters"]["properties"]["fields"];
    assert_eq!(*fields, json!({"type": "array", "items": {"enum": ["name", "soil"]}}));
    assert_eq!(listed[3]["category"], "MCP");
    let found = stage.prints(&[&["tools", "search", "weather of a city"], &places[..]].concat());
    assert!(found.contains("weather"), "{found}");
}

#[test]
fn what_is_no_pool_is_refused_with_what_was_looked_for() {
    let stage = Stage::new();
    stage.write("other.json", r#"{"a": 1}"#);
    let output = stage.run(&["tools", "list", "--tools", "other.json"]);
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        told.contains("other.json:1:1: no tools in any known form: an object with `a`"),
        "{told}"
    );
    assert!(told.contains("hint: looked for an OpenAPI 3 document"), "{told}");
}

/// An agent that answers with whether its task is one line.
const COUNTING: &str = r#"
read -r setup
echo '{"type": "ready"}'
read -r task
case "$task" in *'}') said=whole ;; *) said=torn ;; esac
echo "{\"type\": \"answered\", \"query_id\": \"1\", \"final_answer\": \"$said\"}"
"#;

#[test]
fn a_message_is_one_line_however_the_schemas_of_tools_are_written() {
    let stage = Stage::new();
    let live = std::fs::read_to_string(stage.path("live.json")).expect("tools");
    let live: Value = serde_json::from_str(&live).expect("JSON");
    stage.write("live.json", &serde_json::to_string_pretty(&live).expect("JSON"));
    let listed = stage.prints(&["tools", "list", "--json", "--tools", &Stage::live()]);
    assert!(listed.contains(r#""weather""#), "{listed}");

    stage.write("agent.sh", COUNTING);
    let bench = ["bench", "--queries", "queries.json", "--tools", "live.json", "--pool", "top:2"];
    let agent = ["--agent", "command:sh agent.sh", "-o", "results.json", "--run", "run"];
    stage.prints(&[&bench[..], &agent[..]].concat());
    let results = std::fs::read_to_string(stage.path("results.json")).expect("results");
    assert!(results.contains("whole"), "{results}");
}
