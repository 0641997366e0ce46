//! Recording real tools once, and replaying them without them.

use serde_json::{Value, json};

use crate::api::{Api, DOCUMENT};
use crate::stage::{SECRET, Served, Stage};

/// What an agent that uses both a server and an API meets, in order.
fn meet(served: &Served) -> Vec<(String, bool)> {
    let calls = [
        ("weather", json!({"city": "Oslo"})),
        ("weather", json!({"city": "Oslo", "now": 1, "api_key": SECRET})),
        ("weather", json!({"city": "Atlantis"})),
        ("getBed", json!({"id": 7, "fields": ["name", "soil"]})),
        ("getBed", json!({"id": 404})),
        ("addBed", json!({"name": "ferns"})),
    ];
    calls.iter().map(|(name, arguments)| served.call("/mcp", name, arguments)).collect()
}

#[test]
fn what_was_recorded_is_replayed_without_servers() {
    let (stage, api) = (Stage::new(), Api::start());
    stage.write("beds.yaml", DOCUMENT);
    stage.write("juror.yaml", "tools: {match: {ignore: [now]}}");
    let live = Stage::live();
    let shared = ["-c", "juror.yaml", "--tools", "beds.yaml", "--cassette", "cassette"];
    let real = ["--proxy", &api.address, "--proxy", &live];
    let recording = stage.serve(&[&shared[..], &real[..]].concat());
    let first = meet(&recording);
    assert_eq!(first[0], ("rain".to_owned(), false));
    assert_eq!(first[1], ("sun for ***".to_owned(), false), "a reply repeats no masked argument");
    assert!(first[2].1 && first[2].0.contains("no such city"), "{first:?}");
    let asked = |at: usize| serde_json::from_str::<Value>(&first[at].0).expect("JSON");
    assert_eq!(asked(3)["asked"], "GET /v2/beds/7?fields=name&fields=soil");
    assert!(first[4].1 && first[4].0.contains("status 404"), "{first:?}");
    assert_eq!(asked(5)["body"], r#"{"name":"ferns"}"#);
    let n_requests = api.n_requests();
    assert_eq!((n_requests, meet(&recording)), (3, first.clone()));
    assert_eq!(api.n_requests(), n_requests, "what is known is not asked again");
    let same = json!({"id": 7.0, "fields": ["name", "soil"]});
    assert_eq!(recording.call("/mcp", "getBed", &same), first[3], "numbers match by value");
    assert_eq!(api.n_requests(), n_requests, "also in the process that recorded");
    let (told, is_error) = recording.call("/mcp", "getBed", &json!({}));
    assert!(is_error && told.contains("not sent: the argument `id` of the address"), "{told}");
    drop(recording);

    stage.stop_live();
    let replay = ["--proxy", &live, "--on-miss", "fail"];
    let replaying = stage.serve(&[&shared[..], &replay[..]].concat());
    assert_eq!(meet(&replaying), first);
    let later = json!({"city": "Oslo", "now": 2, "api_key": "another-key-of-someone"});
    assert_eq!(replaying.call("/mcp", "weather", &later), first[1], "by rule the same call");
    let (told, is_error) = replaying.call("/mcp", "weather", &json!({"city": "Bergen"}));
    assert!(is_error && told.contains("No reply to this call is known"), "{told}");
    assert_eq!(api.n_requests(), n_requests);

    let cassette = stage.text_below("cassette");
    assert!(!cassette.contains(SECRET), "{cassette}");
    for part in ["MCP/juror_for_MCP/weather.json", "OpenAPI/beds_for_OpenAPI/getbed.json"] {
        assert!(cassette.contains(part), "{part}\n{cassette}");
    }
    assert!(cassette.contains("'api_key': '***'"), "{cassette}");
    assert!(!stage.path(".juror").exists(), "a cassette needs no store");
}

#[test]
fn a_tool_of_a_server_answers_queries() {
    let stage = Stage::new();
    let agent = format!("{}#ask", Stage::live());
    let bench = ["bench", "--queries", "queries.json", "--tools", "live.json", "--agent", &agent];
    stage.prints(&[&bench[..], &["-o", "results.json", "--run", "run"]].concat());
    let results = std::fs::read_to_string(stage.path("results.json")).expect("results");
    assert!(results.contains("Yes, rain."), "{results}");
    let wrong = format!("{}#nothing", Stage::live());
    let refused = stage.run(&[
        "bench",
        "--queries",
        "queries.json",
        "--tools",
        "live.json",
        "--agent",
        &wrong,
    ]);
    let told = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(3), "{told}");
    assert!(told.contains("the server has no tool `nothing`, but: weather, ask"), "{told}");
}

#[test]
fn faults_hit_the_same_calls_with_the_same_seed() {
    let stage = Stage::new();
    let rules = "tools: {fault_seed: 3, faults: [{fault: error, share: 0.5, message: broken}]}";
    stage.write("juror.yaml", rules);
    let met = || -> Vec<(String, bool)> {
        let served =
            stage.serve(&["-c", "juror.yaml", "--tools", "live.json", "--cache", "live_cache"]);
        (0..20).map(|_| served.call("/mcp", "weather", &json!({"city": "Oslo"}))).collect()
    };
    let first = met();
    assert!(first.iter().any(|(text, _)| text.contains("broken")), "{first:?}");
    assert!(first.contains(&("rain".to_owned(), false)), "{first:?}");
    assert_eq!(met(), first);
}

#[test]
fn calls_over_mcp_are_recorded_for_their_query() {
    let stage = Stage::new();
    let served = stage.serve(&["--tools", "live.json", "--cache", "live_cache"]);
    let (_, opened) = served.request("POST", "/runs/monday/7", "", "");
    let path = opened["mcp"].as_str().expect("an address");
    let (text, _) = served.call(path, "weather", &json!({"city": "Oslo"}));
    assert_eq!(text, "rain");
    let (status, _) = served.request("POST", "/runs/monday/7/0123/mcp", "", "{}");
    assert_eq!(status, 404, "nobody guesses the address");
    let key = format!("juror-run-key: {}\r\n", opened["key"].as_str().expect("a key"));
    let (_, told) = served.request("GET", "/runs/monday/7/calls", &key, "");
    assert_eq!(told["calls"][0]["api_name"], "weather");
    assert_eq!(told["calls"][0]["source"], "cache");
    let list = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).to_string();
    let foreign = "origin: https://evil.example\r\n";
    assert_eq!(served.request("POST", "/mcp", foreign, &list).0, 403);
    assert_eq!(served.request("GET", "/mcp", "", "").0, 405);
    assert_eq!(served.request("POST", "/mcp", "", &list).0, 200);
}
