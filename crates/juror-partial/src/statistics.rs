//! The statistics of a partial: the same as those of all answers in memory.

use juror_compare::{
    ByMetric, Estimate, JudgeStatistics, Kind, MacroStatistics, MetricStatistics, RowCounts,
    Statistics, TrialStatistics, Tries, WithoutMean, can_solve, is_share,
};
use juror_score::statistics::{
    InClusters, Interval, MeanErrors, TemplateMean, cluster_error, macro_of_means, median,
    ordered_sum, proportion,
};
use juror_score::{Coverage, MetricInfo};

use crate::aggregates::{Merged, mean_of, size};
use crate::exact_sum::{Exact, ExactSum};
use crate::partial::{Column, Template};
use crate::series::{Moments, Series};
use crate::sketch::ACCURACY;
use crate::tally::{Several, Tally};

/// The numbers of a metric over some answers, with what else is needed to tell about them.
struct Scope<'s> {
    column: &'s Column,
    tally: &'s Tally,
    n_answers: u64,
    n_missing: u64,
    confidence: f64,
}

impl Merged<'_> {
    pub(crate) fn statistics(&self, confidence: f64) -> Statistics {
        let questions = Questions::of(self);
        let n_answers = self.partial.n_answers();
        let mut all = Statistics::empty(Kind::Eval, confidence);
        all.questions = size(questions.n_alone + questions.trials.len() as u64);
        all.answers = size(n_answers);
        all.errors = size(self.templates.iter().map(|(_, own)| own.n_errors).sum());
        all.missing = size(questions.n_missing());
        let names = self.templates.iter().map(|(name, _)| (*name).to_owned());
        all.groups = names.map(|name| (name, ByMetric::default())).collect();
        for (at, column) in self.partial.columns.iter().enumerate() {
            let tried = questions.tried(at, column.info);
            let groups: Vec<Group<'_>> = (0..self.templates.len())
                .map(|template| Group::of(self, &questions, (template, at), &tried))
                .collect();
            let scope = Scope {
                column,
                tally: &self.all[at],
                n_answers,
                n_missing: groups.iter().fold(0, |sum, own| own.n_missing.saturating_add(sum)),
                confidence,
            };
            let estimate = scope.over_templates(&groups);
            let name = &column.name;
            let Some(micro) = scope.statistics(estimate) else {
                let without = WithoutMean::of(name, scope.rows(), all.errors == all.answers);
                all.without_mean.extend(without.map(|own| (name.clone(), own)));
                continue;
            };
            all.micro.insert(name.clone(), micro);
            all.macro_means
                .extend(macro_statistics(&groups, confidence).map(|own| (name.clone(), own)));
            for (own, group) in all.groups.values_mut().zip(&groups) {
                let scope = group.scope(column, confidence);
                let statistics = scope.statistics(scope.over_questions(&group.several));
                own.extend(statistics.map(|statistics| (name.clone(), statistics)));
            }
            if questions.has_trials() && column.info.is_some_and(can_solve) {
                let trials = TrialStatistics::of(&all_tries(&groups, &tried), confidence);
                all.trials.extend(trials.map(|trials| (name.clone(), trials)));
            }
            let judge = JudgeStatistics::of(&self.verdicts(at));
            all.judge.extend(judge.map(|judge| (name.clone(), judge)));
        }
        all
    }

    /// The verdicts of the judge on each answer that it was asked about several times.
    fn verdicts(&self, column: usize) -> Vec<Vec<f64>> {
        let counted = self.partial.repeats[column].iter();
        let expanded = counted.flat_map(|(bits, count)| {
            let verdicts: Vec<f64> = bits.iter().map(|bits| f64::from_bits(*bits)).collect();
            std::iter::repeat_n(verdicts, size(*count))
        });
        expanded.collect()
    }
}

/// How many questions there are, and how many answers each was to have.
struct Questions<'p> {
    merged: &'p Merged<'p>,
    /// Questions with one answer.
    n_alone: u64,
    /// For each question with several, its template, and how many there are.
    trials: Vec<TrialQuestion>,
    n_owed: u64,
}

