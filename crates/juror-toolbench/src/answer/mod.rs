//! Recorded answers of agents: what they called, what came back, and how they ended.
//!
//! [`convert`] makes an [`Answer`] from an agent's own log; [`read_answers`] reads files of
//! converted answers, and [`read_answer`] a single one, in every form found in the wild.
//!
//! ```
//! use juror_toolbench::answer::{Messages, read_answer};
//!
//! let text = r#"{"answer": {"final_answer": "Rome", "answer_details": [
//!     {"role": "tool", "message": "{'name': 'capital_for_geo', 'arguments': {'of': 'Italy'}, 'resp",
//!      "next": [{"role": "tool", "message": {"name": "Finish"}, "next": []}]}]}}"#;
//! let answer = read_answer(text).unwrap();
//! let names: Vec<_> = answer.called_names().collect();
//! assert_eq!(names, ["capital_for_geo", "Finish"]);
//! assert!(answer.has_finish());
//! ```

mod conversation;
mod convert;
mod details;
mod file;
mod finish;
pub(crate) mod json;
mod message;
mod raw;
mod results;
mod steps;
mod write;

use std::borrow::Cow;

use juror_json::python::Layout;

pub use conversation::Thoughts;
pub use convert::{answer_id, convert};
pub use details::{Details, Messages, Node, chain};
pub use file::{Answers, Recorded, read_answers, read_called_apis};
pub use finish::{Finish, read_finish};
pub use json::Json;
pub use message::Call;
pub use steps::Steps;
pub use write::{AnswersFile, write_answers};

/// The function that ends an answer.
pub const FINISH: &str = "Finish";

/// The function that finds further functions, for agents that may use a whole pool.
pub const SEARCH: &str = "search_tools";

/// What an agent did for a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer<'a> {
    /// The agent's method, such as `CoT@1`; empty if unknown.
    pub method: Cow<'a, str>,
    /// The final answer: a string, which may hold the arguments of the last call.
    pub final_answer: Json<'a>,
    /// What the agent said and called, each node before its successors.
    pub nodes: Vec<Node<'a>>,
    /// The pairs of tool and API that the agent claims to have called.
    pub called_apis: Vec<(String, String)>,
}

impl Answer<'_> {
    /// Returns the calls of every branch, in order.
    pub fn calls(&self) -> impl Iterator<Item = Call<'_>> {
        self.nodes.iter().filter_map(Node::call)
    }

    /// Returns the called names in order, including `Finish`.
    pub fn called_names(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.nodes.iter().filter_map(Node::called_name)
    }

    /// Returns whether the agent called `Finish`, anywhere and in any form.
    pub fn has_finish(&self) -> bool {
        self.called_names().any(|name| name == FINISH)
    }

    /// Returns the text of the answer; empty if there is none.
    pub fn final_text(&self) -> Cow<'_, str> {
        self.final_answer.text().unwrap_or_default()
    }

    /// Copies what the answer borrows.
    pub fn into_owned(self) -> Answer<'static> {
        Answer {
            method: Cow::Owned(self.method.into_owned()),
            final_answer: self.final_answer.into_owned(),
            nodes: self.nodes.into_iter().map(Node::into_owned).collect(),
            called_apis: self.called_apis,
        }
    }

    /// Appends the nodes as `answer_details`.
    pub fn write_details(&self, messages: Messages, layout: Layout, out: &mut String) {
        details::write_nodes(&self.nodes, messages, layout, 0, out);
    }
}

impl Answer<'static> {
    /// An empty answer, of an agent that did nothing.
    pub fn of_nothing() -> Answer<'static> {
        Answer {
            method: Cow::Borrowed(""),
            final_answer: Json::EMPTY,
            nodes: Vec::new(),
            called_apis: Vec::new(),
        }
    }

    /// Builds the answer of an agent from the calls that were recorded where they were served. An
    /// agent with a final answer counts as finished, even if it has no `Finish` function.
    pub fn of_calls<'c>(
        final_answer: Option<&str>,
        calls: impl IntoIterator<Item = Call<'c>>,
    ) -> Answer<'static> {
        let mut nodes = vec![said("system", Json::EMPTY)];
        let mut has_finish = false;
        for call in calls {
            has_finish |= call.name == FINISH;
            nodes.push(said(details::TOOL, call.to_json()));
        }
        if let Some(text) = final_answer.filter(|_| !has_finish) {
            nodes.push(finish(&Json::of_text(text)));
        }
        Answer {
            method: Cow::Borrowed(""),
            final_answer: Json::of_text(final_answer.unwrap_or_default()),
            nodes: chain(nodes),
            called_apis: Vec::new(),
        }
    }
}

impl Answer<'_> {
    /// Returns whether the agent neither answered nor did anything.
    pub fn is_nothing(&self) -> bool {
        self.nodes.is_empty() && self.called_apis.is_empty() && self.final_text().is_empty()
    }

    /// Marks the agent as finished, even if it has no `Finish` function: appends a call of `Finish`
    /// to its last branch unless it made one.
    #[must_use]
    pub fn finished(mut self) -> Self {
        if !self.has_finish() {
            let (role, message) = finish(&self.final_answer);
            let depth = self.nodes.last().map_or(0, |node| node.depth() + 1);
            self.nodes.push(Node::new(role, message, depth));
        }
        self
    }
}

/// Makes a call of `Finish` with an answer.
fn finish(final_answer: &Json<'_>) -> Said<'static> {
    let text = final_answer.get();
    let arguments = format!(r#"{{"return_type": "give_answer", "final_answer": {text}}}"#);
    said(details::TOOL, message::call_json("\"Finish\"", &arguments, "\"\""))
}

/// A role and its message.
type Said<'a> = (Cow<'a, str>, Json<'a>);

fn said<'a>(role: &'static str, message: Json<'a>) -> Said<'a> {
    (Cow::Borrowed(role), message)
}

/// Reads an answer: an object with `final_answer` and `answer_details`, or one with such an object
/// under `answer`. Returns `None` for anything else.
pub fn read_answer(text: &str) -> Option<Answer<'_>> {
    file::read_recorded(text).map(|recorded| recorded.answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn served_calls_make_an_answer() {
        let call = |name: &'static str| Call { name: name.into(), arguments: None, response: None };
        let names = |answer: &Answer<'_>| answer.called_names().collect::<Vec<_>>().join(" ");
        let answer = Answer::of_calls(Some("it's \"so\""), [call("f"), call("g")]);
        assert_eq!(names(&answer), "f g Finish");
        let finish = answer.calls().last().and_then(|call| call.arguments).expect("arguments");
        assert_eq!(read_finish(finish.get()), Finish::Answered("it's \"so\"".into()));
        assert_eq!(names(&Answer::of_calls(Some("x"), [call("Finish")])), "Finish");
        assert_eq!(names(&Answer::of_calls(None, [call("f")])), "f");
        let mut details = String::new();
        answer.write_details(Messages::Texts, Layout::LINE, &mut details);
        let text = format!(r#"{{"final_answer": "it's \"so\"", "answer_details": {details}}}"#);
        let read = read_answer(&text).expect("an answer");
        assert!(read.calls().eq(answer.calls()));
        assert_eq!(read.final_answer, answer.final_answer);
    }
}
