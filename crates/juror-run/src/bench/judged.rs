//! From what an agent made of a query to its scores.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use juror_score::tool::answer::{Answer, Call, Json, read_answer};
use juror_score::tool::names::{document_name, official_name};
use juror_score::tool::{CallScore, Called, Registry, called_apis, resolve};
use serde_json::json;

use super::journal::{Attempted, ServedCall};
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

/// What an agent did: as it tells it, else as its calls were served. Nothing where it neither
/// answered nor called anything.
pub(crate) fn answer_of(attempted: &Attempted) -> Option<Arc<Answer<'static>>> {
    if let Some(answer) = &attempted.answer {
        return Some(answer.clone());
    }
    let told = answer_text(attempted);
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
    answer.called_apis.clone_from(&attempted.called_apis);
    Some(Arc::new(answer))
}

/// What an agent tells of what it did. Who gives an answer has finished.
fn of_told(answer: Answer<'_>, attempted: &Attempted) -> Option<Answer<'static>> {
    if answer.is_nothing() {
        return None;
    }
    let answer = if attempted.final_answer.is_some() { answer.finished() } else { answer };
    Some(answer.into_owned())
}

/// The text that an answer is read from.
fn answer_text(attempted: &Attempted) -> Option<String> {
    let details = attempted.answer_details.as_ref()?;
    let fields = json!({"final_answer": attempted.final_answer.as_deref().unwrap_or_default(),
        "called_apis": attempted.called_apis});
    let fields = fields.to_string();
    Some(format!("{},\"answer_details\":{}}}", &fields[..fields.len() - 1], details.get()))
}

/// The calls that were served, and those the agent tells of besides.
fn called<'a>(
    attempted: &'a Attempted,
    answer: Option<&'a Answer<'_>>,
    registries: &[&'a Registry],
) -> Vec<Called<'a>> {
    let mut called: Vec<Called<'_>> =
        attempted.calls.iter().map(|call| served_api(call, registries)).collect();
    let told = answer.map(|answer| called_apis(answer, registries)).unwrap_or_default();
    let is_served = |told: &Called<'_>| match told {
        Called::Api(..) => called.contains(told),
        // What no tool has is told by a name, and was served by its parts.
        Called::Unknown(name) => {
            attempted.calls.iter().any(|call| names(call).iter().any(|own| own == name))
        }
    };
    let new: Vec<Called<'_>> = told.into_iter().filter(|told| !is_served(told)).collect();
    called.extend(new);
    called
}

/// The API that a served call means: its names may be raw, or as requests have them.
fn served_api<'a>(call: &'a ServedCall, registries: &[&'a Registry]) -> Called<'a> {
    match names(call).iter().find_map(|name| resolve(name, registries)) {
        Some(entry) => Called::Api(Cow::Borrowed(&*entry.tool), Cow::Borrowed(&entry.api)),
        None => Called::Api(Cow::Borrowed(&call.tool_name), Cow::Borrowed(&call.api_name)),
    }
}

/// The names that a call may be told by.
fn names(call: &ServedCall) -> [String; 2] {
    let (tool, api) = (&call.tool_name, &call.api_name);
    let bare = tool.strip_suffix(&format!("_for_{}", call.category)).unwrap_or(tool);
    [document_name(tool, api), official_name(bare, api)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::agent::nothing;
    use juror_score::read::{Document, Format};
    use juror_score::tool::read_queries;
    use serde_json::value::to_raw_value;

    #[test]
    fn a_call_counts_once_whether_served_or_told() {
        let file = r#"[{"query_id": 1, "query": "q"}]"#;
        let file = Document::new("q.json", file.into(), Format::Json).expect("UTF-8");
        let query = read_queries(&file).0.remove(0);
        let selected = Selected { set: String::new(), id: "1".into(), query };
        let served = |tool: &str, api: &str| ServedCall {
            category: "Music".into(),
            tool_name: tool.into(),
            api_name: api.into(),
            tool_input: to_raw_value(&json!({})).expect("JSON"),
            reply: to_raw_value(&json!({})).expect("JSON"),
            source: "none".into(),
        };
        let check = |calls: Vec<ServedCall>, told: Option<&str>, n: usize| {
            let mut attempted = Attempted { calls, ..nothing(&selected) };
            attempted.answer_details = told.map(|name| {
                let details = json!([{"role": "tool", "message": {"name": name}, "next": []}]);
                to_raw_value(&details).expect("JSON")
            });
            let answer = answer_of(&attempted);
            let registry = Registry::default();
            let called = called(&attempted, answer.as_deref(), &[&registry]);
            assert_eq!(called.len(), n, "{called:?}");
        };
        check(vec![served("nothing", "such")], None, 1);
        check(vec![served("nothing_for_Music", "such")], Some("such_for_nothing"), 1);
        check(vec![served("nothing", "such")], Some("nothing_such"), 1);
        check(vec![served("nothing", "such")], Some("else_for_nothing"), 2);
        check(vec![served("nothing", "such"), served("nothing", "such")], None, 2);
        check(vec![], Some("else_for_nothing"), 1);
    }
}
