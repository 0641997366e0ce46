//! One metric of two runs, question by question.

use juror_score::statistics::{self, Interval, Paired};
use juror_score::{Better, Coverage, MetricInfo, ScoreColumn, ScoreTable, Unit};
use schemars::JsonSchema;
use serde::Serialize;

use crate::estimate::{Caution, FEW_CLUSTERS, are_binary, has_width, is_share};
use crate::join::{Joined, PairedScores, UnseenQuestion};
use crate::row_scores::scores_or;

/// How a metric changed from the first run to the second.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MetricComparison {
    /// Which direction is better, `higher` or `lower`; `None` for a metric of the user's own, of
    /// which nobody knows.
    #[schemars(with = "Option<String>")]
    pub better: Option<Better>,
    /// Whether a change is best told in percent of the first run's mean.
    pub is_relative: bool,
    /// Questions that both runs have a number for.
    pub n: usize,
    /// The first run's mean over these questions.
    pub a: f64,
    /// The second run's mean over them.
    pub b: f64,
    /// The mean of the differences, second minus first.
    pub delta: f64,
    /// The standard error of that.
    pub se: Option<f64>,
    /// Its interval; `None` if none can be had, and `caution` says why.
    #[schemars(with = "Option<[f64; 2]>")]
    pub interval: Option<Interval>,
    /// The probability of a difference at least this large if nothing had changed.
    pub p: Option<f64>,
    /// The same, adjusted for the number of candidates (Holm).
    pub p_holm: Option<f64>,
    /// The same, adjusted for the number of metrics without a gate (Benjamini–Hochberg); `None` for a
    /// metric that a gate is about.
    pub p_benjamini_hochberg: Option<f64>,
    /// The same by flipping the signs of clusters, if there are few.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_sign_flip_exact: Option<f64>,
    /// The same by the test of `McNemar`, for independent zeros and ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_mcnemar_mid: Option<f64>,
    /// How sure it is that the second run is better.
    pub probability_better: Option<f64>,
    /// Questions on which the second run is better.
    pub won: usize,
    /// Questions on which it is worse.
    pub lost: usize,
    /// Questions on which both are equal.
    pub tied: usize,
    /// The least difference that would be found with 80 % power.
    pub mde: Option<f64>,
    /// How many clusters the questions belong to, if clusters matter.
    pub clusters: Option<usize>,
    /// The share of the questions to which the metric applies that have a number, in each run.
    pub coverage: [f64; 2],
    /// The difference if every error counted as 0; `None` if 0 is not the worst value.
    pub delta_errors_as_zero: Option<f64>,
    /// What to keep in mind, or why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caution: Option<Caution>,
}

/// The columns of a metric in two runs.
#[derive(Clone, Copy)]
pub(crate) struct Columns<'t> {
    pub(crate) a: (&'t ScoreTable, &'t ScoreColumn),
    pub(crate) b: (&'t ScoreTable, &'t ScoreColumn),
}

impl Columns<'_> {
    fn info(&self) -> Option<&'static MetricInfo> {
        self.a.1.info
    }

    /// Compares the metric over joined questions. Returns `None` if no question has a number in both
    /// runs.
    pub(crate) fn compare(&self, joined: &Joined, confidence: f64) -> Option<MetricComparison> {
        let mut measured = Measured {
            scores: joined.scores(self.a.1, self.b.1),
            coverage: [
                sum(joined.a.coverage(self.a.0, self.a.1)),
                sum(joined.b.coverage(self.b.0, self.b.1)),
            ],
            changes_with_errors: self.changes_with_errors(joined).into_iter().flatten().collect(),
        };
        self.unseen(joined).iter().for_each(|unseen| measured.add(unseen));
        self.comparison(&measured, confidence)
    }

    /// The comparison of the metric over some questions.
    pub(crate) fn comparison(
        &self,
        measured: &Measured,
        confidence: f64,
    ) -> Option<MetricComparison> {
        let scores = &measured.scores;
        let paired = paired(scores, confidence)?;
        let better = self.info().map(|info| info.better);
        let is_fall_better = better == Some(Better::Lower);
        let turned =
            |probability: f64| if is_fall_better { 1.0 - probability } else { probability };
        let (won, lost) =
            if is_fall_better { (paired.lost, paired.won) } else { (paired.won, paired.lost) };
        let interval = paired.interval.filter(has_width);
        Some(MetricComparison {
            better,
            is_relative: self.info().is_some_and(|info| is_amount(info.unit)),
            n: paired.n,
            a: paired.mean_a,
            b: paired.mean_b,
            delta: paired.delta,
            se: paired.se.filter(|_| interval.is_some()),
            interval,
            p: p_value(&paired),
            p_holm: None,
            p_benjamini_hochberg: None,
            p_sign_flip_exact: paired.p_sign_flip_exact,
            p_mcnemar_mid: mcnemar(self.info(), scores, &paired),
            probability_better: paired
                .probability_positive
                .filter(|_| interval.is_some())
                .map(turned),
            won,
            lost,
            tied: paired.tied,
            mde: paired.mde.filter(|_| interval.is_some()),
            clusters: paired.n_clusters,
            coverage: measured.coverage.map(Coverage::share),
            delta_errors_as_zero: measured.delta_with_errors(),
            caution: caution(&paired, interval),
        })
    }

    /// How each joined question changed if errors count as 0; `None` where the metric does not apply,
    /// or everywhere if 0 is not its worst value.
    pub(crate) fn changes_with_errors(&self, joined: &Joined) -> Vec<Option<f64>> {
        if !self.has_worst_zero() {
            return vec![None; joined.len()];
        }
        let both = joined.both(&scores_or(0.0, self.a), &scores_or(0.0, self.b));
        let shares =
            joined.pairs.iter().map(|pair| (joined.a.share_of(pair.a), joined.b.share_of(pair.b)));
        let change = |((a, b), (there_a, there_b)): ((Option<f64>, Option<f64>), (f64, f64))| {
            Some(b? * there_b - a? * there_a)
        };
        both.into_iter().zip(shares).map(change).collect()
    }

    /// What is known of the questions that a run was to answer and has no row of, except those to which
    /// the metric does not apply in the other run.
    pub(crate) fn unseen(&self, joined: &Joined) -> Vec<Unseen> {
        let sides = [(&joined.a, (&joined.b, self.b)), (&joined.b, (&joined.a, self.a))];
        let mut all = Vec::new();
        for (side, (own, (other, theirs))) in sides.into_iter().enumerate() {
            if joined.unseen[side].is_empty() {
                continue;
            }
            let scores = other.means_of_rows(&scores_or(0.0, theirs));
            // What neither run has may well have been asked about, and is 0 in both.
            let score = |number: Option<usize>| match number {
                Some(number) => Some(scores[number]? * other.share_of(number)),
                None => Some(0.0),
            };
            let lost = |UnseenQuestion(number): &UnseenQuestion| {
                let change = if side == 0 { score(*number)? } else { -score(*number)? };
                let change = self.has_worst_zero().then_some(change);
                Some(Unseen { side, number: *number, n_owed: own.n_owed, change })
            };
            all.extend(joined.unseen[side].iter().filter_map(lost));
        }
        all
    }

    /// Whether no score is worse than 0, so that errors can count as that.
    fn has_worst_zero(&self) -> bool {
        let is_share =
            |info: &MetricInfo| info.unit == Unit::Fraction && info.better == Better::Higher;
        self.info().is_some_and(is_share)
    }
}

