//! The options of a run, as the Python side passes them.

use std::net::{IpAddr, Ipv4Addr};
use std::num::NonZero;
use std::time::Duration;

use juror_agents::Subject;
use juror_bench::{AgentChoice, AgentOptions, BenchOptions, JudgeWord, QuerySelection};
use juror_document::{Document, Format, Notice, Problems, option, phrase};
use juror_files::load_settings;
use juror_run::{AskOptions, Environment, FormWord, PublicConfig, Settings};
use juror_runs::{Resume, RunPlace};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::refused::asked;
use crate::problem::Refusal;

/// The arguments of `juror.bench`; the Python side has checked their types.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "they are switches of the call")]
pub(super) struct Options {
    /// The agent, as results name it.
    agent: String,
    /// The agent's name.
    name: String,
    queries: String,
    sets: Vec<String>,
    ids: Option<String>,
    query_ids: Vec<String>,
    limit: Option<usize>,
    tools: Option<String>,
    cache: Vec<String>,
    refresh: bool,
    /// A file of settings.
    config: Option<String>,
    /// Settings given as objects.
    settings: Option<Box<RawValue>>,
    pool: String,
    judge: Option<String>,
    repeats: Option<u32>,
    jobs: usize,
    trials: NonZero<u16>,
    timeout: f64,
    server: Option<String>,
    #[serde(default)]
    server_token: Option<String>,
    /// Where the tools of this process are served, if not on loopback.
    host: Option<String>,
    pub(super) output: Option<String>,
    run: Option<String>,
    fresh: bool,
    resume_changed: bool,
    retry_errors: bool,
    /// Environment variables that affect what the agent answers.
    agent_env: Vec<String>,
    /// What is known about the agent's code and data.
    identity: Value,
}

impl Options {
    /// Returns the benchmark that the options describe, of an agent that answers through `subject`.
    pub(super) fn benchmark(
        self,
        subject: impl FnOnce(Duration) -> Box<dyn Subject>,
        environment: &Environment,
    ) -> Result<BenchOptions, Refusal> {
        let (timeout, settings) = (seconds(self.timeout)?, self.settings()?);
        Ok(BenchOptions {
            run: place(self.run.as_deref(), &settings),
            pool: self.pool.parse().map_err(|why: String| asked(why))?,
            judge: self.judge()?,
            reply_options: self.reply_options(),
            queries: QuerySelection {
                place: self.queries,
                sets: self.sets,
                filter: self.ids,
                ids: self.query_ids,
                limit: self.limit,
                shard: None,
            },
            agent: AgentOptions {
                choice: AgentChoice::Own { agent: subject(timeout), declared: self.identity },
                written: self.agent,
                default_name: self.name.clone(),
                name: Some(self.name),
                variables: self.agent_env,
                timeout,
            },
            repeats: self.repeats,
            ask: AskOptions::default(),
            server: self.server,
            server_token: self.server_token.or_else(|| environment.get("JUROR_SERVER_TOKEN")),
            host: host(self.host.as_deref())?,
            settings,
            command: Vec::new(),
            resume: Resume {
                fresh: self.fresh,
                retry_errors: self.retry_errors,
                even_if_changed: self.resume_changed,
            },
            jobs: self.jobs,
            trials: self.trials,
        })
    }

    /// Returns the settings, with the places that were named next to them.
    fn settings(&self) -> Result<Settings, Refusal> {
        let mut settings = read_settings(self.settings.as_deref(), self.config.as_deref())?;
        let tools = &mut settings.tools;
        tools.name_folders(self.tools.as_slice());
        if !self.cache.is_empty() {
            tools.cache.clone_from(&self.cache);
        }
        if self.refresh {
            tools.refresh = Some(true);
        }
        if tools.folder.is_empty() && tools.real.is_none() {
            let notice = Notice::new("there is no folder of tool files");
            return Err(asked(notice.hint(phrase!["name it with ", option("tools")])));
        }
        Ok(settings)
    }

    fn judge(&self) -> Result<Option<JudgeWord>, Refusal> {
        match self.judge.as_deref() {
            None => Ok(None),
            Some("model") => Ok(Some(JudgeWord::Model)),
            Some("heuristic") => Ok(Some(JudgeWord::Heuristic)),
            Some("none") => Ok(Some(JudgeWord::Nobody)),
            Some(other) => {
                Err(asked(format!("there is no judge `{other}`: use model, heuristic or none")))
            }
        }
    }

    /// Returns the given arguments that configure the source of replies.
    fn reply_options(&self) -> Vec<&'static str> {
        let given = [("cache", !self.cache.is_empty()), ("refresh", self.refresh)];
        given.into_iter().filter_map(|(name, is_given)| is_given.then_some(name)).collect()
    }
}

/// Returns where the run is stored: in the folder that was named, or where the settings say.
fn place(folder: Option<&str>, settings: &Settings) -> RunPlace {
    match (folder, &settings.runs.folder) {
        (Some(folder), _) => RunPlace::Named(folder.into()),
        (None, Some(root)) => RunPlace::Within(root.into()),
        (None, None) => RunPlace::Nowhere,
    }
}

/// Reads settings that were given as objects, or those of a file.
pub(super) fn read_settings(
    given: Option<&RawValue>,
    file: Option<&str>,
) -> Result<Settings, Refusal> {
    if let Some(json) = given {
        let document = Document::new("config", json.get().into(), Format::Json);
        let document = document.map_err(|problems| Refusal::settings(&problems, false))?;
        return Settings::read(&document).map_err(|problems| Refusal::settings(&problems, false));
    }
    let Some(file) = file else { return Ok(Settings::default()) };
    let document = load_settings(file).map_err(Refusal::File)?;
    let wrong = |problems: Problems| Refusal::settings(&problems, true);
    match PublicConfig::read(&document) {
        Some(public) => Ok(public.map_err(wrong)?.settings(file, FormWord::Chat)),
        None => Settings::read(&document).map_err(wrong),
    }
}

/// Returns the address to serve tools at: one that agents can call, which `0.0.0.0` is not.
fn host(given: Option<&str>) -> Result<IpAddr, Refusal> {
    let Some(given) = given else { return Ok(Ipv4Addr::LOCALHOST.into()) };
    let address: Option<IpAddr> = given.parse().ok();
    address.filter(|address| !address.is_unspecified()).ok_or_else(|| {
        let why = format!("`{given}` is not an address that tools can be called at");
        asked(Notice::new(why).hint("name an IP address of this machine, such as 10.0.0.5"))
    })
}

/// Reads a number of seconds.
pub(super) fn seconds(number: f64) -> Result<Duration, Refusal> {
    Duration::try_from_secs_f64(number)
        .map_err(|_| asked(format!("`{number}` is not a number of seconds")))
}
