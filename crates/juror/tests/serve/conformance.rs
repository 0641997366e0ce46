//! Recorded requests to the public servers, asked of ours over HTTP.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use juror_json::Object;
use juror_testing::{Checked, RecordedCase, read_cases, recorded_cases};
use serde_json::{Value, json};

use crate::http::{Answer, StandIn};
use crate::stage::Stage;

#[test]
fn the_recorded_requests_are_answered() {
    let Some(folder) = recorded_cases() else { return };
    let mut failures = Vec::new();
    for family in ["virtual_http", "mirror_http"] {
        let cases = read_cases(&folder.join(format!("toolbench/{family}.jsonl")));
        for RecordedCase { value: case, line } in &cases {
            let fields: Object<'_> = serde_json::from_str(line).expect("an object");
            let written = part(&fields, "input").expect("an input");
            let checked = match family {
                "virtual_http" => virtual_case(case, &written),
                _ => mirror_case(case, &written),
            };
            failures.extend(checked.err().map(|why| format!("{}: {why}", case["id"])));
        }
        println!("{family}: {} run, {} failed so far", cases.len(), failures.len());
    }
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

/// A part of a case as it is written: the order of keys counts.
fn part<'a>(fields: &Object<'a>, name: &str) -> Option<Object<'a>> {
    serde_json::from_str(fields.get(name)?.get()).ok()
}

/// What the recorded model said when it was told nothing else.
const STUB: &str = r#"{"error": "", "response": "stub"}"#;

fn virtual_case(case: &Value, written: &Object<'_>) -> Checked {
    let (input, expected) = (&case["input"], &case["expected"]);
    let stage = Stage::empty();
    write_files(&stage, "cache", part(written, "cache").as_ref());
    write_files(&stage, "tools", part(written, "tools").as_ref());
    for (name, text) in input["cache_raw_files"].as_object().into_iter().flatten() {
        stage.write(&format!("cache/{name}"), text.as_str().expect("a text"));
    }
    fs::create_dir_all(stage.path("tools")).expect("a folder");
    let texts = input["gpt_replies"].as_array().cloned().unwrap_or_default();
    let texts = texts.iter().map(|text| text.as_str().unwrap_or_default().to_owned()).collect();
    let model = StandIn::model(texts, STUB);
    let answer = match input["real_api"].as_array() {
        Some(real) => {
            let status = u16::try_from(real[0].as_u64().expect("a status")).expect("a status");
            Answer::Say(status, real[1].as_str().expect("a body").to_owned())
        }
        None => Answer::Say(500, String::new()),
    };
    let real = StandIn::start(move |_, _| answer.clone());
    let config = json!({"api_key": "sk-x", "api_base": model.url("/v1"), "model": "stub-model",
        "temperature": 0, "toolbench_url": real.url("/virtual"), "tools_folder": "tools",
        "cache_folder": "cache", "is_save": input["is_save"], "port": 8080, "log_file": "server.log"});
    stage.write("config.yml", &config.to_string());
    let served = stage.serve("-c config.yml");
    let body = match input["raw_body"].as_str() {
        Some(raw) => raw.to_owned(),
        None => written.get("body").expect("a body").get().to_owned(),
    };
    let reply = served.client().post("/virtual", body);
    served.stop();
    check_reply(case, reply.status, &reply.json())?;
    let wanted = case.get("recommended");
    if wanted.is_none() {
        let asked: Vec<Value> = real
            .asked()
            .iter()
            .map(|asked| serde_json::from_str(&asked.body).expect("JSON"))
            .collect();
        same("requests to the real tools", &json!(asked), &expected["real_api_requests"])?;
        check_model(&model, expected, "gpt_calls", "gpt_user_prompt", "gpt_params")?;
        if let Some(after) = expected.get("cache_after") {
            same("the cache", &read_files(&stage.path("cache")), after)?;
        }
    } else if wanted.is_some_and(|wanted| wanted["cache_unchanged"] == true) {
        same("the cache", &read_files(&stage.path("cache")), &input["cache"])?;
    }
    if wanted.is_some_and(|wanted| wanted["cache_file_not_overwritten"] == true) {
        let (name, text) =
            input["cache_raw_files"].as_object().into_iter().flatten().next().expect("a file");
        same("the unreadable file", &json!(stage.read(&format!("cache/{name}"))), text)?;
    }
    Ok(())
}

