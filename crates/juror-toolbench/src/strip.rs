//! What the public proxy made of a reply: the error it names, and the fields it keeps.

use juror_json::python;
use serde_json::Value;

/// What a reply of a real API is taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyError {
    /// The error it is reported as; empty for none.
    pub error: &'static str,
    /// Whether the reply may be kept.
    pub may_keep: bool,
    /// Whether another key is to be tried.
    pub try_other_key: bool,
}

/// Pieces of text, in the order they are looked for, and what a reply with one is taken for.
const SIGNS: [(&str, ReplyError); 12] = [
    (
        "Your Client (working) ---> Gateway (working) ---> API (not working)",
        lost("API not working error..."),
    ),
    ("Unauthorized", UNAUTHORIZED),
    ("unauthorized", UNAUTHORIZED),
    ("You are not subscribed to this API.", refused("Unsubscribed error...")),
    ("Too many requests", refused("Too many requests error...")),
    ("You have exceeded", refused("Rate limit error...")),
    ("you are being rate limited", refused("Rate limit error...")),
    (
        "Access restricted. Check credits balance or enter the correct API key.",
        refused("Rate limit error..."),
    ),
    ("Oops, an error in the gateway has occurred.", refused("Gateway error...")),
    ("Blocked User. Please contact your API provider.", refused("Blocked error...")),
    ("error", lost("Message error...")),
    ("", ReplyError { error: "", may_keep: true, try_other_key: false }),
];

const UNAUTHORIZED: ReplyError =
    ReplyError { error: "Unauthorized error...", may_keep: true, try_other_key: false };

const fn lost(error: &'static str) -> ReplyError {
    ReplyError { error, may_keep: false, try_other_key: false }
}

const fn refused(error: &'static str) -> ReplyError {
    ReplyError { error, may_keep: false, try_other_key: true }
}

/// What a reply, given as JSON, is taken for. Its text is searched as Python writes it.
pub fn name_error(response: &str) -> ReplyError {
    let text = python::str_of_json(response).unwrap_or_else(|_| response.to_owned());
    let sign = SIGNS.iter().find(|(sign, _)| text.contains(sign));
    sign.map_or(lost("Message error..."), |(_, error)| *error)
}

/// Leaves in a reply the fields that its schema names. Where the schema says nothing about a
/// list's elements, they stay.
pub fn shorten(response: &mut Value, schema: &Value) {
    match (response, schema) {
        (Value::Object(fields), Value::Object(schema)) => {
            fields.retain(|name, _| schema.contains_key(name));
            for (name, value) in fields {
                shorten(value, &schema[name.as_str()]);
            }
        }
        (Value::Array(items), Value::Array(schema)) => {
            if let Some(schema) = schema.first() {
                for item in items {
                    shorten(item, schema);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_first_sign_names_the_error() {
        assert_eq!(name_error("\"fine\"").error, "");
        assert_eq!(name_error(r#"[1, "Unauthorized"]"#), UNAUTHORIZED);
        assert_eq!(name_error(r#"{"a": "error"}"#).error, "Message error...");
        let exceeded = name_error("\"You have exceeded your error quota\"");
        assert_eq!((exceeded.error, exceeded.try_other_key), ("Rate limit error...", true));
    }

    #[test]
    fn fields_outside_the_schema_go() {
        let check = |mut reply: Value, schema: Value, kept: Value| {
            shorten(&mut reply, &schema);
            assert_eq!(reply, kept);
        };
        check(
            json!({"a": {"x": 1, "y": 2}, "b": 3}),
            json!({"a": {"x": "int"}}),
            json!({"a": {"x": 1}}),
        );
        check(
            json!({"l": [{"x": 1, "y": 2}]}),
            json!({"l": [{"x": "int"}]}),
            json!({"l": [{"x": 1}]}),
        );
        check(json!({"l": [{"x": 1}]}), json!({"l": []}), json!({"l": [{"x": 1}]}));
    }
}
