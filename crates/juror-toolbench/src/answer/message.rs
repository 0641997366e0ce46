//! The content of a node: calls, in every form that files use.

use std::borrow::Cow;

use juror_json::cursor::{fields_of, first_field, is_object};
use juror_json::python::json_of_literal;

use super::json::{Json, text_of};

/// A call of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Call<'a> {
    /// The name the agent used.
    pub name: Cow<'a, str>,
    /// The arguments; `None` if the message was cut off before them.
    pub arguments: Option<Json<'a>>,
    /// The response; `None` if the message was cut off before it.
    pub response: Option<Json<'a>>,
}

impl Call<'_> {
    /// Returns the call as a message, with an empty string for each missing part.
    pub fn to_json(&self) -> Json<'static> {
        let name = Json::of_text(&self.name);
        let [arguments, response] = [&self.arguments, &self.response]
            .map(|part| part.as_ref().map_or(Json::EMPTY_TEXT, Json::get));
        call_json(name.get(), arguments, response)
    }

    /// Copies what the call borrows.
    pub fn into_owned(self) -> Call<'static> {
        Call {
            name: Cow::Owned(self.name.into_owned()),
            arguments: self.arguments.map(Json::into_owned),
            response: self.response.map(Json::into_owned),
        }
    }
}

/// Builds the message of a call from the JSON of its parts.
pub(super) fn call_json(name: &str, arguments: &str, response: &str) -> Json<'static> {
    Json::made(format!(r#"{{"name": {name}, "arguments": {arguments}, "response": {response}}}"#))
}

/// The content of a message.
pub(super) enum Inside<'m> {
    /// An object: the message itself, or its text as JSON or as a Python literal.
    Object(Cow<'m, str>),
    /// An object that was cut off.
    Cut(Cow<'m, str>),
    /// Anything else.
    Other,
}

/// Looks into a message: an object, or text that holds JSON, a Python object, or the beginning of
/// one.
pub(super) fn look_inside(message: &str) -> Inside<'_> {
    if message.starts_with('{') {
        return Inside::Object(Cow::Borrowed(message));
    }
    let Some(text) = text_of(message).filter(|text| text.trim_ascii_start().starts_with('{'))
    else {
        return Inside::Other;
    };
    if is_object(&text) {
        return Inside::Object(text);
    }
    match json_of_literal(&text) {
        Ok(json) => Inside::Object(Cow::Owned(json)),
        Err(_) => Inside::Cut(text),
    }
}

/// Reads a message as a call; returns `None` if it has no name.
pub(super) fn read_call(message: &str) -> Option<Call<'_>> {
    match look_inside(message) {
        Inside::Object(Cow::Borrowed(object)) => call_in(object),
        Inside::Object(Cow::Owned(object)) => call_in(&object).map(Call::into_owned),
        Inside::Cut(text) => {
            let name = Cow::Owned(name_in_cut(&text)?.into_owned());
            Some(Call { name, arguments: None, response: None })
        }
        Inside::Other => None,
    }
}

/// Reads the name alone, without copying the rest.
pub(super) fn read_name(message: &str) -> Option<Cow<'_, str>> {
    match look_inside(message) {
        Inside::Object(Cow::Borrowed(object)) => name_in(object),
        Inside::Object(Cow::Owned(object)) => Some(Cow::Owned(name_in(&object)?.into_owned())),
        Inside::Cut(text) => name_in_cut(&text).map(|name| Cow::Owned(name.into_owned())),
        Inside::Other => None,
    }
}

fn name_in(object: &str) -> Option<Cow<'_, str>> {
    text_of(first_field(object, "name")?)
}

fn call_in(object: &str) -> Option<Call<'_>> {
    let [arguments, response] = fields_of(object, ["arguments", "response"])?;
    let (arguments, response) = (arguments.map(Json::read), response.map(Json::read));
    Some(Call { name: name_in(object)?, arguments, response })
}

/// Finds the first complete name in text that was cut off.
fn name_in_cut(text: &str) -> Option<Cow<'_, str>> {
    let after = |key: &str| text.find(key).map(|at| (at, &text[at + key.len()..]));
    let found = [after("'name':"), after("\"name\":")].into_iter().flatten();
    let (_, rest) = found.min_by_key(|(at, _)| *at)?;
    let rest = rest.trim_ascii_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let mut is_escaped = false;
    let is_end = |c: char| {
        let is_end = c == quote && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
        is_end
    };
    let name = &rest[1..][..rest[1..].find(is_end)?];
    if !name.contains('\\') {
        return Some(Cow::Borrowed(name));
    }
    let json = json_of_literal(&rest[..name.len() + 2]).ok()?;
    text_of(&json).map(|name| Cow::Owned(name.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(message: &serde_json::Value, name: Option<&str>) {
        let message = message.to_string();
        assert_eq!(read_name(&message).as_deref(), name, "{message}");
        let call = read_call(&message);
        assert_eq!(call.as_ref().map(|call| &*call.name), name, "{message}");
    }

    #[test]
    fn names_are_found_in_every_form() {
        use serde_json::json;
        check(&json!({"name": "f", "arguments": {}}), Some("f"));
        check(&json!(r#" {"name": "f\u0041", "arguments": {}}"#), Some("fA"));
        check(&json!("{'name': \"it's\", 'arguments': {'name': 'x'}}"), Some("it's"));
        check(&json!("{'name': 'f', 'arguments': '{\\n  \"name\": \"x"), Some("f"));
        check(&json!("{\"name\": \"f\", \"response\": NaN}"), Some("f"));
        check(&json!("{\"arguments\": {}, \"name\":  \"f\\\"\", \"resp"), Some("f\""));
        check(&json!(r"{'name': 'it\'s', 'argu"), Some("it's"));
        check(&json!({"name": ""}), Some(""));
        for message in [
            json!({"name": 5}),
            json!({"arguments": {}}),
            json!("{\"name\": null}"),
            json!("{'name': 'cut in the na"),
            json!("not json, 'name': 'f'"),
            json!("[{\"name\": \"f\"}]"),
            json!("\"x\""),
            json!(""),
            json!(null),
            json!(5),
            json!([{"name": "f"}]),
        ] {
            check(&message, None);
        }
    }

    #[test]
    fn calls_are_read_whole_where_they_are_whole() {
        let call = |message: serde_json::Value| {
            read_call(&message.to_string()).expect("a call").into_owned()
        };
        let object =
            serde_json::json!({"name": "f", "arguments": "{\"a\": 1}", "response": {"b": [1]}});
        let text = "{'name': 'f', 'arguments': '{\"a\": 1}', 'response': {'b': [1]}}";
        assert_eq!(call(object.clone()), call(serde_json::json!(object.to_string())));
        assert_eq!(call(object.clone()), call(serde_json::json!(text)));
        let cut = call(serde_json::json!(&text[..30]));
        assert_eq!((cut.arguments, cut.response), (None, None));
        assert_eq!(call(object.clone()).to_json().get().parse().ok(), Some(object));
    }
}
