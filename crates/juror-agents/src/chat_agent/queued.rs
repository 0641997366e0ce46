//! The run's models as the model of an agent.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use juror_models::{CallError, CallKey, Conversation, Cost, Models, Pending};

use super::agent_model::{Ask, AskError, Model, Reply, Stopped};

/// The purpose under which an agent's calls are counted and stored.
pub const PURPOSE: &str = "agent_turn";

/// How many equal questions one attempt can ask before its numbers run into those of the next.
const MOST_ALIKE: u32 = 1 << 16;

/// The models of a run, asked by one attempt at one query.
///
/// An agent may ask the same question twice and want two replies. Equal questions are therefore
/// numbered: within an attempt each is asked anew, while a later run finds all of them if it may
/// replay.
pub struct QueuedModel<'m> {
    models: &'m Models,
    attempt: u32,
    replays: bool,
    asked: Mutex<Asked>,
}

#[derive(Default)]
struct Asked {
    times: HashMap<CallKey, u32>,
    cost: Cost,
}

impl<'m> QueuedModel<'m> {
    /// Creates the model of attempt number `attempt`. Each attempt at a query asks anew.
    pub fn new(models: &'m Models, attempt: u32) -> QueuedModel<'m> {
        QueuedModel { models, attempt, replays: true, asked: Mutex::default() }
    }

    /// Sets whether to replay what an earlier run stored, or to ask anew.
    #[must_use]
    pub fn replaying(self, replays: bool) -> QueuedModel<'m> {
        QueuedModel { replays, ..self }
    }

    /// Returns the cost of the replies, paid now or when they were first bought.
    pub fn cost(&self) -> Cost {
        self.asked().cost
    }

    fn asked(&self) -> std::sync::MutexGuard<'_, Asked> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn conversation(&self, ask: Ask<'_>) -> Conversation {
        let mut talk = Conversation {
            purpose: PURPOSE.to_owned(),
            messages: ask.messages.to_vec(),
            functions: ask.environment.functions().cloned().collect(),
            repeat: self.attempt.saturating_mul(MOST_ALIKE),
        };
        let key = self.models.conversation_key(&talk);
        let mut asked = self.asked();
        let times = asked.times.entry(key).or_default();
        talk.repeat = talk.repeat.saturating_add(*times);
        *times += 1;
        talk
    }
}

impl Model for QueuedModel<'_> {
    fn ask<'a>(&'a self, ask: Ask<'a>) -> Pending<'a, Result<Reply, AskError>> {
        let talk = self.conversation(ask);
        Box::pin(async move {
            let answer = if self.replays {
                self.models.converse(&talk).await
            } else {
                self.models.converse_anew(&talk).await
            };
            let mut asked = self.asked();
            asked.cost = asked.cost.plus(answer.cost);
            let (turn, usage) = answer.outcome.map_err(failure)?;
            let n_tokens = usage.input_tokens + usage.output_tokens;
            Ok(Reply { said: turn.said, n_tokens })
        })
    }
}

/// Decides whether only this question failed, or asking stopped and the query stays unanswered.
fn failure(error: CallError) -> AskError {
    match error {
        CallError::NotAsked(_) | CallError::NotRecorded { .. } | CallError::OnlyCounted => {
            Stopped(error.to_string()).into()
        }
        error => AskError::Failed(error.to_string()),
    }
}
