//! Files of converted answers.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::Answer;
use super::details::{Messages, Node, read_nodes, write_nodes};
use super::json::{Json, push_json, text_of, text_or_empty};
use crate::python::Layout;
use crate::read::{Document, Path, Problem, Problems};
use crate::tool::look::Look;
use crate::walk::{Walk, Walked, fields_of};

/// An answer as files have it: with its query, and the functions the agent was offered.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded<'a> {
    /// What was asked.
    pub query: Json<'a>,
    /// The functions, with or without `{"type": "function", "function": …}` around each.
    pub available_tools: Json<'a>,
    /// What the agent did.
    pub answer: Answer<'a>,
}

impl Recorded<'_> {
    /// The names of the functions that were offered.
    pub fn tool_names(&self) -> Vec<Cow<'_, str>> {
        let tools = Walk::new(self.available_tools.get()).items().unwrap_or_default();
        tools.into_iter().filter_map(tool_name).collect()
    }

    /// The names that were called and are no function that was offered.
    pub fn unknown_names(&self) -> Vec<Cow<'_, str>> {
        let offered = self.tool_names();
        self.answer.called_names().filter(|name| !offered.contains(name)).collect()
    }

    /// Appends the answer at a level of a larger text, as converted answers are published.
    fn write(&self, layout: Layout, level: usize, out: &mut String) {
        let field = |name: &str, level: usize, is_first: bool, out: &mut String| {
            out.push_str(if is_first { "" } else { "," });
            layout.push_break(level, !is_first, out);
            out.push_str(name);
        };
        let Answer { method, final_answer, nodes, .. } = &self.answer;
        out.push('{');
        field("\"query\": ", level + 1, true, out);
        push_json(self.query.get(), layout, level + 1, out);
        field("\"available_tools\": ", level + 1, false, out);
        push_json(self.available_tools.get(), layout, level + 1, out);
        field("\"answer\": {", level + 1, false, out);
        field("\"method\": ", level + 2, true, out);
        push_json(Json::of_text(method).get(), layout, level + 2, out);
        field("\"total_steps\": ", level + 2, false, out);
        out.push_str(&nodes.len().to_string());
        field("\"final_answer\": ", level + 2, false, out);
        push_json(final_answer.get(), layout, level + 2, out);
        field("\"answer_details\": ", level + 2, false, out);
        write_nodes(nodes, Messages::Objects, layout, level + 2, out);
        layout.push_break(level + 1, false, out);
        out.push('}');
        layout.push_break(level, false, out);
        out.push('}');
    }
}

fn tool_name(tool: &str) -> Option<Cow<'_, str>> {
    let [name, function] = fields_of(tool, ["name", "function"])?;
    match function.filter(|function| function.starts_with('{')) {
        Some(function) => text_of(fields_of(function, ["name"])?[0]?),
        None => text_of(name?),
    }
}

/// Answers by the ids of their queries, in the order of the file.
pub type Answers<'a> = Vec<(Cow<'a, str>, Recorded<'a>)>;

/// Reads a file of converted answers: an object of answers by the ids of their queries. What
/// cannot be read is told and left out; of an id that comes twice, both are kept.
pub fn read_answers(document: &Document) -> (Answers<'_>, Problems) {
    let mut look = Look::new(document);
    let mut answers = Vec::new();
    let entries = read_entries(document.json());
    if entries.is_err() {
        // What is wrong is told where it is.
        look.top_object("an object of answers by query id");
    }
    for (id, text) in entries.unwrap_or_default() {
        match read_recorded(text) {
            Some(recorded) => answers.push((id, recorded)),
            None => note(&mut look, &id, text),
        }
    }
    (answers, look.problems())
}

/// The fields of an object, as they stand, and unread: one that is broken is a problem of its own.
fn read_entries(text: &str) -> Walked<Vec<(Cow<'_, str>, &str)>> {
    let mut walk = Walk::new(text);
    let mut entries = Vec::new();
    walk.enter(b'{')?;
    while let Some(key) = walk.next_key()? {
        entries.push((key, walk.pass()?));
    }
    walk.end()?;
    Ok(entries)
}

