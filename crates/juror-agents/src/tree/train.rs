//! The conversations that answer files repeat for every step of a chain.

use std::sync::Arc;

use juror_models::Message;

use super::message_file::{Nulls, Written};
use super::node::{Kind, Node, NodeId, Tree};

/// Returns one list of messages for each step up to a node, each ending with what the model said.
pub(super) fn train_messages(tree: &Tree, id: NodeId, nulls: Nulls) -> Vec<Vec<Written>> {
    let written = |message: Arc<Message>| Written { message, nulls };
    let lists = tree.path(id).into_iter().filter_map(|id| conversation(tree.node(id)));
    lists.map(|list| list.into_iter().map(written).collect()).collect()
}

/// Returns the conversation of the last step up to a node.
pub(super) fn last_conversation(tree: &Tree, id: NodeId) -> Option<Vec<Arc<Message>>> {
    tree.path(id).into_iter().rev().find_map(|id| conversation(tree.node(id)))
}

/// Returns the conversation up to a node, if the model said something there, without the results
/// and questions that follow.
fn conversation(node: &Node) -> Option<Vec<Arc<Message>>> {
    let follows = |message: &Arc<Message>| match node.kind {
        Kind::ActionInput => message.role() != "assistant",
        Kind::Thought | Kind::Action => message.role() == "user",
    };
    let end = node.messages.iter().rposition(|message| !follows(message))?;
    let seen = &node.messages[..=end];
    let is_said = node.kind != Kind::Action && seen[end].role() == "assistant";
    is_said.then(|| with_last_question(seen))
}

/// Keeps only the last of the questions that were seen once.
fn with_last_question(messages: &[Arc<Message>]) -> Vec<Arc<Message>> {
    let last = messages.iter().rposition(|message| !message.is_valid());
    let kept = messages
        .iter()
        .enumerate()
        .filter(|(index, message)| message.is_valid() || Some(*index) == last);
    kept.map(|(_, message)| Arc::clone(message)).collect()
}
