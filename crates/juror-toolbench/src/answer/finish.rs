//! How an agent ended: the arguments it gave to `Finish`.

use std::borrow::Cow;
use std::fmt::Write;

use juror_json::cursor::fields_of;

use super::json::text_of;

/// The `return_type` of giving up.
const GIVE_UP: &str = "give_up_and_restart";

/// How an agent ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish<'a> {
    /// The agent gave an answer.
    Answered(Cow<'a, str>),
    /// The agent said that it gave up.
    GaveUp,
}

/// Reads a final answer: the arguments of `Finish`, whole or broken, or plain text.
///
/// Arguments say themselves whether the agent gave up. In text that does not look like arguments,
/// the word for giving up decides.
pub fn read_finish(text: &str) -> Finish<'_> {
    let arguments = read_arguments(text);
    match arguments.return_type.as_deref() {
        Some(GIVE_UP) => Finish::GaveUp,
        None if text.contains(GIVE_UP) => Finish::GaveUp,
        _ => Finish::Answered(arguments.final_answer.unwrap_or(Cow::Borrowed(text))),
    }
}

#[derive(Default)]
struct Arguments<'a> {
    return_type: Option<Cow<'a, str>>,
    final_answer: Option<Cow<'a, str>>,
}

fn read_arguments(text: &str) -> Arguments<'_> {
    if !text.trim_ascii_start().starts_with('{') {
        return Arguments::default();
    }
    match fields_of(text, ["return_type", "final_answer"]) {
        Some([return_type, final_answer]) => Arguments {
            return_type: return_type.and_then(text_of),
            final_answer: final_answer.and_then(text_of),
        },
        None => read_loose(text),
    }
}

/// Reads arguments with raw line breaks inside their strings, or broken arguments, where everything
/// after its key is the answer.
fn read_loose(text: &str) -> Arguments<'_> {
    let escaped = escape_controls(text);
    let own = |json: Option<&str>| json.and_then(text_of).map(|text| Cow::Owned(text.into_owned()));
    if let Some([return_type, final_answer]) = fields_of(&escaped, ["return_type", "final_answer"])
    {
        return Arguments { return_type: own(return_type), final_answer: own(final_answer) };
    }
    let after = |key: &str| text.split_once(key).map(|(_, rest)| rest);
    let return_type = after("\"return_type\": \"").map(|rest| rest.split('"').next().unwrap_or(""));
    let final_answer = after("\"final_answer\": \"");
    Arguments {
        return_type: return_type.map(Cow::Borrowed),
        final_answer: final_answer.map(Cow::Borrowed),
    }
}

/// Escapes control characters inside quotes.
fn escape_controls(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len() + 16);
    let (mut is_inside, mut is_escaped) = (false, false);
    for c in text.chars() {
        if is_inside && c < ' ' {
            // Writing to a string cannot fail.
            let _ = write!(escaped, "\\u{:04x}", u32::from(c));
        } else {
            escaped.push(c);
        }
        is_inside ^= c == '"' && !is_escaped;
        is_escaped = c == '\\' && !is_escaped;
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_read() {
        let check = |text: &str, answer: Option<&str>| {
            let wanted = answer.map_or(Finish::GaveUp, |answer| Finish::Answered(answer.into()));
            assert_eq!(read_finish(text), wanted, "{text}");
        };
        check("Rome", Some("Rome"));
        check("", Some(""));
        check(r#"{"return_type": "give_answer", "final_answer": "Rome"}"#, Some("Rome"));
        check("{\"return_type\": \"give_answer\", \"final_answer\": \"a\nb\"}", Some("a\nb"));
        check(r#"{"return_type": "give_up_and_restart"}"#, None);
        check("{\n\"return_type\": \"give_up_and_restart\", \"reason\": \"a\nb\"}", None);
        check("I give_up_and_restart now", None);
        check("GIVE_UP_AND_RESTART", Some("GIVE_UP_AND_RESTART"));
        let said = "do not give_up_and_restart";
        check(&format!(r#"{{"return_type":"give_answer","final_answer":"{said}"}}"#), Some(said));
        check(&format!(r#"{{"return_type": "give_answer", "final_answer": "{said}"#), Some(said));
        check(r#"{"return_type": "give_up_and_restart", "final_ans"#, None);
        check(r#"{"final_answer": "Rome"}"#, Some("Rome"));
        check(r#"{"final_answer": "give_up_and_restart"}"#, None);
        check(r#"{"answer": 5}"#, Some(r#"{"answer": 5}"#));
    }
}
