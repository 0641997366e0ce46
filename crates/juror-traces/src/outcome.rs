//! What came of a call: rules 3 and 4.

use serde_json::{Map, Value};

use crate::look;

/// What came of a call, as a record says it.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Outcome {
    /// What the tool returned, as it was recorded.
    pub content: Option<Value>,
    /// The tool's whole result where the content is only a part of it.
    pub whole: Option<Value>,
    /// Whether the call failed; `None` if the format cannot say.
    pub is_error: Option<bool>,
    /// Why it failed, if that is said apart from the content.
    pub error: Option<String>,
    /// Whether the record says that it holds only a part of the output.
    pub is_truncated: bool,
}

impl Outcome {
    /// A result of a format that does not say whether calls fail.
    pub(crate) fn unflagged(content: &Value) -> Outcome {
        Outcome { content: Some(content.clone()), ..Outcome::default() }
    }

    /// A result of a format that says whether calls fail.
    pub(crate) fn flagged(content: &Value, is_error: bool) -> Outcome {
        Outcome { is_error: Some(is_error), ..Outcome::unflagged(content) }
    }

    /// A failure with its message.
    pub(crate) fn failure(message: String) -> Outcome {
        Outcome { is_error: Some(true), error: Some(message), ..Outcome::default() }
    }

    /// A failed call's message: said apart, or its content.
    pub(crate) fn message(&self) -> Option<String> {
        let of_content = || self.content.as_ref().map(|content| Text::of(content).text);
        self.error.clone().or_else(of_content).filter(|message| !message.trim().is_empty())
    }

    /// Takes from another record of the same result what this one does not say.
    pub(crate) fn fill_from(&mut self, other: &Outcome) {
        if self.content.is_none() {
            self.content.clone_from(&other.content);
            self.whole = self.whole.take().or_else(|| other.whole.clone());
        }
        if self.is_error.is_none() {
            self.is_error = other.is_error;
        }
        if self.error.is_none() {
            self.error.clone_from(&other.error);
        }
        self.is_truncated |= other.is_truncated;
    }

    /// Unwraps what frameworks put around a result: a tool's message, a `ToolOutput`, `{"output": …}`.
    /// Returns the id of the call if the message has it.
    pub(crate) fn unwrap(&mut self) -> Option<String> {
        let content = self.content.as_ref()?;
        if let Some(message) = content.as_str().and_then(printed_message) {
            return self.take_message(&Value::Object(message));
        }
        if content.as_str().is_some_and(|text| !may_be_wrapped(text)) {
            return None;
        }
        let content = look::parsed(content)?.into_owned();
        let Value::Object(object) = &content else { return None };
        if let Some(message) = tool_message(&content) {
            return self.take_message(&message.clone());
        }
        if object.contains_key("raw_output") && object.contains_key("is_error") {
            self.is_error = self.is_error.or(object["is_error"].as_bool());
            self.content = Some(object["raw_output"].clone());
            return None;
        }
        let is_wrapper = object.keys().all(|key| ["output", "kwargs"].contains(&key.as_str()));
        if let Some(output) = object.get("output").filter(|_| is_wrapper) {
            self.content = Some(output.clone());
            return self.unwrap();
        }
        if let Some(message) = update_message(&content) {
            return self.take_message(&message.clone());
        }
        None
    }

    fn take_message(&mut self, message: &Value) -> Option<String> {
        self.content = look::get(message, "content").cloned();
        self.whole = look::get(message, "artifact").cloned();
        if let Some(status) = look::text(message, "status") {
            self.is_error = self.is_error.or(Some(status == "error"));
        }
        look::id(message, &["tool_call_id"])
    }
}

/// Whether a text may be one of the wrappers: most outputs are not, and large.
fn may_be_wrapped(text: &str) -> bool {
    let start = text.trim_start();
    let is_pair = || start.starts_with("{\"output\"") || start.starts_with("{\"kwargs\"");
    let words = ["\"tool_call_id\"", "\"raw_output\"", "\"tool\"", "\"ToolMessage\""];
    let has = |word: &&str| memchr::memmem::find(start.as_bytes(), word.as_bytes()).is_some();
    start.starts_with('{') && (is_pair() || words.iter().any(has))
}

/// Returns the fields of a LangChain tool message in any of its shapes.
pub(crate) fn tool_message(value: &Value) -> Option<&Value> {
    let fields = ["kwargs", "data"].iter().find_map(|key| look::get(value, key)).unwrap_or(value);
    let is_tool = look::text(fields, "type") == Some("tool")
        || look::text(value, "type") == Some("tool")
        || last_word(value) == Some("ToolMessage");
    (is_tool && fields.get("content").is_some()).then_some(fields)
}

