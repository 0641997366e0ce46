//! Replies and runs that many programs share in a database: bought once by all, whoever is killed.
#![cfg(target_os = "linux")]

mod runs;

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use juror_scripted::{Script, Server};
use juror_testing::{Ended, Postgres};
use serde_json::{Value, json};

/// Questions, a model that is asked about each once, and a database.
struct Stage {
    folder: tempfile::TempDir,
    model: Server,
    address: String,
}

const N_QUESTIONS: usize = 600;

/// How many calls a program has on their way.
const CONCURRENCY: usize = 8;

const SETTINGS: &str = "llm: {generation: {provider: openai, model: m}, concurrency: 8}\n\
     answer_relevance: {enabled: false}\nretrieval_answer: {enabled: false}\n";

impl Stage {
    fn new(n_questions: usize, latency_ms: u64, database: &Postgres) -> Stage {
        let script: Script =
            serde_json::from_value(json!({"latency_ms": latency_ms})).expect("a script");
        let stage = Stage {
            folder: tempfile::tempdir().expect("a folder"),
            model: Server::start(script),
            address: database.address(),
        };
        let question = |n: usize| {
            json!({"id": format!("q{n}"), "question_text": format!("What is number {n}?"),
                "reference_answer": format!("It is {n}.")})
        };
        let questions: Vec<Value> = (0..n_questions).map(question).collect();
        let reference = json!([{"template_id": "t", "questions": questions}]);
        let response = |n: usize| {
            json!({"question_id": format!("q{n}"), "actual_answer": format!("Number {n}.")})
                .to_string()
        };
        let responses: Vec<String> = (0..n_questions).map(response).collect();
        for (name, content) in [
            ("reference.json", reference.to_string()),
            ("responses.jsonl", responses.join("\n")),
            ("juror.yaml", SETTINGS.to_owned()),
        ] {
            fs::write(stage.folder.path().join(name), content).expect("written");
        }
        stage
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_juror"));
        command
            .args(words)
            .current_dir(self.folder.path())
            .env_clear()
            .env("OPENAI_API_KEY", "sk-test")
            .env("OPENAI_BASE_URL", format!("{}/v1", self.model.address()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, words: &[&str]) -> Ended {
        Ended::of(&mut self.command(words))
    }

    /// Starts to judge all answers, as one of many programs.
    fn judge(&self, number: usize, address: &str) -> Child {
        let out = format!("out{number}.json");
        let words = ["eval", "reference.json", "responses.jsonl", "-c", "juror.yaml", "--cache"];
        let mut command = self.command(&words);
        command.args([address, "-o", &out]).spawn().expect("the program starts")
    }

    /// Waits until a program and its like have asked the model so often.
    fn wait_for_calls(&self, n_calls: usize, program: &mut Child) {
        while self.model.seen().len() < n_calls {
            assert!(program.try_wait().expect("a state").is_none(), "it ended too early");
            std::thread::yield_now();
        }
    }

    /// How many replies are kept.
    fn n_kept(&self, database: &Postgres) -> usize {
        self.count(database, "replies")
    }

    /// How many rows a table has.
    fn count(&self, database: &Postgres, table: &str) -> usize {
        let (_, schema) = self.address.split_once("schema=").expect("a schema");
        database.sql(&format!("SELECT count(*) FROM {schema}.{table}")).parse().expect("a number")
    }
}

fn end(child: Child) -> Ended {
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap_or(-1);
    Ended { code, stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

#[test]
fn six_programs_buy_every_reply_once() {
    let Some(database) = Postgres::shared() else { return };
    let stage = Stage::new(N_QUESTIONS, 2, database);
    let programs: Vec<Child> = (0..6).map(|number| stage.judge(number, &stage.address)).collect();
    for program in programs {
        let ended = end(program);
        assert_eq!(ended.code, 0, "{ended}");
    }
    assert_eq!(stage.model.seen().len(), N_QUESTIONS);
    assert_eq!(stage.n_kept(database), N_QUESTIONS);
    let results = |number: usize| {
        fs::read_to_string(stage.folder.path().join(format!("out{number}.json"))).expect("results")
    };
    assert!((1..6).all(|number| results(number) == results(0)), "all judge alike");
}

#[test]
fn after_a_kill_only_calls_under_way_are_repeated() {
    let Some(database) = Postgres::shared() else { return };
    let stage = Stage::new(N_QUESTIONS, 10, database);
    let mut killed = stage.judge(0, &stage.address);
    let other = stage.judge(1, &stage.address);
    stage.wait_for_calls(100, &mut killed);
    killed.kill().expect("killed");
    killed.wait().expect("ended");
    let ended = end(other);
    assert_eq!(ended.code, 0, "{ended}");
    let n_calls = stage.model.seen().len();
    let most = N_QUESTIONS + CONCURRENCY;
    assert!((N_QUESTIONS..=most).contains(&n_calls), "{n_calls} calls");
    assert_eq!(stage.n_kept(database), N_QUESTIONS);
}

#[test]
fn a_server_that_is_killed_in_a_run_loses_no_reply() {
    let Some(database) = Postgres::start() else { return };
    let stage = Stage::new(N_QUESTIONS, 5, &database);
    let mut programs = [0, 1].map(|number| stage.judge(number, &stage.address));
    stage.wait_for_calls(100, &mut programs[0]);
    database.crash();
    database.begin();
    for program in programs {
        let ended = end(program);
        assert_eq!(ended.code, 0, "{ended}");
    }
    assert_eq!(stage.n_kept(&database), N_QUESTIONS);
    // Locks end with the server, so that what was under way may be asked for by both.
    let n_calls = stage.model.seen().len();
    let most = N_QUESTIONS + 2 * CONCURRENCY;
    assert!((N_QUESTIONS..=most).contains(&n_calls), "{n_calls} calls");
}

#[test]
fn a_server_that_stays_away_ends_the_run_and_what_was_kept_is_used_by_the_next() {
    let Some(database) = Postgres::start() else { return };
    let stage = Stage::new(N_QUESTIONS, 5, &database);
    let mut program = stage.judge(0, &format!("{}&patience=1", stage.address));
    stage.wait_for_calls(100, &mut program);
    database.stop();
    let ended = end(program);
    assert_eq!(ended.code, 3, "{ended}");
    assert!(ended.stderr.contains("replies cannot be kept"), "{ended}");
    database.begin();
    let (n_asked, n_kept) = (stage.model.seen().len(), stage.n_kept(&database));
    assert!(n_kept + CONCURRENCY >= n_asked, "{n_kept} of {n_asked} are kept");
    assert_eq!(end(stage.judge(0, &stage.address)).code, 0);
    assert_eq!(stage.model.seen().len(), n_asked + N_QUESTIONS - n_kept);
}

#[test]
fn what_cannot_be_reached_is_refused_before_anything_is_asked() {
    let Some(database) = Postgres::shared() else { return };
    let stage = Stage::new(3, 0, database);
    let down = "postgresql://juror:hush-hush@127.0.0.1:1/evals";
    let wrong = database.address_with_password("wrong-pass");
    for (address, told) in [(down, "Connection refused"), (&*wrong, "the password is refused")] {
        let ended = end(stage.judge(0, address));
        assert_eq!(ended.code, 3, "{ended}");
        assert!(ended.stderr.contains(told), "{ended}");
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!all.contains("hush-hush") && !all.contains("wrong-pass"), "{ended}");
    }
    let ended = end(stage.judge(0, "postgresql://juror@127.0.0.1/evals?sslmode=prefer"));
    assert_eq!(ended.code, 2, "{ended}");
    assert!(stage.model.seen().is_empty());
}

#[test]
fn a_password_is_in_nothing_that_is_printed_or_written() {
    let Some(database) = Postgres::shared() else { return };
    let stage = Stage::new(3, 0, database);
    let address = database.address_with_password(database.password());
    let words = ["eval", "reference.json", "responses.jsonl", "-c", "juror.yaml", "--run", "run"];
    let ended = Ended::of(stage.command(&words).args(["--cache", &address, "-o", "out.json"]));
    assert_eq!(ended.code, 0, "{ended}");
    let settings = SETTINGS.replace("concurrency: 8", &format!("cache: \"{address}\""));
    let settings_file = stage.folder.path().join("juror.yaml");
    fs::write(&settings_file, settings).expect("written");
    let words = ["eval", "reference.json", "responses.jsonl", "-c", "juror.yaml", "--run", "other"];
    let again = stage.run(&words);
    assert_eq!(again.code, 0, "{again}");
    fs::remove_file(settings_file).expect("removed");
    let told = stage.run(&["cache", "--cache", &address, "stats"]);
    assert_eq!(told.code, 0, "{told}");
    let checked = stage.run(&["store", "check", &address]);
    assert_eq!(checked.code, 0, "{checked}");
    for ended in [ended, again, told, checked] {
        let all = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!all.contains(database.password()), "{ended}");
    }
    check_files(stage.folder.path(), database.password());
}

fn check_files(folder: &Path, secret: &str) {
    for entry in fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            check_files(&path, secret);
        } else {
            let bytes = fs::read(&path).expect("read");
            let found = bytes.windows(secret.len()).any(|part| part == secret.as_bytes());
            assert!(!found, "the password is in {}", path.display());
        }
    }
}

