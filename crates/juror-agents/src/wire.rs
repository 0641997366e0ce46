//! What is said to agents outside the process, and what they say: JSON objects, one a line.

use std::collections::HashMap;

use juror_toolbench::answer::{Details, read_called_apis};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::headers::Bearer;
use super::mend::mend;

/// The version of all of this.
pub const PROTOCOL: u32 = 1;

/// What an agent is told.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Tell<'t> {
    /// Once, when it starts.
    Setup {
        /// The version of this protocol.
        protocol: u32,
        /// Where all APIs are listed; `/search` behind it searches them.
        tools_url: &'t str,
        /// How many there are.
        tool_count: usize,
        /// What to send along, where the server of tools asks for a token.
        #[serde(skip_serializing_if = "Option::is_none")]
        headers: Option<Bearer<'t>>,
    },
    /// For each query.
    Answer {
        /// The query's id.
        query_id: &'t str,
        /// What is asked.
        query: &'t str,
        /// Where tools are to be called, so that calls are counted for this query.
        virtual_url: &'t str,
        /// The functions the agent may use; none when the whole pool is open.
        tools: Option<&'t RawValue>,
        /// What to send along with calls, where the server of tools asks for a token.
        #[serde(skip_serializing_if = "Option::is_none")]
        headers: Option<Bearer<'t>>,
    },
}

/// A line that an agent says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// It can be asked, and may say what it is called.
    Ready(Option<String>),
    /// An answer, to the query of this id if it names one. One that does not say what it is names
    /// its query: a log may have an `answer`, too.
    Answer {
        /// The query.
        query_id: Option<String>,
    },
    /// It was meant to be said to Juror, and cannot be read.
    Broken,
    /// It is not of the protocol: a log, most likely.
    Other,
}

/// What tells lines apart.
#[derive(Default, Deserialize)]
struct Head {
    #[serde(default, rename = "type")]
    kind: Option<Value>,
    #[serde(default)]
    name: Option<Value>,
    #[serde(default)]
    query_id: Option<Value>,
    #[serde(default)]
    final_answer: Option<IgnoredAny>,
    #[serde(default)]
    answer: Option<Box<RawValue>>,
    #[serde(default)]
    answer_details: Option<IgnoredAny>,
    #[serde(default)]
    called_apis: Option<IgnoredAny>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

impl Line {
    /// What a line is.
    pub(super) fn of(line: &str) -> Line {
        let Ok(head) = serde_json::from_str::<Head>(&mend(line)) else {
            let words = ["\"type\"", "\"final_answer\""];
            let is_meant = line.starts_with('{') && words.iter().any(|word| line.contains(word));
            return if is_meant { Line::Broken } else { Line::Other };
        };
        let query_id = head.id().map(|id| id.as_text());
        match head.kind.as_ref().map(Value::as_str) {
            Some(Some("ready")) => {
                let name = head.name.as_ref().and_then(Value::as_str).map(str::trim);
                Line::Ready(name.filter(|name| !name.is_empty()).map(str::to_owned))
            }
            Some(Some("answered")) => Line::Answer { query_id },
            None if query_id.is_some() && head.is_answer() => Line::Answer { query_id },
            _ => Line::Other,
        }
    }
}

impl Head {
    /// The query that it is said to be about, here or under `answer`.
    fn id(&self) -> Option<Id> {
        let own = self.query_id.as_ref().and_then(Id::of);
        own.or_else(|| serde_json::from_str::<Head>(self.answer.as_ref()?.get()).ok()?.id())
    }

