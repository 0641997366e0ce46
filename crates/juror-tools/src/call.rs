//! Calls of tools, and how they are read from requests.

use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt::Write;
use std::sync::Arc;

use hashbrown::HashMap;
use juror_json::python::{NotJson, entries_of_json, str_of_json};
use juror_json::{Object, text_of};
use juror_models::Secret;
use juror_toolbench::FolderNames;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::argument_rules::{ArgumentRules, RuledArguments};
use crate::python_json_error::python_json_error;

/// A pseudo-API by which an agent talks to its user.
const CHAT_WITH_USER: &str = "chat_with_user";

/// The published servers' error for arguments that they cannot parse.
pub const INPUT_ERROR: &str = "Tool input parse error...\n";

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The category, as requested.
    pub category: String,
    /// The tool, as requested.
    pub tool: String,
    /// The API, as requested.
    pub api: String,
    /// The three names in the form of cache folders.
    pub names: Arc<FolderNames>,
    /// The arguments as JSON.
    pub input: String,
    /// The arguments in Python's notation. Replies are kept under the names and this key.
    pub key: String,
    /// How numbers in the arguments are compared with those of known replies.
    pub numbers: NumberMatching,
    /// The caller's key for real tools. It is passed on to them and goes nowhere else.
    pub toolbench_key: Secret,
    /// The names and arguments in one string, equal for calls that share a reply.
    id: String,
    /// What rules say about its arguments, if there are rules.
    ruled: Option<Arc<RuledArguments>>,
}

/// How numbers in a call's arguments are compared with those of known replies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum NumberMatching {
    /// By Python's notation, like the public servers: `5` differs from `5.0`.
    #[default]
    Exact,
    /// By value if there is no exact match: `5` equals `5.0`.
    Equal,
}

/// The fields of a request that is not a proper call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawCall {
    /// The category, as requested.
    pub category: String,
    /// The tool, as requested.
    pub tool: String,
    /// The API, as requested.
    pub api: String,
    /// The arguments, as written.
    pub input: String,
}

/// Why a request is not answered as a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The request has the wrong shape; the body of the reply, as JSON.
    Malformed(String),
    /// The request is not UTF-8.
    NotText,
    /// The arguments are neither an object nor a string with JSON.
    Input(RawCall),
    /// The agent addresses its user.
    ChatWithUser(RawCall),
}

impl ToolCall {
    /// Creates a call. `input` is JSON.
    pub fn new(
        category: &str,
        tool: &str,
        api: &str,
        input: &str,
        toolbench_key: &str,
    ) -> Result<ToolCall, NotJson> {
        ToolCall::of_names(
            folder_names(category, tool, api),
            (category, tool, api),
            input,
            toolbench_key,
        )
    }

    fn of_names(
        names: Arc<FolderNames>,
        (category, tool, api): (&str, &str, &str),
        input: &str,
        toolbench_key: &str,
    ) -> Result<ToolCall, NotJson> {
        let key = str_of_json(input)?;
        Ok(ToolCall {
            id: id_of(&names, &key),
            names,
            key,
            category: category.to_owned(),
            tool: tool.to_owned(),
            api: api.to_owned(),
            input: input.to_owned(),
            numbers: NumberMatching::Exact,
            toolbench_key: Secret::new(toolbench_key),
            ruled: None,
        })
    }

    /// Reads a call from the body of a request.
    pub fn read(body: &[u8]) -> Result<ToolCall, Refusal> {
        let text = std::str::from_utf8(body).map_err(|_| Refusal::NotText)?;
        let fields = match read_fields(text) {
            Ok(fields) => fields,
            Err(refusal) => return read_odd(text).ok_or(refusal),
        };
        let mut complaints = Vec::new();
        let category = read_text(&fields, "category", &mut complaints);
        let tool = read_text(&fields, "tool_name", &mut complaints);
        let api = read_text(&fields, "api_name", &mut complaints);
        let input = fields.get("tool_input");
        if input.is_none() {
            complaints.push(missing(&["body", "tool_input"]));
        }
        read_text(&fields, "strip", &mut complaints);
        let toolbench_key = read_text(&fields, "toolbench_key", &mut complaints);
        if !complaints.is_empty() {
            return Err(malformed(&complaints));
        }
        let asked = || RawCall {
            category: category.clone().into_owned(),
            tool: tool.clone().into_owned(),
            api: api.clone().into_owned(),
            input: input.map(|input| input.get().to_owned()).unwrap_or_default(),
        };
        let names = folder_names(&category, &tool, &api);
        if names.api == CHAT_WITH_USER {
            return Err(Refusal::ChatWithUser(asked()));
        }
        let arguments = input.and_then(read_input).ok_or_else(|| Refusal::Input(asked()))?;
        ToolCall::of_names(names, (&category, &tool, &api), &arguments, &toolbench_key)
            .map_err(|_| Refusal::Input(asked()))
    }

