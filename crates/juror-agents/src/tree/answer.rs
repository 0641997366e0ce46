//! Converts what an agent tried to an answer that can be judged.

use std::borrow::Cow;
use std::sync::Arc;

use juror_models::{Message, Said};
use juror_toolbench::answer::{Answer, Call, FINISH, Json, chain};

use super::node::{Kind, Node};
use super::search::Search;
use super::train::last_conversation;

/// The speaker, and the words or the call.
type Turn = (Cow<'static, str>, Json<'static>);

/// The number of messages before the agent speaks: the task and the query.
const N_OPENING: usize = 2;

impl From<&Search> for Answer<'static> {
    /// Makes the same answer as [`convert`](juror_toolbench::answer::convert) reads from the answer
    /// file of the search, without writing one: the conversation that led to the end, or the oldest
    /// branch if the search ran out. Words beside calls are left out.
    fn from(search: &Search) -> Answer<'static> {
        let end = search.end();
        let mut turns =
            vec![(Cow::Borrowed("system"), Json::EMPTY), (Cow::Borrowed("user"), Json::EMPTY)];
        match end.and_then(|(tree, end)| last_conversation(tree, end)) {
            Some(messages) => turns.extend(turns_of_conversation(&messages)),
            None => turns.extend(turns_of_way(&search.oldest_way())),
        }
        let final_answer = end.map_or("", |(tree, end)| &tree.node(end).description);
        Answer {
            final_answer: Json::of_text(final_answer),
            nodes: chain(turns),
            ..Answer::of_nothing()
        }
    }
}

fn words(text: Option<&str>) -> Turn {
    (Cow::Borrowed("assistant"), text.map_or(Json::NULL, Json::of_text))
}

fn call(name: &str, arguments: &str, response: Option<&str>) -> Turn {
    let call = Call {
        name: Cow::Borrowed(name),
        arguments: Some(Json::of_text(arguments)),
        response: response.map(Json::of_text),
    };
    (Cow::Borrowed("tool"), call.to_json())
}

/// Returns what the model said and called in a conversation.
fn turns_of_conversation(messages: &[Arc<Message>]) -> Vec<Turn> {
    let mut turns = Vec::new();
    for (at, message) in messages.iter().enumerate().skip(N_OPENING) {
        let Message::Assistant(said) = &**message else { continue };
        if said.calls.is_empty() {
            turns.push(words(said.content.as_deref()));
        } else {
            add_calls(said, &messages[at + 1..], &mut turns);
        }
    }
    turns
}

/// Adds each call with the reply that follows; a call without one is left out. Nothing after
/// `Finish` counts.
fn add_calls(said: &Said, later: &[Arc<Message>], turns: &mut Vec<Turn>) {
    for made in &said.calls {
        if made.name == FINISH {
            turns.push(call(&made.name, &made.arguments, None));
            return;
        }
        let reply = later.iter().find_map(|message| match &**message {
            Message::Tool { content, call_id, .. } if *call_id == made.id => Some(content),
            _ => None,
        });
        if let Some(reply) = reply {
            turns.push(call(&made.name, &made.arguments, Some(reply)));
        }
    }
}

/// Returns what the model thought and called along a branch.
fn turns_of_way(way: &[&Node]) -> Vec<Turn> {
    let mut turns = Vec::new();
    let mut name = "";
    for node in way {
        match node.kind {
            Kind::Thought => turns.push(words(Some(&node.description))),
            Kind::Action => name = &node.description,
            Kind::ActionInput => turns.push(call(name, &node.description, Some(node.observed()))),
        }
    }
    turns
}
