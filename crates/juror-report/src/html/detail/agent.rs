//! The details of a query that an agent attempted.

use juror_json::text_or_json;
use juror_score::ShownLimits;
use juror_toolbench::answer::{Details, FINISH, Node};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::verdict::ShownVerdict;
use super::{Detail, Gold, Shown, ShownAnswer, ShownStep, TreeNode, cut, laid_out, shortened};
use crate::html::page::{AnswerText, PageSource};
use crate::html::rows::QuestionRow;

/// A result of `juror bench`, as far as a page shows it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct BenchResult<'a> {
    trial: Option<u32>,
    #[serde(borrow)]
    query_text: Option<&'a RawValue>,
    gold_answer: GoldAnswer,
    #[serde(borrow)]
    system_answer: SystemAnswer<'a>,
    evaluation: Evaluated,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct GoldAnswer {
    relevant_apis: Vec<(String, String)>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct SystemAnswer<'a> {
    #[serde(borrow)]
    final_answer: Option<&'a RawValue>,
    #[serde(borrow)]
    answer_details: Option<&'a RawValue>,
    called_apis: Vec<(String, String)>,
    stopped: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Evaluated {
    answer_status: Option<String>,
    evaluation_method: Option<String>,
    reason: Option<String>,
    sopr_score_repeats: Vec<Value>,
}

/// A line of `attempts.jsonl`, as far as a page shows it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct AttemptLine<'a> {
    #[serde(borrow)]
    calls: Vec<ServedCall<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ServedCall<'a> {
    tool_name: String,
    api_name: String,
    #[serde(borrow)]
    tool_input: Option<&'a RawValue>,
    #[serde(borrow)]
    reply: Option<&'a RawValue>,
    source: Option<String>,
    failed: Option<String>,
}

/// Collects the details.
pub(super) fn detail(source: &PageSource<'_>, row: &QuestionRow<'_>, shown: &Shown) -> Detail {
    let mut detail = Detail::default();
    for (at, run) in source.runs.iter().enumerate() {
        let mut own = Vec::new();
        for item in &row.answers[at] {
            let Some(text) = run.answers.get(*item) else { continue };
            let Some(result) =
                text.result.and_then(|text| serde_json::from_str::<BenchResult<'_>>(text).ok())
            else {
                continue;
            };
            if detail.gold.is_none() {
                detail.text =
                    result.query_text.map_or(String::new(), |text| text_or_json(text).into_owned());
                detail.gold = Some(Gold { apis: result.gold_answer.relevant_apis.clone() });
            }
            let mut attempt = if shown.is_brief {
                outcome(&result)
            } else {
                answer(&result, text, &shown.limits)
            };
            attempt.scores = run.numbers_of(*item);
            shown.calls.add_to(&mut attempt.verdicts, || vec![run.calls.of_attempt(text)]);
            own.push(attempt);
        }
        detail.runs.push(own);
    }
    detail
}

/// How an attempt ended, and what the judge said of it.
fn outcome(result: &BenchResult<'_>) -> ShownAnswer {
    let error = result.error.map(|error| text_or_json(error).into_owned());
    ShownAnswer {
        trial: result.trial,
        status: if error.is_some() { "error" } else { "success" },
        error: error.or_else(|| result.system_answer.stopped.clone()),
        verdicts: verdict(&result.evaluation).into_iter().collect(),
        ..ShownAnswer::default()
    }
}

fn answer(result: &BenchResult<'_>, text: &AnswerText<'_>, limits: &ShownLimits) -> ShownAnswer {
    let right = &result.gold_answer.relevant_apis;
    let called = &result.system_answer.called_apis;
    let attempt: AttemptLine<'_> =
        text.attempt.and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    ShownAnswer {
        answer: result
            .system_answer
            .final_answer
            .and_then(|answer| laid_out(answer.get(), usize::MAX)),
        steps: attempt.calls.iter().map(|call| step(call, limits)).collect(),
        tree: result.system_answer.answer_details.map(|details| tree(details, limits)),
        called: Some(
            called.iter().map(|api| (api.0.clone(), api.1.clone(), right.contains(api))).collect(),
        ),
        missing: Some(right.iter().filter(|api| !called.contains(api)).cloned().collect()),
        ..outcome(result)
    }
}

fn step(call: &ServedCall<'_>, limits: &ShownLimits) -> ShownStep {
    ShownStep {
        name: format!("{} / {}", call.tool_name, call.api_name),
        status: Some(if call.failed.is_some() { "error" } else { "success" }.to_owned()),
        args: call.tool_input.and_then(|input| laid_out(input.get(), limits.characters)),
        output: call.reply.map(|reply| {
            let text = laid_out(reply.get(), usize::MAX).unwrap_or_default();
            cut(&text, limits.characters)
        }),
        error: call.failed.clone(),
        source: call.source.clone(),
        ..ShownStep::default()
    }
}

fn verdict(found: &Evaluated) -> Option<ShownVerdict> {
    let status = found.answer_status.clone()?;
    Some(ShownVerdict {
        metric: "sopr_score".into(),
        numbers: vec![("answer_status".into(), Value::String(status))],
        reason: found.reason.clone().filter(|reason| !reason.is_empty()),
        repeats: if found.sopr_score_repeats.is_empty() {
            Vec::new()
        } else {
            vec![("sopr_score".into(), found.sopr_score_repeats.clone())]
        },
        by: found.evaluation_method.clone(),
        ..ShownVerdict::default()
    })
}

fn tree(details: &RawValue, limits: &ShownLimits) -> Vec<TreeNode> {
    let details = Details::read(details.to_owned());
    details.nodes().unwrap_or_default().iter().map(|own| node(own, limits)).collect()
}

fn node(node: &Node<'_>, limits: &ShownLimits) -> TreeNode {
    let name = node.called_name().map(std::borrow::Cow::into_owned);
    let kind = match (&name, &*node.role) {
        (Some(name), _) if name == FINISH => "answer",
        (Some(_), _) => "call",
        (None, "assistant") => "thought",
        (None, _) => "message",
    };
    let text = match node.call() {
        Some(call) => {
            let part =
                |json: &juror_toolbench::answer::Json<'_>| laid_out(json.get(), limits.characters);
            let parts =
                [call.arguments.as_ref().and_then(part), call.response.as_ref().and_then(part)];
            let told = parts.into_iter().flatten().filter(|part| !part.is_empty());
            told.collect::<Vec<_>>().join("\n→ ")
        }
        None => node
            .message
            .text()
            .map_or_else(|| node.message.get().to_owned(), std::borrow::Cow::into_owned),
    };
    TreeNode { depth: node.depth(), kind, name, text: shortened(&text, limits.characters) }
}