    /// Applies rules to the arguments: what is masked or ignored does not identify the call.
    #[must_use]
    pub fn ruled_by(self, rules: &ArgumentRules) -> ToolCall {
        if rules.is_empty() {
            return self;
        }
        let arguments = rules.apply(&self.api, &self.input);
        // What was JSON still is.
        let key = str_of_json(&arguments.key).unwrap_or_else(|_| self.key.clone());
        ToolCall { id: id_of(&self.names, &key), key, ruled: Some(Arc::new(arguments)), ..self }
    }

    /// The arguments as they may be shown, as JSON.
    pub fn shown_input(&self) -> &str {
        self.ruled.as_ref().map_or(&self.input, |ruled| &ruled.shown)
    }

    /// The arguments that identify the call, as JSON.
    pub(crate) fn compared_input(&self) -> &str {
        self.ruled.as_ref().map_or(&self.input, |ruled| &ruled.key)
    }

    /// Removes masked arguments from a reply.
    pub(crate) fn redact(&self, reply: String) -> String {
        match &self.ruled {
            None => reply,
            Some(ruled) => ruled.secrets.redact(reply),
        }
    }

    /// The names and arguments in one string, equal for calls that share a reply.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The memory that its strings take, in bytes.
    pub(crate) fn n_bytes(&self) -> usize {
        let names = self.category.len() + self.tool.len() + self.api.len();
        let texts = self.input.len() + self.key.len() + self.id.len();
        names + texts + self.toolbench_key.expose().len()
    }

    /// The category, tool and API under which replies are kept.
    pub fn api_path(&self) -> [String; 3] {
        let FolderNames { category, tool, api, .. } = &*self.names;
        [category.clone(), tool.clone(), api.clone()]
    }
}

/// How many names each thread caches.
const MOST_REMEMBERED: usize = 20_000;

thread_local! {
    /// Names in the form of cache folders, by the names as requested. Agents call the same APIs
    /// again and again, and normalizing names is a good part of the cost of a known call.
    static REMEMBERED: RefCell<HashMap<String, Arc<FolderNames>>> = RefCell::default();
    /// A reusable buffer for the key of `REMEMBERED`.
    static ASKED: RefCell<String> = const { RefCell::new(String::new()) };
}

fn folder_names(category: &str, tool: &str, api: &str) -> Arc<FolderNames> {
    let make = || Arc::new(FolderNames::as_requested(category, tool, api));
    if category.len() + tool.len() + api.len() > 1_000 {
        return make();
    }
    ASKED.with_borrow_mut(|asked| {
        asked.clear();
        for name in [category, tool, api] {
            asked.push_str(name);
            // Names with this separator are not cached, so keys are unambiguous.
            asked.push('\0');
        }
        if [category, tool, api].iter().any(|name| name.contains('\0')) {
            return make();
        }
        REMEMBERED.with_borrow_mut(|remembered| {
            if let Some(names) = remembered.get(asked.as_str()) {
                return names.clone();
            }
            if remembered.len() >= MOST_REMEMBERED {
                remembered.clear();
            }
            let names = make();
            remembered.insert(asked.clone(), names.clone());
            names
        })
    })
}

/// Prefixes names with their lengths, so that different calls have different ids.
fn id_of(names: &FolderNames, key: &str) -> String {
    let FolderNames { category, tool, api, .. } = names;
    let length = category.len() + tool.len() + api.len() + key.len() + 12;
    let mut id = String::with_capacity(length);
    for name in [category, tool, api] {
        // Writing to a string does not fail.
        let _ = write!(id, "{}:{name}", name.len());
    }
    id.push_str(key);
    id
}

/// Reads a call whose arguments contain numbers that Python accepts and JSON does not, such as
/// `NaN`.
fn read_odd(text: &str) -> Option<ToolCall> {
    let entries = entries_of_json(text).ok()?;
    let part = |name: &str| Some(entries.iter().find(|(own, _)| own == name)?.1);
    let field = |name: &str| str_of_json(part(name)?).ok();
    let input = part("tool_input").filter(|input| input.starts_with('{'))?;
    field("strip")?;
    let (category, tool, api) = (field("category")?, field("tool_name")?, field("api_name")?);
    ToolCall::new(&category, &tool, &api, input, &field("toolbench_key")?).ok()
}

fn read_fields(text: &str) -> Result<Object<'_>, Refusal> {
    if text.is_empty() {
        return Err(malformed(&[missing(&["body"])]));
    }
    if let Ok(fields) = serde_json::from_str(text) {
        return Ok(fields);
    }
    if let Some((place, problem)) = python_json_error(text) {
        let detail = json!({"type": "json_invalid", "loc": ["body", place],
            "msg": "JSON decode error", "input": {}, "ctx": {"error": problem}});
        return Err(malformed(&[detail]));
    }
    match text.trim() {
        // Python accepts an empty list as an empty object.
        "[]" => Ok(Object::default()),
        "null" => Err(malformed(&[missing(&["body"])])),
        _ => Err(malformed(&[json!({"loc": ["body"], "msg": "value is not a valid dict",
            "type": "type_error.dict"})])),
    }
}

