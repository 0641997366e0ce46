//! Finds what judges were asked about an answer and what they replied, among kept replies.
//!
//! A reply is kept under a key made of everything that was sent. So judging an answer once more, with
//! kept replies alone, makes the same calls: whatever is found is what was sent, and what came back.
//! Nothing is sent. Replies that lead to another verdict than the one in the result are not shown:
//! they must be of another run.

use std::pin::pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};

use juror_compare::Kind;
use juror_judge::{PassRateJudge, Retraced};
use juror_models::{CacheMode, Models, Outcome, Tape, TapedCall};
use juror_read::ResultCase;
use juror_report::{AnswerText, JudgeCall, JudgeCalls, VerdictCalls};
use juror_run::{AskOptions, Judges, judges, models_for, pass_rate_judge};
use juror_score::{ContextJudge, Finding, KeyPart, Profile};
use serde_json::Value;

use crate::judge_settings::JudgeReplies;
use crate::judged_attempt::JudgedAttempt;
use crate::scored_run::ScoredRun;

// These stand in reports that people pass on, so they name no folders of this machine.
const NOT_KEPT: &str =
    "not in the reply cache: replies were not kept, were removed, or are somewhere else";
const OF_OTHERS: &str = "replies in the cache lead to another verdict, so they are not shown";

/// Finds the calls of a run's judges.
pub(crate) struct KeptCalls {
    kind: Kind,
    profile: Profile,
    replies: JudgeReplies,
    /// Judges that nobody uses at the moment; each thread needs its own.
    idle: Mutex<Vec<Retracer>>,
    /// Why there are no judges.
    failure: OnceLock<String>,
}

/// Judges with kept replies alone.
struct Retracer {
    judges: RunJudges,
    tape: Tape,
}

enum RunJudges {
    OfAnswers(Judges),
    OfAttempts(PassRateJudge, Models),
}

impl KeptCalls {
    pub(crate) fn of(run: &ScoredRun, replies: &JudgeReplies) -> KeptCalls {
        KeptCalls {
            kind: run.facts.kind,
            profile: run.profile().clone(),
            replies: replies.of(run.manifest.as_ref()),
            idle: Mutex::default(),
            failure: OnceLock::new(),
        }
    }

    /// Lets judges judge, and keeps them for the next time.
    fn with_judges<T>(&self, judge: impl FnOnce(&Retracer) -> T) -> Result<T, String> {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let known = idle().pop();
        let retracer = match known {
            Some(known) => known,
            None => self.retracer()?,
        };
        let judged = judge(&retracer);
        idle().push(retracer);
        Ok(judged)
    }

    fn retracer(&self) -> Result<Retracer, String> {
        if let Some(why) = self.failure.get() {
            return Err(why.clone());
        }
        let made = Retracer::new(self.kind, &self.profile, &self.replies);
        made.map_err(|why| self.failure.get_or_init(|| why).clone())
    }
}

impl JudgeCalls for KeptCalls {
    fn of_answer(&self, result: &ResultCase<'_>) -> Vec<VerdictCalls> {
        let findings = &result.judgement.findings;
        let retraced = self.with_judges(|retracer| retracer.retrace(result, &self.profile));
        match retraced {
            Err(why) => findings.iter().map(|_| Err(why.clone())).collect(),
            Ok(retraced) => findings.iter().map(|finding| calls_of(finding, &retraced)).collect(),
        }
    }

    fn of_attempt(&self, text: &AnswerText<'_>) -> VerdictCalls {
        let Some(attempt) = JudgedAttempt::read(text) else { return Err(NOT_KEPT.to_owned()) };
        if !attempt.is_by_model() {
            return Ok(Vec::new());
        }
        let mut why = NOT_KEPT;
        for (query, answer) in attempt.answers() {
            let (judged, calls) = self.with_judges(|retracer| {
                retracer.judge_attempt(&query, answer.as_deref(), attempt.n_repeats())
            })?;
            match replied(&calls) {
                Ok(calls) if attempt.agrees_with(&judged) => return Ok(calls),
                Ok(_) => why = OF_OTHERS,
                Err(_) => {}
            }
        }
        Err(why.to_owned())
    }
}

