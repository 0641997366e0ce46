//! Conversations with functions, by the same queue.

use super::{Answer, CallError, EXPECTED_OUTPUT, Models, Ticket};
use crate::call::CallKey;
use crate::conversation::{Conversation, Turn};
use crate::model::{ModelError, ModelReply, Outcome, Pending, Usage};
use crate::tally::Cost;

impl Models {
    /// The key of a conversation's next turn.
    pub fn conversation_key(&self, talk: &Conversation) -> CallKey {
        self.conversation_keys.own.conversation(talk)
    }

    /// Asks the chat model to go on with a conversation, or finds what it said.
    pub async fn converse(&self, talk: &Conversation) -> Answer<(Turn, Usage)> {
        self.go_on(talk, true).await
    }

    /// Asks the chat model to go on with a conversation, whatever it said before, and keeps the
    /// reply for nobody. Where only kept replies may be used, these are.
    pub async fn converse_anew(&self, talk: &Conversation) -> Answer<(Turn, Usage)> {
        self.go_on(talk, false).await
    }

    async fn go_on(&self, talk: &Conversation, is_shared: bool) -> Answer<(Turn, Usage)> {
        let (key, replay_key) = self.conversation_keys.of(|keys| keys.conversation(talk));
        let ticket = Ticket {
            key,
            replay_key,
            purpose: &talk.purpose,
            model: &self.chat.name,
            input_tokens: talk.n_tokens(),
            output_tokens: EXPECTED_OUTPUT,
            is_shared,
        };
        let send = || -> Pending<'_, Result<ModelReply, ModelError>> {
            Box::pin(async {
                let reply = self.chat.model.converse(talk).await?;
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
    serde_json::from_str(text)
        .map_err(|error| CallError::Unreadable(format!("it is no turn of a conversation: {error}")))
}
