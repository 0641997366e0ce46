//! Which replies that are known are read, and what becomes of them when new ones come.

use serde_json::{Value, json};

use crate::http::StandIn;
use crate::stage::{Stage, request};

fn said(text: &str) -> String {
    json!({"error": "", "response": text}).to_string()
}

/// A model that says something else each time.
fn fickle() -> StandIn {
    StandIn::model((1..9).map(|n| said(&format!("made {n}"))).collect(), "no more")
}

fn options(model: &StandIn, more: &str) -> String {
    format!("--tools tools --simulator chat --model m --model-url {} {more}", model.url("/v1"))
}

fn city(name: &str) -> Value {
    request("Sky", "Now", json!({ "city": name }))
}

fn n_kept(stage: &Stage) -> u64 {
    let (_, stats, _) = stage.run("tools stats --json");
    let stats: Value = serde_json::from_str(&stats).expect("JSON");
    stats.as_array().expect("a list").iter().filter_map(|row| row["replies"].as_u64()).sum()
}

#[test]
fn without_cache_among_the_sources_nothing_kept_is_read_or_replaced() {
    let (stage, model) = (Stage::new(), fickle());
    stage.run("tools import cache");
    let n_before = n_kept(&stage);
    let served = stage.serve(&options(&model, "--sources simulator --cache cache"));
    for (name, made) in [("Oslo", "made 1"), ("Rome", "made 2"), ("Oslo", "made 3")] {
        let reply = served.call(&city(name));
        assert_eq!(reply.json()["response"], made);
        let told = (reply.header("juror-source"), reply.header("juror-origin"));
        assert_eq!(told, (Some("simulator"), Some("simulated")));
    }
    assert_eq!(served.call(&city("Rome")).json()["response"], "made 4");
    served.stop();
    assert!(model.asked().iter().all(|asked| !asked.body.contains("rain")), "nothing is shown");
    assert_eq!(n_kept(&stage), n_before + 1);
    let served = stage.serve("--tools tools --on-miss fail");
    assert_eq!(served.call(&city("Oslo")).json()["response"], "rain");
    let rome = served.call(&city("Rome"));
    assert_eq!((rome.json()["response"].as_str(), rome.status), (Some("made 2"), 200));
}

#[test]
fn a_refresh_replaces_what_is_kept() {
    let (stage, model) = (Stage::new(), fickle());
    let more = "--cache cache --write-back --refresh";
    let served = stage.serve(&options(&model, more));
    for made in ["made 1", "made 2"] {
        let reply = served.call(&city("Oslo"));
        let told = (reply.header("juror-source"), reply.json()["response"].clone());
        assert_eq!(told, (Some("simulator"), json!(made)));
    }
    served.stop();
    assert_eq!(n_kept(&stage), 1);
    let written = stage.read("cache/Weather/sky_for_Weather/now.json");
    assert!(written.contains("made 2") && !written.contains("rain"), "{written}");
    assert!(written.contains("'a': 1"), "the other replies stay: {written}");
    let served = stage.serve(&options(&model, "--cache cache"));
    let reply = served.call(&city("Oslo"));
    let told = (reply.header("juror-source"), reply.header("juror-origin"));
    assert_eq!(told, (Some("cache"), Some("simulated")));
    assert_eq!(reply.json()["response"], "made 2");
}

#[test]
fn a_refresh_falls_back_on_what_is_known_if_that_is_named_last() {
    let stage = Stage::new();
    let model = StandIn::model(vec!["rubbish".into(); 3], "no more rubbish");
    let served = stage.serve(&options(&model, "--cache cache --sources simulator,cache --refresh"));
    let reply = served.call(&city("Oslo"));
    assert_eq!((reply.header("juror-source"), reply.status), (Some("cache"), 200));
}

#[test]
fn a_refresh_that_could_replace_nothing_is_refused() {
    let (stage, model) = (Stage::new(), fickle());
    for (line, why) in [
        ("--tools tools --refresh".to_owned(), "nobody can be asked"),
        (options(&model, "--refresh --no-keep"), "nothing new is kept"),
        (options(&model, "--refresh --on-miss fail"), "nothing new is kept"),
        (options(&model, "--refresh --sources cache,simulator"), "known replies come first"),
    ] {
        let (code, _, said) = stage.run(&format!("serve --port 0 {line}"));
        assert_eq!((code, said.contains(why)), (2, true), "{line}: {said}");
    }
}

#[test]
fn what_was_imported_is_served_without_a_word_about_where() {
    let stage = Stage::new();
    let (code, _, said) = stage.run("tools import cache");
    assert_eq!(code, 0, "{said}");
    let served = stage.serve("--tools tools");
    assert_eq!(served.call(&city("Oslo")).json()["response"], "rain");
    let (_, said) = served.stop();
    assert!(said.contains("2 kept replies in .juror/tools"), "{said}");
    let (_, stats, _) = stage.run("tools stats --json");
    let stats: Value = serde_json::from_str(&stats).expect("JSON");
    assert_eq!(stats[0]["hits"], 1);
    let call = r#"tools call now_for_sky {"city":"Oslo"} --tools tools"#;
    assert_eq!(stage.run(call).1, "{\"error\":\"\",\"response\":\"rain\"}\n");
    let served = stage.serve("");
    assert_eq!(served.call(&city("Oslo")).status, 200, "the store alone can be served");
}

