//! How the public proxy treated a reply: the error it reported, and the fields it kept.

use juror_json::python;
use serde_json::Value;

/// The error found in a reply of a real API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReplyError {
    /// The error to report; empty for none.
    pub error: &'static str,
    /// Whether the reply may be stored.
    pub may_keep: bool,
    /// Whether to try another key.
    pub try_other_key: bool,
}

/// The texts to look for, in order, and the error each stands for.
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

/// Classifies a reply, given as JSON, by its text as Python writes it.
pub fn name_error(response: &str) -> ReplyError {
    let text = python::str_of_json(response).unwrap_or_else(|_| response.to_owned());
    let sign = SIGNS.iter().find(|(sign, _)| text.contains(sign));
    sign.map_or(lost("Message error..."), |(_, error)| *error)
}

/// Removes the fields of a reply that its schema does not name. List elements that the schema does
/// not describe stay.
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