    /// Whether it has what makes an answer.
    fn is_answer(&self) -> bool {
        let Head { final_answer, answer, answer_details, called_apis, error, .. } = self;
        let told = [final_answer, answer_details, called_apis, error];
        answer.is_some() || told.into_iter().any(Option::is_some)
    }
}

/// An answer of an agent outside the process. No part of it that cannot be read costs the others.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Parts")]
pub struct Answered {
    /// The query's id.
    pub query_id: Option<Id>,
    /// The answer. One that is no text is taken as its JSON.
    pub final_answer: Option<String>,
    /// What it did, in the form of answer files.
    pub answer_details: Option<Details>,
    /// Which APIs it says it called: tool and API, or a name alone, after an empty text.
    pub called_apis: Option<Vec<(String, String)>>,
    /// Tokens of its models.
    pub tokens: Option<u64>,
    /// What they cost in US dollars.
    pub usd: Option<f64>,
    /// What went wrong.
    pub error: Option<String>,
    /// How long it took, where that is known better than by who waits for it.
    pub seconds: Option<f64>,
}

/// An answer as it was said: whole, or with parts of it under `answer`.
#[derive(Default, Deserialize)]
struct Parts {
    #[serde(default)]
    query_id: Option<Value>,
    #[serde(default)]
    final_answer: Option<Box<RawValue>>,
    #[serde(default)]
    answer: Option<Box<RawValue>>,
    #[serde(default)]
    answer_details: Option<Box<RawValue>>,
    #[serde(default)]
    called_apis: Option<Box<RawValue>>,
    #[serde(default)]
    tokens: Option<Value>,
    #[serde(default)]
    usd: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
}

impl From<Parts> for Answered {
    fn from(parts: Parts) -> Answered {
        let parts = parts.merged();
        Answered {
            query_id: parts.query_id.as_ref().and_then(Id::of),
            final_answer: parts.final_answer.map(|answer| text_or_json(&answer)),
            answer_details: parts.answer_details.map(Details::read),
            called_apis: parts.called_apis.map(|list| read_called_apis(list.get())),
            tokens: parts.tokens.as_ref().and_then(whole),
            usd: parts.usd.as_ref().and_then(number),
            error: parts.error.as_ref().and_then(error_text),
            seconds: None,
        }
    }
}

impl Parts {
    /// All parts side by side. What stands under `answer` counts before what stands beside it; an
    /// object without any part is the answer itself, like anything else there.
    fn merged(mut self) -> Parts {
        let Some(answer) = self.answer.take() else { return self };
        let inner = Some(answer.get()).filter(|text| names_part(text));
        let Some(inner) = inner.and_then(|text| serde_json::from_str::<Parts>(text).ok()) else {
            let final_answer = self.final_answer.or(Some(answer));
            return Parts { final_answer, ..self };
        };
        Parts {
            query_id: self.query_id.or(inner.query_id),
            final_answer: inner.final_answer.or(self.final_answer),
            answer: None,
            answer_details: inner.answer_details.or(self.answer_details),
            called_apis: inner.called_apis.or(self.called_apis),
            tokens: inner.tokens.or(self.tokens),
            usd: inner.usd.or(self.usd),
            error: inner.error.or(self.error),
        }
    }
}

/// Whether a text is an object with a part of an answer, be it `null`.
fn names_part(text: &str) -> bool {
    let parts = ["final_answer", "answer_details", "called_apis", "tokens", "usd", "error"];
    let fields = serde_json::from_str::<HashMap<String, &RawValue>>(text);
    fields.is_ok_and(|fields| parts.iter().any(|part| fields.contains_key(*part)))
}

fn text_or_json(json: &RawValue) -> String {
    match serde_json::from_str(json.get()) {
        Ok(Value::String(text)) => text,
        Ok(other) => other.to_string(),
        Err(_) => json.get().to_owned(),
    }
}

fn whole(value: &Value) -> Option<u64> {
    number(value).and_then(|number| format!("{number:.0}").parse().ok())
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().filter(|number| number.is_finite() && *number >= 0.0)
}

/// An error in words: a text, the message of an object, or its JSON. Some write what says that
/// there was none.
fn error_text(error: &Value) -> Option<String> {
    match error {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Object(fields) => {
            let message = fields.get("message").and_then(Value::as_str);
            Some(message.map_or_else(|| error.to_string(), str::to_owned))
        }
        other => Some(other.to_string()),
    }
}

/// An id, which is a text or a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Id {
    /// A text.
    Text(String),
    /// A whole number.
    Number(i64),
}

impl Id {
    fn of(value: &Value) -> Option<Id> {
        match value {
            Value::String(text) => Some(Id::Text(text.clone())),
            value => value.as_i64().map(Id::Number),
        }
    }

