//! Whether enough questions have a verdict for a gate to rely on.
//!
//! Every question counts once, by the share of its answers that have a verdict: many answers to some
//! questions do not make up for others that have none.

use hashbrown::HashSet;
use juror_score::{ScoreColumn, ScoreTable, ScoredItem, Standing};

use super::Share;
use super::level::{Baseline, GatedRun, answer_of, questions_of};
use super::limit::percent;
use crate::join::QuestionName;
use crate::question_numbers::QuestionNumbers;
use crate::statistics::Kind;

/// How many of the questions to which a metric applies have a verdict on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Covered {
    /// The sum of their shares of answers with a verdict.
    scored: f64,
    n_questions: usize,
}

impl Covered {
    fn of(shares: impl IntoIterator<Item = f64>, n_missing: usize) -> Covered {
        let none = Covered { n_questions: n_missing, ..Covered::default() };
        shares.into_iter().fold(none, |covered, share| Covered {
            scored: covered.scored + share,
            n_questions: covered.n_questions + 1,
        })
    }

    fn reaches(self, least: Share) -> bool {
        least.is_reached_by_sum(self.scored, self.n_questions)
    }

    fn percent(self, least: Share) -> String {
        let share = self.scored / self.n_questions.max(1) as f64;
        percent(share, |shown| shown >= least.percent())
    }
}

/// The answers that did not fail, where they are fewer than asked.
pub(super) struct Survivors {
    /// How many there are, in words.
    pub(super) told: String,
    /// Whether they are so few that no score of the run counts.
    pub(super) are_few: bool,
}

impl Survivors {
    pub(super) fn are_too_few(&self) -> String {
        format!("only {}; a gate needs at least {}", self.told, Share::MAJORITY)
    }
}

