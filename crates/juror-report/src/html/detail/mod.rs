//! Everything a page shows of one question: the reference, and what each run made of it.

mod agent;
mod answer;
mod verdict;
mod word_diff;

use juror_score::{ShownLimits, ShownOutput, StepDetails, StepPair};
use serde::Serialize;

use super::index::flag;
use super::judge_calls::VerdictCalls;
use super::page::PageSource;
use super::rows::QuestionRow;
use verdict::ShownVerdict;

/// How much of a question's details is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    All,
    /// Prompts and replies of judges are left out.
    NoCalls,
    /// Outputs are cut to a few lines.
    Little,
    /// Only the question and the scores.
    Nothing,
}

impl Keep {
    fn limits(self) -> ShownLimits {
        match self {
            Keep::All | Keep::NoCalls => ShownLimits::DEFAULT,
            Keep::Little | Keep::Nothing => {
                ShownLimits { rows: 5, documents: 5, characters: 300, cell_characters: 80 }
            }
        }
    }
}

/// How much is shown of a question.
struct Shown {
    limits: ShownLimits,
    calls: ShownCalls,
    /// Only texts, scores and verdicts are wanted, the latter for flags alone.
    is_brief: bool,
}

/// Whether prompts and replies of judges are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShownCalls {
    Yes,
    /// No, for this reason.
    No(&'static str),
}

impl ShownCalls {
    fn of(source: &PageSource<'_>, keep: Keep) -> ShownCalls {
        match keep {
            _ if source.options.redact => ShownCalls::No("left out (--redact)"),
            Keep::All => ShownCalls::Yes,
            _ => ShownCalls::No("left out to keep the file small (--max-size)"),
        }
    }

    /// Adds the calls to verdicts, or why there are none.
    fn add_to(self, verdicts: &mut [ShownVerdict], find: impl FnOnce() -> Vec<VerdictCalls>) {
        match self {
            ShownCalls::Yes if verdicts.is_empty() => {}
            ShownCalls::Yes => {
                for (verdict, calls) in verdicts.iter_mut().zip(find()) {
                    verdict.set_calls(calls);
                }
            }
            ShownCalls::No(why) => {
                for verdict in verdicts {
                    verdict.set_calls(Err(why.to_owned()));
                }
            }
        }
    }
}

/// One question.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Detail {
    pub(crate) text: String,
    reference: Option<ShownReference>,
    gold: Option<Gold>,
    /// By run, then by answer.
    runs: Vec<Vec<ShownAnswer>>,
}

/// What the reference expects of a question.
#[derive(Debug, Serialize)]
struct ShownReference {
    answer: Option<String>,
    groups: Vec<Vec<ShownExpected>>,
}

#[derive(Debug, Serialize)]
struct ShownExpected {
    name: String,
    args: Option<String>,
    output: Option<ShownOutput>,
    ordered: bool,
    required: Option<Vec<String>>,
}

/// The APIs that are right for a query.
#[derive(Debug, Default, Serialize)]
struct Gold {
    apis: Vec<(String, String)>,
}

/// What a run made of a question.
#[derive(Debug, Default, Serialize)]
struct ShownAnswer {
    trial: Option<u32>,
    status: &'static str,
    error: Option<String>,
    answer: Option<String>,
    diff: Option<Vec<(i8, String)>>,
    steps: Vec<ShownStep>,
    pairs: Vec<StepPair>,
    scores: serde_json::Map<String, serde_json::Value>,
    verdicts: Vec<ShownVerdict>,
    tree: Option<Vec<TreeNode>>,
    called: Option<Vec<(String, String, bool)>>,
    missing: Option<Vec<(String, String)>>,
}

#[derive(Debug, Default, Serialize)]
struct ShownStep {
    id: Option<String>,
    name: String,
    status: Option<String>,
    args: Option<String>,
    output: Option<ShownOutput>,
    error: Option<String>,
    at: Option<f64>,
    seconds: Option<f64>,
    source: Option<String>,
}

#[derive(Debug, Serialize)]
struct TreeNode {
    depth: usize,
    kind: &'static str,
    name: Option<String>,
    text: String,
}

impl Detail {
    /// What the index says of it.
    fn flags(&self) -> u8 {
        let verdicts = || self.runs.iter().flatten().flat_map(|answer| &answer.verdicts);
        let bit = |is_set: bool, bit: u8| if is_set { bit } else { 0 };
        bit(verdicts().any(ShownVerdict::is_unsure), flag::UNSURE)
            | bit(verdicts().any(|verdict| !verdict.flags.is_empty()), flag::IMITATES)
    }

    /// Leaves out what people or models wrote, and what tools returned.
    fn redact(&mut self) {
        if let Some(reference) = &mut self.reference {
            reference.answer = None;
            for step in reference.groups.iter_mut().flatten() {
                (step.args, step.output) = (None, None);
            }
        }
        self.runs.iter_mut().flatten().for_each(ShownAnswer::redact);
    }
}

impl ShownAnswer {
    fn redact(&mut self) {
        (self.answer, self.diff, self.tree) = (None, None, None);
        redact_text(&mut self.error);
        for step in &mut self.steps {
            (step.args, step.output) = (None, None);
            redact_text(&mut step.error);
        }
        for pair in &mut self.pairs {
            pair.details = StepDetails::default();
            pair.why = None;
        }
        self.verdicts.iter_mut().for_each(ShownVerdict::redact);
    }
}

/// Leaves a text out, but not that there is one.
fn redact_text(text: &mut Option<String>) {
    if let Some(text) = text {
        "…".clone_into(text);
    }
}

/// Collects the details of a question, and what the index says of them, as bits of [`flag`].
pub(crate) fn detail(source: &PageSource<'_>, row: &QuestionRow<'_>, keep: Keep) -> (Detail, u8) {
    let is_brief = keep == Keep::Nothing;
    let shown = Shown { limits: keep.limits(), calls: ShownCalls::of(source, keep), is_brief };
    let mut detail = match source.kind() {
        juror_compare::Kind::Eval => answer::detail(source, row, &shown),
        juror_compare::Kind::Bench => agent::detail(source, row, &shown),
    };
    let flags = detail.flags();
    if is_brief {
        detail.gold = None;
        detail.runs.iter_mut().flatten().for_each(|answer| answer.verdicts.clear());
    }
    if source.options.redact {
        detail.redact();
    }
    (detail, flags)
}

/// A text as the page shows it: no longer than the limit.
fn cut(text: &str, characters: usize) -> ShownOutput {
    let end = text.char_indices().nth(characters).map_or(text.len(), |(end, _)| end);
    ShownOutput::Text { text: text[..end].to_owned(), more: text[end..].chars().count() }
}

/// A text that the page shows as a line or a paragraph, cut with a mark.
fn shortened(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// JSON laid out for people; a text by itself.
fn laid_out(json: &str, characters: usize) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(json).ok()?;
    let text = match value {
        serde_json::Value::Null => return None,
        serde_json::Value::String(text) => text,
        value => serde_json::to_string_pretty(&value).unwrap_or_default(),
    };
    Some(shortened(&text, characters))
}