#[test]
fn a_password_may_come_from_the_environment() {
    let Some(database) = Postgres::shared() else { return };
    let stage = Stage::new(1, 0, database);
    let address = database.address_with_password(database.password());
    let address = address.replace(&format!(":{}@", database.password()), "@");
    let check = |variable: &str| {
        let mut command = stage.command(&["store", "check", &address]);
        Ended::of(command.env(variable, database.password()))
    };
    assert_eq!(check("PGPASSWORD").code, 0);
    assert_eq!(check("OTHER").code, 3);
}

#[test]
fn stores_are_copied_in_both_directions_and_again_without_effect() {
    let Some(database) = Postgres::shared() else { return };
    let stage = Stage::new(30, 0, database);
    assert_eq!(end(stage.judge(0, "cache")).code, 0);
    let n_asked = stage.model.seen().len();
    let copy = |from: &str, to: &str| {
        let ended = stage.run(&["store", "copy", from, to]);
        assert_eq!(ended.code, 0, "{ended}");
        ended.stderr
    };
    let told = copy("cache", &stage.address);
    assert!(told.contains("copied 30 replies of 30 kept ones to postgresql://"), "{told}");
    let told = copy("cache", &stage.address);
    assert!(told.contains("copied 0 replies of 30 kept ones"), "{told}");
    let told = copy(&stage.address, "back");
    assert!(told.contains("copied 30 replies of 30 kept ones to back/replies.sqlite"), "{told}");
    assert_eq!(end(stage.judge(1, "back")).code, 0);
    assert_eq!(end(stage.judge(2, &stage.address)).code, 0);
    assert_eq!(stage.model.seen().len(), n_asked, "nothing is asked again");
    let export = |place: &str| {
        let ended = stage.run(&["cache", "--cache", place, "export", "-"]);
        assert_eq!(ended.code, 0, "{ended}");
        ended.stdout
    };
    assert_eq!(export("cache"), export(&stage.address));
    let missing = stage.run(&["store", "copy", "nowhere", "back"]);
    assert_eq!(missing.code, 2, "{missing}");
}

