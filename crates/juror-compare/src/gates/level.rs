//! Checks gates against the statistics of one run.

use juror_score::ScoreTable;

use super::limit::percent;
use super::unchecked::RunCount;
use super::{Answer, Bound, Condition, Found, Gate, GateOutcome, Gates, LevelLimit, Limit};
use crate::estimate::{ClusterNoun, Numbered};
use crate::headline::headline;
use crate::join::{Joined, QuestionName};
use crate::metric_statistics::MetricStatistics;
use crate::question_numbers::QuestionNumbers;
use crate::row_scores::row_scores;
use crate::statistics::{Kind, Statistics};

/// One run, as gates see it.
#[derive(Clone, Copy)]
pub struct GatedRun<'r> {
    pub(super) statistics: &'r Statistics,
    pub(super) scores: &'r ScoreTable,
    /// Questions that the run should have answered, and that are not among its rows.
    pub(super) missing: &'r [QuestionName],
    /// The run it is compared with, if there is one.
    pub(super) baseline: Option<Baseline<'r>>,
}

/// The run that another one is compared with, as gates see it.
#[derive(Clone, Copy)]
pub(crate) struct Baseline<'r> {
    pub(crate) scores: &'r ScoreTable,
    pub(crate) joined: &'r Joined,
    /// Whether questions that are in one of the runs alone do not count.
    pub(crate) in_common_alone: bool,
}

