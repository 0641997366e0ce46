//! A span, whatever format it came in.

use std::borrow::Cow;

use serde_json::Value;

use super::attributes::Attributes;

/// How Python begins a traceback.
const TRACEBACK: &str = "Traceback (most recent call last)";

/// A span with its attributes.
#[derive(Debug, Default)]
pub(crate) struct Span<'a> {
    pub(crate) trace: Cow<'a, str>,
    pub(crate) id: Cow<'a, str>,
    pub(crate) parent: Option<Cow<'a, str>>,
    pub(crate) name: Cow<'a, str>,
    /// The library that recorded it.
    pub(crate) scope: Cow<'a, str>,
    /// In nanoseconds since 1970; zero if unknown.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Whether it failed; `None` if its status is not set.
    pub(crate) is_error: Option<bool>,
    pub(crate) message: Option<String>,
    pub(crate) attributes: Attributes<'a>,
    pub(crate) events: Vec<Event<'a>>,
    /// Where it stands in the input.
    pub(crate) place: String,
}

/// Something that happened during a span, or a log record that belongs to one.
#[derive(Debug, Default)]
pub(crate) struct Event<'a> {
    pub(crate) name: Cow<'a, str>,
    pub(crate) attributes: Attributes<'a>,
    /// The body of a log record.
    pub(crate) body: Option<Value>,
}

impl Span<'_> {
    pub(crate) fn started(&self) -> Option<u64> {
        (self.start > 0).then_some(self.start)
    }

    pub(crate) fn ended(&self) -> Option<u64> {
        (self.end > 0).then_some(self.end)
    }

    /// Whether it failed, and why: what the status says, unless that is a traceback and the exception
    /// is recorded; else the exception, or the type of the error.
    pub(crate) fn failure(&self) -> Option<String> {
        let kind = self.attributes.words(&["error.type"]);
        let level = self.attributes.text("langfuse.observation.level");
        let is_error = self.is_error == Some(true)
            || kind.is_some()
            || level.is_some_and(|level| level == "ERROR")
            || self.attributes.text("tool.status").is_some_and(|status| status == "error")
            || self
                .attributes
                .text("rpc.response.status_code")
                .is_some_and(|code| code.starts_with('-'));
        if !is_error {
            return None;
        }
        let exception = self.exception();
        let told = self
            .message
            .clone()
            .or_else(|| self.attributes.text("langfuse.observation.status_message"));
        let told = told.filter(|message| !message.trim().is_empty());
        let message = match (told, exception) {
            (Some(told), Some(exception)) if told.contains(TRACEBACK) => Some(exception),
            (Some(told), _) => Some(told),
            (None, exception) => exception,
        };
        let code = || self.attributes.text("rpc.response.status_code");
        Some(message.or(kind).or_else(code).unwrap_or_default())
    }

    fn exception(&self) -> Option<String> {
        let of = |event: &Event<'_>| event.attributes.text("exception.message");
        self.events.iter().filter(|event| event.name == "exception").find_map(of)
    }
}