/// Returns the class of an object written by `dumpd`.
fn last_word(value: &Value) -> Option<&str> {
    look::items(value, "id").last()?.as_str()
}

/// A tool that returns a command of LangGraph: its message is in the update.
fn update_message(value: &Value) -> Option<&Value> {
    let messages = look::items(look::get(value, "update")?, "messages");
    messages.iter().find_map(tool_message)
}

/// Reads a tool message as Python prints it: `content='Oslo' name='lookup' tool_call_id='call_1'`.
fn printed_message(text: &str) -> Option<Map<String, Value>> {
    if !text.starts_with("content=") || !text.contains(" tool_call_id=") {
        return None;
    }
    let mut fields = Map::new();
    let mut rest = text;
    while let Some((key, after)) = rest.split_once('=') {
        let key = key.trim();
        let end = end_of_literal(after)?;
        let json = juror_json::python::json_of_literal(&after[..end]).ok();
        if let Some(value) = json.and_then(|json| serde_json::from_str(&json).ok()) {
            fields.insert(key.to_owned(), value);
        }
        rest = &after[end..];
    }
    fields.contains_key("tool_call_id").then_some(fields)
}

/// Returns where the Python literal at the start of a text ends: at a blank outside of quotes and
/// brackets.
fn end_of_literal(text: &str) -> Option<usize> {
    let (mut quote, mut depth, mut is_escaped) = (None, 0_usize, false);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(_), _) if is_escaped => is_escaped = false,
            (Some(_), '\\') => is_escaped = true,
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[' | '{' | '(') => depth += 1,
            (None, ']' | '}' | ')') => depth = depth.checked_sub(1)?,
            (None, ' ') if depth == 0 => return Some(at),
            (None, _) => {}
        }
    }
    (quote.is_none() && depth == 0).then_some(text.len())
}

/// An output as a text.
#[derive(Debug, PartialEq)]
pub(crate) struct Text {
    pub(crate) text: String,
    /// What it was made of, if the text does not say all.
    pub(crate) raw: Option<Value>,
    /// Whether it was written as Python's `repr`.
    pub(crate) is_python: bool,
}

impl Text {
    /// Texts stay as they are; blocks are joined; any other value becomes compact JSON.
    pub(crate) fn of(content: &Value) -> Text {
        match content {
            Value::String(text) => Text::of_text(text),
            Value::Array(blocks) if is_blocks(blocks) => {
                let shown: Vec<String> = blocks.iter().filter_map(block_text).collect();
                let is_plain = blocks.iter().all(serde_json::Value::is_string);
                let raw = (!is_plain).then(|| content.clone());
                let joined = Text::of_text(&shown.join("\n"));
                Text { raw: raw.or(joined.raw), ..joined }
            }
            other => Text { text: other.to_string(), raw: None, is_python: false },
        }
    }

    fn of_text(text: &str) -> Text {
        let is_json = || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        let structure = || look::python_structure(text);
        let starts = text.trim_start().starts_with(['{', '[']);
        match starts.then(|| if is_json() { None } else { structure() }).flatten() {
            Some(value) => Text {
                text: value.to_string(),
                raw: Some(Value::String(text.to_owned())),
                is_python: true,
            },
            None => Text { text: text.to_owned(), raw: None, is_python: false },
        }
    }
}

/// The types of blocks that formats know. Other lists of objects with a `type` are data.
const BLOCKS: [&str; 22] = [
    "text",
    "input_text",
    "output_text",
    "image",
    "image_url",
    "input_image",
    "audio",
    "input_audio",
    "resource",
    "resource_link",
    "file",
    "input_file",
    "document",
    "search_result",
    "refusal",
    "thinking",
    "reasoning",
    "video",
    "json",
    "web_search_result",
    "tool_reference",
    "media",
];

/// Whether a list is one of content blocks.
pub(crate) fn is_blocks(blocks: &[Value]) -> bool {
    let is_block = |block: &Value| {
        let kind = look::text(block, "type").or_else(|| look::text(block, "block_type"));
        kind.is_some_and(|kind| BLOCKS.contains(&kind))
    };
    !blocks.is_empty() && blocks.iter().all(is_block)
}

