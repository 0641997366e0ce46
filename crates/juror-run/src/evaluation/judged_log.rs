//! The log of judged questions: `records.jsonl`.

use std::num::NonZero;

use juror_runs::{
    Entry, Home, Manifest, Resume, RunFolder, RunKind, RunLog, RunLogError, RunPlace,
};
use juror_score::{Aspect, Case, Cause, FlatPair, Judgement, Verdict, Why};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Evaluation;
use super::identity::{SubjectIdentity, identity};
use crate::models::Judges;
use crate::settings::Settings;

/// How the run of an evaluation is stored.
#[derive(Clone, Copy)]
pub struct RunOptions<'r> {
    /// Where it is stored.
    pub place: &'r RunPlace,
    /// What to do with an existing run.
    pub resume: Resume,
    /// The name of what is judged; by default that of the responses.
    pub name: Option<&'r str>,
    /// The command line, for the record of the run; empty if there is none.
    pub command: &'r [String],
    /// The settings, for the record of the run.
    pub settings: &'r Settings,
    /// The judges.
    pub judges: Option<&'r Judges>,
    /// The agent that is asked for the responses; `None` if they were recorded.
    pub subject: Option<SubjectIdentity<'r>>,
}

/// The definition of an evaluation; two runs that agree in all of it may share a folder.
pub(super) struct RunInfo {
    manifest: Manifest,
    /// The aspects that the judges look at.
    aspects: Vec<Aspect>,
}

impl RunInfo {
    pub(super) fn new(evaluation: &Evaluation<'_>, options: &RunOptions<'_>) -> RunInfo {
        let identity = json!(identity(evaluation, options.judges, options.subject));
        let asked = options.subject.map(|subject| subject.name);
        let name = options.name.or(asked).unwrap_or(evaluation.inputs.responses.name());
        let manifest = Manifest::new(RunKind::Eval, name, identity);
        RunInfo {
            manifest: manifest.with_settings(&options.settings.written).begun_by(options.command),
            aspects: options.judges.map(|judges| judges.panel.aspects()).unwrap_or_default(),
        }
    }

    /// Chooses the folder of the run.
    pub(super) fn home(&self, options: &RunOptions<'_>) -> Result<Home, RunLogError> {
        Home::choose(options.place, &self.manifest, options.resume)
    }

    /// Starts or resumes the log. With `retry_errors`, judgements that have an error are forgotten.
    pub(super) fn open_log(
        &self,
        folder: impl Into<RunFolder>,
        resume: Resume,
    ) -> Result<RunLog<KnownJudgement>, RunLogError> {
        // Lines written for judges of other aspects cannot be used.
        let read = |line: JudgedLine<Vec<FlatPair>>| line.read(&self.aspects);
        let mut log = RunLog::open(folder, self.manifest.clone(), resume, read)?;
        if resume.retry_errors {
            log.forget(|known: &KnownJudgement| !known.judgement.is_whole());
        }
        Ok(log)
    }
}

/// A judgement from an earlier process.
#[derive(Debug)]
pub struct KnownJudgement {
    /// Identifies the case and everything that affects verdicts on it.
    key: String,
    judgement: Judgement,
}

impl Entry for KnownJudgement {
    const KIND: RunKind = RunKind::Eval;
    type Line = JudgedLine<Vec<FlatPair>>;
    type Id = LogId;

    fn id(line: &Self::Line) -> LogId {
        (line.question_id.clone(), line.trial)
    }
}

/// The id of a question, and which of several answers to it was judged.
pub(super) type LogId = (String, Option<NonZero<u32>>);

/// What tells a case from others of the run.
#[derive(Clone, Copy)]
pub(super) struct CaseId<'c> {
    question: &'c str,
    /// Which of several answers to the question it is.
    trial: Option<NonZero<u32>>,
}

