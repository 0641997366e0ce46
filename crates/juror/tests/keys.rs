//! Keys go where their owner meant them to go, and nowhere else.

use std::fs;
use std::process::{Command, Output, Stdio};

use juror_scripted::{Matching, Reply, Script, Server};
use serde_json::{Value, json};
use tempfile::TempDir;

const KEY: &str = "sk-must-never-be-seen";

/// A folder with a dataset of one question.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write(
        "reference.json",
        r#"[{"template_id": "t", "questions": [{"id": "q", "question_text": "Which?",
            "reference_answer": "This one."}]}]"#,
    );
    write("responses.jsonl", r#"{"question_id": "q", "actual_answer": "That one."}"#);
    write("answers.tsv", "Question\tReference answer\tActual answer\nWhich?\tThis.\tThat.\n");
    folder
}

/// Runs a command in the folder with nothing in its environment but these variables.
fn run(folder: &TempDir, line: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
    command.args(line.split_whitespace()).current_dir(folder.path()).env_clear();
    command.envs(variables.iter().copied()).stdin(Stdio::null());
    command.output().expect("the program starts")
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const EVAL: &str = "eval reference.json responses.jsonl -o out.json";
const WITH_SETTINGS: &str = "eval reference.json responses.jsonl -o out.json -c juror.yaml";
const CLAIMS_ONLY: &str =
    "answer_relevance: {enabled: false}\nretrieval_answer: {enabled: false}\n";

#[test]
fn an_address_from_a_dotenv_file_is_sent_no_key_of_the_user() {
    let elsewhere = Server::start(Script::default());
    let folder = folder();
    let file = format!("OPENAI_BASE_URL={}/v1\n", elsewhere.address());
    fs::write(folder.path().join(".env"), file).expect("a file");
    for line in [EVAL, "answer-correctness -i answers.tsv -o out.tsv"] {
        let ended = run(&folder, line, &[("OPENAI_API_KEY", KEY)]);
        let told = told(&ended);
        assert_eq!(ended.status.code(), Some(2), "{line}: {told}");
        let why = format!(
            "llm.generation: the address `{}/v1` is from .env (OPENAI_BASE_URL), and OPENAI_API_KEY is not",
            elsewhere.address()
        );
        assert!(told.contains(&why) && told.contains("hint: if you trust that address"), "{told}");
        assert!(!told.contains(KEY), "{told}");
    }
    assert_eq!(elsewhere.seen().len(), 0);
    // Where nobody is asked, nothing can be sent.
    let counted = run(&folder, &format!("{EVAL} --dry-run"), &[("OPENAI_API_KEY", KEY)]);
    assert_eq!(counted.status.code(), Some(0), "{}", told(&counted));
}

#[test]
fn no_provider_has_a_variable_that_steals_keys() {
    let elsewhere = Server::start(Script::default());
    let folder = folder();
    let openai = ["OPENAI_BASE_URL", "OPENAI_API_BASE"];
    let azure = ["AZURE_OPENAI_ENDPOINT", "AZURE_API_BASE"];
    let anthropic = ["ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE"];
    let gemini = ["GEMINI_BASE_URL", "GEMINI_API_BASE"];
    for (provider, keys, addresses) in [
        ("openai", &["OPENAI_API_KEY"][..], &openai[..]),
        ("azure", &["AZURE_OPENAI_API_KEY", "AZURE_API_KEY"], &azure),
        ("anthropic", &["ANTHROPIC_API_KEY"], &anthropic),
        ("gemini", &["GEMINI_API_KEY", "GOOGLE_API_KEY"], &gemini),
        ("openai_compatible", &["OPENAI_COMPATIBLE_API_KEY"], &["OPENAI_COMPATIBLE_BASE_URL"]),
    ] {
        let settings =
            format!("llm: {{generation: {{provider: {provider}, model: m}}}}\n{CLAIMS_ONLY}");
        fs::write(folder.path().join("juror.yaml"), settings).expect("a file");
        for address in addresses {
            let file = format!("{address}={}\n", elsewhere.address());
            fs::write(folder.path().join(".env"), file).expect("a file");
            for key in keys {
                let ended = run(&folder, WITH_SETTINGS, &[(key, KEY)]);
                let told = told(&ended);
                assert_eq!(ended.status.code(), Some(2), "{key} {address}: {told}");
                let why = format!("is from .env ({address}), and {key} is not");
                assert!(told.contains(&why), "{told}");
            }
        }
    }
    assert_eq!(elsewhere.seen().len(), 0);
}

#[test]
fn no_other_way_leads_a_key_to_an_address_from_a_dotenv_file() {
    let elsewhere = Server::start(Script::default());
    let folder = folder();
    for (model, file, why) in [
        // The key is written in the settings, or they name its variable.
        ("api_key: sk-written-in-settings", "OPENAI_BASE_URL=@\n", "and `api_key` is not"),
        ("api_key: env:MINE", "OPENAI_BASE_URL=@\n", "and MINE is not"),
        // The settings name the address by a variable of the file.
        ("base_url: env:GATEWAY", "GATEWAY=@\n", "is from .env (GATEWAY), and OPENAI_API_KEY"),
        // A header holds the key.
        (
            "headers: {authorization: Bearer x}",
            "OPENAI_API_KEY=own\nOPENAI_BASE_URL=@\n",
            "and `headers.authorization` is not",
        ),
        ("headers: {x-team: env:MINE}", "OPENAI_API_KEY=own\nOPENAI_BASE_URL=@\n", "and MINE is"),
        // The file takes the key out of the environment itself.
        ("stream: false", "OPENAI_BASE_URL=@/$MINE\nOPENAI_API_KEY=own\n", ".env:1: this line"),
        ("stream: false", "GATEWAY=$MINE\nOPENAI_BASE_URL=@/$GATEWAY\n", ".env:2: this line"),
    ] {
        let settings = format!(
            "llm: {{retries: 0, timeout_seconds: 1, generation: {{provider: openai, model: m, {model}}}}}\n{CLAIMS_ONLY}"
        );
        fs::write(folder.path().join("juror.yaml"), settings).expect("a file");
        let file = file.replace('@', &elsewhere.address());
        fs::write(folder.path().join(".env"), file).expect("a file");
        // Nothing listens there: what is not led elsewhere ends here.
        let nowhere = ("HTTPS_PROXY", "http://127.0.0.1:9");
        let variables = [("OPENAI_API_KEY", KEY), ("MINE", "sk-mine-alone"), nowhere];
        let told = told(&run(&folder, WITH_SETTINGS, &variables));
        assert!(told.contains(why), "{model}: {told}");
        assert_eq!(elsewhere.seen().len(), 0, "{model}");
    }
}

#[test]
fn a_dotenv_file_with_address_and_key_is_used_as_a_whole() {
    let gateway = Server::start(Script { key: Some("sk-of-the-file".into()), ..Script::default() });
    let folder = folder();
    fs::write(folder.path().join("juror.yaml"), CLAIMS_ONLY).expect("a file");
    let file = format!("OPENAI_BASE_URL={}/v1\nOPENAI_API_KEY=sk-of-the-file\n", gateway.address());
    fs::write(folder.path().join(".env"), file).expect("a file");
    for variables in [&[][..], &[("OPENAI_API_KEY", KEY)]] {
        let ended = run(&folder, &format!("{WITH_SETTINGS} --cache-mode off"), variables);
        assert_eq!(ended.status.code(), Some(0), "{}", told(&ended));
    }
    assert_eq!(gateway.seen().len(), 2);
}

#[test]
fn the_environments_own_address_comes_before_that_of_a_dotenv_file() {
    let [own, elsewhere] = [Server::start(Script::default()), Server::start(Script::default())];
    let folder = folder();
    let file = format!("OPENAI_BASE_URL={}/v1\n", elsewhere.address());
    fs::write(folder.path().join(".env"), file).expect("a file");
    let address = format!("{}/v1", own.address());
    // The variable of the file is the one that is looked at first.
    let ended = run(&folder, EVAL, &[("OPENAI_API_KEY", KEY), ("OPENAI_API_BASE", &address)]);
    assert_eq!(ended.status.code(), Some(0), "{}", told(&ended));
    assert!(!own.seen().is_empty() && elsewhere.seen().is_empty());
}

#[test]
fn settings_that_nobody_named_are_not_read() {
    let [own, elsewhere] = [Server::start(Script::default()), Server::start(Script::default())];
    let folder = folder();
    let settings = format!(
        "llm: {{generation: {{provider: openai, model: m, base_url: \"{}/v1\"}}}}\n",
        elsewhere.address()
    );
    for name in ["juror.yaml", "juror.yml", ".juror.yaml", "config.yml", "config.yaml"] {
        fs::write(folder.path().join(name), &settings).expect("a file");
    }
    // Nor does `.env` name them.
    fs::write(folder.path().join(".env"), "JUROR_CONFIG=juror.yaml\n").expect("a file");
    let address = format!("{}/v1", own.address());
    let ended = run(&folder, EVAL, &[("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", &address)]);
    assert_eq!(ended.status.code(), Some(0), "{}", told(&ended));
    assert!(!own.seen().is_empty() && elsewhere.seen().is_empty());
}

/// All files below a folder that hold a text.
fn holding(folder: &TempDir, text: &str) -> Vec<String> {
    let mut folders = vec![folder.path().to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if fs::read(&path)
                .is_ok_and(|bytes| bytes.windows(text.len()).any(|part| part == text.as_bytes()))
            {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn a_key_in_an_address_is_sent_after_the_path_and_written_nowhere() {
    for (provider, more, path) in [
        ("openai", "", "/v1"),
        ("openai", "", "/v1/"),
        ("azure", "api-version=2024-10-21&", ""),
        ("anthropic", "", ""),
        ("gemini", "", ""),
        ("gemini", "alt=sse&", ""),
    ] {
        let server = Server::start(Script::default());
        let folder = folder();
        let model = json!({"provider": provider, "model": "m", "stream": more.contains("sse"),
            "base_url": format!("{}{path}?tenant=a&key={KEY}#top", server.address())});
        let settings = json!({"llm": {"generation": model}});
        fs::write(folder.path().join("juror.json"), settings.to_string()).expect("a file");
        let line = "eval reference.json responses.jsonl -o out.json -c juror.json --run run";
        let ended = run(&folder, line, &[]);
        let told = told(&ended);
        assert_eq!(ended.status.code(), Some(0), "{provider}: {told}");
        let seen = server.seen().pop().expect("a call");
        assert_eq!(seen.query, format!("{more}tenant=a&key={KEY}"), "{provider}");
        assert!(!told.contains(KEY), "{told}");
        fs::remove_file(folder.path().join("juror.json")).expect("the settings");
        assert_eq!(holding(&folder, KEY), [""; 0], "{provider}");
        let run = fs::read_to_string(folder.path().join("run/run.json")).expect("a run");
        assert!(run.contains("tenant=a&key=***"), "{run}");
    }
}

#[test]
fn another_key_in_an_address_is_the_same_call() {
    let server = Server::start(Script::default());
    let folder = folder();
    for key in ["first-key-of-two", "second-key-of-two"] {
        let address = format!("{}/v1?tenant=a&api_key={key}", server.address());
        let variables = [("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", &address)];
        assert_eq!(run(&folder, EVAL, &variables).status.code(), Some(0));
    }
    assert_eq!(server.bought_twice().len(), 0, "replies are known by what decides them");
}

#[test]
fn replies_that_repeat_a_key_are_kept_without_it() {
    let claims = json!({"reason": format!("You sent {KEY} and token-of-the-header."),
        "reference_claims": 1, "actual_claims": 1, "matching_claims": 1});
    for stream in [false, true] {
        let matching = Matching {
            purpose: Some("answer_claims".into()),
            contains: String::new(),
            reply: Reply::Json(claims.clone()),
        };
        let server = Server::start(Script { matching: vec![matching], ..Script::default() });
        let folder = folder();
        let settings = format!(
            "llm: {{generation: {{provider: openai, model: m, stream: {stream}, headers: {{x-api-token: \"env:TOKEN\"}}}}}}\n{CLAIMS_ONLY}"
        );
        fs::write(folder.path().join("juror.yaml"), settings).expect("a file");
        let address = format!("{}/v1", server.address());
        let variables = [
            ("OPENAI_API_KEY", KEY),
            ("OPENAI_BASE_URL", &address),
            ("TOKEN", "token-of-the-header"),
        ];
        let ended = run(&folder, &format!("{WITH_SETTINGS} --run run"), &variables);
        assert_eq!(ended.status.code(), Some(0), "{}", told(&ended));
        for secret in [KEY, "token-of-the-header"] {
            assert_eq!(holding(&folder, secret), [""; 0], "{secret}");
        }
        let results = fs::read_to_string(folder.path().join("out.json")).expect("results");
        let results: Value = serde_json::from_str(&results).expect("JSON");
        assert_eq!(results[0]["answer_correctness_reason"], "You sent *** and ***.");
    }
}
