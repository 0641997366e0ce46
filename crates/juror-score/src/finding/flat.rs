//! Findings as the flat keys of results, and back.
//!
//! Results, run folders and stored judgements write findings as keys with values:
//! `answer_relevance`, `answer_relevance_error`, `answer_relevance_cost`. [`Aspect::key`] and
//! [`Aspect::part`] define what a key means; this module defines the order of a finding's keys.

use std::borrow::Cow;

use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::judgement::JudgedByForm;
use super::{
    Aspect, Claims, Finding, Judgement, KeyPart, RepeatedClaims, RepeatedOutputs, Repeats, Score,
    Verdict,
};

/// The value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum FlatValue<'f> {
    /// A finite number.
    Number(f64),
    /// A number of things.
    Count(u64),
    /// A string.
    Text(&'f str),
    /// Any JSON.
    Json(Cow<'f, Value>),
}

impl FlatValue<'_> {
    /// Returns the number, if it is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            FlatValue::Number(number) => Some(*number),
            FlatValue::Count(count) => Some(*count as f64),
            FlatValue::Text(_) => None,
            FlatValue::Json(value) => value.as_f64(),
        }
    }

    /// Returns the string, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            FlatValue::Text(text) => Some(text),
            FlatValue::Json(value) => value.as_str(),
            FlatValue::Number(_) | FlatValue::Count(_) => None,
        }
    }

    /// Returns the value as JSON.
    pub fn to_json(&self) -> String {
        match self {
            FlatValue::Number(number) => Value::from(*number).to_string(),
            FlatValue::Count(count) => count.to_string(),
            FlatValue::Text(text) => Value::from(*text).to_string(),
            FlatValue::Json(value) => value.to_string(),
        }
    }
}

impl Serialize for FlatValue<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            FlatValue::Number(number) => serializer.serialize_f64(*number),
            FlatValue::Count(count) => serializer.serialize_u64(*count),
            FlatValue::Text(text) => serializer.serialize_str(text),
            FlatValue::Json(value) => value.serialize(serializer),
        }
    }
}

impl Finding {
    /// Calls `each` with every key of the finding and its value, in output order.
    pub fn each_pair<'f>(&'f self, mut each: impl FnMut(Cow<'f, str>, FlatValue<'f>)) {
        let mut reason = self.reason.as_deref();
        let mut tell = |part, value| each(self.aspect.key(part), value);
        match &self.verdict {
            Verdict::Scored(Score::One(value)) => {
                tell(KeyPart::Value(0), FlatValue::Number(*value));
            }
            Verdict::Scored(Score::Repeats(runs)) => {
                tell(KeyPart::Value(0), FlatValue::Number(runs.mean()));
                if let Some(repeats) = repeats_of(runs) {
                    tell(KeyPart::Repeats(0), repeats);
                }
            }
            Verdict::Scored(Score::Claims(claims)) => {
                each_of_claims(claims, claims.scores(), reason.take(), &mut tell);
            }
            Verdict::Scored(Score::RepeatedClaims(runs)) => {
                each_of_claims(&runs.shown, runs.means(), reason.take(), &mut tell);
                for (at, scores) in runs.scores.iter().enumerate() {
                    if let Some(repeats) = repeats_of(scores) {
                        tell(KeyPart::Repeats(at), repeats);
                    }
                }
            }
            Verdict::Scored(Score::Outputs(values)) => {
                for (at, value) in values.iter().enumerate() {
                    tell(KeyPart::Value(at), FlatValue::Json(Cow::Borrowed(value)));
                }
            }
            Verdict::Scored(Score::RepeatedOutputs(RepeatedOutputs { values, repeats })) => {
                for (at, value) in values.iter().enumerate() {
                    tell(KeyPart::Value(at), FlatValue::Json(Cow::Borrowed(value)));
                }
                for (at, repeats) in repeats.iter().enumerate() {
                    let repeats = Value::Array(repeats.clone());
                    tell(KeyPart::Repeats(at), FlatValue::Json(Cow::Owned(repeats)));
                }
            }
            Verdict::Failed(why) => {
                // Write the outputs as `null`, so that a reader who looks for one finds that there
                // is none.
                if let Aspect::Custom(own) = &self.aspect {
                    for at in 0..own.outputs.len() {
                        tell(KeyPart::Value(at), FlatValue::Json(Cow::Owned(Value::Null)));
                    }
                }
                tell(KeyPart::Error, FlatValue::Text(&why.message));
            }
            Verdict::NotApplicable(_) => {}
        }
        if let Some(cost) = self.cost {
            tell(KeyPart::Cost, FlatValue::Number(cost));
        }
        if let Some(reason) = reason {
            tell(KeyPart::Reason, FlatValue::Text(reason));
        }
    }

    /// Calls `each` with every number of the finding and its key.
    pub fn each_number<'f>(&'f self, mut each: impl FnMut(Cow<'f, str>, f64)) {
        self.each_pair(|key, value| {
            if let Some(number) = value.as_f64() {
                each(key, number);
            }
        });
    }
}

