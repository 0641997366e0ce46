//! Where replies come from: order, failures, and what is kept.

use serde_json::{Value, json};

use crate::http::{Answer, Gate, StandIn};
use crate::stage::{KEY, Stage, request};

const SIMULATED: &str = r#"{"error": "", "response": "made up"}"#;

fn with_model(model: &StandIn) -> String {
    format!(
        "--tools tools --cache cache --simulator chat --model m --model-url {}",
        model.url("/v1")
    )
}

#[test]
fn a_model_plays_what_is_not_known_and_is_asked_once() {
    let stage = Stage::new();
    let model = StandIn::model(Vec::new(), SIMULATED);
    let served = stage.serve(&with_model(&model));
    let rome = request("Sky", "Now", json!({"city": "Rome", "toolbench_key": "x"}));
    let reply = served.call(&rome);
    assert_eq!((reply.status, reply.header("juror-source")), (200, Some("simulator")));
    assert_eq!(reply.json(), json!({"error": "", "response": "made up"}));
    let again = served.call(&rome);
    assert_eq!(
        (again.header("juror-source"), again.header("juror-origin")),
        (Some("cache"), Some("simulated"))
    );
    served.stop();
    let asked = model.asked();
    assert_eq!(asked.len(), 1);
    let body: Value = serde_json::from_str(&asked[0].body).expect("JSON");
    assert_eq!(body["response_format"]["json_schema"]["name"], "tool_reply");
    let shape = r#""properties":{"error":{"type":"string"},"response":{}}"#;
    assert!(asked[0].body.contains(shape), "{}", asked[0].body);
    let user = body["messages"][1]["content"].as_str().expect("a prompt");
    assert!(user.contains("'description': 'The weather now'"), "{user}");
    assert!(user.contains("(\"{'city': 'Oslo'}\", {'error': '', 'response': 'rain'})"), "{user}");
    let served = stage.serve(&with_model(&model));
    assert_eq!(served.call(&rome).header("juror-source"), Some("cache"), "it is kept");
    let (_, stats, _) = stage.run("tools stats --json");
    let stats: Value = serde_json::from_str(&stats).expect("JSON");
    assert_eq!(stats[0]["origin"], "simulated");
    assert_eq!(stats[0]["model"], "openai_compatible/m");
}

#[test]
fn equal_misses_are_joined() {
    let (stage, gate) = (Stage::new(), Gate::default());
    let model = StandIn::model_behind(&gate, Vec::new(), SIMULATED);
    let served = stage.serve(&with_model(&model));
    std::thread::scope(|scope| {
        for _ in 0..16 {
            scope.spawn(|| {
                let reply = served.call(&request("Sky", "Now", json!({"city": "Rome"})));
                assert_eq!(reply.json()["response"], "made up");
            });
        }
        let mut client = served.client();
        while !client.get("/metrics").body.contains("juror_joined_total 15\n") {
            std::thread::yield_now();
        }
        gate.open();
    });
    assert_eq!(model.asked().len(), 1);
}

#[test]
fn a_call_whose_caller_left_is_still_made_kept_and_recorded() {
    let (stage, gate) = (Stage::new(), Gate::default());
    let model = StandIn::model_behind(&gate, Vec::new(), SIMULATED);
    let served = stage.serve(&with_model(&model));
    let body = request("Sky", "Now", json!({"city": "Rome"})).to_string();
    let mut leaving = std::net::TcpStream::connect(served.address()).expect("a connection");
    let opened = served.open("r", "q");
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n",
        opened.virtual_path,
        body.len()
    );
    std::io::Write::write_all(&mut leaving, format!("{head}{body}").as_bytes()).expect("sent");
    while model.asked().is_empty() {
        std::thread::yield_now();
    }
    drop(leaving);
    gate.open();
    let mut client = served.client();
    while opened.calls(&mut client).json()["calls"].as_array().expect("calls").is_empty() {
        std::thread::yield_now();
    }
    assert_eq!(client.post("/virtual", body).header("juror-source"), Some("cache"));
}

