//! The nodes of an answer: a tree in files, a flat list in memory.

use std::borrow::Cow;

use juror_json::cursor::{Cursor, Nested, Taken};
use juror_json::python::Layout;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::json::{Json, is_something, push_json, text_or_empty};
use super::message::{Call, Inside, look_inside, read_call, read_name};

/// The role of a node that is a call.
pub(super) const TOOL: &str = "tool";

/// A node: something the agent said or called.
#[derive(Clone, Debug, PartialEq)]
pub struct Node<'a> {
    /// The speaker; `tool` for a call.
    pub role: Cow<'a, str>,
    /// The content.
    pub message: Json<'a>,
    /// The number of nodes before it on its branch.
    depth: usize,
}

impl<'a> Node<'a> {
    fn of(nested: Nested<'a, 2>) -> Node<'a> {
        let [role, message] = nested.fields;
        let message = message.map_or(Json::NULL, Json::read);
        Node { role: text_or_empty(role), message, depth: nested.depth }
    }

    pub(super) fn new(role: Cow<'a, str>, message: Json<'a>, depth: usize) -> Node<'a> {
        Node { role, message, depth }
    }

    /// Returns the call, if the node is one and can be read.
    pub fn call(&self) -> Option<Call<'_>> {
        if self.role == TOOL { read_call(self.message.get()) } else { None }
    }

    /// Returns the name of the called function.
    pub fn called_name(&self) -> Option<Cow<'_, str>> {
        if self.role == TOOL { read_name(self.message.get()) } else { None }
    }

    /// Copies what the node borrows.
    pub(super) fn into_owned(self) -> Node<'static> {
        Node {
            role: Cow::Owned(self.role.into_owned()),
            message: self.message.into_owned(),
            depth: self.depth,
        }
    }

    /// The number of nodes before it on its branch.
    pub fn depth(&self) -> usize {
        self.depth
    }
}

/// Builds nodes that follow each other on one branch.
pub fn chain<'a>(said: impl IntoIterator<Item = (Cow<'a, str>, Json<'a>)>) -> Vec<Node<'a>> {
    let node = |(depth, (role, message))| Node { role, message, depth };
    said.into_iter().enumerate().map(node).collect()
}

/// Reads `answer_details`: a list of nodes, each with the nodes that come next.
pub(super) fn read_nodes<'a>(cursor: &mut Cursor<'a>) -> Taken<Vec<Node<'a>>> {
    let nodes = cursor.flatten("next", ["role", "message"])?;
    Ok(nodes.into_iter().map(Node::of).collect())
}

/// The `answer_details` of an agent, kept as written and parsed once.
#[derive(Clone, Debug)]
pub struct Details {
    text: Box<RawValue>,
    nodes: Option<Vec<Node<'static>>>,
}

impl Details {
    /// Reads details of any shape. Keeps their text on one line, as run logs need it.
    pub fn read(text: Box<RawValue>) -> Details {
        let text = on_one_line(text);
        let nodes = nodes_of(text.get());
        let nodes = nodes.map(|nodes| nodes.into_iter().map(Node::into_owned).collect());
        Details { text, nodes }
    }

    /// Builds details from nodes. Returns `None` if one of them is not JSON.
    pub fn of(nodes: Vec<Node<'static>>) -> Option<Details> {
        let mut text = String::new();
        write_nodes(&nodes, Messages::Objects, Layout::LINE, 0, &mut text);
        let text = RawValue::from_string(text).ok()?;
        Some(Details { text, nodes: Some(nodes) })
    }

    /// Returns what was said and called, or `None` if the details are not a list of nodes.
    pub fn nodes(&self) -> Option<&[Node<'static>]> {
        self.nodes.as_deref()
    }
}

fn on_one_line(json: Box<RawValue>) -> Box<RawValue> {
    match juror_json::on_one_line(json.get()) {
        Cow::Borrowed(_) => json,
        Cow::Owned(line) => RawValue::from_string(line).unwrap_or(json),
    }
}

fn nodes_of(text: &str) -> Option<Vec<Node<'_>>> {
    let mut cursor = Cursor::new(text);
    if !cursor.begins(b'[') {
        return (!is_something(text)).then(Vec::new);
    }
    let nodes = read_nodes(&mut cursor).ok()?;
    cursor.end().ok().map(|()| nodes)
}

impl Serialize for Details {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Details {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Details, D::Error> {
        Box::deserialize(deserializer).map(Details::read)
    }
}

/// How to write calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Messages {
    /// As objects, as converted answers in the wild do.
    Objects,
    /// As JSON inside a string, as result files do.
    Texts,
}

