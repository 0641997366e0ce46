//! The protocol with external agents: JSON objects, one per line.

use std::collections::HashMap;

use juror_toolbench::answer::{Details, read_called_apis};
use juror_traces::{Rules, openai};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::headers::Bearer;
use super::mend::mend;

/// The version of the protocol.
pub const PROTOCOL: u32 = 1;

/// A message to an agent.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Tell<'t> {
    /// Sent once, at the start.
    Setup {
        /// The version of this protocol.
        protocol: u32,
        /// Where all APIs are listed; append `/search` to search them.
        tools_url: &'t str,
        /// The number of APIs.
        tool_count: usize,
        /// What to send along if the tool server requires a token.
        #[serde(skip_serializing_if = "Option::is_none")]
        headers: Option<Bearer<'t>>,
    },
    /// Sent for each query.
    Answer {
        /// The query id.
        query_id: &'t str,
        /// The query.
        query: &'t str,
        /// Which of several attempts at the query this is, counting from 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        trial: Option<usize>,
        /// Where to call tools, so that calls count for this query.
        virtual_url: &'t str,
        /// The functions the agent may use; `None` if the whole pool is open.
        tools: Option<&'t RawValue>,
        /// What to send along with calls if the tool server requires a token.
        #[serde(skip_serializing_if = "Option::is_none")]
        headers: Option<Bearer<'t>>,
    },
}

/// A line from an agent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// The agent is ready, and may give its name.
    Ready(Option<String>),
    /// An answer, to the query of this id if it names one. A line without a type counts as an
    /// answer only if it names its query, since a log may have an `answer` too.
    Answer {
        /// The query id.
        query_id: Option<String>,
    },
    /// The agent cannot answer anything, for a reason that lies in it.
    Unable {
        /// Why.
        why: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// Meant for Juror, but unreadable.
    Broken,
    /// Not part of the protocol: most likely a log.
    Other,
}

/// The fields that distinguish lines.
#[derive(Default, Deserialize)]
struct Head {
    #[serde(default, rename = "type")]
    kind: Option<Value>,
    #[serde(default)]
    name: Option<Value>,
    #[serde(default)]
    query_id: Option<Value>,
    #[serde(default)]
    question_id: Option<Value>,
    #[serde(default)]
    final_answer: Option<IgnoredAny>,
    #[serde(default)]
    actual_answer: Option<IgnoredAny>,
    #[serde(default)]
    answer: Option<Box<RawValue>>,
    #[serde(default)]
    answer_details: Option<IgnoredAny>,
    #[serde(default)]
    called_apis: Option<IgnoredAny>,
    #[serde(default)]
    steps: Option<IgnoredAny>,
    #[serde(default)]
    actual_steps: Option<IgnoredAny>,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default)]
    hint: Option<Value>,
}

impl Line {
    /// Classifies a line.
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
            Some(Some("error")) if query_id.is_none() => {
                match head.error.as_ref().and_then(error_text) {
                    Some(why) => {
                        let hint = head.hint.as_ref().and_then(Value::as_str).map(str::to_owned);
                        Line::Unable { why, hint }
                    }
                    None => Line::Other,
                }
            }
            None if query_id.is_some() && head.is_answer() => Line::Answer { query_id },
            _ => Line::Other,
        }
    }
}

impl Head {
    /// Returns the id of the query it names, here or under `answer`.
    fn id(&self) -> Option<Id> {
        let own = self.query_id.as_ref().or(self.question_id.as_ref()).and_then(Id::of);
        own.or_else(|| serde_json::from_str::<Head>(self.answer.as_ref()?.get()).ok()?.id())
    }

    /// Returns whether it has any part of an answer.
    fn is_answer(&self) -> bool {
        let Head { final_answer, actual_answer, answer, answer_details, .. } = self;
        let Head { called_apis, steps, actual_steps, error, .. } = self;
        let done = [answer_details, called_apis, steps, actual_steps];
        let mut told = [final_answer, actual_answer].into_iter().chain(done);
        answer.is_some() || error.is_some() || told.any(Option::is_some)
    }
}

/// An answer of an external agent. A part that cannot be read does not affect the others.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(from = "Parts")]
pub struct Answered {
    /// The query id.
    pub query_id: Option<Id>,
    /// The final answer; JSON if it is not a string.
    pub final_answer: Option<String>,
    /// What the agent did, in the form of answer files.
    pub answer_details: Option<Details>,
    /// The APIs it claims to have called: tool and API, or a name alone after an empty string.
    pub called_apis: Option<Vec<(String, String)>>,
    /// The steps it took, as responses have them: a JSON list.
    pub steps: Option<Box<RawValue>>,
    /// Tokens its models used.
    pub tokens: Option<u64>,
    /// Tokens its models read.
    pub input_tokens: Option<u64>,
    /// Tokens its models wrote.
    pub output_tokens: Option<u64>,
    /// Their cost in US dollars.
    pub usd: Option<f64>,
    /// What went wrong.
    pub error: Option<String>,
    /// What is to be known about the answer, such as parts of it that could not be kept.
    pub remarks: Vec<String>,
    /// How long it took by its own clock.
    pub elapsed_sec: Option<f64>,
    /// How long it took, if known more precisely than by waiting for it.
    pub seconds: Option<f64>,
}

