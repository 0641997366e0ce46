//! The steps of an answer as text, as the public evaluation shows them to its judges.

use std::fmt::Write;

use super::Answer;
use super::details::{Node, TOOL};

/// The steps of an answer as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// All steps, numbered, one per line.
    pub all: String,
    /// The last step.
    pub last: String,
}

impl Answer<'_> {
    /// Returns the calls of the first branch, as Python writes them.
    ///
    /// As published, the text treats sibling nodes as branches and shows the first one.
    /// [`Answer::calls`] returns the calls of all.
    pub fn steps(&self) -> Steps {
        let mut all = String::new();
        let mut last = None;
        let is_step = |node: &&Node<'_>| node.role == TOOL && node.message.is_something();
        for (at, node) in self.first_branch().filter(is_step).enumerate() {
            let message = node.message.python_str();
            let separator = if at == 0 { "" } else { "\n" };
            // Writing to a string cannot fail.
            let _ = write!(all, "{separator}Step {}: {message}", at + 1);
            last = Some(message);
        }
        let last = last.map(|message| format!("Final step: {message}")).unwrap_or_default();
        Steps { all, last }
    }

    fn first_branch(&self) -> impl Iterator<Item = &Node<'_>> {
        self.nodes.iter().enumerate().take_while(|(at, node)| node.depth() == *at).map(|(_, n)| n)
    }
}
