//! How far an answer repeats the words of the reference answer, computed without a model.
//!
//! Overlap is not correctness: "Oslo is not the capital" repeats nearly all of "Oslo is the capital".
//! The first three metrics are defined elsewhere and computed as their authors' programs compute
//! them; [`mention_recall`] is defined here.

mod mentions;
mod numbers;
mod rouge;
mod squad;

use std::borrow::Cow;

pub use mentions::{MentionRecall, has_mentions, mention_recall};
pub use rouge::{TooManyWords, has_ascii_words, rouge_l};
pub use squad::{exact_match, token_f1};

use crate::finding::{Aspect, Finding, Reason, Verdict};
use crate::profile::{ErrorResponses, Profile};
use crate::record::Case;

/// The metrics, in the order of the metric table.
const METRICS: [&str; 4] =
    ["answer_exact_match", "answer_token_f1", "answer_rouge_l", "answer_mention_recall"];

/// Whether a key of results is that of a metric of overlap, or of its error.
#[inline]
pub fn is_overlap_key(key: &str) -> bool {
    key.starts_with("answer_") && METRICS.contains(&key.strip_suffix("_error").unwrap_or(key))
}

/// Compares the answer of a case with its reference answer.
pub(crate) fn compare_answers(case: &Case<'_>, profile: &Profile) -> [Finding; 4] {
    let (reference, actual) = match texts(case, profile) {
        Ok(texts) => texts,
        Err(verdict) => {
            return METRICS.map(|name| Finding::new(Aspect::Metric(name), verdict.clone()));
        }
    };
    let [exact, tokens, rouge, mentions] = METRICS.map(Aspect::Metric);
    let is_exact = f64::from(u8::from(exact_match(&reference, &actual)));
    [
        Finding::new(exact, Verdict::scored(is_exact)),
        Finding::new(tokens, Verdict::scored(token_f1(&reference, &actual))),
        Finding::new(rouge, rouge_verdict(&reference, &actual, profile)),
        mention_finding(mentions, &reference, &actual),
    ]
}

/// Returns the reference answer and the actual answer, or the verdict on a case that lacks one.
fn texts<'a>(case: &Case<'a>, profile: &Profile) -> Result<(Cow<'a, str>, Cow<'a, str>), Verdict> {
    let is_left_out = profile.steps_of_errors == ErrorResponses::LeftOut;
    let reference = case.reference_answer().filter(|text| !text.trim().is_empty());
    let Some(reference) = reference else {
        return Err(Verdict::NotApplicable(Reason::NoReferenceAnswer));
    };
    if is_left_out && case.trajectory.ending.is_error() {
        return Err(Verdict::NotApplicable(Reason::ErrorResponse));
    }
    let Some(actual) = case.actual_answer() else {
        return Err(Verdict::NotApplicable(Reason::NoActualAnswer));
    };
    if actual.trim().is_empty() {
        return Err(Verdict::failed("the actual answer is blank"));
    }
    Ok((reference, actual))
}

fn rouge_verdict(reference: &str, actual: &str, profile: &Profile) -> Verdict {
    if !has_ascii_words(reference) {
        return Verdict::NotApplicable(Reason::NoAsciiWords);
    }
    match rouge_l(reference, actual, profile.limits.word_pairs) {
        Ok(score) => Verdict::scored(score),
        Err(too_many) => Verdict::failed(too_many.to_string()),
    }
}

/// Makes the finding about mentions, whose reason lists what the answer lacks.
fn mention_finding(aspect: Aspect, reference: &str, actual: &str) -> Finding {
    match mention_recall(reference, actual) {
        None => Finding::new(aspect, Verdict::NotApplicable(Reason::NoMentions)),
        Some(recall) => Finding {
            reason: recall.describe_missing(),
            ..Finding::new(aspect, Verdict::scored(recall.score()))
        },
    }
}

#[cfg(test)]
mod tests;