impl Retracer {
    fn new(kind: Kind, profile: &Profile, replies: &JudgeReplies) -> Result<Retracer, String> {
        let JudgeReplies { settings, environment, cache } = replies;
        let (cache, cache_mode) = (cache.clone(), Some(CacheMode::ReadOnly));
        let options = AskOptions { cache, cache_mode, ..AskOptions::default() };
        let tape = Tape::default();
        // Whoever reads a report does not want to hear about prices.
        let tell: juror_models::Tell = Arc::new(|_: &str| {});
        let judges = match kind {
            Kind::Eval => {
                let made = judges(settings, profile, environment, options, tell);
                let made = made.map_err(|error| first_line(&error))?;
                let judges = made.ok_or("the settings name no judge")?;
                RunJudges::OfAnswers(Judges { models: judges.models.taped(tape.clone()), ..judges })
            }
            Kind::Bench => {
                let opened = models_for(settings, environment, options, tell);
                let (models, _) = opened.map_err(|error| first_line(&error))?;
                let judge = pass_rate_judge(settings).map_err(|error| first_line(&error))?;
                RunJudges::OfAttempts(judge, models.taped(tape.clone()))
            }
        };
        Ok(Retracer { judges, tape })
    }

    fn retrace(&self, result: &ResultCase<'_>, profile: &Profile) -> Vec<Retraced> {
        let RunJudges::OfAnswers(judges) = &self.judges else { return Vec::new() };
        let case = result.case();
        let compares = profile.contexts == ContextJudge::Model;
        let matching = compares.then(|| case.matching(profile)).flatten();
        finish(judges.panel.retrace(&case, matching.as_ref(), &judges.models, &self.tape))
    }

    fn judge_attempt(
        &self,
        query: &str,
        answer: Option<&juror_toolbench::answer::Answer<'_>>,
        n_repeats: u32,
    ) -> (juror_judge::JudgedAnswer, Vec<TapedCall>) {
        let RunJudges::OfAttempts(judge, models) = &self.judges else { return Default::default() };
        self.tape.take();
        let judged = finish(judge.judge(query, answer, models, n_repeats));
        let mut calls = self.tape.take();
        calls.sort_by_key(|call| call.repeat);
        (judged, calls)
    }
}

/// The calls of a finding among all that were made.
fn calls_of(finding: &Finding, retraced: &[Retraced]) -> VerdictCalls {
    let is_own = |other: &&Retraced| {
        other.finding.step == finding.step && has_keys_of(&other.finding, finding)
    };
    let Some(own) = retraced.iter().find(is_own) else { return Err(NOT_KEPT.to_owned()) };
    let calls = replied(&own.calls)?;
    if !says_same(&own.finding, finding) {
        return Err(OF_OTHERS.to_owned());
    }
    if calls.is_empty() && finding.aspect.name().ends_with("_f1") {
        return Err("with recall and precision, from which it follows".into());
    }
    Ok(calls)
}

/// The calls, if all of them have replies.
fn replied(calls: &[TapedCall]) -> VerdictCalls {
    calls.iter().map(shown_call).collect::<Option<_>>().ok_or_else(|| NOT_KEPT.to_owned())
}

/// Finishes what waits for nothing outside: kept replies are there at once.
fn finish<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(found) = future.as_mut().poll(&mut context) {
            return found;
        }
    }
}

fn first_line(error: &dyn std::error::Error) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// A call as pages show it; `None` if it has no reply.
fn shown_call(call: &TapedCall) -> Option<JudgeCall> {
    let reply = call.reply.as_ref()?;
    let shown = JudgeCall::new(call.purpose.clone(), call.model.clone(), call.repeat);
    let shown = call.messages.iter().fold(shown, |shown, (role, text)| shown.message(role, text));
    let said = match &reply.said {
        Outcome::Text(text) => ("reply", &**text),
        Outcome::Declined(why) => ("declined", &**why),
    };
    Some(shown.reply(said, (reply.input_tokens, reply.output_tokens), reply.usd))
}