/// Appends `answer_details`, indented to `level` of a larger text.
pub(super) fn write_nodes(
    nodes: &[Node<'_>],
    messages: Messages,
    layout: Layout,
    level: usize,
    out: &mut String,
) {
    let level_of = |depth: usize| level + 1 + 2 * depth;
    out.push('[');
    for (at, node) in nodes.iter().enumerate() {
        let follows_sibling = at > 0 && nodes[at - 1].depth >= node.depth;
        if follows_sibling {
            out.push(',');
        }
        let level = level_of(node.depth);
        layout.push_break(level, follows_sibling, out);
        open_node(node, messages, layout, level, out);
        let next = nodes.get(at + 1).map_or(0, |next| next.depth);
        if next > node.depth {
            continue;
        }
        close_node(layout, level, out);
        for depth in (next..node.depth).rev() {
            layout.push_break(level_of(depth) + 1, false, out);
            close_node(layout, level_of(depth), out);
        }
    }
    if !nodes.is_empty() {
        layout.push_break(level, false, out);
    }
    out.push(']');
}

/// Writes a node up to its `next` list.
fn open_node(node: &Node<'_>, messages: Messages, layout: Layout, level: usize, out: &mut String) {
    out.push('{');
    layout.push_break(level + 1, false, out);
    out.push_str("\"role\": ");
    push_json(Json::of_text(&node.role).get(), layout, level + 1, out);
    out.push(',');
    layout.push_break(level + 1, true, out);
    out.push_str("\"message\": ");
    push_json(&written_message(node, messages), layout, level + 1, out);
    out.push(',');
    layout.push_break(level + 1, true, out);
    out.push_str("\"next\": [");
}

fn close_node(layout: Layout, level: usize, out: &mut String) {
    out.push(']');
    layout.push_break(level, false, out);
    out.push('}');
}

/// Returns the message in the requested form. A message that cannot be read in full stays as it is.
fn written_message<'n>(node: &'n Node<'_>, messages: Messages) -> Cow<'n, str> {
    let message = node.message.get();
    let is_as_wanted = message.starts_with('{') && messages == Messages::Objects;
    if node.role != TOOL || is_as_wanted {
        return Cow::Borrowed(message);
    }
    match (look_inside(message), messages) {
        (Inside::Object(object), Messages::Objects) => object,
        (Inside::Object(object), Messages::Texts) => {
            let mut text = String::with_capacity(object.len() + 8);
            push_json(&object, Layout::LINE, 0, &mut text);
            Cow::Owned(Json::of_text(&text).get().to_owned())
        }
        _ => Cow::Borrowed(message),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(details: &str) -> Vec<Node<'_>> {
        read_nodes(&mut Cursor::new(details)).expect("nodes")
    }

    fn write(nodes: &[Node<'_>], messages: Messages, layout: Layout) -> String {
        let mut out = String::new();
        write_nodes(nodes, messages, layout, 0, &mut out);
        out
    }

    #[test]
    fn details_are_kept_as_they_were_written_but_on_one_line() {
        let check = |written: &str, kept: &str, n_nodes: Option<usize>| {
            let details: Details = serde_json::from_str(written).expect("JSON");
            assert_eq!(serde_json::to_string(&details).expect("JSON"), kept);
            assert_eq!(details.nodes().map(<[_]>::len), n_nodes, "{written}");
        };
        check(r#"[{"role":"tool", "x": 1}]"#, r#"[{"role":"tool", "x": 1}]"#, Some(1));
        check("[{\n\t\"role\":\r\n\"a\\nb\"}]", "[{ \t\"role\":  \"a\\nb\"}]", Some(1));
        check("{}", "{}", Some(0));
        check("5", "5", None);
        let none: Option<Details> = serde_json::from_str("null").expect("JSON");
        assert!(none.is_none());
    }

    #[test]
    fn details_are_read_as_files_of_answers_are() {
        for details in ["[]", "{}", "\"\"", "0", "false", "5", "\"x\"", r#"{"a":1}"#, "[5]", "[[]]"]
        {
            let file = format!(r#"{{"answer_details": {details}}}"#);
            let of_file = crate::answer::read_answer(&file).map(|answer| answer.nodes);
            let details: Details = serde_json::from_str(details).expect("JSON");
            assert_eq!(details.nodes(), of_file.as_deref(), "{file}");
        }
    }

    #[test]
    fn details_of_nodes_read_as_the_same_nodes() {
        let nodes = chain([
            (Cow::Borrowed("user"), Json::EMPTY),
            (Cow::Borrowed(TOOL), Json::made(r#"{"name": "f"}"#.into())),
        ]);
        let made = Details::of(nodes.clone()).expect("JSON");
        let text = serde_json::to_string(&made).expect("JSON");
        let read: Details = serde_json::from_str(&text).expect("JSON");
        assert_eq!((made.nodes(), read.nodes()), (Some(&*nodes), Some(&*nodes)));
    }

    #[test]
    fn nodes_are_written_as_python_does() {
        let details = r#"[{"role": "system", "message": "", "next": [{"role": "tool", "message": {"name": "é"}, "next": []}, {"role": "x", "message": null, "next": []}]}, {"role": "y", "message": [1], "next": []}]"#;
        assert_eq!(write(&read(details), Messages::Objects, Layout::LINE), details);
        let indented = Layout { indent: Some(1), ascii: true };
        let lines = "[\n {\n  \"role\": \"system\",\n  \"message\": \"\",\n  \"next\": [\n   {\n    \"role\": \"tool\",\n    \"message\": {\n     \"name\": \"\\u00e9\"\n    },\n    \"next\": []\n   },\n   {\n    \"role\": \"x\",\n    \"message\": null,\n    \"next\": []\n   }\n  ]\n },\n {\n  \"role\": \"y\",\n  \"message\": [\n   1\n  ],\n  \"next\": []\n }\n]";
        assert_eq!(write(&read(details), Messages::Objects, indented), lines);
        assert_eq!(write(&[], Messages::Texts, indented), "[]");
    }

    #[test]
    fn calls_change_their_form_and_all_else_stays() {
        let check = |message: &str, object: &str, text: &str| {
            let nodes = chain([(Cow::Borrowed(TOOL), Json::read(message))]);
            let written = |messages| write(&nodes, messages, Layout::LINE);
            let node = |message: &str| {
                format!(r#"[{{"role": "tool", "message": {message}, "next": []}}]"#)
            };
            assert_eq!(written(Messages::Objects), node(object));
            assert_eq!(written(Messages::Texts), node(text));
        };
        let (object, text) = (r#"{"name": "f"}"#, r#""{\"name\": \"f\"}""#);
        check(r#"{"name":"f"}"#, object, text);
        check(r#""{\"name\":\"f\"}""#, object, text);
        check(r#""{'name': 'f'}""#, object, text);
        for other in [r#""{'name': 'f', 'cut""#, "\"plain\"", "null", "[1]"] {
            check(other, other, other);
        }
    }

    fn forest() -> impl Strategy<Value = String> {
        let message = prop_oneof![
            Just("null".to_owned()),
            any::<String>().prop_map(|text| serde_json::json!(text).to_string()),
            any::<String>()
                .prop_map(|text| serde_json::json!({"name": text, "x": [1.5]}).to_string()),
            any::<String>()
                .prop_map(|text| serde_json::json!({"name": text}).to_string())
                .prop_map(|text| serde_json::json!(text).to_string()),
            Just(r#""{'name': 'f', 'response': \"it's\"}""#.to_owned()),
            Just(r#""\ud800""#.to_owned()),
        ];
        let node = |(message, next): (String, String)| {
            format!(r#"{{"role": "tool", "next": {next}, "message": {message}}}"#)
        };
        let list = |nodes: Vec<String>| format!("[{}]", nodes.join(", "));
        Just("[]".to_owned()).prop_recursive(5, 24, 3, move |inner| {
            prop::collection::vec((message.clone(), inner).prop_map(node), 0..3).prop_map(list)
        })
    }

    proptest! {
        #[test]
        fn what_is_written_reads_as_the_same(details in forest()) {
            let nodes = read(&details);
            for layout in [Layout::LINE, Layout { indent: Some(2), ascii: true }] {
                let texts = write(&nodes, Messages::Texts, layout);
                let calls = |nodes: &[Node<'_>]| -> Vec<(usize, Option<Call<'static>>)> {
                    nodes.iter().map(|node| (node.depth, node.call().map(Call::into_owned))).collect()
                };
                prop_assert_eq!(calls(&read(&texts)), calls(&nodes));
                prop_assert_eq!(&write(&read(&texts), Messages::Texts, layout), &texts);
                let objects = write(&read(&texts), Messages::Objects, layout);
                prop_assert_eq!(calls(&read(&objects)), calls(&nodes));
                prop_assert_eq!(&write(&read(&objects), Messages::Objects, layout), &objects);
                prop_assert_eq!(&write(&read(&objects), Messages::Texts, layout), &texts);
            }
        }
    }
}
