//! What an agent is given of Juror's process, and that it ends with it.

use std::fs;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStderr, Command, Stdio};

use serde_json::Value;

use crate::stage::{Stage, agent};

/// An agent that takes no notice of anything, with a child and a grandchild that do not either.
/// What outlives Juror says so in the end, where Juror's own words go.
const STUBBORN: &str = r#"
trap '' HUP INT TERM
outlive() { sleep 300; echo survived >&2; }
(outlive & outlive) &
read -r setup
echo '{"type": "ready"}'
read -r query
echo 'asked' >&2
while read -r more; do :; done
outlive
"#;

/// Juror with a stubborn agent that was asked, and what it will say.
fn with_stubborn_agent(stage: &Stage) -> (Child, Lines<BufReader<ChildStderr>>) {
    stage.write("agent.sh", STUBBORN);
    let mut command = stage.command("command:sh agent.sh", "--jobs 1");
    let mut juror = command.stderr(Stdio::piped()).spawn().expect("juror runs");
    let mut said = BufReader::new(juror.stderr.take().expect("what it says")).lines();
    let asked = said.find(|line| line.as_ref().is_ok_and(|line| line == "asked"));
    assert!(asked.is_some(), "the agent was asked");
    (juror, said)
}

fn send(signal: &str, to: &Child) {
    let sent = Command::new("kill").args([signal, &to.id().to_string()]).status();
    assert!(sent.expect("kill").success());
}

/// All that is said until nobody is left who could say anything.
fn rest(said: Lines<BufReader<ChildStderr>>) -> String {
    said.map_while(Result::ok).collect::<Vec<String>>().join("\n")
}

#[test]
fn an_agent_and_what_it_started_end_when_juror_is_killed() {
    let stage = Stage::new();
    let (mut juror, said) = with_stubborn_agent(&stage);
    send("-KILL", &juror);
    juror.wait().expect("ended");
    let rest = rest(said);
    assert!(!rest.contains("survived"), "{rest}");
}

#[test]
fn a_process_that_is_ended_or_loses_its_terminal_stops_as_after_an_interrupt() {
    for signal in ["-INT", "-TERM", "-HUP"] {
        let stage = Stage::new();
        let (mut juror, said) = with_stubborn_agent(&stage);
        send(signal, &juror);
        let rest = rest(said);
        assert_eq!(juror.wait().expect("ended").code(), Some(3), "{signal}: {rest}");
        assert!(rest.contains("stopped: interrupted"), "{signal}: {rest}");
        assert!(!rest.contains("survived"), "{signal}: {rest}");
        assert!(!stage.path("out.json").exists(), "{signal}");
    }
}

#[test]
fn who_was_told_to_outlive_the_terminal_does() {
    let stage = Stage::new();
    let body = "print('asked', file=sys.stderr, flush=True)\nopen('gate').read()\nsay(task, final_answer='x')";
    let agent = agent(&stage, body);
    let made = Command::new("mkfifo").arg(stage.path("gate")).status().expect("mkfifo");
    assert!(made.success());
    let juror = stage.command(&agent, "--jobs 1 --limit 1");
    // As `nohup` does it.
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]);
    command.arg(juror.get_program()).args(juror.get_args()).current_dir(stage.folder.path());
    command.env_clear();
    for (name, value) in juror.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let mut juror =
        command.stderr(Stdio::piped()).stdin(Stdio::null()).spawn().expect("juror runs");
    let mut said = BufReader::new(juror.stderr.take().expect("what it says")).lines();
    assert!(said.any(|line| line.is_ok_and(|line| line == "asked")));
    send("-HUP", &juror);
    fs::write(stage.path("gate"), "go").expect("the agent reads");
    let rest = rest(said);
    assert_eq!(juror.wait().expect("ended").code(), Some(0), "{rest}");
}

/// The variables that an agent saw.
fn seen(stage: &Stage) -> Value {
    stage.json("environment.json")
}

#[test]
fn keys_reach_an_agent_only_if_they_are_named() {
    let stage = Stage::new();
    let body =
        "json.dump(dict(os.environ), open('environment.json', 'w'))\nsay(task, final_answer='x')";
    let agent = agent(&stage, body);
    stage.write(
        "juror.yaml",
        "llm: {generation: {provider: openai, model: m, api_key: env:MODEL_ACCESS}}\n",
    );
    let keys = [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "RAPIDAPI_KEY",
        "JUROR_TOKEN",
        "JUROR_SERVER_TOKEN",
        "GITHUB_TOKEN",
        "MODEL_ACCESS",
        "OPENAI_API_KEY_2",
        "AZURE_API_KEY_EASTUS",
        "API_KEYS",
        "PGPASSWORD",
        "MYSQL_PWD",
        "GITHUB_PAT",
    ];
    let mut variables = keys.map(|name| (name, "sk-hush-hush")).to_vec();
    variables.push(("TEMPERATURE", "0.5"));
    variables.push(("DATABASE_URL", "postgres://me:sk-hush-hush@host/data"));
    let options = "--jobs 1 --limit 1 --judge none -c juror.yaml --fresh";
    let ended = stage.bench_with(&agent, options, &variables);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let environment = seen(&stage);
    assert_eq!(environment["TEMPERATURE"], "0.5");
    for name in keys {
        assert!(environment.get(name).is_none(), "{name}");
    }
    assert!(!environment.to_string().contains("sk-hush-hush"), "{environment}");
    let options = format!("{options} --agent-env ANTHROPIC_API_KEY,MODEL_ACCESS");
    let ended = stage.bench_with(&agent, &options, &variables);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let environment = seen(&stage);
    for name in keys {
        let is_named = ["ANTHROPIC_API_KEY", "MODEL_ACCESS"].contains(&name);
        assert_eq!(environment.get(name).is_some(), is_named, "{name}");
    }
}

#[test]
fn an_agent_that_fails_for_want_of_a_key_is_told_how_to_have_it() {
    let stage = Stage::new();
    let word = "the agent is not given OPENAI_API_KEY: --agent-env NAME passes a key on to it";
    let variables = [("OPENAI_API_KEY", "sk-x")];
    let options = "--jobs 1 --limit 1 --judge none --fresh";
    // It does not even start.
    stage.write("agent.sh", "exit 4\n");
    let ended = stage.bench_with("command:sh agent.sh", options, &variables);
    assert_eq!(ended.code, 2, "{}", ended.stderr);
    assert!(ended.stderr.contains("the agent cannot start"), "{}", ended.stderr);
    assert!(ended.stderr.contains(&format!("hint: {word}")), "{}", ended.stderr);
    // It starts, and says that it failed.
    let failing = agent(&stage, "say(task, error='401 Unauthorized')");
    let ended = stage.bench_with(&failing, options, &variables);
    assert!(ended.stderr.contains(word), "{}", ended.stderr);
    // It fails with the key, too.
    let ended =
        stage.bench_with(&failing, &format!("{options} --agent-env OPENAI_API_KEY"), &variables);
    assert!(!ended.stderr.contains("is not given"), "{}", ended.stderr);
}
