//! An agent's attempt at a query: its answer and its calls, as stored in the run log.

use std::borrow::Cow;
use std::sync::Arc;

use juror_runs::{Entry, RunKind};
use juror_toolbench::answer::{Answer, Call, Details, FINISH, Finish, Json, Node, read_finish};
use juror_toolbench::names::{document_name, official_name};
use juror_toolbench::{Called, Registry, called_apis, listed_apis, named_apis, resolve};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::queries::Selected;

/// An agent's attempt at a query; one line of the run log.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attempt {
    /// The query's set.
    pub set: String,
    /// The query's id.
    pub query_id: String,
    /// Which of several attempts at the query this is, counting from 1; `None` if there is only
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<usize>,
    /// The text of the query.
    #[serde(default)]
    pub query: String,
    /// The final answer; `None` if the agent gave none.
    pub final_answer: Option<String>,
    /// The answer, if it was recorded elsewhere. No calls were served then, so the calls in it
    /// count.
    #[serde(skip)]
    pub recorded: Option<Arc<Answer<'static>>>,
    /// What the agent reports it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_details: Option<Details>,
    /// The steps that the agent reports, as responses have them: a JSON list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Box<RawValue>>,
    /// The APIs that the agent lists as called.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub called_apis: Vec<(String, String)>,
    /// The APIs that the agent claims to have called, in its list or its details; empty if they
    /// match the calls received.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claimed: Vec<(String, String)>,
    /// How many calls of the built-in agent were parsed from the text of its model's replies.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls_from_text: usize,
    /// Why the built-in agent stopped before its steps ran out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    /// The calls served to the agent.
    #[serde(default)]
    pub calls: Vec<ServedCall>,
    /// The error, if the attempt failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What is to be known about the answer, such as parts of it that could not be kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// The duration, if known.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// The tokens used by the agent's models; 0 if unknown.
    #[serde(default)]
    pub tokens: u64,
    /// The tokens that the agent's models read and wrote, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// See `input_tokens`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// The duration by the agent's own clock, if it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elapsed_sec: Option<f64>,
    /// The cost of the agent's models in US dollars, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usd: Option<f64>,
}

impl Entry for Attempt {
    const KIND: RunKind = RunKind::Bench;
    type Line = Attempt;
    type Id = AttemptId;

    fn id(line: &Attempt) -> AttemptId {
        (line.set.clone(), line.query_id.clone(), line.trial_number())
    }
}

/// A query's set and id, and the number of the attempt at it.
pub(super) type AttemptId = (String, String, usize);

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
pub(super) fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A tool call served to an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ServedCall {
    /// The category, as requested.
    pub category: String,
    /// The tool, as requested.
    pub tool_name: String,
    /// The API, as requested.
    pub api_name: String,
    /// The arguments.
    pub tool_input: Box<RawValue>,
    /// The reply.
    pub reply: Box<RawValue>,
    /// The source of the reply: `cache`, `simulator`, `real` or `none`.
    pub source: String,
    /// How the arguments of the known reply differ from these: `numbers`, `order`.
    #[serde(rename = "match", default, skip_serializing_if = "Option::is_none")]
    pub found_by: Option<String>,
    /// The origin of a known reply that is not from a cache folder: `simulator` or `real`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_from: Option<String>,
    /// Why a reply that might exist is missing, such as a source that is down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// What a rule made go wrong: `slow`, `error` or `malformed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
}

impl Attempt {
    /// Creates an empty attempt at a query.
    pub fn new(selected: &Selected) -> Attempt {
        Attempt {
            set: selected.set.clone(),
            query_id: selected.id.clone(),
            trial: selected.trial,
            query: selected.query.text.clone(),
            final_answer: None,
            recorded: None,
            answer_details: None,
            steps: None,
            called_apis: Vec::new(),
            claimed: Vec::new(),
            calls_from_text: 0,
            stopped: None,
            calls: Vec::new(),
            error: None,
            remarks: Vec::new(),
            seconds: None,
            tokens: 0,
            input_tokens: None,
            output_tokens: None,
            elapsed_sec: None,
            usd: None,
        }
    }

    /// Returns the number of the attempt; the only attempt at a query is its first.
    pub(crate) fn trial_number(&self) -> usize {
        self.trial.unwrap_or(1)
    }

