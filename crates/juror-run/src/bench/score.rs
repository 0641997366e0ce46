//! From what an agent made of a query to its scores.

use std::borrow::Cow;

use juror_score::tool::answer::{Answer, Call, Json, read_answer};
use juror_score::tool::names::{document_name, official_name};
use juror_score::tool::{CallScore, Called, Registry, called_apis, resolve};
use serde_json::json;

use super::journal::{Attempted, ServedCall};
use super::queries::Selected;

/// The text that an answer is read from.
pub fn answer_text(attempted: &Attempted) -> Option<String> {
    let details = attempted.answer_details.as_ref()?;
    let fields = json!({"final_answer": attempted.final_answer.as_deref().unwrap_or_default(),
        "called_apis": attempted.called_apis});
    let fields = fields.to_string();
    Some(format!("{},\"answer_details\":{}}}", &fields[..fields.len() - 1], details.get()))
}

/// What an agent did: as it tells it, else as its calls were served. Nothing where it neither
/// answered nor called anything.
pub fn answer<'a>(attempted: &Attempted, text: Option<&'a str>) -> Option<Answer<'a>> {
    if let Some(answer) = text.and_then(read_answer) {
        return Some(answer);
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

/// How the calls fit the right ones: those that were served, and those the agent tells of.
pub fn call_score(
    selected: &Selected,
    attempted: &Attempted,
    answer: Option<&Answer<'_>>,
    pool: &Registry,
) -> CallScore {
    let own = selected.query.registry();
    let registries = [&own, pool];
    let mut called: Vec<Called<'_>> =
        attempted.calls.iter().map(|call| served_api(call, &registries)).collect();
    let told = answer.map(|answer| called_apis(answer, &registries)).unwrap_or_default();
    let new = told.into_iter().filter(|told| !called.contains(told));
    let new: Vec<Called<'_>> = new.collect();
    called.extend(new);
    CallScore::of(&called, &selected.query.gold)
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
