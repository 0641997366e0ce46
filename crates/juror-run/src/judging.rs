//! Asking models about every question of a dataset, many at a time.

use std::thread;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use juror_json::Object;
use juror_models::{CallKey, KeyMaker, Stop, Tally};
use juror_score::read::{Dataset, Responses};
use juror_score::{Case, Cause, ContextJudge, ErrorResponses, Judgement, Profile, Why};

use crate::asking::{Watch, ticks};
use crate::event::Event;
use crate::interrupt::Interrupt;
use crate::models::Judges;
use crate::run_folder::{RunFolder, RunFolderError};

/// Raised when what is made of replies changes.
const FORM: &str = "3";

/// What models found out about a dataset.
#[derive(Debug, Default)]
pub struct Judgements {
    /// What was found out about each question, in the order of the dataset.
    pub of_questions: Vec<Judgement>,
    /// How many questions are not finished because asking had stopped.
    pub n_unfinished: usize,
    /// How many questions lack something for a reason outside.
    pub n_failed_outside: usize,
    /// Of the first of those, its position and the reason.
    pub outside: Option<(usize, Why)>,
    /// How many questions are done with, one way or another.
    pub n_done: usize,
    /// Whether only recorded replies could be used.
    pub is_replay: bool,
    /// What was asked.
    pub tally: Tally,
    /// Why asking stopped, if it did.
    pub stopped: Option<Stop>,
}

impl Judgements {
    /// Why models failed, on one line: the reason outside, not what else some metric lacks.
    pub fn reason(&self) -> String {
        let reason = self.outside.as_ref().map_or("", |(_, why)| &why.message);
        reason.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Whether that reason is that a reply did not come in time.
    pub fn is_late(&self) -> bool {
        self.outside.as_ref().is_some_and(|(_, why)| why.cause == Cause::Late)
    }

    /// Takes down a question that lacks something for a reason outside.
    fn fail_outside(&mut self, index: usize, why: Why) {
        self.n_failed_outside += 1;
        if self.outside.as_ref().is_none_or(|(first, _)| index < *first) {
            self.outside = Some((index, why));
        }
    }
}

/// What is judged, and by which rules.
pub struct Docket<'d> {
    /// Who judges.
    pub judges: &'d Judges,
    /// By which rules.
    pub profile: &'d Profile,
    /// The questions.
    pub dataset: &'d Dataset<'d>,
    /// What was answered.
    pub responses: &'d Responses<'d>,
    /// How many threads may be used.
    pub threads: usize,
}

/// A question that is still to be judged.
struct Waiting {
    index: usize,
    key: CallKey,
}

/// Judges every question that is not judged yet.
pub fn judge_all(
    docket: &Docket<'_>,
    mut run: Option<&mut RunFolder>,
    interrupt: &Interrupt,
    mut tell: impl FnMut(Event),
) -> Result<Judgements, RunFolderError> {
    let n_questions = docket.dataset.questions.len();
    tell(Event::Started { questions: n_questions });
    let of_questions = vec![Judgement::default(); n_questions];
    let mut judgements = Judgements { of_questions, ..Judgements::default() };
    let waiting = docket.take_known(&mut judgements, &mut run)?;
    if !waiting.is_empty() {
        docket.ask(waiting, &mut judgements, &mut run, interrupt, tell)?;
    }
    judgements.tally = docket.judges.models.tally();
    judgements.is_replay = docket.judges.models.only_replays();
    judgements.stopped = docket.judges.models.stopped();
    Ok(judgements)
}

