//! The agents that can be tried, and what each makes of a query.

use std::sync::Arc;
use std::time::{Duration, Instant};

use juror_agents::chat_agent::{
    ChatAgent, Ending, QueuedModel, Stopped, VirtualServer, VirtualServerSetup, wording,
};
use juror_agents::environment::Setup;
use juror_agents::{AgentError, Answered, Subject, Task};
use juror_document::{Document, Format};
use juror_json::python::{Layout, push_dump_of_json};
use juror_models::Models;
use juror_toolbench::answer::{FINISH, Finish, Messages, Thoughts, convert, read_finish};
use juror_tools::Catalog;
use serde_json::value::{RawValue, to_raw_value};

use super::attempt::Attempted;
use super::catalog_tools::CatalogTools;
use super::judged::{answer_of, different_claims};
use super::pool::Pool;
use super::queries::Selected;
use super::recorded::RecordedAnswers;
use super::serving::Serving;
use crate::places::UnclearSet;

/// Who is tried.
pub enum Agent {
    /// One that is asked for each answer.
    Asked(Box<dyn Subject>),
    /// Answers that were given before.
    Recorded(RecordedAnswers),
    /// A model with function calling.
    Chat(Box<Chat>),
}

/// A model with function calling.
pub struct Chat {
    /// How it goes about a query.
    pub agent: ChatAgent,
    /// The model.
    pub models: Arc<Models>,
    /// How long an observation may be, in characters.
    pub longest_observation: usize,
    /// How long one query may take.
    pub timeout: Duration,
    /// Whether the model is taken at what it said in earlier runs, and is asked only what is new.
    pub replays: bool,
}

impl Agent {
    /// What it calls itself, where it says so.
    pub fn name(&self) -> Option<&str> {
        match self {
            Agent::Asked(subject) => subject.name(),
            Agent::Recorded(_) | Agent::Chat(_) => None,
        }
    }

    /// The same; answers that were given before are those to these queries.
    pub fn paired(self, queries: &[Selected]) -> Result<Agent, UnclearSet> {
        Ok(match self {
            Agent::Recorded(recorded) => Agent::Recorded(recorded.paired(queries)?),
            other => other,
        })
    }

    /// Says that there are no more queries.
    pub(super) async fn close(&self) {
        if let Agent::Asked(subject) = self {
            subject.close().await;
        }
    }

    /// What the agent makes of a query. What goes wrong is part of it; there is nothing only if
    /// asking has stopped for everyone.
    pub async fn attempt(
        &self,
        selected: &Selected,
        pool: Pool,
        catalog: &Arc<Catalog>,
        serving: &Serving,
    ) -> Result<Attempted, Stopped> {
        let start = Instant::now();
        let asked = match self {
            Agent::Recorded(recorded) => return Ok(recorded.attempt(selected)),
            Agent::Asked(subject) => Asked::Subject(subject.as_ref()),
            Agent::Chat(chat) => Asked::Chat(chat),
        };
        let query = match serving.open(&selected.set, &selected.id).await {
            Ok(query) => query,
            Err(why) => {
                let error = Some(format!("its tools cannot be served: {why}"));
                return Ok(Attempted { error, ..nothing(selected) });
            }
        };
        let answered = asked.answer(selected, pool, catalog, serving, &query.url).await;
        let seconds = start.elapsed().as_secs_f64();
        // A query is closed whatever came of it.
        let calls = serving.close(query).await;
        let mut attempted = answered?;
        attempted.seconds.get_or_insert(seconds);
        match calls {
            Ok(calls) => {
                attempted.calls = calls;
                if matches!(asked, Asked::Subject(_)) {
                    let own = selected.query.registry();
                    attempted.claimed = different_claims(&attempted, &[&own, catalog.registry()]);
                }
            }
            Err(why) => {
                attempted.error.get_or_insert(format!("its calls are not known: {why}"));
            }
        }
        Ok(attempted)
    }
}

/// An agent that answers now.
#[derive(Clone, Copy)]
enum Asked<'a> {
    Subject(&'a dyn Subject),
    Chat(&'a Chat),
}

impl Asked<'_> {
    /// What it says to a query, with the tools at an address.
    async fn answer(
        self,
        selected: &Selected,
        pool: Pool,
        catalog: &Arc<Catalog>,
        serving: &Serving,
        url: &str,
    ) -> Result<Attempted, Stopped> {
        match self {
            Asked::Chat(chat) => {
                let client = serving.client().clone();
                let token = serving.token().cloned();
                let setup = VirtualServerSetup { token, ..VirtualServerSetup::new(url) };
                let server = VirtualServer::new(setup, client);
                chat.attempt(selected, pool, catalog, server).await
            }
            Asked::Subject(subject) => {
                let tools = pool.functions(catalog, &selected.query);
                let task = Task {
                    query_id: &selected.id,
                    query: &selected.query.text,
                    virtual_url: url,
                    tools_url: &serving.tools_url(),
                    tools: tools.as_deref(),
                    token: serving.token(),
                };
                Ok(of_answered(selected, subject.answer(task).await))
            }
        }
    }
}

