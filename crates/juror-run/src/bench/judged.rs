//! From what an agent made of a query to its scores.

use std::borrow::Cow;
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
    pub answer: Option<Answer<'static>>,
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
    pub(super) async fn new(
        selected: &'q Selected,
        attempted: Option<Attempted>,
        pool: &Registry,
        judge: &SolveJudge,
    ) -> Judged<'q> {
        let start = Instant::now();
        let answer = attempted.as_ref().and_then(answer_of);
        let own = selected.query.registry();
        let registries = [&own, pool];
        let called = match &attempted {
            Some(attempted) => called(attempted, answer.as_ref(), &registries),
            None => Vec::new(),
        };
        let calls = CallScore::of(&called, &selected.query.gold);
        let called = called.into_iter().map(pair).collect();
        let score = calls.score().unwrap_or(0.0);
        let verdict = judge.verdict(&selected.query.text, answer.as_ref(), score).await;
        let seconds = start.elapsed().as_secs_f64();
        Judged { selected, attempted, answer, called, calls, verdict, seconds }
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
pub(crate) fn answer_of(attempted: &Attempted) -> Option<Answer<'static>> {
    let told = answer_text(attempted);
    if let Some(answer) = told.as_deref().and_then(read_answer) {
        return Some(answer.into_owned());
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
    Some(answer)
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
    let new: Vec<Called<'_>> = told.into_iter().filter(|told| !called.contains(told)).collect();
    called.extend(new);
    called
}

/// The API that a served call means: its names may be raw, or as requests have them.
fn served_api<'a>(call: &'a ServedCall, registries: &[&'a Registry]) -> Called<'a> {
    let (tool, api) = (&call.tool_name, &call.api_name);
    let bare = tool.strip_suffix(&format!("_for_{}", call.category)).unwrap_or(tool);
    let names = [document_name(tool, api), official_name(bare, api)];
    match names.iter().find_map(|name| resolve(name, registries)) {
        Some(entry) => Called::Api(Cow::Borrowed(&*entry.tool), Cow::Borrowed(&entry.api)),
        None => Called::Api(Cow::Borrowed(tool), Cow::Borrowed(api)),
    }
}