    /// The id as text.
    pub fn as_text(&self) -> String {
        match self {
            Id::Text(text) => text.clone(),
            Id::Number(number) => number.to_string(),
        }
    }
}

/// Whether an object is an answer, though it does not say so.
fn says_something(answered: &Answered) -> bool {
    let Answered { final_answer, answer_details, called_apis, error, .. } = answered;
    final_answer.is_some() || answer_details.is_some() || called_apis.is_some() || error.is_some()
}

impl Answered {
    /// Reads an answer, as agents in many languages write JSON.
    pub fn read(text: &str) -> serde_json::Result<Answered> {
        serde_json::from_str(&mend(text))
    }
}

/// Reads an answer to a query, from a line or from the body of a reply.
pub fn read_answered(text: &str, query_id: &str) -> Result<Answered, String> {
    let shown = || text.chars().take(120).collect::<String>();
    let else_than = |why: String| {
        Err(format!("the agent said something else than an answer{why}: `{}`", shown()))
    };
    let answered = match Answered::read(text) {
        Err(error) => return else_than(format!(": {error}")),
        Ok(answered) => match Line::of(text) {
            Line::Answer { .. } => answered,
            // Over HTTP the kind and the query are plain, and may be left out.
            Line::Other if says_something(&answered) && !has_kind(text) => answered,
            _ => return else_than(String::new()),
        },
    };
    match answered.query_id.as_ref().map(Id::as_text) {
        Some(id) if id != query_id => {
            Err(format!("the agent answered query `{id}`, but was asked `{query_id}`"))
        }
        _ => Ok(answered),
    }
}