fn of_answered(selected: &Selected, answered: Result<Answered, AgentError>) -> Attempted {
    let mut attempted = nothing(selected);
    match answered {
        Ok(answered) => {
            attempted.final_answer = answered.final_answer;
            attempted.answer_details = answered.answer_details;
            if attempted.final_answer.is_none() {
                attempted.final_answer = said_at_the_end(&attempted);
            }
            attempted.called_apis = answered.called_apis.unwrap_or_default();
            attempted.tokens = answered.tokens.unwrap_or(0);
            attempted.usd = answered.usd;
            attempted.error = answered.error;
            attempted.seconds = answered.seconds;
        }
        Err(AgentError(why)) => attempted.error = Some(why),
    }
    attempted
}

/// The answer in a call of `Finish`, where details have one.
fn said_at_the_end(attempted: &Attempted) -> Option<String> {
    let answer = answer_of(attempted)?;
    let finish = answer.calls().find(|call| call.name == FINISH)?;
    let arguments = finish.arguments.as_ref()?;
    match read_finish(&arguments.text().unwrap_or(arguments.get().into())) {
        Finish::Answered(text) => Some(text.into_owned()),
        Finish::GaveUp => None,
    }
}

/// An attempt before anything is known of it.
pub(super) fn nothing(selected: &Selected) -> Attempted {
    Attempted {
        set: selected.set.clone(),
        query_id: selected.id.clone(),
        query: selected.query.text.clone(),
        final_answer: None,
        answer: None,
        answer_details: None,
        called_apis: Vec::new(),
        claimed: Vec::new(),
        calls_from_text: 0,
        stopped: None,
        calls: Vec::new(),
        error: None,
        seconds: None,
        tokens: 0,
        usd: None,
    }
}

impl Chat {
    async fn attempt(
        &self,
        selected: &Selected,
        pool: Pool,
        catalog: &Arc<Catalog>,
        server: VirtualServer,
    ) -> Result<Attempted, Stopped> {
        let setup = Setup {
            wording: wording(),
            longest_observation: self.longest_observation,
            ..Setup::default()
        };
        let environment = pool.environment(catalog, &selected.query, &setup);
        let tools = CatalogTools { server, catalog: catalog.clone() };
        let model = QueuedModel::new(&self.models, 0).replaying(self.replays);
        let work = self.agent.answer(&selected.query.text, environment, &model, &tools);
        let mut attempted = nothing(selected);
        match tokio::time::timeout(self.timeout, work).await {
            Err(_) => {
                let seconds = self.timeout.as_secs_f64();
                attempted.error = Some(format!("no answer within {seconds} s"));
            }
            Ok(attempt) => {
                let attempt = attempt?;
                attempted.tokens = attempt.n_tokens;
                attempted.calls_from_text = attempt.n_written_calls;
                let n_idle = self.agent.limits.max_idle;
                attempted.stopped =
                    attempt.is_idle.then(|| format!("{n_idle} replies in a row called nothing"));
                if let Ending::Failed(why) = &attempt.ending {
                    attempted.error = Some(why.clone());
                }
                let raw = serde_json::to_vec(&attempt.raw).unwrap_or_default();
                fill_from_log(&mut attempted, raw, &self.agent.method.to_string());
            }
        }
        attempted.usd = model.cost().usd();
        Ok(attempted)
    }
}

/// Takes an answer from an agent's own log.
fn fill_from_log(attempted: &mut Attempted, log: Vec<u8>, method: &str) {
    let Ok(document) = Document::new("the agent's log", log, Format::Json) else { return };
    let Ok(recorded) = convert(&document, method, Thoughts::Dropped) else { return };
    let mut details = String::new();
    recorded.answer.write_details(Messages::Objects, Layout::LINE, &mut details);
    attempted.answer_details = RawValue::from_string(details).ok();
    let text = recorded.answer.final_text();
    attempted.final_answer = (!text.is_empty()).then(|| text.into_owned());
}

/// JSON that can be kept on a line of its own.
pub(super) fn on_one_line(json: &str) -> Box<RawValue> {
    let mut line = String::new();
    match push_dump_of_json(json, Layout::LINE, 0, &mut line) {
        Ok(()) => RawValue::from_string(line).unwrap_or_default(),
        Err(_) => to_raw_value(json).unwrap_or_default(),
    }
}
