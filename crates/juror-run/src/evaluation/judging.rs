//! Asks models about every question of a dataset, many at a time.

use juror_models::CallKey;
use juror_read::CaseRoom;
use juror_runs::RunLog;
use juror_score::{Case, ContextJudge, ErrorResponses, Judgement, Profile};
use juror_store::wait;

use super::case_key::case_keys;
use super::judged_log::CaseId;
use super::{Evaluation, EvaluationError, JudgedLine, Judgements, KnownJudgement};
use crate::asking::AskMany;
use crate::event::Event;
use crate::interrupt::Interrupt;
use crate::models::Judges;

/// A question that is yet to be judged.
struct Waiting {
    index: usize,
    key: CallKey,
}

/// Judges every question that has no judgement yet.
pub(super) fn judge_all(
    evaluation: &Evaluation<'_>,
    judges: &Judges,
    log: Option<&RunLog<KnownJudgement>>,
    interrupt: &Interrupt,
    mut tell: impl FnMut(Event),
) -> Result<Judgements, EvaluationError> {
    let n_questions = evaluation.n_cases();
    tell(Event::Started { questions: n_questions });
    let mut judgements = Judgements::empty(n_questions);
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
    /// Fills in judgements from the log and the cache; returns the questions left to ask about.
    fn take_known(&self, judgements: &mut Judgements) -> Result<Vec<Waiting>, EvaluationError> {
        let unlogged = self.take_logged(judgements)?;
        let aspects = self.judges.panel.aspects();
        let read = |text: String| {
            let pairs = serde_json::from_str(&text).ok()?;
            Judgement::read(pairs, &aspects)
        };
        let keys: Vec<CallKey> = unlogged.iter().map(|waiting| waiting.key).collect();
        let found = wait(self.judges.models.judgements(&keys));
        let mut left = Vec::new();
        for (waiting, known) in unlogged.into_iter().zip(found) {
            match known.and_then(read) {
                None => left.push(waiting),
                Some(judgement) => {
                    wait(self.append(&waiting, &judgement))?;
                    judgements.put(waiting.index, judgement);
                }
            }
        }
        Ok(left)
    }

    /// Fills in judgements from the log, and skips questions that are not judged at all; returns
    /// the rest.
    fn take_logged(&self, judgements: &mut Judgements) -> Result<Vec<Waiting>, EvaluationError> {
        let mut rest = Vec::new();
        let keys = case_keys(self.evaluation, self.judges);
        for (index, key) in keys.into_iter().enumerate() {
            let room = CaseRoom::default();
            let case = self.evaluation.case(index, &room);
            let waiting = Waiting { index, key };
            if let Some(judgement) = self.logged(CaseId::of(&case.case()), key) {
                judgements.put(index, judgement.clone());
            } else if self.is_left_out(&case.case()) {
                wait(self.append(&waiting, &Judgement::default()))?;
                judgements.n_done += 1;
            } else {
                rest.push(waiting);
            }
        }
        Ok(rest)
    }

    /// Returns the judgement of a case in the log.
    fn logged(&self, case: CaseId<'_>, key: CallKey) -> Option<&Judgement> {
        self.log?.get(&case.to_log_id())?.under(&key.to_hex())
    }

    /// Returns whether a question ended in an error, and the rules exclude it.
    fn is_left_out(&self, case: &Case<'_>) -> bool {
        is_left_out(case, self.profile())
    }

    fn profile(&self) -> &Profile {
        &self.evaluation.plan.profile
    }

    /// Asks models about many questions at a time.
    fn ask(
        &self,
        waiting: Vec<Waiting>,
        judgements: &mut Judgements,
        interrupt: &Interrupt,
        tell: impl FnMut(Event),
    ) -> Result<(), EvaluationError> {
        let models = &self.judges.models;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(EvaluationError::Runtime)?;
        let window = models.concurrency();
        let many = AskMany { models, interrupt, window, n_known: judgements.n_done };
        let judge = |next: Waiting| async move {
            let judgement = self.judge_one(&next).await;
            // Others go on meanwhile, however long the log takes.
            let logged = if judgement.is_unfinished() {
                Ok(())
            } else {
                self.append(&next, &judgement).await
            };
            (next, judgement, logged)
        };
        let take = |(waited, judgement, logged): (Waiting, Judgement, Result<_, _>)| {
            logged?;
            if judgement.is_unfinished() {
                judgements.n_unfinished += 1;
            }
            judgements.put(waited.index, judgement);
            Ok(())
        };
        runtime.block_on(many.run(waiting.into_iter(), judge, take, tell))
    }

    /// Appends a judgement to the log, if there is one and calls are not merely counted.
    async fn append(
        &self,
        waiting: &Waiting,
        judgement: &Judgement,
    ) -> Result<(), EvaluationError> {
        if let Some(log) = self.log.filter(|_| !self.judges.models.only_counts()) {
            let room = CaseRoom::default();
            let case = self.evaluation.case(waiting.index, &room);
            let case = CaseId::of(&case.case());
            log.append_async(&JudgedLine::new(case, &waiting.key.to_hex(), judgement)).await?;
        }
        Ok(())
    }

    async fn judge_one(&self, waiting: &Waiting) -> Judgement {
        let (room, models) = (CaseRoom::default(), &self.judges.models);
        let case = self.evaluation.case(waiting.index, &room);
        let judgement = self.judges.ask(&case.case(), self.profile()).await;
        // A failure may not recur, so it is not cached.
        if !judgement.findings.is_empty() && judgement.is_whole() {
            // Strings and finite numbers always serialize.
            let text = serde_json::to_string(&judgement).unwrap_or_default();
            models.keep_judgement(&waiting.key, &text).await;
        }
        judgement
    }
}

impl Judges {
    /// Asks models about a case, unless it ended in an error that the rules exclude.
    pub async fn judge(&self, case: &Case<'_>, profile: &Profile) -> Judgement {
        if is_left_out(case, profile) {
            Judgement::default()
        } else {
            self.ask(case, profile).await
        }
    }

    async fn ask(&self, case: &Case<'_>, profile: &Profile) -> Judgement {
        let matching = needs_matching(case, profile).then(|| case.matching(profile)).flatten();
        self.panel.judge(case, matching.as_ref(), &self.models).await
    }
}

/// Returns whether a case ended in an error, and the rules exclude it.
fn is_left_out(case: &Case<'_>, profile: &Profile) -> bool {
    case.trajectory.ending.is_error() && profile.steps_of_errors == ErrorResponses::LeftOut
}

/// Returns whether judges need the step matching, which they do only if a model compares contexts
/// with expected ones.
fn needs_matching(case: &Case<'_>, profile: &Profile) -> bool {
    let expects_retrieval = || {
        let mut steps = case.question.groups.iter().flatten().flatten();
        steps.any(|step| profile.kind_names.is_retrieval(&step.name))
    };
    profile.contexts == ContextJudge::Model && expects_retrieval()
}
