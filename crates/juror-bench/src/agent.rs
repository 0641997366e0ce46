//! The agents that can be benchmarked, and how each attempts a query.

use std::sync::Arc;
use std::time::{Duration, Instant};

use juror_agents::chat_agent::{
    ChatAgent, Ending, QueuedModel, Stopped, Transcript, VirtualServer, VirtualServerSetup, wording,
};
use juror_agents::environment::Setup;
use juror_agents::{AgentError, Answered, Subject, Task};
use juror_json::python::{Layout, push_dump_of_json};
use juror_models::Models;
use juror_toolbench::UnclearSet;
use juror_toolbench::answer::{Answer, Details};
use juror_tools::Catalog;
use serde_json::value::{RawValue, to_raw_value};

use crate::attempt::Attempt;
use crate::catalog_tools::CatalogTools;
use crate::pool::Pool;
use crate::queries::Selected;
use crate::recorded::RecordedAnswers;
use crate::serving::{OpenQuery, Serving};

/// An agent to benchmark.
pub enum Agent {
    /// An agent that is asked for each answer.
    Asked(Box<dyn Subject>),
    /// Answers recorded earlier.
    Recorded(RecordedAnswers),
    /// The built-in agent: a model with function calling.
    Chat(Box<Chat>),
}

/// The built-in agent: a model with function calling.
pub struct Chat {
    /// How the agent approaches a query.
    pub agent: ChatAgent,
    /// The models it calls.
    pub models: Arc<Models>,
    /// The maximum length of an observation, in characters.
    pub longest_observation: usize,
    /// The time limit for one query.
    pub timeout: Duration,
    /// Whether replies from earlier runs are reused, so that the model is asked only what is new.
    pub replays: bool,
}

impl Agent {
    /// Returns the agent's name for itself, if it has one.
    pub fn name(&self) -> Option<&str> {
        match self {
            Agent::Asked(subject) => subject.name(),
            Agent::Recorded(_) | Agent::Chat(_) => None,
        }
    }

    /// Assigns recorded answers to these queries; any other agent is returned as it is.
    pub fn paired(self, queries: &[Selected]) -> Result<Agent, UnclearSet> {
        Ok(match self {
            Agent::Recorded(recorded) => Agent::Recorded(recorded.paired(queries)?),
            other => other,
        })
    }

    /// Tells the agent that there are no more queries.
    pub(super) async fn close(&self) {
        if let Agent::Asked(subject) = self {
            subject.close().await;
        }
    }

    /// Has the agent attempt a query. Errors become part of the attempt; there is no attempt only
    /// if asking has stopped for the whole run.
    pub async fn attempt(
        &self,
        selected: &Selected,
        pool: Pool,
        catalog: &Arc<Catalog>,
        serving: &Serving,
    ) -> Result<Attempt, Stopped> {
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
                return Ok(Attempt { error, ..Attempt::new(selected) });
            }
        };
        let answered = asked.answer(selected, pool, catalog, serving, &query).await;
        let seconds = start.elapsed().as_secs_f64();
        // Close the query whatever the outcome.
        let calls = serving.close(query).await;
        let mut attempt = answered?;
        attempt.seconds.get_or_insert(seconds);
        match calls {
            Ok(calls) => {
                attempt.calls = calls;
                if matches!(asked, Asked::Subject(_)) {
                    let own = selected.query.registry();
                    attempt.claimed = attempt.different_claims(&[&own, catalog.registry()]);
                }
            }
            Err(why) => {
                attempt.error.get_or_insert(format!("its calls are not known: {why}"));
            }
        }
        Ok(attempt)
    }
}