#[test]
fn replies_of_tools_are_imported_copied_and_exported() {
    let Some(database) = Postgres::shared() else { return };
    let stage = Stage::new(1, 0, database);
    let api = stage.folder.path().join("cache/Data/a_for_Data");
    fs::create_dir_all(&api).expect("a folder");
    let replies = json!({"{'x': 1}": {"error": "", "response": "one"}});
    fs::write(api.join("b.json"), replies.to_string()).expect("written");
    for words in [
        ["tools", "import", "cache", "--store", &stage.address].as_slice(),
        ["store", "copy", "--tools", &stage.address, "tools"].as_slice(),
        ["tools", "export", "exported", "--store", "tools"].as_slice(),
        ["tools", "stats", "--store", &stage.address].as_slice(),
    ] {
        let ended = stage.run(words);
        assert_eq!(ended.code, 0, "{words:?}: {ended}");
    }
    let exported = stage.folder.path().join("exported/Data/a_for_Data/b.json");
    let exported: Value =
        serde_json::from_str(&fs::read_to_string(exported).expect("a file")).expect("JSON");
    assert_eq!(exported, replies);
    let words = ["tools", "call", "Data/a/b", "{\"x\": 1}", "--store", &stage.address];
    let called = stage.run(&words);
    assert_eq!(called.code, 0, "{called}");
    assert!(called.stdout.contains("one"), "{called}");
}

#[test]
fn programs_that_call_the_same_tool_ask_its_model_once() {
    let Some(database) = Postgres::shared() else { return };
    let stage = Stage::new(1, 200, database);
    let model = format!("{}/v1", stage.model.address());
    let words = ["tools", "call", "Data/a/b", "{\"x\": 1}", "--model", "m", "--model-url", &model];
    let call = |_| stage.command(&words).args(["--store", &stage.address]).spawn();
    let programs: Vec<Child> = (0..4).map(|n| call(n).expect("it starts")).collect();
    let replies: Vec<Ended> = programs.into_iter().map(end).collect();
    for ended in &replies {
        assert_eq!(ended.code, 0, "{ended}");
        assert_eq!(ended.stdout, replies[0].stdout);
    }
    assert_eq!(stage.model.seen().len(), 1);
}

#[test]
fn a_store_is_checked_and_migrated() {
    let Some(database) = Postgres::shared() else { return };
    let stage = Stage::new(1, 0, database);
    let check = || {
        let ended = stage.run(&["store", "check", &stage.address, "--json"]);
        let told: Value = serde_json::from_str(&ended.stdout).expect("JSON");
        (ended.code, told["version"].clone(), told["replies"].clone())
    };
    assert_eq!(check(), (0, json!(null), json!(0)));
    let made = stage.run(&["store", "migrate", &stage.address]);
    assert!(made.code == 0 && made.stderr.contains("made tables of version 3"), "{made}");
    assert_eq!(check(), (0, json!(3), json!(0)));
    let folder = stage.run(&["store", "check", "cache"]);
    assert!(
        folder.code == 2 && folder.stderr.contains("not the address of a database"),
        "{folder}"
    );
}
