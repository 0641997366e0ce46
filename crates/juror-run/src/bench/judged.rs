//! From what an agent made of a query to its scores.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use juror_toolbench::answer::{Answer, Call, Json, read_answer};
use juror_toolbench::names::{document_name, official_name};
use juror_toolbench::{CallScore, Called, Registry, called_apis, resolve};
use serde_json::json;

use super::attempt::{Attempted, ServedCall};
use super::judge::{SolveJudge, Verdict};
use super::queries::Selected;

/// What became of a query, and its scores.
pub struct Judged<'q> {
    /// The query.
    pub selected: &'q Selected,
    /// What the agent made of it; nothing while the query is open.
    pub attempted: Option<Attempted>,
    /// What the agent did; nothing where it neither answered nor called anything.
    pub answer: Option<Arc<Answer<'static>>>,
    /// What was called, tool and API; a name that no tool has stands without one.
    pub called: Vec<(String, String)>,
    /// How that fits what is right.
    pub calls: CallScore,
    /// Whether it solves the query.
    pub verdict: Verdict,
    /// How long judging took, in seconds.
    pub seconds: f64,
}

impl<'q> Judged<'q> {
    /// What became of a query, with all scores that need no judge.
    pub(super) fn new(
        selected: &'q Selected,
        attempted: Option<Attempted>,
        pool: &Registry,
    ) -> Judged<'q> {
        let answer = attempted.as_ref().and_then(answer_of);
        let own = selected.query.registry();
        let registries = [&own, pool];
        let called = match &attempted {
            Some(attempted) => called(attempted, answer.as_deref(), &registries),
            None => Vec::new(),
        };
        let calls = CallScore::of(&called, &selected.query.gold);
        let called = called.into_iter().map(pair).collect();
        let verdict = Verdict::default();
        Judged { selected, attempted, answer, called, calls, verdict, seconds: 0.0 }
    }

    /// Has it judged.
    pub(super) async fn judge(&mut self, judge: &SolveJudge) {
        let start = Instant::now();
        let (query, answer) = (&self.selected.query.text, self.answer.as_deref());
        self.verdict = judge.verdict(query, answer, self.calls.score().unwrap_or(0.0)).await;
        self.seconds = start.elapsed().as_secs_f64();
    }

    /// What the agent says it called, where that differs from what arrived.
    pub fn claimed(&self) -> &[(String, String)] {
        self.attempted.as_ref().map(|attempted| &*attempted.claimed).unwrap_or_default()
    }

    /// What went wrong, with the agent or with the judge.
    pub fn error(&self) -> Option<&String> {
        let of_agent = self.attempted.as_ref().and_then(|attempted| attempted.error.as_ref());
        of_agent.or(self.verdict.failure.as_ref())
    }
}

fn pair(called: Called<'_>) -> (String, String) {
    match called {
        Called::Api(tool, api) => (tool.into_owned(), api.into_owned()),
        Called::Unknown(name) => (String::new(), name.into_owned()),
    }
}

/// What an agent did: as it tells it, unless it tells of calls that did not arrive, else as its
/// calls were served. Nothing where it neither answered nor called anything.
pub(crate) fn answer_of(attempted: &Attempted) -> Option<Arc<Answer<'static>>> {
    if let Some(answer) = &attempted.answer {
        return Some(answer.clone());
    }
    let told = answer_text(attempted).filter(|_| attempted.claimed.is_empty());
    if let Some(answer) = told.as_deref().and_then(read_answer) {
        // Details without any call say less than what was served.
        if answer.called_names().next().is_some() || attempted.calls.is_empty() {
            return of_told(answer, attempted).map(Arc::new);
        }
    }
    if attempted.final_answer.is_none() && attempted.calls.is_empty() {
        return None;
    }
    let calls = attempted.calls.iter().map(|call| Call {
        name: Cow::Owned(document_name(&call.tool_name, &call.api_name)),
        arguments: Json::parse(call.tool_input.get()),
        response: Json::parse(call.reply.get()),
    });
    let mut answer = Answer::of_calls(attempted.final_answer.as_deref(), calls);
    answer.called_apis = served_pairs(attempted);
    Some(Arc::new(answer))
}