/// Reads a string. Numbers and booleans are accepted too, in Python's notation.
fn read_text<'a>(
    fields: &Object<'a>,
    name: &'static str,
    complaints: &mut Vec<Value>,
) -> Cow<'a, str> {
    let mut complain = |message: &str, kind: &str| {
        complaints.push(json!({"loc": ["body", name], "msg": message, "type": kind}));
        Cow::default()
    };
    let Some(value) = fields.get(name) else {
        return complain("field required", "value_error.missing");
    };
    match value.get().as_bytes().first() {
        Some(b'"') => text_of(value).unwrap_or_default(),
        Some(b'{' | b'[') => complain("str type expected", "type_error.str"),
        Some(b'n') => complain("none is not an allowed value", "type_error.none.not_allowed"),
        _ => str_of_json(value.get()).map(Cow::Owned).unwrap_or_default(),
    }
}

/// Returns the arguments as JSON. An empty string means no arguments.
fn read_input(input: &RawValue) -> Option<Cow<'_, str>> {
    match input.get().as_bytes().first()? {
        b'{' => Some(Cow::Borrowed(input.get())),
        b'"' => match text_of(input)? {
            text if text.is_empty() => Some(Cow::Borrowed("{}")),
            text => Some(text),
        },
        _ => None,
    }
}

fn missing(place: &[&str]) -> Value {
    json!({"loc": place, "msg": "field required", "type": "value_error.missing"})
}

fn malformed(complaints: &[Value]) -> Refusal {
    Refusal::Malformed(json!({ "detail": complaints }).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(input: &str) -> Result<ToolCall, Refusal> {
        let body = format!(
            r#"{{"category": "Data", "tool_name": "A", "api_name": "b c", "tool_input": {input},
                "strip": 5, "toolbench_key": "K", "extra": null}}"#
        );
        ToolCall::read(body.as_bytes())
    }

    #[test]
    fn arguments_are_an_object_or_a_text_of_json() {
        let check = |input: &str, key: &str| {
            let call = read(input).expect("a call");
            assert_eq!(call.key, key);
            assert_eq!(call.id(), format!("4:Data10:a_for_Data3:b_c{key}"));
        };
        check(r#"{"a": 1}"#, "{'a': 1}");
        check(r#"" {\"a\":\n1}""#, "{'a': 1}");
        check("\"\"", "{}");
        check("\"5\"", "5");
        check(r#"{"a": "\ud800"}"#, r"{'a': '\ud800'}");
        check(r#"{"a": NaN, "b": -Infinity}"#, "{'a': nan, 'b': -inf}");
        for input in ["5", "null", "[]", "true", "\"{\"", "\"{'a': 1}\""] {
            let Err(Refusal::Input(asked)) = read(input) else { panic!("{input}") };
            assert_eq!((asked.api.as_str(), asked.input.as_str()), ("b c", input));
        }
    }

    #[test]
    fn every_field_that_is_wrong_is_told() {
        let check = |body: &str, detail: Value| {
            let refusal = ToolCall::read(body.as_bytes()).expect_err("no call");
            let Refusal::Malformed(said) = refusal else { panic!("{refusal:?}") };
            let said: Value = serde_json::from_str(&said).expect("JSON");
            assert_eq!(said["detail"], detail, "{body}");
        };
        check(
            "",
            json!([{"loc": ["body"], "msg": "field required", "type": "value_error.missing"}]),
        );
        check(
            "7",
            json!([{"loc": ["body"], "msg": "value is not a valid dict", "type": "type_error.dict"}]),
        );
        check(
            r#"{"category": null, "tool_name": [], "api_name": 1.50, "tool_input": {}, "strip": ""}"#,
            json!([
                {"loc": ["body", "category"], "msg": "none is not an allowed value", "type": "type_error.none.not_allowed"},
                {"loc": ["body", "tool_name"], "msg": "str type expected", "type": "type_error.str"},
                {"loc": ["body", "toolbench_key"], "msg": "field required", "type": "value_error.missing"},
            ]),
        );
        assert_eq!(ToolCall::read(b"\xff").expect_err("no text"), Refusal::NotText);
    }

    #[test]
    fn a_word_to_the_user_needs_no_arguments() {
        let body = r#"{"category": "x", "tool_name": "y", "api_name": "CHAT-with USER",
            "tool_input": 5, "strip": "", "toolbench_key": ""}"#;
        let refusal = ToolCall::read(body.as_bytes()).expect_err("no call");
        assert!(matches!(refusal, Refusal::ChatWithUser(_)), "{refusal:?}");
    }
}
