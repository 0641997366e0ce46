//! A benchmark from its options to its outcome, with an agent in this process.

use std::net::Ipv4Addr;
use std::num::NonZero;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use juror_agents::{AgentError, Answered, Subject, Task};
use juror_bench::{
    AgentChoice, AgentOptions, BenchError, BenchOptions, BenchTotals, Benchmark, JudgeWord, Pool,
    QuerySelection,
};
use juror_models::Pending;
use juror_run::{AskOptions, Environment, Event, Interrupt, Listener, Settings};
use juror_runs::{Resume, RunPlace};
use serde_json::json;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");

/// Answers every query alike, but fails on those that mention a word.
struct Parrot {
    fails_on: &'static str,
}

impl Subject for Parrot {
    fn answer<'a>(&'a self, task: Task<'a>) -> Pending<'a, Result<Answered, AgentError>> {
        let fails = !self.fails_on.is_empty() && task.query.contains(self.fails_on);
        let answer = Answered { final_answer: Some("hello".into()), ..Answered::default() };
        let outcome = if fails { Err(AgentError("no idea".into())) } else { Ok(answer) };
        Box::pin(std::future::ready(outcome))
    }
}

/// Begins anew twice before it answers, as an agent does that is lost with its machine.
struct Renewing;

impl Renewing {
    async fn renewed(task: Task<'_>) -> Result<Answered, AgentError> {
        let mut urls = vec![task.virtual_url.to_owned()];
        for _ in 0..2 {
            urls.push((task.renew)().await.map_err(AgentError)?);
        }
        // All but the secret part of an address stays the same.
        let is_of_query =
            |url: &String| url.contains("/runs/run/queries.") && url.ends_with("/virtual");
        assert!(urls.iter().all(is_of_query), "{urls:?}");
        urls.sort();
        urls.dedup();
        let final_answer = Some(format!("{} addresses", urls.len()));
        Ok(Answered { final_answer, ..Answered::default() })
    }
}

impl Subject for Renewing {
    fn answer<'a>(&'a self, task: Task<'a>) -> Pending<'a, Result<Answered, AgentError>> {
        Box::pin(Renewing::renewed(task))
    }
}

#[test]
fn an_agent_that_begins_anew_calls_tools_at_another_address() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut options = options(folder.path(), "");
    options.agent.choice = AgentChoice::Own { agent: Box::new(Renewing), declared: json!(1) };
    let result = run(options, &Heard::default()).expect("a result");
    assert_eq!(result["results"][0]["system_answer"]["final_answer"], "3 addresses");
}

fn options(folder: &Path, fails_on: &'static str) -> BenchOptions {
    let mut settings = Settings::default();
    settings.tools.folder = vec![format!("{EXAMPLES}/tools")];
    settings.tools.store = Some(folder.join("store").display().to_string());
    BenchOptions {
        settings,
        queries: QuerySelection {
            place: format!("{EXAMPLES}/queries.json"),
            ..QuerySelection::default()
        },
        agent: AgentOptions {
            choice: AgentChoice::Own { agent: Box::new(Parrot { fails_on }), declared: json!(1) },
            written: "own:parrot".into(),
            name: None,
            default_name: "parrot".into(),
            // A variable that is not set: what others set decides nothing.
            variables: vec!["JUROR_TEST_NOT_SET".into()],
            timeout: Duration::from_mins(1),
        },
        pool: Pool::Own,
        judge: Some(JudgeWord::Nobody),
        repeats: None,
        ask: AskOptions::default(),
        server: None,
        server_token: None,
        host: Ipv4Addr::LOCALHOST.into(),
        reply_options: Vec::new(),
        run: RunPlace::Named(folder.join("run")),
        command: Vec::new(),
        resume: Resume::default(),
        jobs: 2,
        trials: NonZero::<u16>::MIN,
    }
}

/// The events of a run, in words.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    fn listener(&self) -> Listener {
        let heard = self.clone();
        Arc::new(move |event| heard.0.lock().expect("a lock").push(in_words(&event)))
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().expect("a lock"))
    }
}

fn in_words(event: &Event) -> String {
    match event {
        Event::Attempted(done) if done.is_known => format!("known {}", done.line.n_done),
        Event::Attempted(done) => format!("done {} of {}", done.line.n_done, done.line.n_all),
        Event::Note(notice) => format!("note {notice}"),
        Event::Warning(notice) => format!("warning {notice}"),
        other => format!("{other:?}"),
    }
}

fn run(options: BenchOptions, heard: &Heard) -> Result<serde_json::Value, BenchError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(async {
        let plan = options.resolve(Environment::nothing(), heard.listener())?;
        let benchmark = Benchmark::open(plan).await?;
        let outcome = benchmark.run(&Interrupt::default()).await?;
        let results = outcome.results();
        let report = results.report();
        let text = results.to_json(&report).expect("JSON");
        outcome.complete(&results, &report, &BenchTotals::of(&report))?;
        Ok(serde_json::from_slice(&text).expect("JSON"))
    })
}

#[test]
fn an_agent_in_this_process_is_tried_on_all_queries() {
    let folder = tempfile::tempdir().expect("a folder");
    let heard = Heard::default();
    let results = run(options(folder.path(), ""), &heard).expect("results");
    assert_eq!(results["metadata"]["framework"], "parrot");
    assert_eq!(results["metadata"]["config"]["agent"], "own:parrot");
    let n = results["results"].as_array().expect("results").len();
    let done: Vec<String> = (1..=n).map(|at| format!("done {at} of {n}")).collect();
    assert_eq!(heard.take(), done);
}

#[test]
fn a_finished_run_is_refused_and_retried_only_on_demand() {
    let folder = tempfile::tempdir().expect("a folder");
    let heard = Heard::default();
    let results = run(options(folder.path(), "the"), &heard).expect("results");
    let n = results["results"].as_array().expect("results").len();
    let n_failed = results["summary"]["error_count"].as_u64().expect("a number");
    let n_failed = usize::try_from(n_failed).expect("few");
    assert!(n_failed > 0 && n_failed < n, "{n_failed} of {n}");
    heard.take();
    let refused = run(options(folder.path(), ""), &heard).expect_err("finished");
    assert!(matches!(refused, BenchError::Folder(_)) && !refused.is_outside(), "{refused}");
    assert_eq!(heard.take(), [""; 0]);
    let retry = Resume { retry_errors: true, ..Resume::default() };
    let again = BenchOptions { resume: retry, ..options(folder.path(), "") };
    run(again, &heard).expect("results");
    let heard = heard.take();
    assert!(heard[0].starts_with("note resuming"), "{heard:?}");
    let n_known = heard.iter().filter(|event| event.starts_with("known")).count();
    assert_eq!(n_known, n - n_failed);
}

#[test]
fn a_server_of_tools_that_is_not_there_is_no_mistake_of_the_user() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = Some("http://127.0.0.1:9".to_owned());
    let reply_options = vec!["cache"];
    let options = BenchOptions { server, reply_options, ..options(folder.path(), "") };
    let heard = Heard::default();
    let error = run(options, &heard).expect_err("nobody is there");
    assert!(error.is_outside() && matches!(error, BenchError::Unreachable(_)), "{error}");
    let warned = heard.take();
    assert!(warned[0].contains("--cache have no effect here"), "{warned:?}");
}
