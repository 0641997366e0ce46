//! Checks gates on single questions against the change from one run to another.

use hashbrown::HashSet;

use super::coverage::shares_of;
use super::level::{Baseline, GatedRun, LACKING, broken_questions, no_metric};
use super::{Answer, Found};
use crate::comparison::CandidateComparison;
use crate::headline::baseline_headline;
use crate::join::JoinedQuestion;
use crate::question_numbers::QuestionNumbers;

/// The questions of a gate, and the metric they are looked at by.
#[derive(Clone, Copy)]
pub(super) struct Named<'g> {
    pub(super) ids: &'g [String],
    pub(super) metric: Option<&'g str>,
}

/// Between two runs, a question breaks if its score got worse, if it has none now, if fewer of its
/// answers have one than before, or if it is not in both.
pub(super) fn check_flips(
    candidate: GatedRun<'_>,
    change: &CandidateComparison,
    Named { ids, metric }: Named<'_>,
    may_break: usize,
) -> Found {
    let Some(metric) = metric else {
        return broken_questions(&[(no_metric(None), ids.to_vec())], may_break);
    };
    if change.is_judged_apart(metric) {
        return Found::new(Answer::Unknown, change.why_not_compared(metric));
    }
    let worse: HashSet<&str> = match change.flips_of(Some(metric)) {
        Some(flips) => flips.broken.iter().map(|flip| flip.id.as_str()).collect(),
        None => HashSet::new(),
    };
    let (scored, joined) = (candidate.scored_ids(metric), candidate.joined_ids(change));
    let lacking = candidate.lacking_ids(metric);
    let mut how = [
        (format!("worse by {metric}"), Vec::new()),
        (no_metric(Some(metric)), Vec::new()),
        ("not in both runs".to_owned(), Vec::new()),
        (LACKING.to_owned(), Vec::new()),
    ];
    for id in ids {
        let broken = match id.as_str() {
            id if worse.contains(id) => 0,
            id if !joined.contains(id) => 2,
            id if !scored.contains(id) => 1,
            id if lacking.contains(id) => 3,
            _ => continue,
        };
        how[broken].1.push(id.clone());
    }
    broken_questions(&how, may_break)
}

impl<'r> GatedRun<'r> {
    /// The ids of the questions that both runs have.
    fn joined_ids(&self, change: &CandidateComparison) -> HashSet<&'r str> {
        let mut ids = self.ids();
        for name in &change.only_in_candidate {
            ids.remove(name.id.as_str());
        }
        ids
    }

    /// The ids of the questions that have a number.
    fn scored_ids(&self, metric: &str) -> HashSet<&'r str> {
        let Some(column) = self.scores.column(metric) else { return HashSet::new() };
        let numbers = QuestionNumbers::of(self.scores);
        let mut ids = self.ids();
        for (mean, first) in numbers.means(column).into_iter().zip(&numbers.first_items) {
            if mean.is_none() {
                ids.remove(&*self.scores.items()[*first].id);
            }
        }
        ids
    }

    /// The ids of the questions of which a smaller share of answers has a number than in the baseline.
    fn lacking_ids(&self, metric: &str) -> HashSet<&'r str> {
        let Some(Baseline { scores, joined, .. }) = self.baseline else { return HashSet::new() };
        let before = shares_of(&joined.a, scores, metric);
        let now = shares_of(&joined.b, self.scores, metric);
        let is_less = |pair: &&JoinedQuestion| before[pair.a] > now[pair.b].or(Some(0.0));
        let first = |pair: &JoinedQuestion| joined.b.first_items[pair.b];
        let lacking = joined.pairs.iter().filter(is_less);
        lacking.map(|pair| &*self.scores.items()[first(pair)].id).collect()
    }

    fn ids(&self) -> HashSet<&'r str> {
        self.scores.items().iter().map(|item| &*item.id).collect()
    }
}

impl CandidateComparison {
    /// The metric that says best whether the baseline's answers are right, if possible one that can be
    /// compared.
    pub(super) fn headline_of(&self, baseline: Option<Baseline<'_>>) -> Option<&'static str> {
        baseline_headline(baseline?.scores, |metric| self.is_judged_apart(metric))
    }
}