/// Whether an object says what it is.
fn has_kind(text: &str) -> bool {
    serde_json::from_str(&mend(text)).is_ok_and(|head: Head| head.kind.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_models::Secret;

    #[test]
    fn answers_are_read_and_checked() {
        let read = |text: &str| read_answered(text, "588");
        let answer = r#"{"type": "answered", "query_id": 588, "final_answer": "a", "called_apis": [["T", "A"]]}"#;
        let answered = read(answer).expect("an answer");
        assert_eq!(answered.final_answer.as_deref(), Some("a"));
        assert_eq!(answered.called_apis, Some(vec![("T".to_owned(), "A".to_owned())]));
        assert!(read(r#"{"final_answer": "a"}"#).is_ok());
        assert!(read(r#"{"type": "answered", "error": "no model"}"#).is_ok());
        let details = read(r#"{"type": "answered", "answer_details": [{"role": "tool"}]}"#);
        assert!(details.expect("an answer").answer_details.is_some());
        let odd = r#"{"final_answer": {"a": 1}, "tokens": 12.0, "usd": "much"}"#;
        let odd = read(odd).expect("an answer");
        assert_eq!((odd.final_answer.as_deref(), odd.tokens), (Some(r#"{"a":1}"#), Some(12)));
        assert_eq!(odd.usd, None);
        let check = |text: &str, answer: &str| {
            let answered = read(text).unwrap_or_else(|why| panic!("{text}: {why}"));
            assert_eq!(answered.final_answer.as_deref(), Some(answer), "{text}");
            answered
        };
        let nested = check(
            r#"{"answer": {"final_answer": "a", "answer_details": []}, "called_apis": [["T", "A"]]}"#,
            "a",
        );
        assert!(nested.answer_details.is_some() && nested.called_apis.is_some());
        check(r#"{"type": "answered", "answer": "a"}"#, "a");
        check(r#"{"answer": {"city": "Oslo"}}"#, r#"{"city":"Oslo"}"#);
        let whole = check(
            r#"{"answer": {"final_answer": "a", "tokens": 5, "usd": 0.5, "query_id": 588}}"#,
            "a",
        );
        assert_eq!((whole.tokens, whole.usd), (Some(5), Some(0.5)));
        for failed in [
            r#"{"answer": {"final_answer": null, "error": "boom"}}"#,
            r#"{"answer": {"error": "boom"}, "error": null}"#,
        ] {
            let answered = read(failed).expect("an answer");
            assert_eq!((answered.final_answer, answered.error), (None, Some("boom".into())));
        }
        check(r#"{"final_answer": "a \ud83d"}"#, "a \u{fffd}");
        check(r#"{"final_answer": "a", "usd": NaN, "answer_details": [NaN]}"#, "a");
        let failed = check(r#"{"final_answer": "a", "error": {"message": "no model"}}"#, "a");
        assert_eq!(failed.error.as_deref(), Some("no model"));
        assert_eq!(check(r#"{"final_answer": "a", "error": ""}"#, "a").error, None);
        let called = check(
            r#"{"final_answer": "a", "called_apis": [{"tool": "T", "api": "A"}, "a_for_t", 5,
                {"tool_name": "T", "api_name": "B"}, ["T", "C"], {"name": "b_for_t"}]}"#,
            "a",
        );
        let pair = |(tool, api): &(String, String)| format!("{tool}/{api}");
        let called: Vec<String> = called.called_apis.iter().flatten().map(pair).collect();
        assert_eq!(called, ["T/A", "/a_for_t", "T/B", "T/C", "/b_for_t"]);
        for wrong in [
            "",
            "{",
            "[]",
            "{}",
            r#"{"type": "ready"}"#,
            r#"{"type": "progress", "final_answer": "a"}"#,
            r#"{"tokens": 5}"#,
            r#"{"type": "answered", "query_id": "1", "final_answer": "a"}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn lines_of_the_protocol_are_told_from_logs() {
        let answer = |query_id: Option<&str>| Line::Answer { query_id: query_id.map(Into::into) };
        let ready = |name: Option<&str>| Line::Ready(name.map(Into::into));
        for (line, wanted) in [
            (r#"{"type": "ready"}"#, ready(None)),
            (r#"{"type": "ready", "name": " my agent "}"#, ready(Some("my agent"))),
            (r#"{"type": "ready", "name": 5}"#, ready(None)),
            (r#"{"type": "answered", "query_id": 5}"#, answer(Some("5"))),
            (r#"{"type": "answered", "final_answer": "x"}"#, answer(None)),
            (r#"{"type": "answered", "answer": {"final_answer": "x"}}"#, answer(None)),
            (r#"{"query_id": "5", "answer": {"final_answer": "x"}}"#, answer(Some("5"))),
            (r#"{"answer": {"final_answer": "x", "query_id": 5}}"#, answer(Some("5"))),
            (r#"{"query_id": "5", "error": "x"}"#, answer(Some("5"))),
            (r#"{"final_answer": "x"}"#, Line::Other),
            (r#"{"level": "info", "msg": "draft", "answer": "x"}"#, Line::Other),
            (r#"{"level": "error", "error": "x"}"#, Line::Other),
            (r#"{"type": "progress", "query_id": "5"}"#, Line::Other),
            ("Loading the model ...", Line::Other),
            ("{'a': 1}", Line::Other),
            ("[1, 2]", Line::Other),
            (r#"{"type": "answ"#, Line::Broken),
        ] {
            assert_eq!(Line::of(line), wanted, "{line}");
        }
    }

    #[test]
    fn the_protocol_is_as_published() {
        let json = |tell: Tell<'_>| serde_json::to_string(&tell).expect("JSON");
        let token = Secret::new("t");
        let setup = |headers| {
            let tools_url = "http://x/tools";
            json(Tell::Setup { protocol: PROTOCOL, tools_url, tool_count: 7, headers })
        };
        assert_eq!(
            setup(None),
            r#"{"type":"setup","protocol":1,"tools_url":"http://x/tools","tool_count":7}"#
        );
        let headers = r#""headers":{"Authorization":"Bearer t"}}"#;
        assert!(setup(Some(Bearer(&token))).ends_with(headers));
        let answer = |headers| {
            let (query_id, query, virtual_url) = ("588", "q", "u");
            json(Tell::Answer { query_id, query, virtual_url, tools: None, headers })
        };
        assert_eq!(
            answer(None),
            r#"{"type":"answer","query_id":"588","query":"q","virtual_url":"u","tools":null}"#
        );
        assert!(answer(Some(Bearer(&token))).ends_with(headers));
    }
}