impl<'c> CaseId<'c> {
    pub(super) fn of(case: &Case<'c>) -> CaseId<'c> {
        CaseId { question: &case.question.id, trial: case.trajectory.trial }
    }

    /// Returns its id in the log.
    pub(super) fn to_log_id(self) -> LogId {
        (self.question.to_owned(), self.trial)
    }
}

impl KnownJudgement {
    /// Returns the judgement, unless its question has changed since.
    pub(super) fn under(&self, key: &str) -> Option<&Judgement> {
        (self.key == key).then_some(&self.judgement)
    }
}

/// A judged question, one per line. `J` is the judgement as key-value pairs.
#[derive(Serialize, Deserialize)]
pub struct JudgedLine<J> {
    question_id: String,
    /// Which of several answers to the question was judged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    trial: Option<NonZero<u32>>,
    key: String,
    #[serde(rename = "notes")]
    judgement: J,
    /// Whether something is missing for an external reason.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    failed_outside: bool,
    /// The external reason; older lines lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outside: Option<String>,
    /// Whether the reason is that a reply timed out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    late: bool,
}

impl<'j> JudgedLine<&'j Judgement> {
    /// Creates the line of a case.
    pub(super) fn new(
        case: CaseId<'_>,
        key: &str,
        judgement: &'j Judgement,
    ) -> JudgedLine<&'j Judgement> {
        let outside = judgement.outside();
        JudgedLine {
            question_id: case.question.to_owned(),
            trial: case.trial,
            key: key.to_owned(),
            judgement,
            failed_outside: outside.is_some(),
            outside: outside.map(|why| why.message.clone()),
            late: outside.is_some_and(|why| why.cause == Cause::Late),
        }
    }
}

impl JudgedLine<Vec<FlatPair>> {
    /// Returns the judgement; `None` if judges of these aspects cannot have written it.
    fn read(self, aspects: &[Aspect]) -> Option<KnownJudgement> {
        let mut judgement = Judgement::read(self.judgement, aspects)?;
        if self.failed_outside {
            let cause = if self.late { Cause::Late } else { Cause::Outside };
            mark_outside(&mut judgement, self.outside.as_deref(), cause);
        }
        Some(KnownJudgement { key: self.key, judgement })
    }
}

