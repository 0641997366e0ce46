//! How a run is asked for, as the Python side writes it.

use std::path::Path;
use std::time::Duration;

use juror_agents::read_secret;
use juror_document::{Document, Format, Problems};
use juror_models::Secret;
use juror_run::bench::{
    JudgeWord, Manner, Pool, Reach, Wanted, agent_environment, ignored_by_server, unused_token,
};
use juror_run::{
    Environment, FormWord, Notice, PublicConfig, Resume, Settings, load_settings, option, phrase,
};
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
    /// What it is called.
    pub(super) name: String,
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
    /// Settings that were given as objects.
    settings: Option<Box<RawValue>>,
    pool: String,
    judge: Option<String>,
    pub(super) repeats: Option<u32>,
    pub(super) jobs: usize,
    timeout: f64,
    pub(super) server: Option<String>,
    #[serde(default)]
    server_token: Option<String>,
    pub(super) output: Option<String>,
    pub(super) run: Option<String>,
    fresh: bool,
    resume_changed: bool,
    pub(super) retry_errors: bool,
    /// Variables that decide what the agent answers.
    agent_env: Vec<String>,
    /// What is known of what the agent is made of.
    identity: Value,
}

impl Options {
    pub(super) fn wanted(&self) -> Wanted {
        Wanted {
            place: self.queries.clone(),
            sets: self.sets.clone(),
            filter: self.ids.clone(),
            ids: self.query_ids.clone(),
            limit: self.limit,
        }
    }

    /// The settings, with the places that were named beside them.
    pub(super) fn settings(&self) -> Result<Settings, Refusal> {
        let mut settings = self.written_settings()?;
        let tools = &mut settings.tools;
        tools.name_folder(self.tools.as_ref());
        if !self.cache.is_empty() {
            tools.cache.clone_from(&self.cache);
        }
        if self.refresh {
            tools.refresh = Some(true);
        }
        if self.server.is_some() {
            tools.leave_to_server();
        }
        if tools.folder.is_none() {
            let notice = Notice::new("there is no folder of tool files");
            return Err(asked(notice.hint(phrase!["name it with ", option("tools")])));
        }
        Ok(settings)
    }

    fn written_settings(&self) -> Result<Settings, Refusal> {
        if let Some(json) = &self.settings {
            let document = Document::new("config", json.get().into(), Format::Json);
            let document = document.map_err(|problems| Refusal::settings(&problems, false))?;
            return Settings::read(&document)
                .map_err(|problems| Refusal::settings(&problems, false));
        }
        let Some(file) = &self.config else { return Ok(Settings::default()) };
        let document = load_settings(file).map_err(Refusal::File)?;
        let wrong = |problems: Problems| Refusal::settings(&problems, true);
        match PublicConfig::read(&document) {
            Some(public) => Ok(public.map_err(wrong)?.settings(file, FormWord::Chat)),
            None => Settings::read(&document).map_err(wrong),
        }
    }

    pub(super) fn pool(&self) -> Result<Pool, Refusal> {
        self.pool.parse().map_err(|why: String| asked(why))
    }

    pub(super) fn judge(&self) -> Result<Option<JudgeWord>, Refusal> {
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

    pub(super) fn manner(&self, pool: Pool) -> Manner<'_> {
        Manner { name: &self.name, agent: &self.agent, method: None, pool, more: &[] }
    }

    /// What only the agent's side knows of what decides its answers.
    pub(super) fn reach(&self) -> Reach {
        Reach {
            environment: agent_environment(&self.agent_env, std::env::vars_os()),
            declared: Some(self.identity.clone()),
            server: self.server.clone(),
            ..Reach::default()
        }
    }

    pub(super) fn resume(&self) -> Resume {
        Resume {
            fresh: self.fresh,
            retry_errors: self.retry_errors,
            even_if_changed: self.resume_changed,
        }
    }

    pub(super) fn timeout(&self) -> Result<Duration, Refusal> {
        let wrong = |_| asked(format!("`{}` is no number of seconds", self.timeout));
        Duration::try_from_secs_f64(self.timeout).map_err(wrong)
    }

    /// The token that the server of tools asks for, if it does.
    pub(super) fn token(&self, environment: &Environment) -> Result<Option<Secret>, Refusal> {
        let token = self.server_token.clone().or_else(|| environment.get("JUROR_SERVER_TOKEN"));
        let token = token.filter(|_| self.server.is_some());
        let token =
            token.map(|token| read_secret(&token, |name| environment.get(name))).transpose();
        let wrong = |why| asked(Notice::new(phrase![option("server-token"), format!(": {why}")]));
        token.map_err(wrong)
    }

    /// A word on arguments that say nothing: with a server elsewhere, or without one.
    pub(super) fn ignored(&self) -> Option<Notice> {
        if self.server.is_none() {
            return self.server_token.as_ref().map(|_| unused_token());
        }
        let given = [("cache", !self.cache.is_empty()), ("refresh", self.refresh)];
        let given = given.into_iter().filter(|(_, is_given)| *is_given);
        ignored_by_server(&given.map(|(option, _)| option).collect::<Vec<_>>())
    }

    /// What the run is called at a server of tools.
    pub(super) fn run_name(&self) -> String {
        let folder = self.run.as_deref().and_then(|run| Path::new(run).file_name());
        folder.map_or_else(|| self.name.clone(), |name| name.to_string_lossy().into_owned())
    }
}
