//! Asking models about every question of a dataset, many at a time.

use std::fmt;
use std::thread;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use juror_json::Object;
use juror_models::{CallKey, KeyMaker, Stop, Tally};
use juror_score::{Case, Cause, ContextJudge, ErrorResponses, Judgement, Profile, Why};

use super::{Evaluation, EvaluationError, Event, KnownJudgement};
use crate::asking::{Watch, ticks};
use crate::interrupt::Interrupt;
use crate::models::Judges;
use crate::run_log::RunLog;

/// Raised when what is made of replies changes.
const FORM: &str = "3";

/// What models found out about a dataset.
#[derive(Debug, Default)]
pub struct Judgements {
    /// What was found out about each question, in the order of the dataset; empty without judges.
    pub of_questions: Vec<Judgement>,
    /// How many questions are not finished because asking had stopped.
    pub n_unfinished: usize,
    /// The calls that were made.
    pub tally: Tally,
    /// Why asking stopped, if it did.
    pub stopped: Option<Stop>,
    /// How many questions are done with, one way or another.
    n_done: usize,
    /// How many questions lack something for a reason outside.
    n_failed_outside: usize,
    /// Of the first of those, its position and the reason.
    outside: Option<(usize, Why)>,
    is_replay: bool,
}

/// Questions that lack something because models failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelFailures {
    /// How many.
    pub n_questions: usize,
    /// Why the first of them does, on one line.
    pub reason: String,
    /// Whether the reason is that a reply did not come in time.
    pub is_late: bool,
    /// Whether only recorded replies could be used.
    pub is_replay: bool,
}

impl fmt::Display for ModelFailures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let questions = if self.n_questions == 1 { "question" } else { "questions" };
        write!(f, "models failed on {} {questions}: {}", self.n_questions, self.reason)
    }
}

impl Judgements {
    /// On how many questions models failed, and why; `None` if they failed on none.
    pub fn failures(&self) -> Option<ModelFailures> {
        let (_, why) = self.outside.as_ref()?;
        Some(ModelFailures {
            n_questions: self.n_failed_outside,
            reason: why.message.split_whitespace().collect::<Vec<_>>().join(" "),
            is_late: why.cause == Cause::Late,
            is_replay: self.is_replay,
        })
    }

    /// Puts in the judgement of a question.
    fn put(&mut self, index: usize, judgement: Judgement) {
        if let Some(why) = judgement.outside() {
            self.fail_outside(index, why.clone());
        }
        self.of_questions[index] = judgement;
        self.n_done += 1;
    }

    fn fail_outside(&mut self, index: usize, why: Why) {
        self.n_failed_outside += 1;
        if self.outside.as_ref().is_none_or(|(first, _)| index < *first) {
            self.outside = Some((index, why));
        }
    }
}

/// A question that is still to be judged.
struct Waiting {
    index: usize,
    key: CallKey,
}

/// Judges every question that is not judged yet.
pub(super) fn judge_all(
    evaluation: &Evaluation<'_>,
    judges: &Judges,
    log: Option<&RunLog<KnownJudgement>>,
    interrupt: &Interrupt,
    mut tell: impl FnMut(Event),
) -> Result<Judgements, EvaluationError> {
    let n_questions = evaluation.dataset.questions.len();
    tell(Event::Started { questions: n_questions });
    let of_questions = vec![Judgement::default(); n_questions];
    let mut judgements = Judgements { of_questions, ..Judgements::default() };
    let all = JudgeAll { evaluation, judges, log };
    let waiting = all.take_known(&mut judgements)?;
    if !waiting.is_empty() {
        all.ask(waiting, &mut judgements, interrupt, tell)?;
    }
    judgements.tally = judges.models.tally();
    judgements.is_replay = judges.models.only_replays();
    judgements.stopped = judges.models.stopped();
    Ok(judgements)
}

struct JudgeAll<'j> {
    evaluation: &'j Evaluation<'j>,
    judges: &'j Judges,
    log: Option<&'j RunLog<KnownJudgement>>,
}