#[test]
fn a_call_on_its_way_is_answered_though_the_server_stops() {
    let (stage, gate) = (Stage::new(), Gate::default());
    let model = StandIn::model_behind(&gate, Vec::new(), SIMULATED);
    let served = stage.serve(&with_model(&model));
    let mut client = served.client();
    std::thread::scope(|scope| {
        let call = scope.spawn(move || {
            client.post("/virtual", request("Sky", "Now", json!({"city": "Rome"})).to_string())
        });
        while model.asked().is_empty() {
            std::thread::yield_now();
        }
        let address = served.address().to_owned();
        let stopped = scope.spawn(move || served.stop());
        // It stops when it takes no more connections.
        while std::net::TcpStream::connect(&address).is_ok() {
            std::thread::yield_now();
        }
        gate.open();
        assert_eq!(call.join().expect("a reply").json()["response"], "made up");
        assert_eq!(stopped.join().expect("stopped").0, 0);
    });
}

#[test]
fn failures_fall_through_and_are_never_kept() {
    let stage = Stage::new();
    let real = StandIn::start(|_, _| Answer::Close);
    let model = StandIn::model(vec!["rubbish".into(); 3], SIMULATED);
    let options = format!("{} --proxy {}", with_model(&model), real.url("/virtual"));
    let served = stage.serve(&options);
    let rome = request("Sky", "Now", json!({"city": "Rome"}));
    let failed = served.call(&rome);
    assert_eq!(failed.status, 200);
    assert_eq!(failed.json(), json!({"error": "Failed to generate fake response", "response": ""}));
    assert_eq!(served.call(&rome).json()["response"], "made up", "the next time it is asked anew");
    assert_eq!(real.asked().len(), 2);
    let (_, said) = served.stop();
    assert!(said.contains("real: ") && said.contains("simulator: "), "{said}");
    assert!(!said.contains(KEY), "{said}");
    let (_, stats, _) = stage.run("tools stats --json");
    let stats: Value = serde_json::from_str(&stats).expect("JSON");
    assert_eq!(stats[0]["replies"], 1);
}

#[test]
fn real_tools_are_asked_before_a_model_and_their_replies_are_judged() {
    let stage = Stage::new();
    let real = StandIn::start(|n, _| {
        let response = if n == 0 { "rate limit exceeded" } else { "sunny" };
        Answer::Say(200, json!({"error": "", "response": response}).to_string())
    });
    let model = StandIn::model(Vec::new(), SIMULATED);
    let served = stage.serve(&format!("{} --proxy {}", with_model(&model), real.url("/virtual")));
    let call = |city: &str| served.call(&request("Sky", "Now", json!({"city": city})));
    assert_eq!(call("Rome").header("juror-source"), Some("simulator"));
    let sunny = call("Bern");
    assert_eq!(
        (sunny.header("juror-source"), &sunny.json()["response"]),
        (Some("real"), &json!("sunny"))
    );
    let asked = &real.asked()[1];
    assert!(asked.headers.iter().any(|(name, value)| name == "toolbench_key" && value == KEY));
    let body: Value = serde_json::from_str(&asked.body).expect("JSON");
    assert_eq!(
        body,
        json!({"category": "Weather", "tool_name": "Sky", "api_name": "now",
            "tool_input": {"city": "Bern"}, "strip": "", "toolbench_key": KEY})
    );
}