/// An answer as received: flat, or with parts of it under `answer`.
#[derive(Default, Deserialize)]
struct Parts {
    #[serde(default)]
    query_id: Option<Value>,
    #[serde(default)]
    question_id: Option<Value>,
    #[serde(default)]
    final_answer: Option<Box<RawValue>>,
    #[serde(default)]
    actual_answer: Option<Box<RawValue>>,
    #[serde(default)]
    answer: Option<Box<RawValue>>,
    #[serde(default)]
    answer_details: Option<Box<RawValue>>,
    #[serde(default)]
    called_apis: Option<Box<RawValue>>,
    #[serde(default)]
    steps: Option<Box<RawValue>>,
    #[serde(default)]
    actual_steps: Option<Box<RawValue>>,
    #[serde(default)]
    messages: Option<Box<RawValue>>,
    #[serde(default)]
    tokens: Option<Value>,
    #[serde(default)]
    total_tokens: Option<Value>,
    #[serde(default)]
    input_tokens: Option<Value>,
    #[serde(default)]
    output_tokens: Option<Value>,
    #[serde(default)]
    elapsed_sec: Option<Value>,
    #[serde(default)]
    usd: Option<Value>,
    #[serde(default)]
    error: Option<Value>,
}

impl From<Parts> for Answered {
    fn from(parts: Parts) -> Answered {
        let parts = parts.merged();
        let [input_tokens, output_tokens] =
            [parts.input_tokens, parts.output_tokens].map(|own| own.as_ref().and_then(whole));
        let messages = parts.messages;
        let told = || steps_of(messages.as_deref()?);
        let both = || Some(input_tokens? + output_tokens?);
        Answered {
            query_id: parts.query_id.as_ref().and_then(Id::of),
            final_answer: parts.final_answer.map(|answer| text_or_json(&answer)),
            answer_details: parts.answer_details.map(Details::read),
            called_apis: parts.called_apis.map(|list| read_called_apis(list.get())),
            steps: parts.steps.filter(|steps| steps.get().starts_with('[')).or_else(told),
            tokens: parts.tokens.as_ref().and_then(whole).or_else(both),
            input_tokens,
            output_tokens,
            usd: parts.usd.as_ref().and_then(number),
            error: parts.error.as_ref().and_then(error_text),
            remarks: Vec::new(),
            elapsed_sec: parts.elapsed_sec.as_ref().and_then(number),
            seconds: None,
        }
    }
}

impl Parts {
    /// Reads the keys of documented responses as those of answers. An agent may write both.
    fn in_one_spelling(self) -> Parts {
        Parts {
            query_id: self.query_id.or(self.question_id),
            question_id: None,
            final_answer: self.final_answer.or(self.actual_answer),
            actual_answer: None,
            steps: self.steps.or(self.actual_steps),
            actual_steps: None,
            tokens: self.tokens.or(self.total_tokens),
            total_tokens: None,
            ..self
        }
    }

    /// Merges all parts. Except for the id, those under `answer` take precedence over those beside
    /// it. If `answer` is not an object or has no known part, it is the final answer itself.
    fn merged(mut self) -> Parts {
        let answer = self.answer.take();
        let outer = self.in_one_spelling();
        let Some(answer) = answer else { return outer };
        let inner = Some(answer.get()).filter(|text| names_part(text));
        let inner = inner.and_then(|text| serde_json::from_str::<Parts>(text).ok());
        let Some(inner) = inner.map(Parts::in_one_spelling) else {
            let final_answer = outer.final_answer.or(Some(answer));
            return Parts { final_answer, ..outer };
        };
        Parts {
            query_id: outer.query_id.or(inner.query_id),
            final_answer: inner.final_answer.or(outer.final_answer),
            answer_details: inner.answer_details.or(outer.answer_details),
            called_apis: inner.called_apis.or(outer.called_apis),
            steps: inner.steps.or(outer.steps),
            messages: inner.messages.or(outer.messages),
            tokens: inner.tokens.or(outer.tokens),
            input_tokens: inner.input_tokens.or(outer.input_tokens),
            output_tokens: inner.output_tokens.or(outer.output_tokens),
            elapsed_sec: inner.elapsed_sec.or(outer.elapsed_sec),
            usd: inner.usd.or(outer.usd),
            error: inner.error.or(outer.error),
            ..Parts::default()
        }
    }
}

/// The keys of the parts of an answer, apart from its id.
const PARTS: [&str; 14] = [
    "final_answer",
    "actual_answer",
    "answer_details",
    "called_apis",
    "steps",
    "actual_steps",
    "messages",
    "tokens",
    "input_tokens",
    "output_tokens",
    "total_tokens",
    "elapsed_sec",
    "usd",
    "error",
];