impl<'r> GatedRun<'r> {
    /// A run with its statistics, and the numbers they were computed from.
    pub fn new(statistics: &'r Statistics, scores: &'r ScoreTable) -> GatedRun<'r> {
        GatedRun { statistics, scores, missing: &[], baseline: None }
    }

    /// The same run, of which these questions are missing: they count as errors.
    #[must_use]
    pub fn without(self, missing: &'r [QuestionName]) -> GatedRun<'r> {
        GatedRun { missing, ..self }
    }

    /// The same run, compared with another: it owes a verdict wherever the other one has one.
    #[must_use]
    pub(crate) fn against(self, baseline: Baseline<'r>) -> GatedRun<'r> {
        GatedRun { baseline: Some(baseline), ..self }
    }

    /// How many answers failed or are missing.
    pub(super) fn n_errors(&self) -> usize {
        self.statistics.errors + self.n_missing_answers()
    }

    /// How many answers there are no rows of: of questions that have some, and of those that have none.
    fn n_missing_answers(&self) -> usize {
        self.statistics.missing + self.missing.len() * self.n_owed()
    }

    /// How many answers every question was to get.
    pub(super) fn n_owed(&self) -> usize {
        let Statistics { questions, answers, missing, .. } = self.statistics;
        ((answers + missing) / (*questions).max(1)).max(1)
    }
}

impl Gates {
    /// Checks every gate that a single run can meet. Those that need a baseline are left out, and
    /// those on metrics of the other kind of run.
    pub fn check(&self, run: GatedRun<'_>) -> Vec<GateOutcome> {
        let kind = run.statistics.kind;
        let gates = self.gates.iter().filter(|gate| gate.unchecked(kind, RunCount::One).is_none());
        gates.map(|gate| gate.outcome(self.check_one(gate, run))).collect()
    }

    pub(super) fn check_one(&self, gate: &Gate, run: GatedRun<'_>) -> Found {
        match &gate.condition {
            Condition::Level { metric, group, limit, bound } => {
                self.check_level(run, metric, group.as_deref(), *limit, *bound)
            }
            Condition::Errors { most } => check_errors(run, *most),
            Condition::Questions { ids, metric, may_break } => {
                check_questions(run, ids, metric.as_deref(), *may_break)
            }
            Condition::Change { .. } => {
                Found::new(Answer::Unknown, "there is no other run to compare with")
            }
        }
    }

    fn check_level(
        &self,
        run: GatedRun<'_>,
        metric: &str,
        group: Option<&str>,
        limit: LevelLimit,
        bound: Bound,
    ) -> Found {
        let all = run.statistics;
        let own = match group {
            None => all.metric(metric),
            Some(group) => match all.groups.get(group) {
                Some(own) => own.get(metric),
                None => return Found::new(Answer::NotMet, format!("there is no {group}")),
            },
        };
        let noun = questions_of(all.kind);
        let Some(own) = own else {
            return Found::asking(Answer::NotMet, format!("no {noun} has {metric}"), limit);
        };
        let level = check_bound(metric, own, limit, bound, all.kind.cluster_noun());
        match run.lack_of_coverage(metric, group, self.coverage) {
            None => level.among(run.lack_of_survivors(metric, group, self.coverage)),
            Some(lack) if level.answer == Answer::NotMet => {
                Found::uncovered(format!("{}; {lack}", level.why))
            }
            Some(lack) => Found::uncovered(lack),
        }
    }
}

fn check_bound(
    metric: &str,
    own: &MetricStatistics,
    limit: LevelLimit,
    bound: Bound,
    noun: ClusterNoun,
) -> Found {
    let (value, what) = match (bound, own.interval) {
        (Bound::Lower, Some(interval)) => (interval.low, "is at least"),
        (Bound::Upper, Some(interval)) => (interval.high, "is at most"),
        // An end of an interval is asked for to be strict: it never lets a mean pass that fails.
        (Bound::Lower | Bound::Upper, None) if limit.allows(own.mean) => {
            let why = own.caution.map(|word| word.text(Numbered::Values, own.clusters, noun));
            let why = why.map_or(String::new(), |why| format!(": {why}"));
            let found =
                format!("{metric} is {:.4}, and no interval can be computed{why}", own.mean);
            return Found::new(Answer::Unknown, found);
        }
        _ => (own.mean, "is"),
    };
    let answer = if limit.allows(value) { Answer::Met } else { Answer::NotMet };
    Found::asking(answer, format!("{metric} {what} {value:.4}"), limit)
}

impl LevelLimit {
    fn allows(self, value: f64) -> bool {
        match self {
            LevelLimit::Min(least) => value >= least,
            LevelLimit::Max(most) => value <= most,
        }
    }
}

fn check_errors(run: GatedRun<'_>, most: Limit) -> Found {
    let n_all = run.statistics.answers + run.n_missing_answers();
    let n_errors = run.n_errors();
    let is_met = most.allows(n_errors, n_all);
    let share = percent(n_errors as f64 / n_all.max(1) as f64, |shown| match most {
        Limit::Share(most) => (shown <= most.percent()) != is_met,
        Limit::Count(_) => false,
    });
    let noun = answer_of(run.statistics.kind);
    let answer = if is_met { Answer::Met } else { Answer::NotMet };
    let found = format!("{n_errors} of {n_all} {noun}s failed or are missing ({share})");
    Found::asking(answer, found, format_args!("at most {most}"))
}

/// In a single run, a question breaks if an answer to it has less than the full score, none, or is
/// missing.
fn check_questions(
    run: GatedRun<'_>,
    ids: &[String],
    metric: Option<&str>,
    may_break: usize,
) -> Found {
    let metric = metric.or_else(|| headline(run.statistics));
    let Some(column) = metric.and_then(|metric| run.scores.column(metric)) else {
        return broken_questions(&[(no_metric(metric), ids.to_vec())], may_break);
    };
    let scores = row_scores(run.scores, column);
    let numbers = QuestionNumbers::of(run.scores);
    let is_full = |at: usize| scores[at].is_some_and(|score| score >= 1.0);
    let mut how =
        [(format!("{} less than 1", column.name), Vec::new()), (LACKING.to_owned(), Vec::new())];
    for id in ids {
        let own = || (0..scores.len()).filter(|at| *run.scores.items()[*at].id == **id);
        let is_lacking = |at| numbers.n_missing_of(numbers.of_items[at] as usize) > 0;
        let broken = match own().next() {
            Some(_) if own().all(is_full) && own().any(is_lacking) => 1,
            Some(_) if own().all(is_full) => continue,
            _ => 0,
        };
        how[broken].1.push(id.clone());
    }
    broken_questions(&how, may_break)
}

/// How a question breaks that has too few answers, though those that there are may be right.
pub(super) const LACKING: &str = "lacking answers";

/// What follows from the questions that broke, listed by how they did.
pub(super) fn broken_questions(how: &[(String, Vec<String>)], may_break: usize) -> Found {
    let questions: Vec<String> = how.iter().flat_map(|(_, ids)| ids.clone()).collect();
    let answer = if questions.len() <= may_break { Answer::Met } else { Answer::NotMet };
    let told = how.iter().filter(|(_, ids)| !ids.is_empty());
    let told: Vec<String> = told.map(|(how, ids)| format!("{how}: {}", ids.join(", "))).collect();
    let why = if told.is_empty() { "none broke".to_owned() } else { told.join("; ") };
    Found { questions, ..Found::new(answer, why) }
}

/// Says why no question can be told to be right.
pub(super) fn no_metric(metric: Option<&str>) -> String {
    match metric {
        Some(metric) => format!("without {metric}"),
        None => "no metric tells whether a question is right".into(),
    }
}

/// What the rows of a run without trials are called in messages about questions.
pub(super) fn questions_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Eval => "question",
        Kind::Bench => "attempt",
    }
}

/// What the rows of a run are called.
pub(super) fn answer_of(kind: Kind) -> &'static str {
    match kind {
        Kind::Eval => "response",
        Kind::Bench => "attempt",
    }
}
