//! What judges said of an answer.

use juror_score::{Finding, Judgement, KeyPart};
use serde::Serialize;
use serde_json::Value;

use crate::html::judge_calls::{JudgeCall, VerdictCalls};

/// What a judge found about one aspect.
#[derive(Debug, Default, Serialize)]
pub(super) struct ShownVerdict {
    pub(super) metric: String,
    pub(super) step: Option<usize>,
    pub(super) numbers: Vec<(String, Value)>,
    pub(super) error: Option<String>,
    pub(super) reason: Option<String>,
    pub(super) claims: Option<ShownClaims>,
    pub(super) repeats: Vec<(String, Vec<Value>)>,
    pub(super) usd: Option<f64>,
    pub(super) by: Option<String>,
    pub(super) flags: Vec<String>,
    pub(super) calls: Vec<JudgeCall>,
    /// Why the calls are not there, if they are not.
    pub(super) no_calls: Option<String>,
}

/// The claims of two answers, and which of them match.
#[derive(Debug, Default, Serialize)]
pub(super) struct ShownClaims {
    reference: Vec<String>,
    actual: Vec<String>,
    matching: Vec<(usize, usize)>,
}

impl ShownVerdict {
    /// Whether the judge contradicts itself, or says that it is unsure.
    pub(super) fn is_unsure(&self) -> bool {
        let differ = |(_, values): &(String, Vec<Value>)| {
            let mut known = values.iter().filter(|value| !value.is_null());
            let first = known.next();
            known.any(|value| Some(value) != first)
        };
        let says_so = |(_, value): &(String, Value)| value.as_str() == Some("Unsure");
        self.repeats.iter().any(differ) || self.numbers.iter().any(says_so)
    }

    pub(super) fn set_calls(&mut self, found: VerdictCalls) {
        match found {
            Ok(calls) => self.calls = calls,
            Err(why) => self.no_calls = Some(why),
        }
    }

    pub(super) fn redact(&mut self) {
        (self.reason, self.claims) = (None, None);
        super::redact_text(&mut self.error);
        let texts = self.numbers.iter_mut().map(|(_, value)| value);
        for text in texts.chain(self.repeats.iter_mut().flat_map(|(_, values)| values)) {
            if text.is_string() && text.as_str() != Some("Unsure") {
                *text = "…".into();
            }
        }
        self.flags.iter_mut().for_each(|flag| "…".clone_into(flag));
    }
}

/// The verdicts of all judges.
pub(super) fn verdicts(judgement: &Judgement) -> Vec<ShownVerdict> {
    let mut verdicts: Vec<ShownVerdict> = judgement.findings.iter().map(verdict).collect();
    for own in &mut verdicts {
        own.by = judgement.judged_by.as_ref().map(|by| by.model.clone());
    }
    // A flag is about the texts that were judged, whatever was asked about them.
    if let Some(first) = verdicts.first_mut() {
        first.flags.clone_from(&judgement.flags);
    }
    verdicts
}

fn verdict(finding: &Finding) -> ShownVerdict {
    let mut own = ShownVerdict {
        metric: finding.aspect.name().to_owned(),
        step: finding.step,
        usd: finding.cost,
        ..ShownVerdict::default()
    };
    finding.each_pair(|key, value| match finding.aspect.part(&key) {
        Some(KeyPart::Error) => own.error = value.as_str().map(str::to_owned),
        Some(KeyPart::Reason) => own.reason = value.as_str().map(str::to_owned),
        Some(KeyPart::Cost) => {}
        Some(KeyPart::Listed) => {
            own.claims =
                serde_json::from_str(&value.to_json()).ok().map(|listed: Value| claims(&listed));
        }
        Some(KeyPart::Repeats(at)) => {
            let name = finding.aspect.key(KeyPart::Value(at)).into_owned();
            let values = serde_json::from_str(&value.to_json()).unwrap_or_default();
            own.repeats.push((name, values));
        }
        Some(KeyPart::Value(_) | KeyPart::Count(_)) | None => {
            let value = serde_json::from_str(&value.to_json()).unwrap_or(Value::Null);
            own.numbers.push((key.into_owned(), plain(value)));
        }
    });
    own
}

/// A number or a text; anything else as JSON.
fn plain(value: Value) -> Value {
    match value {
        Value::Null | Value::Number(_) | Value::String(_) => value,
        other => Value::String(other.to_string()),
    }
}

/// Reads claims as results list them: each actual claim names the reference claim it matches,
/// counted from 1.
fn claims(listed: &Value) -> ShownClaims {
    let list = |key: &str| listed.get(key).and_then(Value::as_array).into_iter().flatten();
    let texts = |key: &str| -> Vec<String> {
        let text = |claim: &Value| claim.get("claim").and_then(Value::as_str).map(str::to_owned);
        list(key).map(|claim| text(claim).unwrap_or_else(|| claim.to_string())).collect()
    };
    let pair = |(actual, claim): (usize, &Value)| {
        let number = usize::try_from(claim.get("matches")?.as_u64()?).ok()?;
        Some((number.checked_sub(1)?, actual))
    };
    ShownClaims {
        reference: texts("reference"),
        actual: texts("actual"),
        matching: list("actual").enumerate().filter_map(pair).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_paired_as_the_judge_paired_them() {
        let listed = serde_json::json!({
            "reference": [{"claim": "Oslo", "matched_by": [2]}, {"claim": "a fjord", "matched_by": []}],
            "actual": [{"claim": "Bergen", "matches": null}, {"claim": "Oslo it is", "matches": 1}],
        });
        let claims = claims(&listed);
        assert_eq!(claims.reference, ["Oslo", "a fjord"]);
        assert_eq!(claims.actual, ["Bergen", "Oslo it is"]);
        assert_eq!(claims.matching, [(0, 1)]);
    }

    #[test]
    fn a_judge_is_unsure_if_its_repeats_differ_or_it_says_so() {
        let with = |repeats: &[f64], status: &str| ShownVerdict {
            repeats: vec![("f1".into(), repeats.iter().map(|score| Value::from(*score)).collect())],
            numbers: vec![("answer_status".into(), status.into())],
            ..ShownVerdict::default()
        };
        assert!(!with(&[1.0, 1.0], "Solved").is_unsure());
        assert!(with(&[1.0, 0.5], "Solved").is_unsure());
        assert!(with(&[], "Unsure").is_unsure());
    }
}
