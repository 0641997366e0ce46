//! Conversations with functions, through the same queue.

use super::queue::Ticket;
use super::{Answer, EXPECTED_OUTPUT, Models};
use crate::call::CallKey;
use crate::call_error::CallError;
use crate::conversation::{Conversation, Turn};
use crate::model::{ModelError, ModelReply, Outcome, Pending, Usage};
use crate::tally::Cost;

impl Models {
    /// Returns the key of a conversation's next turn.
    pub fn conversation_key(&self, talk: &Conversation) -> CallKey {
        self.conversation_keys().own.conversation(talk)
    }

    /// Asks the model for the next turn of a conversation, or finds a kept one.
    pub async fn converse(&self, talk: &Conversation) -> Answer<(Turn, Usage)> {
        self.next_turn(talk, true).await
    }

    /// Asks the model for the next turn of a conversation without using or keeping replies. In
    /// a replay, kept replies are used nevertheless.
    pub async fn converse_anew(&self, talk: &Conversation) -> Answer<(Turn, Usage)> {
        self.next_turn(talk, false).await
    }

    async fn next_turn(&self, talk: &Conversation, is_shared: bool) -> Answer<(Turn, Usage)> {
        let (key, replay_key) = self.conversation_keys().of(|keys| keys.conversation(talk));
        let ticket = Ticket {
            key,
            replay_key,
            purpose: &talk.purpose,
            model: self.conversation_name(),
            input_tokens: talk.n_tokens(),
            output_tokens: EXPECTED_OUTPUT,
            is_shared,
        };
        let send = || -> Pending<'_, Result<ModelReply, ModelError>> {
            Box::pin(async {
                let reply = self.conversing().model.converse(talk).await?;
                let said = match reply.turn {
                    Ok(turn) => Outcome::Text(write(&turn)?),
                    Err(why) => Outcome::Declined(why),
                };
                Ok(ModelReply { said, usage: reply.usage })
            })
        };
        let usable = |text: &str| read(text).is_ok();
        match self.fetch(&ticket, usable, &send).await {
            Err(error) => Answer { outcome: Err(error), cost: Cost::default() },
            Ok(kept) => {
                let (usage, cost) = (kept.usage(), self.cost(&kept));
                let text = kept.said.into_text().map_err(CallError::from);
                Answer { outcome: text.and_then(|text| Ok((read(&text)?, usage))), cost }
            }
        }
    }
}

fn write(turn: &Turn) -> Result<String, ModelError> {
    serde_json::to_string(turn).map_err(|error| ModelError::Unusable(error.to_string()))
}

fn read(text: &str) -> Result<Turn, CallError> {
    serde_json::from_str(text).map_err(|error| {
        CallError::Unreadable(format!("it is not a turn of a conversation: {error}"))
    })
}
