//! What an agent is told after a call.

use juror_json::python;
use serde::{Serialize, Serializer};

/// What a model is told, and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// What is told.
    pub text: String,
    /// What it means.
    pub code: Code,
}

/// What came of a call, by the numbers that answer files have for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum Code {
    /// The model gave no reply.
    ModelFailed = -1,
    /// The tool answered.
    Done = 0,
    /// There is no function of that name.
    InventedName = 1,
    /// The call to end the try was wrong.
    BadFinish = 2,
    /// The final answer was given.
    Answered = 3,
    /// The try was given up.
    GaveUp = 4,
    /// The tool took too long.
    TimedOut = 5,
    /// The API does not work.
    NotWorking = 6,
    /// The key is not let in.
    Unauthorized = 7,
    /// The key has no subscription.
    Unsubscribed = 8,
    /// Too many requests for a key.
    TooManyRequests = 9,
    /// Too many requests in a minute.
    RateLimited = 10,
    /// The provider sends a message in place of a reply.
    ProviderMessage = 11,
    /// What came is no reply.
    BadReply = 12,
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i8(*self as i8)
    }
}

/// What came back from a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolReply {
    /// A body, with the HTTP status it came with.
    Answered {
        /// 200 for a reply.
        status: u16,
        /// The body.
        body: String,
    },
    /// Nothing came in time.
    TimedOut,
    /// The tool could not be asked, and why.
    Failed(String),
}

impl ToolReply {
    /// A reply that came without HTTP.
    pub fn of(body: String) -> ToolReply {
        ToolReply::Answered { status: 200, body }
    }

    /// What it means.
    pub fn code(&self) -> Code {
        Observation::of_reply(self).code
    }
}

impl Observation {
    /// An error, in the form of a tool's reply.
    pub(super) fn error(error: &str, code: Code) -> Observation {
        let text = format!("{{\"error\": {}, \"response\": \"\"}}", python::dumps_text(error));
        Observation { text, code }
    }

    /// What a reply says. One that is no object with an `error` is none.
    pub(super) fn of_reply(reply: &ToolReply) -> Observation {
        let bad = |error: &str| Observation::error(error, Code::BadReply);
        match reply {
            ToolReply::TimedOut => Observation::error("Timeout error...", Code::TimedOut),
            ToolReply::Failed(why) => bad(&format!("request failed: {why}")),
            ToolReply::Answered { status: 200, body } => {
                read(body).unwrap_or_else(|| bad("request invalid, data error"))
            }
            ToolReply::Answered { status, .. } => {
                bad(&format!("request invalid, data error. status_code={status}"))
            }
        }
    }

    /// Shortened to a number of characters, and three points where something is left out.
    pub(super) fn cut(mut self, longest: usize) -> Observation {
        if let Some((end, _)) = self.text.char_indices().nth(longest) {
            self.text.truncate(end);
            self.text.push_str("...");
        }
        self
    }
}

fn read(body: &str) -> Option<Observation> {
    let text = python::dumps_of_json(body).ok()?;
    let code = code_of(python::lenient_fields(body).ok()??.get("error")?);
    Some(Observation { text, code })
}

/// The failures that the public servers have a text for.
fn code_of(error: &str) -> Code {
    match error {
        "\"API not working error...\"" => Code::NotWorking,
        "\"Unauthorized error...\"" => Code::Unauthorized,
        "\"Unsubscribed error...\"" => Code::Unsubscribed,
        "\"Too many requests error...\"" => Code::TooManyRequests,
        "\"Rate limit per minute error...\"" => Code::RateLimited,
        "\"Message error...\"" => Code::ProviderMessage,
        _ => Code::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_body(status: u16, body: &str) -> Observation {
        Observation::of_reply(&ToolReply::Answered { status, body: body.to_owned() })
    }

    #[test]
    fn replies_are_told_as_python_writes_them() {
        let check = |body: &str, text: &str, code: Code| {
            assert_eq!(of_body(200, body), Observation { text: text.to_owned(), code }, "{body}");
        };
        check(
            r#"{"error":"","response":"é"}"#,
            r#"{"error": "", "response": "\u00e9"}"#,
            Code::Done,
        );
        check(r#"{"error":null,"x":1.50}"#, r#"{"error": null, "x": 1.5}"#, Code::Done);
        let limited = r#"{"error": "Rate limit per minute error...", "response": ""}"#;
        check(limited, limited, Code::RateLimited);
        let bad = r#"{"error": "request invalid, data error", "response": ""}"#;
        for body in ["", "not JSON", "[]", "5", "\"error\"", "{}", r#"{"response": "x"}"#] {
            check(body, bad, Code::BadReply);
        }
    }

    #[test]
    fn failures_are_told_too() {
        let unserved = of_body(503, "{\"error\": \"\"}");
        assert_eq!(
            unserved.text,
            r#"{"error": "request invalid, data error. status_code=503", "response": ""}"#
        );
        assert_eq!(Observation::of_reply(&ToolReply::TimedOut).code, Code::TimedOut);
        let failed = Observation::of_reply(&ToolReply::Failed("no \"route\"".into()));
        assert_eq!(failed.text, r#"{"error": "request failed: no \"route\"", "response": ""}"#);
    }

    #[test]
    fn only_what_is_too_long_is_cut() {
        let cut = |text: &str, longest| {
            let observation = Observation { text: text.into(), code: Code::Done };
            observation.cut(longest).text
        };
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöü!", 3), "äöü...");
        assert_eq!(cut("", 0), "");
        assert_eq!(cut("a", 0), "...");
    }
}