#[test]
fn tools_are_asked_at_their_own_address_if_their_host_is_listed() {
    let stage = Stage::empty();
    let real =
        StandIn::start(|_, asked| Answer::Say(200, json!({"got": asked.target}).to_string()));
    let tool = json!({"tool_name": "Sky", "host": "sky.example", "api_list": [
        {"name": "Now", "method": "GET", "url": real.url("/now/{city}")},
        {"name": "Player", "method": "GET", "url": real.url("/players/{playerId}/x"),
         "required_parameters": [{"name": "playerId", "type": "STRING"}],
         "optional_parameters": [{"name": "From", "type": "STRING"}]},
        {"name": "Post", "method": "POST", "url": real.url("/post")},
        {"name": "Elsewhere", "method": "GET", "url": "http://127.0.0.2:9/x"}]});
    stage.write("tools/Weather/sky.json", &tool.to_string());
    let host = real.url("");
    let settings =
        json!({"tools": {"folder": "tools", "real": {"hosts": {host: {"X-Key": "env:SKY_KEY"}}}}});
    stage.write("juror.yaml", &settings.to_string());
    let mut command = stage.command("serve --port 0 -c juror.yaml");
    command.env("SKY_KEY", KEY);
    let served = stage.serve_command(command);
    let reply = served.call(&request("Sky", "Now", json!({"city": "a/../b", "days": 2})));
    assert_eq!(reply.header("juror-source"), Some("real"));
    assert_eq!(reply.json()["response"]["got"], "GET /now/a%2F%2E%2E%2Fb?days=2 HTTP/1.1");
    served.call(&request("Sky", "Post", json!(r#"{"b": 1, "a": [true]}"#)));
    let asked = real.asked();
    assert_eq!(asked[1].body, r#"{"b":1,"a":[true]}"#);
    let header =
        |name: &str| asked[0].headers.iter().find(|(own, _)| own == name).map(|(_, v)| v.clone());
    assert_eq!(header("x-key").as_deref(), Some(KEY));
    assert_eq!(header("x-rapidapi-host").as_deref(), Some("sky.example"));
    let player = served.call(&request("Sky", "Player", json!({"playerid": "7", "is_from": "a b"})));
    assert_eq!(player.json()["response"]["got"], "GET /players/7/x?From=a+b HTTP/1.1");
    let n_asked = real.asked().len();
    for (api, input) in
        [("Elsewhere", json!({})), ("Player", json!({"playerid": ".."})), ("Player", json!({}))]
    {
        let refused = served.call(&request("Sky", api, input));
        assert_eq!(refused.header("juror-source"), Some("none"), "{api}");
    }
    assert_eq!(real.asked().len(), n_asked);
    let (_, said) = served.stop();
    assert!(said.contains("not among the hosts that may be asked"), "{said}");
    assert!(!said.contains(KEY), "{said}");
}

#[test]
fn what_tools_repeat_of_a_key_is_kept_by_nobody() {
    let echo = || {
        StandIn::start(|_, asked| {
            // Without the host: a port such as 40312 reads like the status of a failure.
            let others = asked.headers.iter().filter(|(name, _)| name != "host");
            let headers: Vec<&String> = others.map(|(_, value)| value).collect();
            Answer::Say(200, json!({"error": "", "response": {"headers": headers}}).to_string())
        })
    };
    let (proxy, own) = (echo(), echo());
    let stage = Stage::empty();
    let tool = json!({"tool_name": "Sky", "api_list": [
        {"name": "Now", "method": "GET", "url": own.url("/now")}]});
    stage.write("tools/Weather/sky.json", &tool.to_string());
    let host = own.url("");
    let direct = json!({"tools": {"folder": "tools", "real": {"hosts": {host: {"X-Key": KEY}}}}});
    let through = json!({"tools": {"folder": "tools", "real": {"proxy": proxy.url("/virtual")}}});
    for settings in [direct, through] {
        stage.write("juror.yaml", &settings.to_string());
        let served = stage.serve_command(stage.command("serve --port 0 -c juror.yaml --refresh"));
        let reply = served.call(&request("Sky", "Now", json!({})));
        assert_eq!(reply.header("juror-source"), Some("real"));
        let text = reply.json().to_string();
        assert!(text.contains("***") && !text.contains(KEY), "{text}");
        served.stop();
        let (_, shown, _) = stage.run("tools call Weather/Sky/Now {} --on-miss fail");
        assert!(shown.contains("***") && !shown.contains(KEY), "{shown}");
    }
    assert_eq!((proxy.asked().len(), own.asked().len()), (1, 1));
}

#[test]
fn a_replay_asks_nobody() {
    let stage = Stage::new();
    let model = StandIn::model(Vec::new(), SIMULATED);
    let served = stage.serve(&format!("{} --on-miss fail", with_model(&model)));
    assert_eq!(served.call(&request("Sky", "Now", json!({"city": "Oslo"}))).status, 200);
    let miss = served.call(&request("Sky", "Now", json!({"city": "Rome"})));
    assert_eq!((miss.status, miss.header("juror-source")), (404, Some("none")));
    assert_eq!(miss.json(), json!({"error": "No reply to this call is known", "response": ""}));
    assert!(model.asked().is_empty());
}

#[test]
fn a_replay_needs_no_key_and_changes_nothing() {
    let stage = Stage::new();
    stage.run("tools import cache --store store");
    let before = std::fs::read(stage.path("store/tools.sqlite")).expect("a store");
    let options = "--tools tools --cache store --on-miss fail --simulator chat --model m";
    let served = stage.serve(options);
    let oslo = request("Sky", "Now", json!({"city": "Oslo"}));
    assert_eq!(served.call(&oslo).json()["response"], "rain");
    served.stop();
    assert_eq!(std::fs::read(stage.path("store/tools.sqlite")).expect("a store"), before);
    let served = stage.serve("--tools tools --cache cache");
    assert_eq!(served.call(&oslo).json()["response"], "rain");
    served.stop();
    assert!(!stage.path(".juror").exists(), "nothing is made where nothing will be kept");
}

#[test]
fn no_reply_is_made_up_for_an_api_that_there_is_not() {
    let stage = Stage::new();
    let model = StandIn::model(Vec::new(), SIMULATED);
    let served = stage.serve(&with_model(&model));
    let reply = served.call(&request("Sky", "Yesterday", json!({})));
    assert!(reply.json()["error"].as_str().expect("an error").starts_with("no such API"));
    assert!(model.asked().is_empty());
}

#[test]
fn a_given_store_is_never_written_to() {
    let stage = Stage::new();
    stage.run("tools import cache --store given");
    let before = std::fs::read(stage.path("given/tools.sqlite")).expect("a store");
    let model = StandIn::model(Vec::new(), SIMULATED);
    let options = with_model(&model).replace("--cache cache", "--cache given --store own");
    let served = stage.serve(&options);
    let call = |city: &str| served.call(&request("Sky", "Now", json!({"city": city})));
    assert_eq!(call("Oslo").header("juror-origin"), Some("imported"));
    assert_eq!(call("Rome").header("juror-source"), Some("simulator"));
    served.stop();
    assert_eq!(std::fs::read(stage.path("given/tools.sqlite")).expect("a store"), before);
    let (_, stats, _) = stage.run("tools stats --store own");
    assert!(stats.contains("simulated by openai_compatible/m: 1 reply of 1 API,"), "{stats}");
}

#[test]
fn several_cache_folders_are_one() {
    let stage = Stage::new();
    stage.write(
        "more/Weather/sky_for_Weather/now.json",
        r#"{"{'city': 'Oslo'}": "second", "{'city': 'Rome'}": {"error": "", "response": "sun"}}"#,
    );
    let served = stage.serve("--tools tools --cache cache --cache more");
    let call = |city: &str| served.call(&request("Sky", "Now", json!({"city": city}))).json();
    assert_eq!(call("Oslo")["response"], "rain", "the first folder comes first");
    assert_eq!(call("Rome")["response"], "sun");
}

#[test]
fn two_servers_write_back_to_one_folder() {
    let stage = Stage::new();
    let model = StandIn::model(Vec::new(), SIMULATED);
    let options = |store: &str| format!("{} --write-back --store {store}", with_model(&model));
    let (one, two) = (stage.serve(&options("s1")), stage.serve(&options("s2")));
    std::thread::scope(|scope| {
        for (served, side) in [(&one, "one"), (&two, "two")] {
            scope.spawn(move || {
                for n in 0..40 {
                    served.call(&request("Goals", "scorers", json!({"side": side, "n": n})));
                }
            });
        }
    });
    one.stop();
    two.stop();
    let written: Value =
        serde_json::from_str(&stage.read("cache/Sports/goals_for_Sports/scorers.json"))
            .expect("JSON");
    assert_eq!(written.as_object().expect("an object").len(), 80);
}

#[test]
fn arguments_in_another_order_are_found_on_request() {
    let stage = Stage::new();
    let turned = request("Sky", "Now", json!(r#"{"b": [true, null], "a": 1}"#));
    let exact = stage.serve("--tools tools --cache cache --store s1");
    assert_eq!(exact.call(&turned).header("juror-source"), Some("none"));
    let served = stage.serve("--tools tools --cache cache --store s2 --match any-order");
    let reply = served.call(&turned);
    assert_eq!(reply.header("juror-source"), Some("cache"));
    assert_eq!(reply.json()["response"], json!({"n": null, "x": "é"}), "what is no number is null");
    let mut client = served.client();
    let metrics = client.get("/metrics").body;
    assert!(metrics.contains("juror_any_order_total 1"), "{metrics}");
}

#[test]
fn a_simulator_that_hangs_ends_as_a_reply() {
    let stage = Stage::new();
    let model = StandIn::start(|_, _| Answer::Hang);
    let settings = json!({"llm": {"timeout_seconds": 0.2, "retries": 0}, "tools": {"folder": "tools",
        "cache": "cache", "simulator": {"model": {"provider": "openai_compatible", "model": "m",
            "base_url": model.url("/v1"), "api_key": KEY}}}});
    stage.write("juror.yaml", &settings.to_string());
    let served = stage.serve("-c juror.yaml");
    let reply = served.call(&request("Sky", "Now", json!({"city": "Rome"})));
    assert_eq!(reply.status, 200);
    assert_eq!(reply.json()["error"], "Failed to generate fake response");
    let (_, said) = served.stop();
    assert!(said.contains("no reply within 0.2 s") && !said.contains(KEY), "{said}");
}

#[test]
fn a_reply_that_takes_too_long_is_cut_off() {
    let stage = Stage::new();
    let model = StandIn::start(|_, _| Answer::Hang);
    let served = stage.serve(&format!("{} --timeout 1", with_model(&model)));
    let reply = served.call(&request("Sky", "Now", json!({"city": "Rome"})));
    assert_eq!((reply.status, &reply.json()["error"]), (504, &json!("No reply in time")));
}

#[test]
fn a_model_that_was_down_is_asked_again_later() {
    let stage = Stage::new();
    let model = StandIn::start(|n, _| match n {
        0 => Answer::Say(401, json!({"error": {"message": "bad key"}}).to_string()),
        _ => Answer::Say(200, "{}".into()),
    });
    let served = stage.serve(&with_model(&model));
    let call = |city: &str| served.call(&request("Sky", "Now", json!({"city": city})));
    assert_eq!(call("Rome").json()["error"], "Failed to generate fake response");
    assert_eq!(call("Bern").json()["error"], "Failed to generate fake response");
    assert_eq!(model.asked().len(), 1, "a key that is refused is not tried with every call");
}

#[test]
fn a_mirror_model_is_told_what_a_file_says() {
    let stage = Stage::new();
    stage.write("system.txt", "Be the API.\n");
    let model = StandIn::model(Vec::new(), r#"{"error": "", "response": "a "quoted" word"}"#);
    let settings = json!({"tools": {"folder": "tools", "simulator": {"form": "mirror",
        "prompt": "system.txt", "model": {"provider": "openai_compatible", "model": "m",
            "base_url": model.url("/v1")}}}});
    stage.write("juror.yaml", &settings.to_string());
    let served = stage.serve("-c juror.yaml");
    let reply = served.call(&request("Sky", "id", json!({})));
    assert_eq!(
        reply.json()["response"],
        "a \"quoted\" word\"}",
        "rescued as the public server does"
    );
    let body: Value = serde_json::from_str(&model.asked()[0].body).expect("JSON");
    assert_eq!(body["messages"][0]["content"], "Be the API.");
    assert!(
        body["messages"][1]["content"]
            .as_str()
            .expect("text")
            .starts_with("API doc:\n{'api_name': 'id'")
    );
    assert_eq!((&body["seed"], &body["max_tokens"]), (&json!(42), &json!(2048)));
    let unknown = served.call(&request("Sky", "nothing", json!({})));
    assert!(unknown.json()["error"].as_str().expect("an error").starts_with("no such API"));
}

#[test]
fn a_model_that_writes_numbers_as_python_does_is_understood() {
    let made = r#"{"error": "", "response": {"t": NaN, "n": 1}, "note": "a "}"#;
    for simulator in ["mirror", "chat"] {
        let (stage, model) = (Stage::new(), StandIn::model(Vec::new(), made));
        let options = with_model(&model).replace("--simulator chat", "--simulator ");
        let served =
            stage.serve(&options.replace("--simulator ", &format!("--simulator {simulator}")));
        let reply = served.call(&request("Sky", "Now", json!({"city": "Rome"})));
        assert_eq!(reply.header("juror-source"), Some("simulator"), "{simulator}");
        assert_eq!(reply.json()["response"], json!({"t": null, "n": 1}), "{simulator}");
        served.stop();
        stage.run("tools export out");
        let kept = stage.read("out/Weather/sky_for_Weather/now.json");
        assert!(kept.contains("\"t\": NaN"), "{kept}");
    }
}

#[test]
fn new_replies_can_be_written_back_to_the_folder() {
    let stage = Stage::new();
    stage.write("cache/Weather/sky_for_Weather/is_id.json", "{\"torn");
    let model = StandIn::model(Vec::new(), SIMULATED);
    let served = stage.serve(&format!("{} --write-back", with_model(&model)));
    served.call(&request("Sky", "Now", json!({"city": "Rome"})));
    served.call(&request("Sky", "id", json!({})));
    served.call(&request("Goals", "scorers", json!({})));
    let (_, said) = served.stop();
    assert!(
        stage
            .read("cache/Weather/sky_for_Weather/now.json")
            .contains("\"{'city': 'Rome'}\": {\n        \"error\": \"\"")
    );
    assert!(stage.path("cache/Sports/goals_for_Sports/scorers.json").exists());
    assert_eq!(stage.read("cache/Weather/sky_for_Weather/is_id.json"), "{\"torn");
    assert!(said.contains("not written back, but kept"), "{said}");
    let again = stage.serve("--tools tools --cache cache --store .juror/tools --on-miss fail");
    assert_eq!(again.call(&request("Sky", "id", json!({}))).status, 200, "the store has it");
}

#[test]
fn tools_are_called_from_the_command_line() {
    let stage = Stage::new();
    let (code, printed, said) =
        stage.run("tools call now_for_sky {\"city\":\"Oslo\"} --tools tools --cache cache");
    assert_eq!((code, printed.as_str()), (0, "{\"error\":\"\",\"response\":\"rain\"}\n"), "{said}");
    let (code, printed, _) = stage.run("tools call Weather/Sky/Now {} --cache cache");
    assert_eq!((code, printed.contains("No reply to this call is known")), (3, true));
    let (code, _, said) = stage.run("tools call nothing {} --tools tools");
    assert_eq!((code, said.contains("there is no API `nothing`")), (2, true), "{said}");
    let (code, _, said) = stage.run("tools call now_for_sky oops --tools tools --cache cache");
    assert_eq!((code, said.contains("the arguments are not JSON")), (2, true), "{said}");
}