fn note<'d>(look: &mut Look<'d>, id: &str, text: &'d str) {
    match serde_json::from_str::<&RawValue>(text) {
        Ok(value) => {
            let (expected, found) = ("an answer", crate::json::kind_of(value));
            look.note(text, Path::default().key(id), Problem::WrongType { expected, found });
        }
        Err(error) => look.complain(text, &error),
    }
}

/// What an object says of an answer.
#[derive(Default)]
struct Parts<'a> {
    query: Option<&'a str>,
    available_tools: Option<&'a str>,
    method: Option<&'a str>,
    final_answer: Option<&'a str>,
    nodes: Option<Vec<Node<'a>>>,
    called_apis: Option<&'a str>,
}

impl<'a> Parts<'a> {
    /// The fields of an object that was entered. What the object under `answer` says comes first.
    fn read(walk: &mut Walk<'a>, is_outer: bool) -> Walked<Parts<'a>> {
        let mut parts = Parts::default();
        let mut inner = Parts::default();
        while let Some(key) = walk.next_key()? {
            match &*key {
                "answer" if is_outer && walk.opens(b'{') => inner = Parts::read(walk, false)?,
                "answer_details" if walk.begins(b'[') => parts.nodes = Some(read_nodes(walk)?),
                "query" => parts.query = Some(walk.value()?),
                "available_tools" => parts.available_tools = Some(walk.value()?),
                "method" => parts.method = Some(walk.value()?),
                "final_answer" => parts.final_answer = Some(walk.value()?),
                "called_apis" => parts.called_apis = Some(walk.value()?),
                _ => drop(walk.pass()?),
            }
        }
        Ok(inner.or(parts))
    }

    fn or(self, other: Parts<'a>) -> Parts<'a> {
        Parts {
            query: other.query.or(self.query),
            available_tools: other.available_tools.or(self.available_tools),
            method: self.method.or(other.method),
            final_answer: self.final_answer.or(other.final_answer),
            nodes: self.nodes.or(other.nodes),
            called_apis: self.called_apis.or(other.called_apis),
        }
    }
}

/// Reads an answer, or an object with one under `answer`; see [`super::read_answer`].
pub(super) fn read_recorded(text: &str) -> Option<Recorded<'_>> {
    let mut walk = Walk::new(text);
    walk.enter(b'{').ok()?;
    let parts = Parts::read(&mut walk, true).ok()?;
    walk.end().ok()?;
    Some(Recorded {
        query: parts.query.map_or(Json::EMPTY, Json::read),
        available_tools: parts.available_tools.map_or(Json::read("[]"), Json::read),
        answer: Answer {
            method: text_or_empty(parts.method),
            final_answer: parts.final_answer.map_or(Json::EMPTY, Json::read),
            nodes: parts.nodes.unwrap_or_default(),
            called_apis: parts.called_apis.map(read_pairs).unwrap_or_default(),
        },
    })
}

/// The pairs of texts in a list; anything else in it is passed over.
fn read_pairs(list: &str) -> Vec<(String, String)> {
    let items = Walk::new(list).items().unwrap_or_default();
    items.into_iter().filter_map(|item| serde_json::from_str(item).ok()).collect()
}

/// How converted answers are laid out in the wild.
const PUBLISHED: Layout = Layout { indent: Some(2), ascii: true };

/// Writes a file of converted answers.
pub fn write_answers(answers: &[(Cow<'_, str>, Recorded<'_>)]) -> String {
    let mut out = String::from("{");
    for (at, (id, recorded)) in answers.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { "," });
        PUBLISHED.push_break(1, at > 0, &mut out);
        push_json(Json::of_text(id).get(), PUBLISHED, 1, &mut out);
        out.push_str(": ");
        recorded.write(PUBLISHED, 1, &mut out);
    }
    if !answers.is_empty() {
        PUBLISHED.push_break(0, false, &mut out);
    }
    out.push('}');
    out
}
