//! Converts an agent's own log to an answer.
//!
//! Where the public converter picks at random, this one takes the oldest try and the oldest child
//! of each node, so the same log always gives the same answer.

use std::borrow::Cow;

use juror_document::{Document, Look, Path, Problem, Problems};
use juror_json::cursor::{Nested, Taken, flatten};
use juror_json::{self as json, Object};
use serde_json::value::RawValue;

use super::conversation::{Thoughts, add_conversation, called};
use super::details::chain;
use super::file::Recorded;
use super::json::{Json, is_something, text_or_empty};
use super::raw::{Log, read_log};
use super::{Answer, Said, said};

/// Returns the id of the query that a log is about, if the file belongs to this method. Such a file
/// is called `<id>_<method>.json`.
pub fn answer_id<'n>(file_name: &'n str, method: &str) -> Option<&'n str> {
    let stem = file_name.strip_suffix(".json")?.strip_suffix(method)?.strip_suffix('_')?;
    stem.split('_').next().filter(|id| !id.is_empty())
}

/// Converts the log of a chain or of a tree search. The log shows which it is; `method` decides if
/// the log holds both.
pub fn convert<'a>(
    document: &'a Document,
    method: &str,
    thoughts: Thoughts,
) -> Result<Recorded<'a>, Problems> {
    let log = read_log(document.json()).ok().filter(|log| log.is_log);
    let converted = log.and_then(|log| convert_log(&log, method, thoughts).ok());
    converted.ok_or_else(|| explain(document))
}

fn convert_log<'a>(log: &Log<'a>, method: &str, thoughts: Thoughts) -> Taken<Recorded<'a>> {
    let mut nodes = vec![said("system", Json::EMPTY), said("user", Json::EMPTY)];
    let is_tree = method.contains("DFS") || method.contains("dfs") || log.chain.is_none();
    match (log.messages.filter(|_| log.is_valid), log.chain, log.tree.filter(|_| is_tree)) {
        (Some(messages), ..) => add_conversation(messages, thoughts, &mut nodes)?,
        (_, _, Some(tree)) => add_logged(&first_path(tree)?, &mut nodes),
        (_, Some(tried), _) => add_logged(&flatten(tried, "children", FIELDS)?, &mut nodes),
        _ => {}
    }
    let value = |json: Option<&'a str>, missing| json.map_or(missing, Json::read);
    Ok(Recorded {
        set: None,
        error: None,
        query: value(log.query, Json::EMPTY),
        available_tools: value(log.functions, Json::NO_ITEMS),
        answer: Answer {
            method: Cow::Owned(method.to_owned()),
            final_answer: value(log.final_answer, Json::EMPTY),
            nodes: chain(nodes),
            called_apis: Vec::new(),
        },
    })
}

const FIELDS: [&str; 3] = ["node_type", "description", "observation"];

/// A node of a log: a thought, an action, or the input of an action.
type Logged<'a> = Nested<'a, 3>;

fn is_input(node: &Logged<'_>) -> bool {
    text_or_empty(node.fields[0]) == "Action Input"
}

/// Follows the oldest children of a tree. The root is not a step.
fn first_path(tree: &str) -> Taken<Vec<Logged<'_>>> {
    let nodes = flatten(tree, "children", FIELDS)?;
    let path = nodes.into_iter().enumerate().take_while(|(at, node)| node.depth == *at).skip(1);
    Ok(path.map(|(_, node)| node).collect())
}

/// Appends logged nodes. An action and its input make a call, a thought is something said, and any
/// other node is kept as it is.
fn add_logged<'a>(logged: &[Logged<'a>], nodes: &mut Vec<Said<'a>>) {
    let mut rest = logged.iter().peekable();
    while let Some(node) = rest.next() {
        let [kind, description, _] = node.fields;
        let kind = text_or_empty(kind);
        match (&*kind, rest.next_if(|next| kind == "Action" && is_input(next))) {
            (_, Some(input)) => nodes.push(called(description, input.fields[1], input.fields[2])),
            ("Thought", None) => {
                nodes.push(said("assistant", description.map_or(Json::NULL, Json::read)));
            }
            _ => nodes.push((kind, without_children(node.text))),
        }
    }
}

/// Returns a node without its children, which follow it in the list.
fn without_children(node: &str) -> Json<'_> {
    let Ok(fields) = juror_json::from_str::<Object<'_>>(node) else { return Json::NULL };
    let is_list = |value: &str| value.starts_with('[') && is_something(value);
    if !fields.get("children").is_some_and(|children| is_list(children.get())) {
        return Json::read(node);
    }
    let field = |(key, value): (&RawValue, &RawValue)| {
        let is_children = json::is_word(key, "children");
        format!("{}: {}", key.get(), if is_children { "null" } else { value.get() })
    };
    let fields: Vec<String> = fields.iter_raw().map(field).collect();
    Json::made(format!("{{{}}}", fields.join(", ")))
}

/// Reads a broken log again, slowly, to find out what is wrong with it.
fn explain(document: &Document) -> Problems {
    let mut look = Look::new(document);
    let top = Path::default();
    if let Some(fields) = look.top_object("the log of an answer") {
        match fields.get_set("answer_generation") {
            Some(value) => drop(look.object(value, &top.key("answer_generation"), "an object")),
            None => look.note(
                document.json(),
                top.clone(),
                Problem::MissingField { field: "answer_generation", of: "log" },
            ),
        }
    }
    let problems = look.problems();
    if !problems.is_empty() {
        return problems;
    }
    let message = "messages or nodes are not objects, or nested too deep".to_owned();
    document.error_at(top, Problem::Syntax(message)).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::Format;

    #[test]
    fn what_is_wrong_with_a_log_is_told() {
        let check = |json: &str, told: &str| {
            let log = Document::new("log.json", json.into(), Format::Json).expect("UTF-8");
            let problems = convert(&log, "CoT@1", Thoughts::Dropped).expect_err("no log");
            assert_eq!(problems.errors[0].to_string().lines().next(), Some(told), "{json}");
        };
        check("{}", "log.json:1:1: this log has no `answer_generation`");
        check("[1]", "log.json:1:1: expected the log of an answer, found a list");
        check("{\n \"answer_generation\": 5}", "log.json:2:23: expected an object, found a number");
        check(
            r#"{"answer_generation": {"query": "#,
            "log.json:1:32: not valid JSON: EOF while parsing a value",
        );
        check(
            r#"{"answer_generation": {"valid_data": true, "train_messages": [[5]]}}"#,
            "log.json:1:1: messages or nodes are not objects, or nested too deep",
        );
    }

    #[test]
    fn nodes_inside_a_node_are_left_away_however_their_key_is_written() {
        for key in ["children", r"\u0063hildren"] {
            let node = format!(r#"{{"node_type": "x", "{key}": [{{"a": 1}}]}}"#);
            let left = format!(r#"{{"node_type": "x", "{key}": null}}"#);
            assert_eq!(without_children(&node), Json::read(&left), "{key}");
        }
    }

    #[test]
    fn logs_are_known_by_their_names() {
        let check = |name: &str, method: &str, id: Option<&str>| {
            assert_eq!(answer_id(name, method), id, "{name}");
        };
        check("588_CoT@1.json", "CoT@1", Some("588"));
        check("588_CoT@10.json", "CoT@1", None);
        check("588_DFS_woFilter_w2.json", "DFS_woFilter_w2", Some("588"));
        check("588_x_CoT@1.json", "CoT@1", Some("588"));
        check("_CoT@1.json", "CoT@1", None);
        check("588_CoT@1.txt", "CoT@1", None);
    }
}