/// The keys and values of a finding, as results have them, without what depends on prices.
fn pairs(finding: &Finding) -> Vec<(String, Value)> {
    let mut pairs = Vec::new();
    let cost = finding.aspect.key(KeyPart::Cost);
    finding.each_pair(|key, value| {
        if key != cost {
            let value = serde_json::from_str(&value.to_json()).unwrap_or_default();
            pairs.push((key.into_owned(), value));
        }
    });
    pairs
}

/// Whether a finding has something to say about what another is about. A page knows each output of
/// an evaluation of the user's own as an aspect by itself, unless the run says which it has.
fn has_keys_of(retraced: &Finding, shown: &Finding) -> bool {
    retraced.aspect == shown.aspect
        || pairs(shown).iter().any(|(key, _)| retraced.aspect.part(key).is_some())
}

/// Whether a finding says all that another says.
fn says_same(retraced: &Finding, shown: &Finding) -> bool {
    let told = pairs(retraced);
    let is_told = |(key, value): &(String, Value)| {
        told.iter().any(|(own, other)| own == key && is_equal(other, value))
    };
    let shown = pairs(shown);
    !shown.is_empty() && shown.iter().all(is_told)
}

/// Whether two values are equal. Numbers may differ in how they were written.
pub(crate) fn is_equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| is_equal(a, b))
        }
        (Value::Number(one), Value::Number(other)) => {
            let number = |number: &serde_json::Number| number.as_f64().unwrap_or(f64::NAN);
            (number(one) - number(other)).abs() < 1e-9
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_score::{Aspect, Verdict};
    use serde_json::json;

    fn finding(score: f64, reason: &str) -> Finding {
        let aspect = Aspect::Metric("answer_relevance");
        Finding { reason: Some(reason.into()), ..Finding::new(aspect, Verdict::scored(score)) }
    }

    #[test]
    fn outputs_that_are_called_costs_are_compared() {
        let of = |value: serde_json::Value| {
            let aspect = Aspect::custom("shop", vec!["delivery_cost".into()]);
            let outputs = juror_score::Score::Outputs(vec![value]);
            Finding::new(aspect, Verdict::Scored(outputs))
        };
        let one = Aspect::custom("delivery_cost", vec!["delivery_cost".into()]);
        let shown = Finding { aspect: one, ..of(json!(3)) };
        assert!(says_same(&of(json!(3)), &shown));
        assert!(!says_same(&of(json!(4)), &shown));
    }

    #[test]
    fn findings_are_the_same_whatever_they_cost() {
        let found = finding(0.5, "half");
        let dear = Finding { cost: Some(3.0), ..finding(0.5, "half") };
        assert!(says_same(&dear, &found) && says_same(&found, &dear));
        assert!(!says_same(&finding(0.5, "a half"), &found));
        assert!(!says_same(&finding(0.25, "half"), &found));
    }

    #[test]
    fn numbers_are_equal_however_they_are_written() {
        assert!(is_equal(&json!([1, 0.5, null]), &json!([1.0, 0.5, null])));
        assert!(!is_equal(&json!([1, 0.5]), &json!([1.0, 0.5, null])));
        assert!(!is_equal(&json!("a"), &json!("b")));
    }

    #[test]
    fn one_output_belongs_to_the_evaluation_that_has_it() {
        let whole = Aspect::custom("tone", vec!["polite".into(), "clear".into()]);
        let outputs = juror_score::Score::Outputs(vec![json!(1), json!(0)]);
        let whole = Finding::new(whole, Verdict::Scored(outputs));
        let one = Aspect::custom("clear", vec!["clear".into()]);
        let outputs = juror_score::Score::Outputs(vec![json!(0)]);
        let one = Finding::new(one, Verdict::Scored(outputs));
        assert!(has_keys_of(&whole, &one) && says_same(&whole, &one));
        assert!(!has_keys_of(&finding(1.0, "r"), &one));
    }
}