struct TrialQuestion {
    template: usize,
    n_answers: u64,
}

/// What a question with several answers has of a metric.
struct Tried {
    template: usize,
    /// For each answer that has any.
    values: Vec<Vec<f64>>,
    scores: Vec<f64>,
    n_missing: u64,
}

impl<'p> Questions<'p> {
    fn of(merged: &'p Merged<'p>) -> Questions<'p> {
        let place = |name: &str| merged.templates.iter().position(|(own, _)| *own == name);
        let mut most_trials = 0;
        let mut trials = Vec::new();
        for ((template, _), rows) in &merged.partial.trials {
            let mut numbers: Vec<u32> = rows.iter().map(|row| row.trial).collect();
            numbers.sort_unstable();
            numbers.dedup();
            most_trials = most_trials.max(numbers.len() as u64);
            let template = place(template).unwrap_or(0);
            trials.push(TrialQuestion { template, n_answers: rows.len() as u64 });
        }
        let n_alone = merged.templates.iter().map(|(_, own)| own.n_alone).sum();
        let alone = (n_alone > 0).then_some(1);
        let n_had_by_all = trials.iter().map(|own| own.n_answers).chain(alone).min().unwrap_or(0);
        let n_owed = n_had_by_all.max(most_trials).max(merged.partial.n_owed.into());
        Questions { merged, n_alone, trials, n_owed }
    }

    fn n_missing_of(&self, n_answers: u64) -> u64 {
        self.n_owed.saturating_sub(n_answers)
    }

    fn n_missing(&self) -> u64 {
        let of_trials = self.trials.iter().map(|own| self.n_missing_of(own.n_answers));
        self.n_alone.saturating_mul(self.n_missing_of(1)).saturating_add(of_trials.sum::<u64>())
    }

    fn has_trials(&self) -> bool {
        self.n_owed > 1 || self.trials.iter().any(|own| own.n_answers > 1)
    }

    /// The questions with several answers to which a metric applies.
    fn tried(&self, column: usize, info: Option<&MetricInfo>) -> Vec<Tried> {
        let rows = self.merged.partial.trials.values();
        let tried = self.trials.iter().zip(rows).filter_map(|(question, rows)| {
            let cells = rows.iter().flat_map(|row| &row.cells);
            let own: Vec<_> = cells.filter(|cell| cell.column as usize == column).collect();
            let values: Vec<Vec<f64>> = own
                .iter()
                .filter(|cell| !cell.values.is_empty())
                .map(|cell| cell.values.iter().map(|bits| f64::from_bits(*bits)).collect())
                .collect();
            let scores = values.iter().filter_map(|values| score_of(info, values)).collect();
            (!own.is_empty()).then(|| Tried {
                template: question.template,
                values,
                scores,
                n_missing: self.n_missing_of(question.n_answers),
            })
        });
        tried.collect()
    }
}

/// The score of an answer of which several steps may have one.
fn score_of(info: Option<&MetricInfo>, values: &[f64]) -> Option<f64> {
    match (info, values) {
        (_, [alone]) => Some(*alone),
        (Some(info), _) => info.of_steps(values.iter().copied()),
        (None, _) => Some(mean_of(values)),
    }
}

/// A metric in one template.
struct Group<'p> {
    template: &'p Template,
    tally: &'p Tally,
    /// Questions with several numbers, of several steps or of several answers.
    several: Several,
    n_questions: u64,
    n_missing: u64,
}