impl Docket<'_> {
    fn case(&self, index: usize) -> Case<'_> {
        let question = &self.dataset.questions[index];
        Case { question, trajectory: self.responses.of(question) }
    }

    /// Fills in what an earlier run or the cache knows; returns what is left.
    fn take_known(
        &self,
        judgements: &mut Judgements,
        run: &mut Option<&mut RunFolder>,
    ) -> Result<Vec<Waiting>, RunFolderError> {
        let keys = self.keys();
        let mut waiting = Vec::new();
        for (index, key) in keys.into_iter().enumerate() {
            let id = &self.dataset.questions[index].id;
            let judged = run.as_mut().and_then(|run| run.take(id, &key.to_hex()));
            if let Some(judgement) = judged {
                if let Some(why) = judgement.outside() {
                    judgements.fail_outside(index, why.clone());
                }
                judgements.of_questions[index] = judgement;
                judgements.n_done += 1;
            } else if self.is_left_out(index) {
                self.keep(run, &Waiting { index, key }, &Judgement::default())?;
                judgements.n_done += 1;
            } else {
                waiting.push(Waiting { index, key });
            }
        }
        let aspects = self.judges.panel.aspects();
        let read = |text: String| {
            let pairs = serde_json::from_str(&text).ok()?;
            Judgement::read(pairs, &aspects)
        };
        let keys: Vec<CallKey> = waiting.iter().map(|waiting| waiting.key).collect();
        let mut left = Vec::new();
        for (waiting, known) in waiting.into_iter().zip(self.judges.models.judgements(&keys)) {
            match known.and_then(read) {
                None => left.push(waiting),
                Some(judgement) => {
                    self.keep(run, &waiting, &judgement)?;
                    judgements.of_questions[waiting.index] = judgement;
                    judgements.n_done += 1;
                }
            }
        }
        Ok(left)
    }

    /// Whether a question ended in an error that the rules do not judge.
    fn is_left_out(&self, index: usize) -> bool {
        let ending = &self.case(index).trajectory.ending;
        ending.is_error() && self.profile.steps_of_errors == ErrorResponses::LeftOut
    }

    /// The keys of cases, made on all threads: a case's key takes in all of its steps.
    fn keys(&self) -> Vec<CallKey> {
        let mut common = KeyMaker::new("judgement");
        common.field(FORM);
        common.field(env!("CARGO_PKG_VERSION")).field(&self.judges.identity.to_string());
        let common = &*common.field(&self.judges.models.prices());
        let indexes: Vec<usize> = (0..self.dataset.questions.len()).collect();
        let share = indexes.len().div_ceil(self.threads.max(1)).max(1);
        thread::scope(|scope| {
            let make = |part: &[usize]| -> Vec<CallKey> {
                part.iter().map(|index| case_key(common, &self.case(*index))).collect()
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
        run: &mut Option<&mut RunFolder>,
        interrupt: &Interrupt,
        mut tell: impl FnMut(Event),
    ) -> Result<(), RunFolderError> {
        let models = &self.judges.models;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map_err(RunFolderError::Runtime)?.block_on(async {
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
                if let Some(why) = judgement.outside() {
                    judgements.fail_outside(waited.index, why.clone());
                }
                if judgement.is_unfinished() {
                    judgements.n_unfinished += 1;
                } else {
                    self.keep(run, &waited, &judgement)?;
                }
                judgements.of_questions[waited.index] = judgement;
                judgements.n_done += 1;
                // Once asking has stopped, the rest passes through quickly and unfinished.
                asked.extend(waiting.next().map(judge));
                let begun = n_asked - waiting.len();
                tell(Event::Asked(watch.asking(judgements.n_done, begun, waiting.len())));
            }
            Ok(())
        })
    }

    fn keep(
        &self,
        run: &mut Option<&mut RunFolder>,
        waiting: &Waiting,
        judgement: &Judgement,
    ) -> Result<(), RunFolderError> {
        match run {
            Some(run) if !self.judges.models.only_counts() => {
                let id = &self.dataset.questions[waiting.index].id;
                run.keep(id, &waiting.key.to_hex(), judgement)
            }
            _ => Ok(()),
        }
    }

    async fn judge_one(&self, waiting: &Waiting) -> Judgement {
        let (case, models) = (self.case(waiting.index), &self.judges.models);
        let is_needed = needs_matching(&case, self.profile);
        let matching = is_needed.then(|| case.matching(self.profile)).flatten();
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
        assert!(judgements.is_late());
        let words = "status 400:\tno\n  reply within 60 s";
        judgements.fail_outside(2, why(words, Cause::Outside));
        judgements.fail_outside(4, why("status 500", Cause::Outside));
        assert_eq!(judgements.n_failed_outside, 3);
        assert_eq!(judgements.reason(), "status 400: no reply within 60 s");
        assert!(!judgements.is_late(), "whatever the words are");
    }
}
