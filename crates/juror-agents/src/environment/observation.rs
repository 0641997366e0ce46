//! What an agent is told after a call.

use juror_json::python;
use serde::{Serialize, Serializer};

/// The text that a model is shown, and what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observation {
    /// The text.
    pub text: String,
    /// What it means.
    pub code: Code,
}

/// The result of a call, by its number in answer files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum Code {
    /// The model did not reply.
    ModelFailed = -1,
    /// The tool answered.
    Done = 0,
    /// There is no function of that name.
    InventedName = 1,
    /// The call to `Finish` was wrong.
    BadFinish = 2,
    /// The final answer was given.
    Answered = 3,
    /// The agent gave up the try.
    GaveUp = 4,
    /// The tool took too long.
    TimedOut = 5,
    /// The API does not work.
    NotWorking = 6,
    /// The key was rejected.
    Unauthorized = 7,
    /// The key has no subscription.
    Unsubscribed = 8,
    /// The key was used for too many requests.
    TooManyRequests = 9,
    /// Too many requests in a minute.
    RateLimited = 10,
    /// The provider sent a message instead of a reply.
    ProviderMessage = 11,
    /// What came back is not a reply.
    BadReply = 12,
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i8(*self as i8)
    }
}

/// A tool's reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolReply {
    /// A body and its HTTP status.
    Answered {
        /// 200 for a proper reply.
        status: u16,
        /// The body.
        body: String,
    },
    /// Nothing came in time.
    TimedOut,
    /// The tool could not be asked; says why.
    Failed(String),
}

impl ToolReply {
    /// Wraps a reply that came without HTTP.
    pub fn of(body: String) -> ToolReply {
        ToolReply::Answered { status: 200, body }
    }

    /// Returns what the reply means.
    pub fn code(&self) -> Code {
        Observation::of_reply(self).code
    }
}

impl Observation {
    /// Makes an error in the form of a tool's reply.
    pub(super) fn error(error: &str, code: Code) -> Observation {
        let text = format!("{{\"error\": {}, \"response\": \"\"}}", python::dumps_text(error));
        Observation { text, code }
    }

    /// Reads a reply. A body that is not an object with an `error` is not a reply.
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

    /// Cuts the text to `longest` characters, followed by three dots.
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

/// Recognizes the failures that the public servers have a text for.
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