impl<'p> Group<'p> {
    fn of(
        merged: &'p Merged<'p>,
        questions: &Questions<'_>,
        (template, column): (usize, usize),
        tried: &[Tried],
    ) -> Group<'p> {
        let (_, own) = merged.templates[template];
        let tally = &own.tallies[column];
        let mut group = Group {
            template: own,
            tally,
            several: tally.several.clone(),
            n_questions: tally.alone.n_scored,
            n_missing: tally.alone.n_applicable.saturating_mul(questions.n_missing_of(1)),
        };
        for own in tried.iter().filter(|own| own.template == template) {
            group.n_missing = group.n_missing.saturating_add(own.n_missing);
            if !own.scores.is_empty() {
                group.n_questions += 1;
                let values = own.values.iter().flatten().copied();
                group.several.add(values, Some(mean_of_scores(&own.scores)));
            }
        }
        group
    }

    fn scope<'s>(&'s self, column: &'s Column, confidence: f64) -> Scope<'s> {
        let Group { tally, n_missing, template, .. } = *self;
        Scope { column, tally, n_answers: template.n_answers, n_missing, confidence }
    }

    /// The mean over its questions.
    fn of_questions(&self) -> TemplateMean {
        let series = &self.tally.series;
        if self.several.n == 0 {
            return template_mean(series);
        }
        let with = |all: &ExactSum, of_values: &ExactSum, of_scores: &ExactSum| {
            let mut sum = all.clone();
            sum.subtract(&of_values.exact());
            sum.add_exact(&of_scores.exact());
            sum.exact()
        };
        let Several { sum, squares, scores, scores_squared, .. } = &self.several;
        let moments = Moments {
            n: self.n_questions,
            sum: with(&series.sum, sum, scores),
            squares: with(&series.squares, squares, scores_squared),
            rounding: series.rounding(),
        };
        let n = self.n_questions as f64;
        let mean = moments.sum.rounded() / n;
        TemplateMean { mean, squared_error: moments.variance().map(|variance| variance / n) }
    }
}

fn mean_of_scores(scores: &[f64]) -> f64 {
    if let [alone] = scores { *alone } else { mean_of(scores) }
}

fn template_mean(series: &Series) -> TemplateMean {
    let squared_error = series.variance().map(|variance| variance / series.n as f64);
    TemplateMean { mean: series.mean(), squared_error }
}

