//! Conversations in which a model can call functions.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

use crate::call::{CallKey, KeyMaker};
use crate::callable::Callable;
use crate::message::{Call, Message, Said};
use crate::model::Usage;

/// A conversation that a model is to continue.
#[derive(Clone, Debug)]
pub struct Conversation {
    /// The purpose of the conversation, in counts and kept replies.
    pub purpose: String,
    /// The messages so far. Those that are not valid are not sent.
    pub messages: Vec<Arc<Message>>,
    /// The functions that the model can call.
    pub functions: Vec<Callable>,
    /// Distinguishes otherwise equal conversations that should each get their own reply.
    pub repeat: u32,
}

/// The next turn of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// What the model said and called.
    #[serde(flatten)]
    pub said: Said,
    /// Why the model stopped, in its provider's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub finish: String,
}

/// The reply of a model in a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnReply {
    /// The turn, or why the model declined.
    pub turn: Result<Turn, String>,
    /// Tokens, if the provider reports them.
    pub usage: Option<Usage>,
}

/// Appended if the model spoke last, which most providers do not accept.
static GO_ON: LazyLock<Message> =
    LazyLock::new(|| Message::user(include_str!("../prompts/go_on.md").trim_end()));

impl Conversation {
    /// Returns the messages to send: the valid ones. If the model spoke last and called nothing, it
    /// is asked to go on.
    pub(crate) fn valid(&self) -> impl Iterator<Item = &Message> {
        let valid = self.messages.iter().map(|message| &**message).filter(|m| m.is_valid());
        let last = self.messages.iter().rfind(|message| message.is_valid());
        let is_open = last.is_some_and(|last| matches!(&**last, Message::Assistant(_)));
        valid.chain(is_open.then(|| &*GO_ON))
    }

    fn calls(&self) -> impl Iterator<Item = &Call> {
        self.valid().flat_map(|message| match message {
            Message::Assistant(said) => said.calls.as_slice(),
            _ => &[],
        })
    }

    /// Estimates the number of tokens.
    pub(crate) fn n_tokens(&self) -> u64 {
        let of_message = |message: &Message| match message {
            Message::System(text) | Message::User { content: text, .. } => text.len(),
            Message::Tool { content, .. } => content.len(),
            Message::Assistant(said) => {
                let calls = said.calls.iter().map(|call| call.name.len() + call.arguments.len());
                said.content.as_ref().map_or(0, String::len) + calls.sum::<usize>()
            }
        };
        let of_function = |function: &Callable| {
            function.name.len() + function.description.len() + function.parameters.get().len()
        };
        let messages: usize = self.valid().map(of_message).sum();
        let functions: usize = self.functions.iter().map(of_function).sum();
        ((messages + functions) / 4) as u64
    }

    /// Gives each new call an id that no earlier call has. Some providers send no ids.
    pub(crate) fn name_calls(&self, calls: &mut [Call]) {
        let mut taken: HashSet<String> = self.calls().map(|call| call.id.clone()).collect();
        let mut number = taken.len();
        for call in calls {
            while call.id.is_empty() || !taken.insert(call.id.clone()) {
                call.id = format!("call_{number}");
                number += 1;
            }
        }
    }
}

/// Returns arguments for a protocol that requires an object: verbatim or, if they are not an object,
/// as a string inside one.
pub(crate) fn arguments_object(arguments: &str) -> Cow<'_, RawValue> {
    match serde_json::from_str::<&RawValue>(arguments) {
        Ok(json) if json.get().starts_with('{') => Cow::Borrowed(json),
        _ => {
            let wrapped = to_raw_value(&json!({"arguments": arguments})).unwrap_or_default();
            Cow::Owned(wrapped)
        }
    }
}

impl KeyMaker {
    /// Returns the key of a conversation. Calls are identified by their position, since their ids do
    /// not affect the reply.
    pub(crate) fn conversation(&self, talk: &Conversation) -> CallKey {
        let mut maker = self.clone();
        maker.field(&talk.purpose);
        let ids: Vec<&str> = talk.calls().map(|call| call.id.as_str()).collect();
        let number = |id: &str| ids.iter().rposition(|known| *known == id).unwrap_or(ids.len());
        for message in talk.valid() {
            maker.field(message.role());
            match message {
                Message::System(text) | Message::User { content: text, .. } => {
                    maker.field(text);
                }
                Message::Tool { name, content, call_id } => {
                    maker.field(name).field(content).field(&number(call_id).to_string());
                }
                Message::Assistant(said) => add_said(&mut maker, said),
            }
        }
        for function in &talk.functions {
            maker.field("function").field(&function.name).field(&function.description);
            maker.field(function.parameters.get());
        }
        maker.field(&talk.repeat.to_string());
        maker.finish()
    }
}

fn add_said(maker: &mut KeyMaker, said: &Said) {
    match &said.content {
        Some(content) => maker.field("content").field(content),
        None => maker.field("nothing"),
    };
    for call in &said.calls {
        maker.field("call").field(&call.name).field(&call.arguments);
    }
    for value in &said.provider {
        maker.field("provider").field(&value.to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str) -> Call {
        Call { id: id.into(), name: "f".into(), arguments: "{}".into() }
    }

    fn talk(id: &str, content: &str, repeat: u32) -> Conversation {
        let said = Said { calls: vec![call(id)], ..Said::default() };
        let result =
            Message::Tool { name: "f".into(), content: content.into(), call_id: id.into() };
        let once = Message::User { content: "again".into(), is_valid: false };
        let messages = [Message::user("q"), once, Message::Assistant(said), result];
        Conversation {
            purpose: "agent".into(),
            messages: messages.map(Arc::new).into(),
            functions: vec![Callable::new("f", "", &serde_json::json!({"type": "object"}))],
            repeat,
        }
    }

    #[test]
    fn the_key_holds_what_decides_the_reply() {
        let key = |talk: &Conversation| KeyMaker::new("conversation").conversation(talk);
        let one = talk("a", "x", 0);
        assert_eq!(key(&one), key(&talk("b", "x", 0)), "names of calls decide nothing");
        assert_ne!(key(&one), key(&talk("a", "y", 0)));
        assert_ne!(key(&one), key(&talk("a", "x", 1)));
        let mut other = one.clone();
        other.functions[0].description = "does it".into();
        assert_ne!(key(&one), key(&other));
        let mut other = one.clone();
        other.messages.remove(1);
        assert_eq!(key(&one), key(&other), "what is not sent decides nothing");
    }

    #[test]
    fn a_model_that_spoke_last_is_asked_to_go_on() {
        let mut talk = talk("a", "x", 0);
        let roles =
            |talk: &Conversation| -> Vec<&str> { talk.valid().map(Message::role).collect() };
        assert_eq!(roles(&talk), ["user", "assistant", "tool"]);
        talk.messages.push(Arc::new(Message::Assistant(Said::default())));
        assert_eq!(roles(&talk), ["user", "assistant", "tool", "assistant", "user"]);
    }

    #[test]
    fn every_call_has_a_name_of_its_own() {
        let mut calls = [call(""), call("a"), call("b"), call("b")];
        talk("a", "", 0).name_calls(&mut calls);
        let ids: Vec<&str> = calls.iter().map(|call| &*call.id).collect();
        assert_eq!(ids, ["call_1", "call_2", "b", "call_3"]);
    }
}