/// Calls `tell` with the parts of claims and these scores of theirs.
fn each_of_claims<'f>(
    claims: &'f Claims,
    scores: [f64; 3],
    reason: Option<&'f str>,
    tell: &mut impl FnMut(KeyPart, FlatValue<'f>),
) {
    let Claims { reference, actual, matching, listed } = claims;
    for (at, count) in [reference, actual, matching].into_iter().enumerate() {
        tell(KeyPart::Count(at), FlatValue::Count(*count));
    }
    if let Some(reason) = reason {
        tell(KeyPart::Reason, FlatValue::Text(reason));
    }
    for (at, score) in scores.into_iter().enumerate() {
        tell(KeyPart::Value(at), FlatValue::Number(score));
    }
    if let Some(listed) = listed {
        tell(KeyPart::Listed, FlatValue::Json(Cow::Borrowed(listed)));
    }
}

/// Returns the scores of several runs as a list; `None` if there was only one run.
fn repeats_of<'f>(runs: &Repeats) -> Option<FlatValue<'f>> {
    let scores = runs.scores();
    let list = || scores.iter().map(|score| score.map_or(Value::Null, Value::from)).collect();
    (scores.len() > 1).then(|| FlatValue::Json(Cow::Owned(Value::Array(list()))))
}

/// Reads the scores of several runs.
fn read_runs(repeats: &Value) -> Option<Repeats> {
    let score = |value: &Value| match value {
        Value::Null => Some(None),
        value => value.as_f64().map(Some),
    };
    Repeats::new(repeats.as_array()?.iter().map(score).collect::<Option<_>>()?)
}

/// A key with its value, as stored in files.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct FlatPair {
    /// The key, such as `answer_recall` or `answer_correctness_reason`.
    pub key: String,
    /// The actual step that it is about, if any.
    #[serde(default)]
    pub step: Option<usize>,
    /// The value.
    pub value: Value,
}