/// A question that a run was to answer and has no row of, to which a metric applies.
pub(crate) struct Unseen {
    /// 0 if the first run lacks it, 1 if the second does.
    side: usize,
    /// Its number in the other run, if that has it.
    pub(crate) number: Option<usize>,
    n_owed: usize,
    /// How it changed if errors count as 0; `None` if 0 is not the worst value.
    change: Option<f64>,
}

impl Unseen {
    /// The group of the question in the run that has it.
    pub(crate) fn group<'t>(&self, joined: &Joined, columns: &Columns<'t>) -> Option<&'t str> {
        let (numbers, table) = match self.side {
            0 => (&joined.b, columns.b.0),
            _ => (&joined.a, columns.a.0),
        };
        Some(table.group_of(&table.items()[numbers.first_items[self.number?]]))
    }
}

/// What the comparison of a metric over some questions is computed from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    /// The scores of the questions that both runs have a score for.
    pub(crate) scores: PairedScores,
    /// How many answers of each run have a number.
    pub(crate) coverage: [Coverage; 2],
    /// How the questions to which the metric applies changed if errors count as 0.
    pub(crate) changes_with_errors: Vec<f64>,
}

impl Measured {
    /// Counts a question that a run does not have as an error.
    pub(crate) fn add(&mut self, unseen: &Unseen) {
        self.coverage[unseen.side].n_applicable += unseen.n_owed;
        self.changes_with_errors.extend(unseen.change);
    }

    fn delta_with_errors(&self) -> Option<f64> {
        let changes = &self.changes_with_errors;
        statistics::mean(changes, None, statistics::CONFIDENCE).map(|own| own.mean)
    }
}

/// Adds up what questions have.
pub(crate) fn sum(questions: impl IntoIterator<Item = Coverage>) -> Coverage {
    questions.into_iter().fold(Coverage::default(), |sum, own| Coverage {
        n_scored: sum.n_scored + own.n_scored,
        n_applicable: sum.n_applicable + own.n_applicable,
    })
}

/// Whether a unit has no upper end, so that changes are best told in percent.
fn is_amount(unit: Unit) -> bool {
    !matches!(unit, Unit::Fraction | Unit::Cosine)
}

fn paired(scores: &PairedScores, confidence: f64) -> Option<Paired> {
    statistics::paired(&scores.a, &scores.b, scores.real_clusters(), confidence)
}

/// The p-value; 1 if no question changed, which needs no spread to be known.
fn p_value(paired: &Paired) -> Option<f64> {
    let is_unchanged = paired.won == 0 && paired.lost == 0;
    if is_unchanged { Some(1.0) } else { paired.p.filter(|_| paired.se.is_some_and(|se| se > 0.0)) }
}

fn caution(paired: &Paired, interval: Option<Interval>) -> Option<Caution> {
    match (interval, paired.n_clusters) {
        (None, _) if paired.n == 1 => Some(Caution::OneValue),
        (None, Some(0 | 1)) => Some(Caution::OneCluster),
        (None, _) => Some(Caution::NoSpread),
        (Some(_), Some(n)) if n < FEW_CLUSTERS => Some(Caution::FewClusters),
        (Some(_), _) => None,
    }
}

/// The test of `McNemar`, if every score is 0 or 1 and every question stands for itself.
fn mcnemar(info: Option<&MetricInfo>, scores: &PairedScores, paired: &Paired) -> Option<f64> {
    let is_binary = is_share(info) && are_binary(scores.a.iter().chain(&scores.b));
    let count = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
    (is_binary && scores.real_clusters().is_none())
        .then(|| statistics::mcnemar(count(paired.lost), count(paired.won)).p_mid)
}