/// An agent that answers live.
#[derive(Clone, Copy)]
enum Asked<'a> {
    Subject(&'a dyn Subject),
    Chat(&'a Chat),
}

impl Asked<'_> {
    /// Attempts a query, with its tools served at an address of its own.
    async fn answer(
        self,
        selected: &Selected,
        pool: Pool,
        catalog: &Arc<Catalog>,
        serving: &Serving,
        query: &OpenQuery,
    ) -> Result<Attempt, Stopped> {
        match self {
            Asked::Chat(chat) => {
                let client = serving.client().clone();
                let token = serving.token().cloned();
                let setup = VirtualServerSetup { token, ..VirtualServerSetup::new(&query.url) };
                let server = VirtualServer::new(setup, client);
                chat.attempt(selected, pool, catalog, server).await
            }
            Asked::Subject(subject) => {
                let tools = pool.functions(catalog, &selected.query);
                let task = Task {
                    query_id: &selected.id,
                    query: &selected.query.text,
                    trial: selected.trial,
                    virtual_url: &query.url,
                    tools_url: &serving.tools_url(),
                    tools: tools.as_deref(),
                    token: serving.token(),
                    renew: &|| Box::pin(serving.renew(query)),
                };
                Ok(of_answered(selected, subject.answer(task).await))
            }
        }
    }
}

fn of_answered(selected: &Selected, answered: Result<Answered, AgentError>) -> Attempt {
    let mut attempt = Attempt::new(selected);
    match answered {
        Ok(answered) => {
            attempt.answer_details = answered.answer_details;
            attempt.final_answer = answered.final_answer.or_else(|| attempt.finished_with());
            attempt.steps = answered.steps.map(|steps| on_one_line(steps.get()));
            attempt.called_apis = answered.called_apis.unwrap_or_default();
            attempt.tokens = answered.tokens.unwrap_or(0);
            attempt.input_tokens = answered.input_tokens;
            attempt.output_tokens = answered.output_tokens;
            attempt.elapsed_sec = answered.elapsed_sec;
            attempt.usd = answered.usd;
            attempt.error = answered.error;
            attempt.remarks = answered.remarks;
            attempt.seconds = answered.seconds;
        }
        Err(AgentError(why)) => attempt.error = Some(why),
    }
    attempt
}

impl Chat {
    async fn attempt(
        &self,
        selected: &Selected,
        pool: Pool,
        catalog: &Arc<Catalog>,
        server: VirtualServer,
    ) -> Result<Attempt, Stopped> {
        let setup = Setup {
            wording: wording(),
            longest_observation: self.longest_observation,
            ..Setup::default()
        };
        let environment = pool.environment(catalog, &selected.query, &setup);
        let tools = CatalogTools { server, catalog: catalog.clone() };
        let model = QueuedModel::new(&self.models, number_of(selected)).replaying(self.replays);
        let work = self.agent.answer(&selected.query.text, environment, &model, &tools);
        let mut attempt = Attempt::new(selected);
        match tokio::time::timeout(self.timeout, work).await {
            Err(_) => {
                let seconds = self.timeout.as_secs_f64();
                attempt.error = Some(format!("no answer within {seconds} s"));
            }
            Ok(transcript) => self.fill(&mut attempt, transcript?),
        }
        attempt.usd = model.cost().usd();
        Ok(attempt)
    }

    fn fill(&self, attempt: &mut Attempt, transcript: Transcript) {
        let answer = Answer::from(&transcript.search);
        let text = answer.final_text().into_owned();
        attempt.final_answer = Some(text).filter(|text| !text.is_empty());
        attempt.answer_details = Details::of(answer.nodes);
        attempt.tokens = transcript.n_tokens;
        attempt.calls_from_text = transcript.n_written_calls;
        let n_idle = self.agent.limits.max_idle;
        let stopped = || format!("{n_idle} replies in a row called nothing");
        attempt.stopped = transcript.is_idle.then(stopped);
        if let Ending::Failed(why) = transcript.ending {
            attempt.error = Some(why);
        }
    }
}

/// Returns the number of an attempt, counting from 0, so that each trial asks the model anew.
fn number_of(selected: &Selected) -> u32 {
    let earlier = selected.trial.map_or(0, |trial| trial.saturating_sub(1));
    u32::try_from(earlier).unwrap_or(u32::MAX)
}

/// Returns JSON in a form that fits on one line of the log.
pub(super) fn on_one_line(json: &str) -> Box<RawValue> {
    let mut line = String::new();
    match push_dump_of_json(json, Layout::LINE, 0, &mut line) {
        Ok(()) => RawValue::from_string(line).unwrap_or_default(),
        Err(_) => to_raw_value(json).unwrap_or_default(),
    }
}