/// What an agent tells of what it did. Who gives an answer has finished.
fn of_told(answer: Answer<'_>, attempted: &Attempted) -> Option<Answer<'static>> {
    if answer.is_nothing() {
        return None;
    }
    let answer = if attempted.final_answer.is_some() { answer.finished() } else { answer };
    Some(Answer { called_apis: served_pairs(attempted), ..answer.into_owned() })
}

/// The tools and APIs of the calls that arrived, as they were asked for.
fn served_pairs(attempted: &Attempted) -> Vec<(String, String)> {
    let pair = |call: &ServedCall| (bare_tool(call).to_owned(), call.api_name.clone());
    attempted.calls.iter().map(pair).collect()
}

/// The text that an answer is read from.
fn answer_text(attempted: &Attempted) -> Option<String> {
    let details = attempted.answer_details.as_ref()?;
    let final_answer = json!(attempted.final_answer.as_deref().unwrap_or_default());
    Some(format!("{{\"final_answer\":{final_answer},\"answer_details\":{}}}", details.get()))
}

/// What counts as called: where tools were served, the calls that arrived; of an answer given
/// before, those it tells of.
fn called<'a>(
    attempted: &'a Attempted,
    answer: Option<&'a Answer<'_>>,
    registries: &[&'a Registry],
) -> Vec<Called<'a>> {
    match &attempted.answer {
        Some(_) => answer.map(|answer| called_apis(answer, registries)).unwrap_or_default(),
        None => attempted.calls.iter().map(|call| served_api(call, registries)).collect(),
    }
}

/// The APIs that an agent says it called, as pairs or in its details, each once; nothing if they
/// are those that its calls arrived at. Names that mean no API are none to be claimed: agents may
/// have functions of their own.
pub(super) fn different_claims(
    attempted: &Attempted,
    registries: &[&Registry],
) -> Vec<(String, String)> {
    let pairs = attempted.called_apis.clone();
    let pairs = Answer { called_apis: pairs, ..Answer::of_nothing() };
    let details = answer_text(attempted);
    let details = details.as_deref().and_then(read_answer);
    let mut claimed: Vec<Called<'_>> = Vec::new();
    let told = [Some(&pairs), details.as_ref()].into_iter().flatten();
    for told in told.flat_map(|told| called_apis(told, registries)) {
        if matches!(told, Called::Api(..)) && !claimed.contains(&told) {
            claimed.push(told);
        }
    }
    let arrived = called(attempted, None, registries);
    let is_same = claimed.iter().all(|told| arrived.contains(told))
        && arrived.iter().all(|call| claimed.contains(call));
    if is_same { Vec::new() } else { claimed.into_iter().map(pair).collect() }
}

/// The API that a served call means: its names may be raw, or as requests have them.
fn served_api<'a>(call: &'a ServedCall, registries: &[&'a Registry]) -> Called<'a> {
    let names = [
        document_name(&call.tool_name, &call.api_name),
        official_name(bare_tool(call), &call.api_name),
    ];
    match names.iter().find_map(|name| resolve(name, registries)) {
        Some(entry) => Called::Api(Cow::Borrowed(&*entry.tool), Cow::Borrowed(&entry.api)),
        None => Called::Api(Cow::Borrowed(bare_tool(call)), Cow::Borrowed(&call.api_name)),
    }
}

/// The tool of a call without the category that some requests put behind it.
fn bare_tool(call: &ServedCall) -> &str {
    let tool = &call.tool_name;
    let tool =
        tool.strip_suffix(call.category.as_str()).and_then(|tool| tool.strip_suffix("_for_"));
    tool.unwrap_or(&call.tool_name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::agent::nothing;
    use juror_document::{Document, Format};
    use juror_toolbench::{Entry, read_queries};
    use serde_json::value::to_raw_value;

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
        };
        let entry = |api: &str| Entry { category: None, tool: "Tool".into(), api: api.into() };
        let registry = Registry::new(vec![entry("One"), entry("Two")]);
        let check = |calls: &[(&str, &str)], told: &[&str], n_called: usize, n_claimed: usize| {
            let calls = calls.iter().map(|(tool, api)| served(tool, api)).collect();
            let mut attempted = Attempted { calls, ..nothing(&selected) };
            let node = |name| json!({"role": "tool", "message": {"name": name}, "next": []});
            let details: Vec<_> = told.iter().map(node).collect();
            attempted.answer_details = Some(to_raw_value(&details).expect("JSON"));
            attempted.claimed = different_claims(&attempted, &[&registry]);
            let answer = answer_of(&attempted);
            let called = called(&attempted, answer.as_deref(), &[&registry]);
            assert_eq!((called.len(), attempted.claimed.len()), (n_called, n_claimed), "{told:?}");
            // What did not arrive is not shown to judges either.
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