fn mirror_case(case: &Value, written: &Object<'_>) -> Checked {
    let (input, expected) = (&case["input"], &case["expected"]);
    let stage = Stage::empty();
    write_files(&stage, "tools", part(written, "tools").as_ref());
    let text = input["llm_reply"].as_str().unwrap_or_default();
    let model = StandIn::model(Vec::new(), text);
    let config = json!({"api_key": "EMPTY", "api_base": model.url("/v1"), "model": "stub-model",
        "temperature": 0, "tools_folder": "tools", "port": 8080});
    stage.write("config_mirrorapi.yml", &config.to_string());
    let form = if input["server"] == "main_mirrorapi" { "mirror" } else { "mirror-cache" };
    let served = stage.serve(&format!("-c config_mirrorapi.yml --simulator {form}"));
    let body = written.get("body").expect("a body").get();
    let reply = served.client().post("/virtual", body);
    served.stop();
    check_reply(case, reply.status, &reply.json())?;
    if case.get("recommended").is_none() {
        check_model(&model, expected, "llm_calls", "llm_user_prompt", "llm_params")?;
    }
    Ok(())
}

fn check_reply(case: &Value, status: u16, body: &Value) -> Checked {
    let wanted = case.get("recommended").unwrap_or(&case["expected"]);
    same("the status", &json!(status), &wanted["status"])?;
    if wanted["body_error_non_empty"] == true {
        let error = body["error"].as_str().unwrap_or_default();
        let is_right = !error.is_empty() && body["response"] == wanted["response"];
        return if is_right { Ok(()) } else { Err(format!("no error: {body}")) };
    }
    if wanted["body"]["from"] == "simulation" {
        return same("the body", body, &serde_json::from_str(STUB).expect("JSON"));
    }
    same("the body", body, &wanted["body"])
}

fn check_model(
    model: &StandIn,
    expected: &Value,
    calls: &str,
    prompt: &str,
    parameters: &str,
) -> Checked {
    let asked = model.asked();
    same("calls of the model", &json!(asked.len()), &expected[calls])?;
    let Some(last) = asked.last() else { return Ok(()) };
    let body: Value = serde_json::from_str(&last.body).expect("JSON");
    let messages = body["messages"].as_array().expect("messages");
    let user = messages.iter().find(|message| message["role"] == "user").expect("a user");
    same("the prompt", &user["content"], &expected[prompt])?;
    let mut own = body.as_object().expect("an object").clone();
    own.remove("messages");
    let is_same = |name: &String, value: &Value| match (own.get(name), value) {
        (Some(Value::Number(a)), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (own, value) => own == Some(value),
    };
    let wanted = expected[parameters].as_object().expect("parameters");
    if wanted.len() == own.len() && wanted.iter().all(|(name, value)| is_same(name, value)) {
        return Ok(());
    }
    Err(format!("the parameters: got {own:?}, wanted {wanted:?}"))
}

fn write_files(stage: &Stage, root: &str, files: Option<&Object<'_>>) {
    for (name, content) in files.into_iter().flat_map(Object::iter) {
        stage.write(&format!("{root}/{name}"), content.get());
    }
}

/// The files of a cache folder by their names, as JSON.
pub(crate) fn read_files(root: &Path) -> Value {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().expect("a type").is_dir() {
                folders.push(entry.path());
                continue;
            }
            let name = entry.path();
            let name = name.strip_prefix(root).expect("inside").to_string_lossy().into_owned();
            let text = fs::read_to_string(entry.path()).expect("text");
            let json: Value = serde_json::from_str(&text).unwrap_or(Value::String(text));
            files.insert(name, json);
        }
    }
    json!(files)
}

fn same(what: &str, got: &Value, wanted: &Value) -> Checked {
    if got == wanted { Ok(()) } else { Err(format!("{what}: got {got}, wanted {wanted}")) }
}