/// A pair being written.
#[derive(Serialize)]
struct WrittenPair<'f> {
    key: Cow<'f, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<usize>,
    value: WrittenValue<'f>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum WrittenValue<'f> {
    Flat(FlatValue<'f>),
    JudgedBy(JudgedByForm<'f>),
}

impl Serialize for Judgement {
    /// Writes a list of pairs, each like [`FlatPair`].
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut pairs = Vec::new();
        for finding in &self.findings {
            let step = finding.step;
            finding.each_pair(|key, value| {
                pairs.push(WrittenPair { key, step, value: WrittenValue::Flat(value) });
            });
        }
        pairs.extend(self.judged_by_form().map(|by| WrittenPair {
            key: Cow::Borrowed(Judgement::JUDGED_BY),
            step: None,
            value: WrittenValue::JudgedBy(by),
        }));
        serializer.collect_seq(pairs)
    }
}

impl Judgement {
    /// Reads what judges of these aspects wrote. Returns `None` if they cannot have written it. The
    /// cause of a failure is not stored, so it counts as one in the data.
    pub fn read(pairs: Vec<FlatPair>, aspects: &[Aspect]) -> Option<Judgement> {
        let mut judgement = Judgement::default();
        let mut draft: Option<Draft<'_>> = None;
        for FlatPair { key, step, value } in pairs {
            if key == Judgement::JUDGED_BY && step.is_none() {
                judgement.read_judged_by(value)?;
                continue;
            }
            let known = aspects.iter().find_map(|aspect| Some((aspect, aspect.part(&key)?)));
            let (aspect, part) = known?;
            let goes_on = |draft: &Draft<'_>| draft.is_of(aspect, step) && draft.lacks(part);
            if !draft.as_ref().is_some_and(goes_on) {
                let ended = draft.replace(Draft::new(aspect, step));
                if let Some(ended) = ended {
                    judgement.findings.push(ended.finish()?);
                }
            }
            draft.as_mut()?.take(part, value)?;
        }
        if let Some(last) = draft {
            judgement.findings.push(last.finish()?);
        }
        Some(judgement)
    }
}

/// A finding whose keys are being read.
struct Draft<'a> {
    aspect: &'a Aspect,
    step: Option<usize>,
    values: Vec<Value>,
    counts: Vec<u64>,
    listed: Option<Value>,
    /// What each repeat found, for each value.
    repeats: Vec<Value>,
    error: Option<String>,
    reason: Option<String>,
    cost: Option<f64>,
}