/// Returns whether a text is an object with any part of an answer, even if it is `null`.
fn names_part(text: &str) -> bool {
    let fields = serde_json::from_str::<HashMap<String, &RawValue>>(text);
    fields.is_ok_and(|fields| PARTS.iter().any(|part| fields.contains_key(*part)))
}

/// Returns the steps that a conversation tells: messages in `OpenAI`'s form, with calls and results.
fn steps_of(messages: &RawValue) -> Option<Box<RawValue>> {
    let messages: Vec<Value> = serde_json::from_str(messages.get()).ok()?;
    to_raw_value(&openai::read_messages(&messages, &Rules::default()).steps).ok()
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

/// Returns an error in words: a string, the message of an object, or its JSON. Returns `None` for
/// values that some agents write when there was no error.
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

/// An id: a string or a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Id {
    /// A string.
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

    /// Returns the id as a string.
    pub fn as_text(&self) -> String {
        match self {
            Id::Text(text) => text.clone(),
            Id::Number(number) => number.to_string(),
        }
    }
}

/// Returns whether an object without a type is an answer.
fn says_something(answered: &Answered) -> bool {
    let Answered { final_answer, answer_details, called_apis, steps, error, .. } = answered;
    let has_calls = called_apis.is_some() || steps.is_some();
    final_answer.is_some() || answer_details.is_some() || has_calls || error.is_some()
}

impl Answered {
    /// Reads an answer, tolerating the JSON of many languages.
    pub fn read(text: &str) -> serde_json::Result<Answered> {
        serde_json::from_str(&mend(text))
    }
}

/// Reads an answer to a query, from a line or from the body of a reply.
pub fn read_answered(text: &str, query_id: &str) -> Result<Answered, String> {
    let shown = || text.chars().take(120).collect::<String>();
    let else_than = |why: String| {
        Err(format!("the agent sent something other than an answer{why}: `{}`", shown()))
    };
    let answered = match Answered::read(text) {
        Err(error) => return else_than(format!(": {error}")),
        Ok(answered) => match Line::of(text) {
            Line::Answer { .. } => answered,
            // Over HTTP the type and the query are clear, and may be left out.
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

/// Returns whether an object has a type.
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
    fn a_documented_response_is_an_answer() {
        let response = r#"{"question_id": "588", "actual_answer": "a", "input_tokens": 3,
            "output_tokens": 4, "elapsed_sec": 0.5, "actual_steps": [{"name": "lookup", "output": "x"}]}"#;
        let one_line = response.replace('\n', " ");
        assert_eq!(Line::of(&one_line), Line::Answer { query_id: Some("588".into()) });
        let answered = read_answered(response, "588").expect("an answer");
        assert_eq!(answered.final_answer.as_deref(), Some("a"));
        assert_eq!((answered.tokens, answered.input_tokens), (Some(7), Some(3)));
        assert_eq!(answered.elapsed_sec, Some(0.5));
        assert!(answered.steps.expect("steps").get().contains("lookup"));
        let odd =
            r#"{"final_answer": "a", "actual_answer": "b", "steps": "none", "total_tokens": 9}"#;
        let odd = read_answered(odd, "588").expect("an answer");
        assert_eq!((odd.steps.is_none(), odd.tokens), (true, Some(9)));
        assert!(read_answered(response, "589").is_err());
    }

    #[test]
    fn messages_tell_steps_unless_the_agent_does() {
        let messages = r#"[{"role": "assistant", "tool_calls": [{"id": "c", "function":
            {"name": "lookup", "arguments": "{}"}}]}, {"role": "tool", "tool_call_id": "c", "content": "x"}]"#;
        let steps = |more: &str| {
            let text = format!(r#"{{"final_answer": "a", "messages": {messages}{more}}}"#);
            let steps = read_answered(&text, "588").expect("an answer").steps.expect("steps");
            serde_json::from_str::<Value>(steps.get()).expect("JSON")
        };
        let told = steps("");
        assert_eq!((&told[0]["name"], &told[0]["output"]), (&"lookup".into(), &"x".into()));
        assert_eq!(steps(r#", "steps": []"#), Value::Array(Vec::new()));
        let odd = read_answered(r#"{"final_answer": "a", "messages": 5}"#, "588");
        assert!(odd.expect("an answer").steps.is_none());
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
        let answer = |trial, headers| {
            let (query_id, query, virtual_url) = ("588", "q", "u");
            json(Tell::Answer { query_id, query, trial, virtual_url, tools: None, headers })
        };
        assert_eq!(
            answer(None, None),
            r#"{"type":"answer","query_id":"588","query":"q","virtual_url":"u","tools":null}"#
        );
        assert_eq!(
            answer(Some(2), None),
            r#"{"type":"answer","query_id":"588","query":"q","trial":2,"virtual_url":"u","tools":null}"#
        );
        assert!(answer(None, Some(Bearer(&token))).ends_with(headers));
    }
}