#[test]
fn the_store_is_read_before_the_folders_that_are_named_beside_it() {
    let stage = Stage::new();
    stage.run("tools import cache");
    stage.write(
        "more/Weather/sky_for_Weather/now.json",
        r#"{"{'city': 'Oslo'}": "second", "{'city': 'Rome'}": {"error": "", "response": "sun"}}"#,
    );
    let served = stage.serve("--tools tools --cache more");
    assert_eq!(served.call(&city("Oslo")).json()["response"], "rain");
    assert_eq!(served.call(&city("Rome")).json()["response"], "sun");
    let served = stage.serve("--tools tools --cache more --store another");
    assert_eq!(served.call(&city("Oslo")).json(), "second", "another store leaves it out");
}

#[test]
fn a_replay_reads_the_store_before_folders_as_the_run_did() {
    let (stage, model) = (Stage::new(), fickle());
    let served = stage.serve(&options(&model, "--cache cache --refresh"));
    assert_eq!(served.call(&city("Oslo")).json()["response"], "made 1");
    served.stop();
    for line in [
        "--cache cache --on-miss fail",
        "--cache cache --no-keep",
        "--cache cache --cache .juror/tools",
        "--cache cache --cache .juror/tools --on-miss fail",
    ] {
        let served = stage.serve(&format!("--tools tools {line}"));
        assert_eq!(served.call(&city("Oslo")).json()["response"], "made 1", "{line}");
        served.stop();
    }
}

#[test]
fn a_simulator_that_is_named_first_is_served_and_what_is_kept_stays() {
    let (stage, model) = (Stage::new(), fickle());
    stage.run("tools import cache");
    let served = stage.serve(&options(&model, "--sources simulator,cache"));
    for made in ["made 1", "made 2"] {
        let reply = served.call(&city("Oslo"));
        let told = (reply.header("juror-source"), reply.json()["response"].clone());
        assert_eq!(told, (Some("simulator"), json!(made)));
    }
    served.stop();
    let served = stage.serve("--tools tools");
    assert_eq!(served.call(&city("Oslo")).json()["response"], "rain");
}

#[test]
fn a_store_that_is_named_as_a_cache_too_is_one_store() {
    let (stage, model) = (Stage::new(), fickle());
    stage.run("tools import cache");
    let before = std::fs::read(stage.path(".juror/tools/tools.sqlite")).expect("a store");
    let served = stage.serve("--tools tools --cache .juror/tools");
    assert_eq!(served.call(&city("Oslo")).json()["response"], "rain");
    let (_, said) = served.stop();
    assert!(said.contains(" 2 kept replies"), "{said}");
    let after = std::fs::read(stage.path(".juror/tools/tools.sqlite")).expect("a store");
    assert_eq!(after, before, "what is named as a cache is not changed");
    let served = stage.serve(&options(&model, "--cache .juror/tools"));
    assert_eq!(served.call(&city("Rome")).json()["response"], "made 1");
    let (_, said) = served.stop();
    assert!(said.contains(" 2 kept replies"), "{said}");
    assert_eq!(n_kept(&stage), 3);
}

#[test]
fn tools_without_a_category_have_the_one_that_their_replies_are_known_under() {
    let stage = Stage::new();
    for tool in ["Weather/sky", "Sports/goals"] {
        let name = tool.split_once('/').expect("a category").1;
        stage.write(&format!("flat/{name}.json"), &stage.read(&format!("tools/{tool}.json")));
    }
    stage.run("tools import cache --store kept");
    for place in ["--cache cache", "--store kept"] {
        let call = r#"tools call now_for_sky {"city":"Oslo"} --tools flat"#;
        let (code, printed, said) = stage.run(&format!("{call} {place}"));
        assert_eq!((code, printed.contains("rain")), (0, true), "{place}: {said}");
        let word = "1 of 2 tools have no category, neither in their files nor by known replies";
        assert!(said.contains(word), "{said}");
        let served = stage.serve(&format!("--tools flat {place}"));
        let listed = served.client().get("/tools").json();
        let categories: Vec<&Value> =
            listed.as_array().expect("a list").iter().map(|own| &own["category"]).collect();
        assert_eq!(categories, ["Data", "Weather", "Weather"]);
    }
    stage.write("cache/Sports/sky_for_Sports/now.json", "{}");
    let call = r#"tools call now_for_sky {"city":"Oslo"} --tools flat --cache cache"#;
    let (code, _, said) = stage.run(call);
    assert_eq!((code, said.contains("2 of 2 tools have no category")), (3, true), "{said}");
}

#[test]
fn the_public_configuration_is_served_though_its_folder_of_tools_is_missing() {
    let stage = Stage::new();
    stage.write(
        "server/config.yml",
        "api_key: ''\napi_base: ''\nmodel: gpt-4-turbo\ntemperature: 0\ntoolbench_url: ''\n\
         tools_folder: './nowhere'\ncache_folder: './cache'\nis_save: true\nport: 8080\nlog_file: ''\n",
    );
    let served = stage.serve("-c server/config.yml");
    assert_eq!(served.call(&city("Oslo")).json()["response"], "rain");
    let (_, said) = served.stop();
    assert!(said.contains("./nowhere: there is no such folder"), "{said}");
    assert!(!said.contains("no address"), "an empty address is none: {said}");
    let (code, _, said) = stage.run("serve --port 0 -c server/config.yml --tools nowhere");
    assert_eq!((code, said.contains("cannot be read")), (2, true), "{said}");
    stage.write("juror.yaml", "tools: {folder: nowhere, cache: cache}");
    assert_eq!(stage.run("serve --port 0 -c juror.yaml").0, 2, "only the public server does so");
}