/// Gives this cause to every failure with this reason, or to the first failure if none has it: older
/// lines lack the reason, or word it otherwise.
fn mark_outside(judgement: &mut Judgement, reason: Option<&str>, cause: Cause) {
    let failures = judgement.findings.iter_mut().filter_map(|finding| match &mut finding.verdict {
        Verdict::Failed(why) => Some(why),
        _ => None,
    });
    let mut failures: Vec<&mut Why> = failures.collect();
    let is_it = |why: &Why| reason == Some(&*why.message);
    let has_reason = failures.iter().any(|why| is_it(why));
    let most = if has_reason { usize::MAX } else { 1 };
    let marked = failures.iter_mut().filter(|why| !has_reason || is_it(why)).take(most);
    marked.for_each(|why| why.cause = cause);
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::path::Path;

    use super::*;
    use juror_score::{Finding, Why};

    const RELEVANCE: Aspect = Aspect::Metric("answer_relevance");
    const RECALL: Aspect = Aspect::Metric("retrieval_answer_recall");

    fn nothing() -> Judgement {
        Judgement::default()
    }

    fn relevance(score: f64) -> Finding {
        Finding::new(RELEVANCE, Verdict::scored(score))
    }

    fn id(question: &str) -> CaseId<'_> {
        CaseId { question, trial: None }
    }

    fn open(
        folder: &Path,
        responses: &str,
        resume: Resume,
    ) -> Result<RunLog<KnownJudgement>, RunLogError> {
        let identity = json!({"reference": {"hash": "r"}, "responses": {"hash": responses}});
        let manifest = Manifest::new(RunKind::Eval, "a", identity);
        RunInfo { manifest, aspects: vec![RELEVANCE, RECALL] }.open_log(folder, resume)
    }

    fn get<'l>(
        log: &'l RunLog<KnownJudgement>,
        case: CaseId<'_>,
        key: &str,
    ) -> Option<&'l Judgement> {
        log.get(&case.to_log_id())?.under(key)
    }

    #[test]
    fn judgements_are_known_again_unless_their_question_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = open(folder.path(), "x", Resume::default()).expect("new");
        let failed = Why { message: "no reply within 60 s".into(), cause: Cause::Late };
        let failed = Finding::new(RECALL, Verdict::Failed(failed)).of_step(2);
        let first = Judgement { findings: vec![relevance(0.5), failed], ..nothing() };
        log.append(&JudgedLine::new(id("q1"), "k1", &first)).expect("appended");
        let second = Judgement { findings: vec![relevance(1.0)], ..nothing() };
        log.append(&JudgedLine::new(id("q2"), "k2", &second)).expect("appended");
        drop(log);
        let path = folder.path().join("records.jsonl");
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).expect("open");
        file.write_all(b"{\"question_id\":\"q3\",\"no").expect("cut off");
        drop(file);
        let again = open(folder.path(), "x", Resume::default()).expect("again");
        assert_eq!(again.n_known(), 2);
        assert_eq!(get(&again, id("q1"), "k1"), Some(&first));
        assert_eq!(get(&again, id("q2"), "changed"), None);
        drop(again);
        let retry = Resume { retry_errors: true, ..Resume::default() };
        assert_eq!(open(folder.path(), "x", retry).expect("again").n_known(), 1);
    }

    #[test]
    fn equal_answers_of_several_trials_are_known_by_their_trials() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = open(folder.path(), "x", Resume::default()).expect("new");
        let trial = |trial| CaseId { trial: NonZero::new(trial), ..id("q") };
        let own = Judgement { findings: vec![relevance(0.5)], ..nothing() };
        log.append(&JudgedLine::new(trial(1), "k", &own)).expect("appended");
        drop(log);
        let again = open(folder.path(), "x", Resume::default()).expect("again");
        assert_eq!((get(&again, trial(1), "k"), get(&again, trial(2), "k")), (Some(&own), None));
    }

    #[test]
    fn lines_of_other_judges_are_skipped() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = open(folder.path(), "x", Resume::default()).expect("new");
        let own = Judgement { findings: vec![relevance(0.5)], ..nothing() };
        log.append(&JudgedLine::new(id("q"), "k", &own)).expect("appended");
        let other =
            Finding::new(Aspect::custom("tone", vec!["polite".into()]), Verdict::failed("?"));
        let other = Judgement { findings: vec![other], ..nothing() };
        log.append(&JudgedLine::new(id("q"), "k", &other)).expect("appended");
        drop(log);
        let again = open(folder.path(), "x", Resume::default()).expect("again");
        assert_eq!((again.n_known(), get(&again, id("q"), "k")), (1, Some(&own)));
    }

    #[test]
    fn lines_that_do_not_tell_the_reason_outside_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        drop(open(folder.path(), "x", Resume::default()).expect("new"));
        let line = json!({"question_id": "q", "key": "k", "failed_outside": true,
            "notes": [{"key": "answer_relevance_error", "value": "status 503"}]});
        std::fs::write(folder.path().join("records.jsonl"), format!("{line}\n")).expect("written");
        let log = open(folder.path(), "x", Resume::default()).expect("a run");
        let judgement = get(&log, id("q"), "k").expect("known");
        assert_eq!(judgement.outside().map(|why| &*why.message), Some("status 503"));
    }

    #[test]
    fn changed_inputs_are_refused_unless_told() {
        let folder = tempfile::tempdir().expect("a folder");
        drop(open(folder.path(), "x", Resume::default()).expect("new"));
        let error = open(folder.path(), "y", Resume::default()).expect_err("changed");
        assert!(error.to_string().contains("other responses"), "{error}");
        let told = Resume { even_if_changed: true, ..Resume::default() };
        drop(open(folder.path(), "y", told).expect("told"));
    }
}