impl JudgeAll<'_> {
    /// Fills in what the log or the cache knows; returns what is left to ask.
    fn take_known(&self, judgements: &mut Judgements) -> Result<Vec<Waiting>, EvaluationError> {
        let unlogged = self.take_logged(judgements)?;
        let aspects = self.judges.panel.aspects();
        let read = |text: String| {
            let pairs = serde_json::from_str(&text).ok()?;
            Judgement::read(pairs, &aspects)
        };
        let keys: Vec<CallKey> = unlogged.iter().map(|waiting| waiting.key).collect();
        let mut left = Vec::new();
        for (waiting, known) in unlogged.into_iter().zip(self.judges.models.judgements(&keys)) {
            match known.and_then(read) {
                None => left.push(waiting),
                Some(judgement) => {
                    self.append(&waiting, &judgement)?;
                    judgements.put(waiting.index, judgement);
                }
            }
        }
        Ok(left)
    }

    /// Fills in what the log knows, and what is not judged at all; returns the rest.
    fn take_logged(&self, judgements: &mut Judgements) -> Result<Vec<Waiting>, EvaluationError> {
        let mut rest = Vec::new();
        for (index, key) in self.keys().into_iter().enumerate() {
            let id = &self.evaluation.dataset.questions[index].id;
            let waiting = Waiting { index, key };
            if let Some(judgement) = self.log.and_then(|log| log.get(id, &key.to_hex())) {
                judgements.put(index, judgement.clone());
            } else if self.is_left_out(index) {
                self.append(&waiting, &Judgement::default())?;
                judgements.n_done += 1;
            } else {
                rest.push(waiting);
            }
        }
        Ok(rest)
    }

    /// Whether a question ended in an error, which the rules leave out.
    fn is_left_out(&self, index: usize) -> bool {
        let ending = &self.evaluation.case(index).trajectory.ending;
        ending.is_error() && self.profile().steps_of_errors == ErrorResponses::LeftOut
    }

    fn profile(&self) -> &Profile {
        &self.evaluation.plan.profile
    }

    /// The keys of cases, made on all threads: a case's key takes in all of its steps.
    fn keys(&self) -> Vec<CallKey> {
        let mut common = KeyMaker::new("judgement");
        common.field(FORM);
        common.field(env!("CARGO_PKG_VERSION")).field(&self.judges.identity.to_string());
        let common = &*common.field(&self.judges.models.prices());
        let indexes: Vec<usize> = (0..self.evaluation.dataset.questions.len()).collect();
        let share = indexes.len().div_ceil(self.evaluation.plan.threads.max(1)).max(1);
        thread::scope(|scope| {
            let make = |part: &[usize]| -> Vec<CallKey> {
                part.iter().map(|index| case_key(common, &self.evaluation.case(*index))).collect()
            };
            let parts: Vec<_> =
                indexes.chunks(share).map(|part| scope.spawn(move || make(part))).collect();
            let join = |part: thread::ScopedJoinHandle<'_, Vec<CallKey>>| {
                part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            parts.into_iter().flat_map(join).collect()
        })
    }

    /// Asks models, many questions at a time.
    fn ask(
        &self,
        waiting: Vec<Waiting>,
        judgements: &mut Judgements,
        interrupt: &Interrupt,
        mut tell: impl FnMut(Event),
    ) -> Result<(), EvaluationError> {
        let models = &self.judges.models;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(EvaluationError::Runtime)?.block_on(async {
            let mut waiting = waiting.into_iter();
            let mut asked = FuturesUnordered::new();
            let judge = |next: Waiting| async move {
                let judgement = self.judge_one(&next).await;
                (next, judgement)
            };
            let n_asked = waiting.len();
            let (watch, mut ticks) = (Watch::begin(models), ticks());
            asked.extend(waiting.by_ref().take(models.concurrency()).map(judge));
            let mut stopping = false;
            loop {
                let (waited, judgement) = tokio::select! {
                    biased;
                    done = asked.next() => match done { Some(done) => done, None => break },
                    _ = ticks.tick() => {
                        let begun = n_asked - waiting.len();
                        tell(Event::Asked(watch.asking(judgements.n_done, begun, waiting.len())));
                        continue;
                    }
                    () = interrupt.wait(), if !stopping => {
                        stopping = true;
                        models.stop(Stop::Interrupted);
                        tell(Event::Stopping);
                        continue;
                    }
                };
                if judgement.is_unfinished() {
                    judgements.n_unfinished += 1;
                } else {
                    self.append(&waited, &judgement)?;
                }
                judgements.put(waited.index, judgement);
                // Once asking has stopped, the rest passes through quickly and unfinished.
                asked.extend(waiting.next().map(judge));
                let begun = n_asked - waiting.len();
                tell(Event::Asked(watch.asking(judgements.n_done, begun, waiting.len())));
            }
            Ok(())
        })
    }

    /// Appends a judgement to the log, if there is one and calls are not only counted.
    fn append(&self, waiting: &Waiting, judgement: &Judgement) -> Result<(), EvaluationError> {
        if let Some(log) = self.log.filter(|_| !self.judges.models.only_counts()) {
            let id = &self.evaluation.dataset.questions[waiting.index].id;
            log.append(id, &waiting.key.to_hex(), judgement)?;
        }
        Ok(())
    }

    async fn judge_one(&self, waiting: &Waiting) -> Judgement {
        let (case, models) = (self.evaluation.case(waiting.index), &self.judges.models);
        let is_needed = needs_matching(&case, self.profile());
        let matching = is_needed.then(|| case.matching(self.profile())).flatten();
        let judgement = self.judges.panel.judge(&case, matching.as_ref(), models).await;
        // What has an error may turn out better another time.
        if !judgement.findings.is_empty() && !judgement.has_failure() {
            // Texts and finite numbers are always JSON.
            let text = serde_json::to_string(&judgement).unwrap_or_default();
            models.keep_judgement(&waiting.key, &text);
        }
        judgement
    }
}

