//! Asking models about every question of a dataset, many at a time.

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use juror_judge::{Stop, Tally, Verdicts};
use juror_score::read::{Dataset, Responses};
use juror_score::{Case, ContextJudge, ErrorResponses, Note, Profile, Record, score};

use crate::evaluate::Event;
use crate::interrupt::Interrupt;
use crate::models::Judges;
use crate::run_folder::{RunFolder, RunFolderError};

/// What models found out about a dataset.
#[derive(Debug, Default)]
pub struct Judgements {
    /// The notes on each question, in the order of the dataset.
    pub notes: Vec<Vec<Note>>,
    /// How many questions are not finished because asking had stopped.
    pub n_unfinished: usize,
    /// How many questions lack something for a reason outside.
    pub n_failed_outside: usize,
    /// How many questions were taken over from an earlier run.
    pub n_resumed: usize,
    /// What was asked.
    pub tally: Tally,
    /// Why asking stopped, if it did.
    pub stopped: Option<Stop>,
}

/// Judges every question that is not judged yet.
pub fn judge_all(
    judges: &Judges,
    profile: &Profile,
    dataset: &Dataset<'_>,
    responses: &Responses<'_>,
    mut run: Option<&mut RunFolder>,
    interrupt: &Interrupt,
    mut tell: impl FnMut(Event),
) -> Result<Judgements, RunFolderError> {
    let n_questions = dataset.questions.len();
    let mut judgements =
        Judgements { notes: vec![Vec::new(); n_questions], ..Judgements::default() };
    let mut waiting = Vec::new();
    for (index, question) in dataset.questions.iter().enumerate() {
        match run.as_mut().and_then(|run| run.take(&question.id)) {
            Some(notes) => {
                judgements.notes[index] = notes;
                judgements.n_resumed += 1;
            }
            None => waiting.push(index),
        }
    }
    tell(Event::Started { questions: n_questions });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(RunFolderError::Runtime)?;
    let mut n_done = judgements.n_resumed;
    runtime.block_on(async {
        let mut waiting = waiting.into_iter();
        let mut asked = FuturesUnordered::new();
        let judge = |index: usize| async move {
            let question = &dataset.questions[index];
            let case = Case { question, trajectory: responses.of(question) };
            (index, judge_one(judges, &case, profile).await)
        };
        asked.extend(waiting.by_ref().take(judges.models.concurrency()).map(judge));
        let mut stopping = false;
        while !asked.is_empty() {
            let (index, verdicts) = tokio::select! {
                biased;
                done = asked.next() => match done { Some(done) => done, None => break },
                () = interrupt.wait(), if !stopping => {
                    stopping = true;
                    judges.models.stop(Stop::Interrupted);
                    tell(Event::Stopping);
                    continue;
                }
            };
            judgements.n_failed_outside += usize::from(verdicts.failed_outside);
            if verdicts.unfinished {
                judgements.n_unfinished += 1;
            } else if let Some(run) = &mut run
                && !judges.models.only_counts()
            {
                run.keep(&dataset.questions[index].id, &verdicts.notes)?;
            }
            judgements.notes[index] = verdicts.notes;
            n_done += 1;
            let tally = judges.models.tally();
            let total = tally.total();
            tell(Event::Asked {
                questions: n_done,
                requests: total.requests,
                known: total.known,
                failed: total.failed,
                usd: tally.usd,
            });
            // Once asking has stopped, the rest passes through quickly and unfinished.
            asked.extend(waiting.next().map(judge));
        }
        Ok::<(), RunFolderError>(())
    })?;
    judgements.tally = judges.models.tally();
    judgements.stopped = judges.models.stopped();
    Ok(judgements)
}

async fn judge_one(judges: &Judges, case: &Case<'_>, profile: &Profile) -> Verdicts {
    if case.trajectory.ending.is_error() && profile.steps_of_errors == ErrorResponses::LeftOut {
        return Verdicts::default();
    }
    let record = if needs_matching(case, profile) { score(case, profile) } else { unscored(case) };
    judges.panel.judge(&record, &judges.models).await
}

/// Only contexts judged by a model against expected ones need to know which step is which.
fn needs_matching(case: &Case<'_>, profile: &Profile) -> bool {
    let expects_retrieval = || {
        let mut steps = case.question.groups.iter().flatten().flatten();
        steps.any(|step| step.name == "retrieval")
    };
    profile.contexts == ContextJudge::Model && expects_retrieval()
}

fn unscored<'a>(case: &Case<'a>) -> Record<'a> {
    Record {
        case: *case,
        matching: None,
        findings: Vec::new(),
        empty_results: Vec::new(),
        notes: &[],
    }
}