/// Returns the text of a content block, or a word for what it is.
pub(crate) fn block_text(block: &Value) -> Option<String> {
    let kind = look::text(block, "type").or_else(|| look::text(block, "block_type"));
    let text = || look::first(block, &["text", "content"]);
    match kind {
        Some("thinking" | "reasoning") => None,
        Some("image" | "image_url" | "input_image") => Some("[image]".to_owned()),
        Some("audio" | "input_audio") => Some("[audio]".to_owned()),
        Some("resource" | "resource_link") => {
            let inner = look::get(block, "resource").unwrap_or(block);
            let text = look::words(inner, "text").map(str::to_owned);
            let uri = look::text(inner, "uri").unwrap_or("without uri");
            Some(text.unwrap_or_else(|| format!("[resource {uri}]")))
        }
        Some("json") => look::get(block, "json").map(Value::to_string),
        Some("refusal") => look::text(block, "refusal").map(str::to_owned),
        _ => match text() {
            Some(Value::String(text)) => Some(text.clone()),
            Some(Value::Array(inner)) => Some(join_blocks(inner)),
            _ => Some(format!("[{}]", kind.unwrap_or("block"))),
        },
    }
}

/// Joins the texts of content blocks.
pub(crate) fn join_blocks(blocks: &[Value]) -> String {
    let shown: Vec<String> = blocks.iter().filter_map(block_text).collect();
    shown.join("\n")
}

/// Returns what a message says: its text, or the texts of its blocks; calls and thoughts aside.
pub(crate) fn said(content: &Value) -> Option<String> {
    let said = match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let is_text = |block: &&Value| {
                let kind = look::text(block, "type").or_else(|| look::text(block, "block_type"));
                matches!(kind, None | Some("text" | "output_text" | "input_text" | "refusal"))
            };
            let texts = blocks.iter().filter(is_text).filter_map(|block| match block {
                Value::String(text) => Some(text.clone()),
                block => {
                    look::first(block, &["text", "content", "refusal"])?.as_str().map(str::to_owned)
                }
            });
            let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
            texts.join("\n")
        }
        _ => return None,
    };
    Some(said).filter(|said| !said.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(content: Value, wanted: &str, has_raw: bool) {
        let text = Text::of(&content);
        assert_eq!(text.text, wanted, "{content}");
        assert_eq!(text.raw.is_some(), has_raw, "{content}");
    }

    #[test]
    fn outputs_become_texts() {
        check(json!("Oslo"), "Oslo", false);
        check(json!("{\"b\": 1}"), "{\"b\": 1}", false);
        check(json!({"b": [1, 2]}), "{\"b\":[1,2]}", false);
        check(json!(11.04), "11.04", false);
        check(json!([{"id": "doc-1", "text": "a"}]), "[{\"id\":\"doc-1\",\"text\":\"a\"}]", false);
        let blocks = json!([{"type": "text", "text": "a"}, {"type": "image", "source": {}},
            {"type": "resource", "resource": {"uri": "file:///x"}}, {"type": "text", "text": "b"}]);
        check(blocks, "a\n[image]\n[resource file:///x]\nb", true);
        check(json!([{"text": "a"}]), "[{\"text\":\"a\"}]", false);
        check(json!("{'b': [1, None]}"), "{\"b\":[1,null]}", true);
        check(json!("[not a list"), "[not a list", false);
    }

    #[test]
    fn results_are_unwrapped() {
        let check = |content: Value, wanted: Value, id: Option<&str>, is_error: Option<bool>| {
            let mut outcome = Outcome::unflagged(&content);
            assert_eq!(outcome.unwrap().as_deref(), id, "{content}");
            assert_eq!(outcome.content, Some(wanted), "{content}");
            assert_eq!(outcome.is_error, is_error, "{content}");
        };
        let data = json!({"content": "Oslo", "tool_call_id": "c1", "status": "success"});
        check(json!({"type": "tool", "data": data}), json!("Oslo"), Some("c1"), Some(false));
        let text = json!({"type": "tool", "content": "x", "tool_call_id": "c2"}).to_string();
        check(json!(text), json!("x"), Some("c2"), None);
        let dumped = json!({"lc": 1, "type": "constructor", "id": ["langchain", "ToolMessage"],
            "kwargs": {"content": "no", "status": "error", "tool_call_id": "c3"}});
        check(json!({"output": dumped, "kwargs": {}}), json!("no"), Some("c3"), Some(true));
        let printed = "content='it\\'s 4' name='weather' id='7' tool_call_id='c4'";
        check(json!(printed), json!("it's 4"), Some("c4"), None);
        let llama = json!({"blocks": [], "raw_output": 7, "is_error": false, "tool_name": "t"});
        check(llama, json!(7), None, Some(false));
        check(json!({"temp": 4}), json!({"temp": 4}), None, None);
    }
}