/// Stands for a case and everything that decides verdicts on it.
fn case_key(keys: &KeyMaker, case: &Case<'_>) -> CallKey {
    let mut key = keys.clone();
    let Case { question, trajectory } = case;
    key.field(question.text.get()).field(question.answer.map_or("", |answer| answer.get()));
    key.field(if question.groups.is_some() { "groups" } else { "no groups" });
    for group in question.groups.iter().flatten() {
        key.field("group");
        for step in group {
            add_fields(&mut key, &step.fields);
        }
    }
    key.field("response").field(trajectory.answer.map_or("", |answer| answer.get()));
    key.field(if trajectory.steps.is_some() { "steps" } else { "no steps" });
    for step in trajectory.steps.iter().flatten() {
        add_fields(&mut key, &step.fields);
    }
    key.finish()
}

fn add_fields(key: &mut KeyMaker, fields: &Object<'_>) {
    key.field("step");
    for (name, value) in fields.iter_raw() {
        key.field(name.get()).field(value.get());
    }
}

/// Only contexts judged by a model against expected ones need to know which step is which.
fn needs_matching(case: &Case<'_>, profile: &Profile) -> bool {
    let expects_retrieval = || {
        let mut steps = case.question.groups.iter().flatten().flatten();
        steps.any(|step| profile.kind_names.is_retrieval(&step.name))
    };
    profile.contexts == ContextJudge::Model && expects_retrieval()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_of_a_failed_run_is_the_first_one_outside() {
        let mut judgements = Judgements::default();
        let why = |message: &str, cause| Why { message: message.into(), cause };
        judgements.fail_outside(7, why("no reply within 60 s", Cause::Late));
        assert!(judgements.failures().expect("a failure").is_late);
        let words = "status 400:\tno\n  reply within 60 s";
        judgements.fail_outside(2, why(words, Cause::Outside));
        judgements.fail_outside(4, why("status 500", Cause::Outside));
        let failures = judgements.failures().expect("failures");
        let told = "models failed on 3 questions: status 400: no reply within 60 s";
        assert_eq!(failures.to_string(), told);
        assert!(!failures.is_late, "whatever the words are");
    }
}