impl<'a> Draft<'a> {
    fn new(aspect: &'a Aspect, step: Option<usize>) -> Draft<'a> {
        Draft {
            aspect,
            step,
            values: Vec::new(),
            counts: Vec::new(),
            listed: None,
            repeats: Vec::new(),
            error: None,
            reason: None,
            cost: None,
        }
    }

    fn is_of(&self, aspect: &Aspect, step: Option<usize>) -> bool {
        self.step == step && self.aspect == aspect
    }

    /// Returns whether a part may still come. A part that is already present begins another finding
    /// of the same aspect, and so does an error after a score.
    fn lacks(&self, part: KeyPart) -> bool {
        match part {
            KeyPart::Value(at) => self.values.len() == at && self.error.is_none(),
            KeyPart::Count(at) => self.counts.len() == at && self.error.is_none(),
            KeyPart::Listed => self.listed.is_none() && !self.values.is_empty(),
            KeyPart::Repeats(at) => self.repeats.len() == at && at < self.values.len(),
            KeyPart::Error => self.error.is_none() && self.counts.is_empty() && self.has_no_score(),
            KeyPart::Reason => self.reason.is_none(),
            KeyPart::Cost => self.cost.is_none(),
        }
    }

    /// Returns whether all values so far are `null`.
    fn has_no_score(&self) -> bool {
        self.values.iter().all(Value::is_null)
    }

    /// Adds a part; returns `None` if its value has the wrong type.
    fn take(&mut self, part: KeyPart, value: Value) -> Option<()> {
        let text = |value: Value| match value {
            Value::String(text) => Some(text),
            _ => None,
        };
        match part {
            KeyPart::Value(at) => {
                let fits = self.values.len() == at;
                self.values.push(value);
                fits.then_some(())?;
            }
            KeyPart::Count(at) => {
                let fits = self.counts.len() == at;
                self.counts.push(value.as_u64()?);
                fits.then_some(())?;
            }
            KeyPart::Listed => self.listed = Some(value),
            KeyPart::Repeats(at) => {
                let fits = self.repeats.len() == at;
                self.repeats.push(value);
                fits.then_some(())?;
            }
            KeyPart::Error => self.error = Some(text(value)?),
            KeyPart::Reason => self.reason = Some(text(value)?),
            KeyPart::Cost => self.cost = Some(value.as_f64()?),
        }
        Some(())
    }

    /// Returns the finding, if it is complete.
    fn finish(mut self) -> Option<Finding> {
        let verdict = match self.error.take() {
            Some(message) => Verdict::failed(message),
            None if self.values.len() != self.aspect.n_values() => return None,
            None => Verdict::Scored(self.score()?),
        };
        let Draft { aspect, step, reason, cost, .. } = self;
        Some(Finding { aspect: aspect.clone(), step, verdict, reason, cost })
    }

    /// Returns the score. That of several repeats follows from what each found.
    fn score(&mut self) -> Option<Score> {
        let repeats = std::mem::take(&mut self.repeats);
        if !repeats.is_empty() && repeats.len() != self.aspect.n_values() {
            return None;
        }
        match self.aspect {
            Aspect::Metric(_) => match repeats.first() {
                None => self.values[0].as_f64().map(Score::One),
                Some(repeats) => read_runs(repeats).map(Score::Repeats),
            },
            Aspect::Claims(_) => self.claims(&repeats),
            Aspect::Custom(_) if repeats.is_empty() => {
                Some(Score::Outputs(std::mem::take(&mut self.values)))
            }
            Aspect::Custom(_) => read_outputs(repeats),
        }
    }

    /// Returns the claims; their scores follow from the counts, or from the scores of all repeats.
    fn claims(&mut self, repeats: &[Value]) -> Option<Score> {
        let [reference, actual, matching] = self.counts[..].try_into().ok()?;
        let claims = Claims { reference, actual, matching, listed: self.listed.take() };
        if repeats.is_empty() {
            return Some(Score::Claims(claims));
        }
        let scores: Vec<Repeats> = repeats.iter().map(read_runs).collect::<Option<_>>()?;
        let scores = scores.try_into().ok()?;
        Some(Score::RepeatedClaims(Box::new(RepeatedClaims { shown: claims, scores })))
    }
}

/// Reads the values that every repeat gave for each output.
fn read_outputs(repeats: Vec<Value>) -> Option<Score> {
    let list = |value: Value| match value {
        Value::Array(list) => Some(list),
        _ => None,
    };
    let repeats = repeats.into_iter().map(list).collect::<Option<Vec<_>>>()?;
    let is_even = repeats.iter().all(|list| list.len() == repeats[0].len());
    is_even.then(|| Score::RepeatedOutputs(RepeatedOutputs::new(repeats)))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::finding::JudgedBy;
    use crate::profile::AnswerErrorKey;

    fn aspects() -> Vec<Aspect> {
        vec![
            Aspect::Metric("answer_relevance"),
            Aspect::Claims(AnswerErrorKey::Eval),
            Aspect::Metric("retrieval_answer_recall"),
            Aspect::Metric("retrieval_answer_f1"),
            Aspect::custom("tone", vec!["politeness".into(), "parse_error".into()]),
            Aspect::custom("length", vec!["words".into()]),
        ]
    }

    fn value() -> impl Strategy<Value = Value> {
        prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-1e9..1e9_f64).prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,6}".prop_map(Value::from),
            Just(json!({"b": [1, "x"], "a": null})),
        ]
    }

    /// The scores of two repeats and more, at least one of which came to a verdict.
    fn runs(n_repeats: usize) -> impl Strategy<Value = Repeats> {
        let scores = proptest::collection::vec(proptest::option::of(-1.0..1.0_f64), n_repeats - 1);
        (scores, -1.0..1.0_f64).prop_map(|(mut scores, last)| {
            scores.push(Some(last));
            Repeats::new(scores).expect("a score")
        })
    }

    /// The same score, found by several repeats.
    fn repeated(score: Score) -> BoxedStrategy<Score> {
        match score {
            Score::Claims(shown) => [runs(3), runs(3), runs(3)]
                .prop_map(move |scores| {
                    Score::RepeatedClaims(Box::new(RepeatedClaims { shown: shown.clone(), scores }))
                })
                .boxed(),
            Score::Outputs(values) => {
                let repeats = proptest::collection::vec(value(), 2);
                proptest::collection::vec(repeats, values.len())
                    .prop_map(|repeats| Score::RepeatedOutputs(RepeatedOutputs::new(repeats)))
                    .boxed()
            }
            _ => (2..5_usize).prop_flat_map(runs).prop_map(Score::Repeats).boxed(),
        }
    }

    fn score(aspect: &Aspect) -> BoxedStrategy<Score> {
        let once = score_once(aspect);
        let repeated = once.clone().prop_flat_map(repeated);
        prop_oneof![once, repeated].boxed()
    }

    fn score_once(aspect: &Aspect) -> BoxedStrategy<Score> {
        match aspect {
            Aspect::Metric(_) => (-1.0..1.0_f64).prop_map(Score::One).boxed(),
            Aspect::Claims(_) => {
                let counts = (1..9_u64, 1..9_u64).prop_flat_map(|(reference, actual)| {
                    (Just(reference), Just(actual), 0..=reference.min(actual))
                });
                let claims = |((reference, actual, matching), listed)| {
                    Score::Claims(Claims { reference, actual, matching, listed })
                };
                (counts, proptest::option::of(value())).prop_map(claims).boxed()
            }
            Aspect::Custom(own) => proptest::collection::vec(value(), own.outputs.len())
                .prop_map(Score::Outputs)
                .boxed(),
        }
    }

    fn finding() -> impl Strategy<Value = Finding> {
        proptest::sample::select(aspects()).prop_flat_map(|aspect| {
            let scored = score(&aspect).prop_map(Verdict::Scored);
            let verdict = prop_oneof![scored, ".{0,9}".prop_map(Verdict::failed)];
            let step = proptest::option::of(0..3_usize);
            let reason = proptest::option::of(".{0,9}");
            let cost = proptest::option::of(0.0..1.0_f64);
            (Just(aspect), step, verdict, reason, cost).prop_map(
                |(aspect, step, verdict, reason, cost)| Finding {
                    aspect,
                    step,
                    verdict,
                    reason,
                    cost,
                },
            )
        })
    }

    fn judgement() -> impl Strategy<Value = Judgement> {
        let by = (".{0,5}", proptest::option::of("e"), proptest::collection::vec("f.{0,3}", 0..3));
        let findings = proptest::collection::vec(finding(), 0..6);
        (findings, proptest::option::of(by)).prop_map(|(findings, by)| {
            let flags = by.as_ref().map(|(_, _, flags)| flags.clone()).unwrap_or_default();
            let judged_by = by.map(|(model, embedding, _)| JudgedBy {
                model,
                embedding,
                prompts: BTreeMap::from([("p".to_owned(), "h".to_owned())]),
            });
            Judgement { findings, flags, judged_by }
        })
    }

    proptest! {
        #[test]
        fn what_is_read_is_what_was_written(judgement in judgement()) {
            let text = serde_json::to_string(&judgement).expect("JSON");
            let pairs = serde_json::from_str(&text).expect("pairs");
            let read = Judgement::read(pairs, &aspects());
            prop_assert_eq!(read.as_ref(), Some(&judgement), "{}", text);
            let again = serde_json::to_string(&read).expect("JSON");
            prop_assert_eq!(again, text);
        }
    }

    fn keys(finding: &Finding) -> Vec<String> {
        let mut keys = Vec::new();
        finding.each_pair(|key, value| keys.push(format!("{key}={}", value.to_json())));
        keys
    }

    #[test]
    fn keys_come_in_the_order_of_the_documented_results() {
        let claims = Claims { reference: 4, actual: 2, matching: 2, listed: Some(json!([])) };
        let mut finding = Finding::new(
            Aspect::Claims(AnswerErrorKey::Eval),
            Verdict::Scored(Score::Claims(claims)),
        );
        (finding.reason, finding.cost) = (Some("half".into()), Some(0.5));
        assert_eq!(
            keys(&finding),
            [
                "answer_reference_claims_count=4",
                "answer_actual_claims_count=2",
                "answer_matching_claims_count=2",
                "answer_correctness_reason=\"half\"",
                "answer_recall=0.5",
                "answer_precision=1.0",
                "answer_f1=0.6666666666666666",
                "answer_claims=[]",
                "answer_correctness_cost=0.5",
            ]
        );
        let failed = Finding {
            verdict: Verdict::failed("no"),
            reason: None,
            aspect: Aspect::custom("tone", vec!["a".into(), "b".into()]),
            ..finding
        };
        assert_eq!(keys(&failed), ["a=null", "b=null", "tone_error=\"no\"", "tone_cost=0.5"]);
    }

    #[test]
    fn what_each_repeat_found_stands_beside_the_score() {
        let runs = |scores: [Option<f64>; 3]| Repeats::new(scores.into()).expect("scores");
        let scores = runs([Some(0.5), None, Some(1.0)]);
        let verdict = Verdict::Scored(Score::Repeats(scores.clone()));
        let relevance = Finding::new(Aspect::Metric("answer_relevance"), verdict);
        assert_eq!(
            keys(&relevance),
            ["answer_relevance=0.75", "answer_relevance_repeats=[0.5,null,1.0]"]
        );
        let shown = Claims { reference: 2, actual: 2, matching: 1, listed: None };
        let claims = RepeatedClaims { shown, scores: [scores.clone(), scores.clone(), scores] };
        let claims = Verdict::Scored(Score::RepeatedClaims(Box::new(claims)));
        let claims = Finding::new(Aspect::Claims(AnswerErrorKey::Eval), claims);
        assert_eq!(
            keys(&claims)[3..],
            [
                "answer_recall=0.75",
                "answer_precision=0.75",
                "answer_f1=0.75",
                "answer_recall_repeats=[0.5,null,1.0]",
                "answer_precision_repeats=[0.5,null,1.0]",
                "answer_f1_repeats=[0.5,null,1.0]",
            ]
        );
        let tone =
            RepeatedOutputs::new(vec![vec![json!("a"), json!("b")], vec![json!(1), json!(2)]]);
        let tone =
            Finding::new(aspects()[4].clone(), Verdict::Scored(Score::RepeatedOutputs(tone)));
        assert_eq!(
            keys(&tone),
            [
                "politeness=null",
                "parse_error=1.5",
                "politeness_repeats=[\"a\",\"b\"]",
                "parse_error_repeats=[1,2]",
            ]
        );
        let once = Repeats::new(vec![Some(0.5)]).expect("a score");
        let once = Finding { verdict: Verdict::Scored(Score::Repeats(once)), ..relevance };
        assert_eq!(keys(&once), ["answer_relevance=0.5"], "a single run is nothing to tell");
    }

    #[test]
    fn what_other_judges_wrote_is_not_read() {
        let read = |pairs: Value| {
            Judgement::read(serde_json::from_value(pairs).expect("pairs"), &aspects())
        };
        for pairs in [
            json!([{"key": "style", "value": 1.0}]),
            json!([{"key": "answer_relevance", "value": "high"}]),
            json!([{"key": "answer_recall", "value": 0.5}]),
            json!([{"key": "politeness", "value": 1}]),
            json!([{"key": "judged_by", "value": "somebody"}]),
        ] {
            assert_eq!(read(pairs.clone()), None, "{pairs}");
        }
        assert_eq!(read(json!([])), Some(Judgement::default()));
    }

    #[test]
    fn an_output_may_be_named_like_an_error() {
        let pairs =
            json!([{"key": "politeness", "value": 1}, {"key": "parse_error", "value": "x"}]);
        let read = Judgement::read(serde_json::from_value(pairs).expect("pairs"), &aspects());
        assert!(!read.expect("findings").has_failure());
    }
}