fn macro_statistics(groups: &[Group<'_>], confidence: f64) -> Option<MacroStatistics> {
    let scored = || groups.iter().filter(|group| group.tally.series.n > 0);
    let of_values: Vec<_> = scored().map(|group| template_mean(&group.tally.series)).collect();
    let of_questions: Vec<_> = scored().map(Group::of_questions).collect();
    let of_questions = macro_of_means(&of_questions);
    let estimate = macro_of_means(&of_values)?;
    Some(MacroStatistics::new(&estimate, of_questions.as_ref(), confidence))
}

/// The answers to each question to which a metric applies, as far as they have a score.
fn all_tries(groups: &[Group<'_>], tried: &[Tried]) -> Vec<Tries> {
    let mut all = Vec::new();
    for (cluster, group) in (0..).zip(groups) {
        let alone = group.tally.alone;
        let n_unsolved = alone.n_scored - alone.n_solved;
        for (count, n, n_solved) in [
            (alone.n_solved, 1, 1),
            (n_unsolved, 1, 0),
            (alone.n_applicable - alone.n_scored, 0, 0),
        ] {
            all.extend(std::iter::repeat_n(Tries { n, n_solved, cluster }, size(count)));
        }
    }
    all.extend(tried.iter().map(|own| Tries {
        n: own.scores.len() as u64,
        n_solved: own.scores.iter().filter(|score| **score >= 1.0).count() as u64,
        cluster: u32::try_from(own.template).unwrap_or(u32::MAX),
    }));
    all
}

impl Scope<'_> {
    /// The statistics; `None` without an estimate.
    fn statistics(&self, estimate: Option<Estimate>) -> Option<MetricStatistics> {
        let (estimate, tally) = (estimate?, self.tally);
        let median = median(&mut tally.series.middle()).unwrap_or(estimate.mean.mean);
        let is_sketched = tally.series.values.counted().is_none();
        Some(MetricStatistics {
            median_within: is_sketched.then_some(ACCURACY),
            ..MetricStatistics::new(self.column.info, self.rows(), &estimate, median)
        })
    }

    fn rows(&self) -> RowCounts {
        let Coverage { n_scored, n_applicable } = self.tally.coverage;
        RowCounts {
            n_scored,
            n_error: (n_applicable - n_scored).saturating_add(size(self.n_missing)),
            n_not_applicable: size(self.n_answers) - n_applicable,
        }
    }

    /// The estimate over all answers, where every template is a cluster.
    fn over_templates(&self, groups: &[Group<'_>]) -> Option<Estimate> {
        let all = &self.tally.series;
        let scored = groups.iter().map(|group| &group.tally.series).filter(|own| own.n > 0);
        let scored: Vec<&Series> = scored.collect();
        let squares = || {
            let deviations = scored.iter().map(|series| series.deviation(all));
            ordered_sum(deviations.map(|deviation| deviation * deviation))
        };
        self.estimate(scored.len() as u64, squares)
    }

    /// The estimate over the answers of a template, where every question is a cluster.
    fn over_questions(&self, several: &Several) -> Option<Estimate> {
        let series = &self.tally.series;
        let n_single = series.n.checked_sub(several.n_values)?;
        let squares = || {
            // The sum of (S_q - n_q · S / n)² over questions, times n².
            let whole = |n: u64| Exact::whole(n.into());
            let mut of_sums = series.squares.clone();
            of_sums.subtract(&several.squares.exact());
            of_sums.add_exact(&several.sums_squared.exact());
            let mut weighted = series.sum.clone();
            weighted.subtract(&several.sum.exact());
            weighted.add_exact(&several.weighted.exact());
            let n_squared = u128::from(n_single) + several.n_squared;
            let (n, sum) = (whole(series.n), series.sum.exact());
            let first = n.times(&n).times(&of_sums.exact());
            let second = n.times(&sum).times(&weighted.exact()).times(&whole(2));
            let third = sum.times(&sum).times(&Exact::whole(n_squared));
            let mut total = ExactSum::default();
            total.add_exact(&first);
            total.subtract(&second);
            total.add_exact(&third);
            let squares = total.rounded() / series.n as f64 / series.n as f64;
            let rounding = series.rounding() * series.rounding() * n_squared as f64;
            if squares <= rounding { 0.0 } else { squares }
        };
        self.estimate(n_single + several.n, squares)
    }

    /// The estimate of the mean, in so many clusters. `squares` is the sum over clusters of the
    /// squares of their deviations from it.
    fn estimate(&self, n_clusters: u64, squares: impl FnOnce() -> f64) -> Option<Estimate> {
        let series = &self.tally.series;
        let (n, n_clusters) = (size(series.n), size(n_clusters));
        let independent = series.variance().map(|variance| (variance / series.n as f64).sqrt());
        let mut errors = MeanErrors { n, mean: series.mean(), independent, in_clusters: None };
        if n_clusters < n {
            let se = if series.is_constant() {
                (n_clusters > 1).then_some(0.0)
            } else {
                cluster_error(squares(), n_clusters, n)
            };
            errors.in_clusters = Some(InClusters { n_clusters, se });
            return Some(Estimate::of_clusters(errors.estimate(self.confidence)?));
        }
        let wilson = self.wilson();
        Some(Estimate::of_independent(errors.estimate(self.confidence)?, wilson))
    }

    /// Wilson's interval, if all values are successes or failures.
    fn wilson(&self) -> Option<Interval> {
        let series = &self.tally.series;
        if series.n < 2 || !is_share(self.column.info) {
            return None;
        }
        let counted = series.values.counted()?;
        let is_binary = |(value, _): &(f64, u64)| *value == 0.0 || *value == 1.0;
        if !counted.iter().all(is_binary) {
            return None;
        }
        let successes = counted.iter().filter(|(value, _)| *value == 1.0);
        let n_successes = successes.map(|(_, count)| count).sum::<u64>();
        Some(proportion(size(n_successes), size(series.n), self.confidence)?.wilson)
    }
}
