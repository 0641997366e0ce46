//! What is said to agents outside the process, and what they say: JSON objects, one a line.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

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
    },
}

/// What an agent says, as far as its kind goes.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Said {
    /// `ready` or `answered`. Over HTTP the kind is plain, and may be left out.
    #[serde(default, rename = "type")]
    kind: Option<String>,
}

/// The query that a line is about.
pub(super) fn id_of(line: &str) -> Option<String> {
    #[derive(Deserialize)]
    struct Named {
        query_id: Id,
    }
    serde_json::from_str(line).ok().map(|named: Named| named.query_id.as_text())
}

/// Whether a line is an answer, to whatever query.
pub(super) fn says_answer(line: &str) -> bool {
    serde_json::from_str(line).is_ok_and(|said: Said| said.kind.as_deref() == Some("answered"))
}

/// Whether a line says that the agent is ready.
pub(super) fn is_ready(line: &str) -> bool {
    serde_json::from_str(line).is_ok_and(|said: Said| said.kind.as_deref() == Some("ready"))
}

/// An answer of an agent outside the process.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Answered {
    /// The query's id.
    #[serde(default)]
    pub query_id: Option<Id>,
    /// The answer. One that is no text is taken as its JSON.
    #[serde(default, deserialize_with = "text_or_json")]
    pub final_answer: Option<String>,
    /// What it did, in the form of answer files.
    #[serde(default)]
    pub answer_details: Option<Box<RawValue>>,
    /// Which APIs it says it called.
    #[serde(default)]
    pub called_apis: Option<Vec<(String, String)>>,
    /// Tokens of its models.
    #[serde(default, deserialize_with = "if_whole")]
    pub tokens: Option<u64>,
    /// What they cost in US dollars.
    #[serde(default, deserialize_with = "if_number")]
    pub usd: Option<f64>,
    /// What went wrong.
    #[serde(default)]
    pub error: Option<String>,
    /// How long it took, where that is known better than by who waits for it.
    #[serde(skip)]
    pub seconds: Option<f64>,
}

fn text_or_json<'de, D: Deserializer<'de>>(value: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(value)? {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    })
}

fn if_whole<'de, D: Deserializer<'de>>(value: D) -> Result<Option<u64>, D::Error> {
    Ok(if_number(value)?.and_then(|number| format!("{number:.0}").parse().ok()))
}

/// No answer is lost over a figure that cannot be read.
fn if_number<'de, D: Deserializer<'de>>(value: D) -> Result<Option<f64>, D::Error> {
    let number = Value::deserialize(value)?.as_f64();
    Ok(number.filter(|number| number.is_finite() && *number >= 0.0))
}

/// An id, which is a text or a number.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Id {
    /// A text.
    Text(String),
    /// A whole number.
    Number(i64),
}

impl Id {
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

/// Reads an answer to a query, from a line or from the body of a reply.
pub fn read_answered(text: &str, query_id: &str) -> Result<Answered, String> {
    let shown = || text.chars().take(120).collect::<String>();
    let else_than = |why: String| {
        Err(format!("the agent said something else than an answer{why}: `{}`", shown()))
    };
    let answered: Answered = match serde_json::from_str(text) {
        Ok(Said { kind }) if kind.as_deref().is_none_or(|kind| kind == "answered") => {
            match serde_json::from_str(text) {
                Ok(answered) if kind.is_some() || says_something(&answered) => answered,
                Ok(_) => return else_than(String::new()),
                Err(error) => return else_than(format!(": {error}")),
            }
        }
        Ok(Said { .. }) => return else_than(String::new()),
        Err(error) => {
            return else_than(format!(
                ": {error} (standard output is for the protocol, and logs belong on standard error)"
            ));
        }
    };
    match answered.query_id.as_ref().map(Id::as_text) {
        Some(id) if id != query_id => {
            Err(format!("the agent answered query `{id}`, but was asked `{query_id}`"))
        }
        _ => Ok(answered),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn the_protocol_is_as_published() {
        let setup = Tell::Setup { protocol: PROTOCOL, tools_url: "http://x/tools", tool_count: 7 };
        assert_eq!(
            serde_json::to_string(&setup).expect("JSON"),
            r#"{"type":"setup","protocol":1,"tools_url":"http://x/tools","tool_count":7}"#
        );
        let answer = Tell::Answer { query_id: "588", query: "q", virtual_url: "u", tools: None };
        assert_eq!(
            serde_json::to_string(&answer).expect("JSON"),
            r#"{"type":"answer","query_id":"588","query":"q","virtual_url":"u","tools":null}"#
        );
    }
}