impl GatedRun<'_> {
    /// Says that too few questions, of a group or of all, have a verdict on a metric, if that is so.
    pub(super) fn lack_of_coverage(
        &self,
        metric: &str,
        group: Option<&str>,
        least: Share,
    ) -> Option<String> {
        let numbers = QuestionNumbers::of(self.scores);
        let mut shares = shares_of(&numbers, self.scores, metric);
        if let Some(baseline) = self.baseline {
            baseline.owe(&mut shares, metric);
        }
        let is_meant = |question: &usize| {
            let item = &self.scores.items()[numbers.first_items[*question]];
            group.is_none_or(|group| self.scores.group_of(item) == group)
        };
        let meant = (0..numbers.n_questions).filter(is_meant);
        let n_missing = self.n_missing(metric, group);
        let covered = Covered::of(meant.filter_map(|question| shares[question]), n_missing);
        if covered.reaches(least) {
            return None;
        }
        let (kind, n) = (self.statistics.kind, covered.n_questions);
        if n == 0 {
            return Some(format!("{metric} applies to no {}", questions_of(kind)));
        }
        let (scored, share) = (covered.scored, covered.percent(least));
        let has = match (numbers.has_trials(), kind) {
            (false, _) => format!(
                "for {scored} of the {n} {}s to which it applies ({share})",
                questions_of(kind)
            ),
            (true, Kind::Eval) => {
                format!("for {share} of the answers to the {n} questions to which it applies")
            }
            (true, Kind::Bench) => {
                format!("for {share} of the attempts at the {n} queries to which it applies")
            }
        };
        let failed = self.failed();
        Some(format!("{metric} has a verdict {has}, at least {least} was asked{failed}"))
    }

    /// Says how many answers that a metric applies to, of a group or of all, did not fail, if that is
    /// less than asked. Rules may give failed answers a score, such as 0 in profile 6: then the metric
    /// has a verdict on all of them, and its mean tells little of the system.
    pub(super) fn lack_of_survivors(
        &self,
        metric: &str,
        group: Option<&str>,
        least: Share,
    ) -> Option<Survivors> {
        let standings = self.scores.standings(self.scores.column(metric)?);
        let items = self.scores.items().iter().zip(standings);
        let is_meant = |(item, standing): &(&ScoredItem, Standing)| {
            *standing != Standing::NotApplicable
                && group.is_none_or(|group| self.scores.group_of(item) == group)
        };
        let meant: Vec<_> = items.filter(is_meant).collect();
        let n_well = meant.iter().filter(|(item, _)| !item.is_error).count();
        let missing = self.n_missing(metric, group);
        // Which groups lack answers to questions that have some is known of all of them together.
        let n_lacking = if group.is_none() { self.statistics.missing } else { 0 };
        let n_all = meant.len() + missing * self.n_owed() + n_lacking;
        if n_all == 0 || least.is_reached_by(n_well, n_all) {
            return None;
        }
        let answers = answer_of(self.statistics.kind);
        let share = percent(n_well as f64 / n_all as f64, |shown| shown >= least.percent());
        let told = format!("{n_well} of {n_all} {answers}s did not fail ({share})");
        Some(Survivors {
            told,
            are_few: !Share::MAJORITY.least(least).is_reached_by(n_well, n_all),
        })
    }

    /// How many of the questions that are missing, of a group or of all, the metric would apply to, as
    /// far as the baseline knows.
    fn n_missing(&self, metric: &str, group: Option<&str>) -> usize {
        let is_meant = |name: &&QuestionName| group.is_none_or(|group| name.group == group);
        let missing = self.missing.iter().filter(is_meant);
        let Some(baseline) = self.baseline else { return missing.count() };
        let Some(applicable) = baseline.applicable(metric) else { return missing.count() };
        // What neither run has may well have been asked about.
        let known: HashSet<&str> = baseline.scores.items().iter().map(|item| &*item.id).collect();
        let counts =
            |name: &&QuestionName| applicable.contains(*name) || !known.contains(name.id.as_str());
        missing.filter(counts).count()
    }

    fn failed(&self) -> String {
        match (self.n_errors(), answer_of(self.statistics.kind)) {
            (0, _) => String::new(),
            (1, answer) => format!("; 1 {answer} failed or is missing"),
            (n, answer) => format!("; {n} {answer}s failed or are missing"),
        }
    }

    /// Says that too few questions have a verdict on a metric in both runs, if that is so.
    pub(super) fn lack_in_both(&self, metric: &str, least: Share) -> Option<String> {
        let Baseline { scores, joined, in_common_alone } = self.baseline?;
        let own = shares_of(&joined.b, self.scores, metric);
        let theirs = shares_of(&joined.a, scores, metric);
        let pairs = || joined.pairs.iter().map(|pair| (theirs[pair.a], own[pair.b]));
        let n_alone = if in_common_alone {
            0
        } else {
            n_known(joined.alone_in_a(), &theirs) + n_known(joined.alone_in_b(), &own)
        };
        // What does not apply in the first run has nothing to lose.
        let in_both = pairs().filter_map(|(a, b)| Some(a?.min(b.unwrap_or(0.0))));
        let both = Covered::of(in_both, n_alone);
        if both.reaches(least) {
            return None;
        }
        let (n, share) = (both.n_questions, both.percent(least));
        let alone = joined.alone_in_a().filter(|_| !in_common_alone);
        let in_first = pairs().filter_map(|(a, _)| a).chain(alone.filter_map(|at| theirs[at]));
        let first = Covered::of(in_first, 0).percent(least);
        Some(format!(
            "{metric} has a verdict in both runs for {share} of the {n} questions to which it \
             applies, at least {least} was asked; in the first run for {first}"
        ))
    }
}

/// How many questions have a share.
fn n_known(questions: impl Iterator<Item = usize>, shares: &[Option<f64>]) -> usize {
    questions.filter(|question| shares[*question].is_some()).count()
}

impl Baseline<'_> {
    /// The questions to which a metric applies; `None` if the run does not have it.
    fn applicable(&self, metric: &str) -> Option<HashSet<QuestionName>> {
        let column = self.scores.column(metric).filter(|column| !column.values().is_empty())?;
        let shares = self.joined.a.shares(self.scores, column);
        let names = self.joined.a.names(self.scores).into_iter().zip(shares);
        Some(names.filter(|(_, share)| share.is_some()).map(|(name, _)| name).collect())
    }

    /// Where the baseline has a verdict, the other run owes one, though its rows may not say that the
    /// metric applies to them.
    fn owe(&self, shares: &mut [Option<f64>], metric: &str) {
        let theirs = shares_of(&self.joined.a, self.scores, metric);
        for pair in &self.joined.pairs {
            if theirs[pair.a].is_some_and(|share| share > 0.0) {
                shares[pair.b].get_or_insert(0.0);
            }
        }
    }
}

/// The share of each question's answers that have a verdict; `None` where the metric does not apply.
pub(super) fn shares_of(
    numbers: &QuestionNumbers,
    table: &ScoreTable,
    metric: &str,
) -> Vec<Option<f64>> {
    let shares = |column: &ScoreColumn| numbers.shares(table, column);
    table.column(metric).map_or_else(|| vec![None; numbers.n_questions], shares)
}