    /// Returns the answer that counts: the one in the agent's details, unless the served calls
    /// contradict the details or contain more. `None` if the agent neither answered nor called
    /// anything.
    pub fn answer(&self) -> Option<Arc<Answer<'static>>> {
        if let Some(recorded) = &self.recorded {
            return Some(recorded.clone());
        }
        let answer = match self.told_nodes() {
            Some(nodes) => self.told_answer(nodes),
            None => self.served_answer(),
        };
        Some(Arc::new(Answer { called_apis: self.served_pairs(), ..answer? }))
    }

    /// Returns the nodes of the agent's details, unless the served calls contradict them or contain
    /// more.
    fn told_nodes(&self) -> Option<&[Node<'static>]> {
        let nodes = self.answer_details.as_ref()?.nodes()?;
        let tells_calls = || nodes.iter().any(|node| node.called_name().is_some());
        let counts = self.claimed.is_empty() && (self.calls.is_empty() || tells_calls());
        counts.then_some(nodes)
    }

    /// Builds the answer from the details. An agent that gives a final answer has finished.
    fn told_answer(&self, nodes: &[Node<'static>]) -> Option<Answer<'static>> {
        let final_answer = Json::of_text(self.final_answer.as_deref().unwrap_or_default());
        let answer = Answer { final_answer, nodes: nodes.to_vec(), ..Answer::of_nothing() };
        match &self.final_answer {
            _ if answer.is_nothing() => None,
            Some(_) => Some(answer.finished()),
            None => Some(answer),
        }
    }

    /// Builds the answer from the served calls.
    fn served_answer(&self) -> Option<Answer<'static>> {
        if self.final_answer.is_none() && self.calls.is_empty() {
            return None;
        }
        let calls = self.calls.iter().map(|call| Call {
            name: Cow::Owned(document_name(&call.tool_name, &call.api_name)),
            arguments: Json::parse(call.tool_input.get()),
            response: Json::parse(call.reply.get()),
        });
        Some(Answer::of_calls(self.final_answer.as_deref(), calls))
    }

    /// Returns the tools and APIs of the calls received, named as requested.
    fn served_pairs(&self) -> Vec<(String, String)> {
        let pair = |call: &ServedCall| (call.bare_tool().to_owned(), call.api_name.clone());
        self.calls.iter().map(pair).collect()
    }

    /// Returns what counts as called: the calls received, or those of a recorded answer.
    pub(super) fn called<'a>(&'a self, registries: &[&'a Registry]) -> Vec<Called<'a>> {
        match &self.recorded {
            Some(answer) => called_apis(answer, registries),
            None => self.calls.iter().map(|call| call.api(registries)).collect(),
        }
    }

    /// Returns the APIs that the agent claims to have called, in its list or its details, without
    /// duplicates; empty if they match the calls received. Names that resolve to no API are
    /// ignored, since agents may have functions of their own.
    pub(super) fn different_claims(&self, registries: &[&Registry]) -> Vec<(String, String)> {
        let nodes = self.answer_details.as_ref().and_then(Details::nodes).unwrap_or_default();
        let listed = listed_apis(&self.called_apis, registries);
        let mut claimed: Vec<Called<'_>> = Vec::new();
        for api in listed.into_iter().chain(named_apis(nodes, registries)) {
            if matches!(api, Called::Api(..)) && !claimed.contains(&api) {
                claimed.push(api);
            }
        }
        let arrived = self.called(registries);
        let is_same = claimed.iter().all(|api| arrived.contains(api))
            && arrived.iter().all(|api| claimed.contains(api));
        if is_same { Vec::new() } else { claimed.into_iter().map(Called::into_pair).collect() }
    }

    /// Returns the answer passed to `Finish` in the details, if any.
    pub(super) fn finished_with(&self) -> Option<String> {
        let nodes = self.answer_details.as_ref()?.nodes()?;
        let finish = nodes.iter().filter_map(Node::call).find(|call| call.name == FINISH)?;
        let arguments = finish.arguments.as_ref()?;
        match read_finish(&arguments.text().unwrap_or(arguments.get().into())) {
            Finish::Answered(text) => Some(text.into_owned()),
            Finish::GaveUp => None,
        }
    }
}

impl ServedCall {
    /// Resolves the API of the call; names may be raw, or in the form used by requests.
    fn api<'a>(&'a self, registries: &[&'a Registry]) -> Called<'a> {
        let names = [
            document_name(&self.tool_name, &self.api_name),
            official_name(self.bare_tool(), &self.api_name),
        ];
        match names.iter().find_map(|name| resolve(name, registries)) {
            Some(entry) => Called::Api(Cow::Borrowed(&*entry.tool), Cow::Borrowed(&entry.api)),
            None => Called::Api(Cow::Borrowed(self.bare_tool()), Cow::Borrowed(&self.api_name)),
        }
    }

    /// Returns the name of the function that was called, as agents know it.
    pub fn function_name(&self) -> String {
        official_name(self.bare_tool(), &self.api_name)
    }

    /// Returns the tool without the category that some requests append to it.
    fn bare_tool(&self) -> &str {
        let tool = self.tool_name.strip_suffix(self.category.as_str());
        tool.and_then(|tool| tool.strip_suffix("_for_")).unwrap_or(&self.tool_name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::{Document, Format};
    use juror_toolbench::{Entry, read_queries};
    use serde_json::json;
    use serde_json::value::to_raw_value;

    #[test]
    fn a_line_of_a_log_is_written_as_it_was_read() {
        for line in [
            r#"{"set":"A","query_id":"1","query":"q","final_answer":null,"calls":[],"error":"e","seconds":null,"tokens":0}"#,
            r#"{"set":"A","query_id":"1","trial":2,"query":"q","final_answer":"x","answer_details":[{"role": "tool",  "message": {"name":"f"}, "own": 1}],"called_apis":[["T","a"]],"claimed":[["T","b"]],"calls_from_text":2,"stopped":"s","calls":[{"category":"C","tool_name":"t","api_name":"a","tool_input":{"b": 1},"reply":"r","source":"cache","match":"order"}],"seconds":0.5,"tokens":7,"usd":0.25}"#,
        ] {
            let attempt: Attempt = serde_json::from_str(line).expect("an attempt");
            assert_eq!(serde_json::to_string(&attempt).expect("JSON"), line);
        }
        let old = r#"{"set": "A", "query_id": "1", "final_answer": "x", "answer_details": null}"#;
        let attempt: Attempt = serde_json::from_str(old).expect("an attempt");
        assert_eq!(attempt.answer().expect("an answer").final_text(), "x");
    }

    #[test]
    fn only_calls_that_arrived_count() {
        let file = r#"[{"query_id": 1, "query": "q"}]"#;
        let file = Document::new("q.json", file.into(), Format::Json).expect("UTF-8");
        let query = read_queries(&file).0.remove(0);
        let selected = Selected { set: String::new(), id: "1".into(), trial: None, query };
        let served = |tool: &str, api: &str| ServedCall {
            category: "Music".into(),
            tool_name: tool.into(),
            api_name: api.into(),
            tool_input: to_raw_value(&json!({})).expect("JSON"),
            reply: to_raw_value(&json!({})).expect("JSON"),
            source: "none".into(),
            found_by: None,
            kept_from: None,
            failed: None,
            fault: None,
        };
        let entry = |api: &str| Entry { category: None, tool: "Tool".into(), api: api.into() };
        let registry = Registry::new(vec![entry("One"), entry("Two")]);
        let check = |calls: &[(&str, &str)], told: &[&str], n_called: usize, n_claimed: usize| {
            let calls = calls.iter().map(|(tool, api)| served(tool, api)).collect();
            let mut attempt = Attempt { calls, ..Attempt::new(&selected) };
            let node = |name| json!({"role": "tool", "message": {"name": name}, "next": []});
            let details: Vec<_> = told.iter().map(node).collect();
            let details = to_raw_value(&details).expect("JSON");
            attempt.answer_details = Some(Details::read(details));
            attempt.claimed = attempt.different_claims(&[&registry]);
            let answer = attempt.answer();
            let called = attempt.called(&[&registry]);
            assert_eq!((called.len(), attempt.claimed.len()), (n_called, n_claimed), "{told:?}");
            // Calls that never arrived are hidden from judges, too.
            let shown = answer.map(|answer| answer.called_names().count()).unwrap_or_default();
            let is_told = n_claimed == 0 && !told.is_empty();
            assert_eq!(shown, if is_told { told.len() } else { n_called }, "{told:?}");
        };
        check(&[("nothing", "such")], &[], 1, 0);
        check(&[("tool", "one")], &["one_for_tool"], 1, 0);
        check(&[("tool_for_Music", "one")], &["Tool_One", "calculator"], 1, 0);
        check(&[("Tool", "One"), ("Tool", "One")], &["one_for_tool"], 2, 0);
        check(&[("tool", "one")], &["one_for_tool", "two_for_tool"], 1, 2);
        check(&[("tool", "one"), ("tool", "two")], &["one_for_tool"], 2, 1);
        check(&[], &["two_for_tool"], 0, 1);
    }
}
