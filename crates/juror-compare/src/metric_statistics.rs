//! The statistics of one metric over some rows of a score table.

use juror_score::statistics::{Interval, median};
use juror_score::{MetricInfo, ScoreColumn, ScoreTable, Standing, Unit};
use schemars::JsonSchema;
use serde::Serialize;

use crate::estimate::{Caution, Estimate, Method};
use crate::question_numbers::QuestionNumbers;

/// What is known about a metric over some rows: counts, mean, spread and interval.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MetricStatistics {
    /// The number of answers or attempts, also of those that are missing.
    pub n: usize,
    /// Those with a number.
    pub n_scored: usize,
    /// Those to which the metric applies, but which have no number.
    pub n_error: usize,
    /// Those to which it does not apply.
    pub n_not_applicable: usize,
    /// The share of the rows to which it applies that have a number.
    pub coverage: f64,
    /// The mean of the numbers.
    pub mean: f64,
    /// The middle number, or the mean of the two middle ones.
    pub median: f64,
    /// How far that may be from the true median, as a share of it; absent if it is exact. Parts that
    /// were merged only know about where the middle is, once there are too many distinct numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median_within: Option<f64>,
    /// The standard deviation of the numbers; `None` for one number.
    pub sd: Option<f64>,
    /// The standard error of the mean.
    pub se: Option<f64>,
    /// The interval of the mean; its ends may lie outside the range of the metric.
    #[schemars(with = "Option<[f64; 2]>")]
    pub interval: Option<Interval>,
    /// How the interval was computed.
    pub method: Option<Method>,
    /// How many clusters the numbers belong to, if clusters matter.
    pub clusters: Option<usize>,
    /// How many times larger the variance of the mean is than without clusters.
    pub deff: Option<f64>,
    /// How many independent values would be as informative.
    pub n_eff: Option<f64>,
    /// The mean if every error counted as 0; `None` if 0 is not the worst value.
    pub mean_errors_as_zero: Option<f64>,
    /// The mean if every error counted as 1; `None` if 1 is not the best value.
    pub mean_errors_as_one: Option<f64>,
    /// What to keep in mind, or why there is no interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caution: Option<Caution>,
}

/// How many rows have a number, and how many do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowCounts {
    /// Those with a number.
    pub n_scored: usize,
    /// Those to which the metric applies, but which have no number.
    pub n_error: usize,
    /// Those to which it does not apply.
    pub n_not_applicable: usize,
}

impl MetricStatistics {
    /// Puts together what is known about a metric; `info` is its row of the metric table.
    pub fn new(
        info: Option<&MetricInfo>,
        rows: RowCounts,
        estimate: &Estimate,
        median: f64,
    ) -> MetricStatistics {
        let Estimate { mean, interval, method, caution } = *estimate;
        let is_fraction = info.is_some_and(|info| info.unit == Unit::Fraction);
        let with_errors = |worth: f64| {
            let (n, n_error) = (mean.n as f64, rows.n_error as f64);
            is_fraction.then(|| (mean.mean * n + worth * n_error) / (n + n_error))
        };
        let n_applicable = rows.n_scored + rows.n_error;
        MetricStatistics {
            n: n_applicable + rows.n_not_applicable,
            n_scored: rows.n_scored,
            n_error: rows.n_error,
            n_not_applicable: rows.n_not_applicable,
            coverage: rows.n_scored as f64 / n_applicable.max(1) as f64,
            mean: mean.mean,
            sd: mean.se_independent.map(|se| se * (mean.n as f64).sqrt()),
            median,
            median_within: None,
            // Values that do not vary have an interval if they are shares, and no error either way.
            se: mean.se.filter(|se| *se > 0.0 && interval.is_some()),
            interval,
            method,
            clusters: mean.n_clusters,
            deff: mean.deff,
            n_eff: mean.n_eff,
            mean_errors_as_zero: with_errors(0.0),
            mean_errors_as_one: with_errors(1.0),
            caution,
        }
    }
}

/// The numbers of a metric over some rows, each with the cluster it belongs to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Numbers {
    pub(crate) values: Vec<f64>,
    clusters: Vec<u32>,
    pub(crate) rows: RowCounts,
}

impl Numbers {
    /// Those of all rows. `clusters` are those of the rows.
    pub(crate) fn of_all(
        table: &ScoreTable,
        column: &ScoreColumn,
        clusters: &[u32],
        questions: &QuestionNumbers,
    ) -> Numbers {
        let mut all = vec![Numbers::default()];
        Numbers::sort_into(&mut all, table, column, clusters, |_| 0);
        Numbers::add_missing(&mut all, table, column, questions, |_| 0);
        all.pop().unwrap_or_default()
    }

    /// The same, with more answers that have no number.
    pub(crate) fn with_errors(mut self, n_more: usize) -> Numbers {
        self.rows.n_error += n_more;
        self
    }

    /// Those of each group, where every question is a cluster.
    pub(crate) fn by_group(
        table: &ScoreTable,
        column: &ScoreColumn,
        questions: &QuestionNumbers,
    ) -> Vec<Numbers> {
        let mut groups = vec![Numbers::default(); table.groups().len()];
        let group_of = |item: usize| table.items()[item].group as usize;
        Numbers::sort_into(&mut groups, table, column, &questions.of_items, group_of);
        Numbers::add_missing(&mut groups, table, column, questions, group_of);
        groups
    }

    /// Counts answers that have no row as errors, where the metric applies to their question.
    fn add_missing(
        scopes: &mut [Numbers],
        table: &ScoreTable,
        column: &ScoreColumn,
        questions: &QuestionNumbers,
        scope_of: impl Fn(usize) -> usize,
    ) {
        if questions.n_missing() == 0 {
            return;
        }
        for (question, own) in questions.coverage(table, column).into_iter().enumerate() {
            if own.n_applicable > 0 {
                let scope = &mut scopes[scope_of(questions.first_items[question])];
                scope.rows.n_error += questions.n_missing_of(question);
            }
        }
    }

    fn sort_into(
        scopes: &mut [Numbers],
        table: &ScoreTable,
        column: &ScoreColumn,
        clusters: &[u32],
        scope_of: impl Fn(usize) -> usize,
    ) {
        for value in column.values() {
            let item = value.item as usize;
            let scope = &mut scopes[scope_of(item)];
            scope.values.push(value.value);
            scope.clusters.push(clusters[item]);
        }
        for (item, standing) in table.standings(column).enumerate() {
            let rows = &mut scopes[scope_of(item)].rows;
            match standing {
                Standing::Scored => rows.n_scored += 1,
                Standing::Missing => rows.n_error += 1,
                Standing::NotApplicable => rows.n_not_applicable += 1,
            }
        }
    }

    /// The statistics; `None` if no row has a number.
    pub(crate) fn statistics(
        mut self,
        column: &ScoreColumn,
        confidence: f64,
    ) -> Option<MetricStatistics> {
        let estimate = Estimate::of_metric(column.info, &self.values, &self.clusters, confidence)?;
        let median = median(&mut self.values).unwrap_or(estimate.mean.mean);
        Some(MetricStatistics::new(column.info, self.rows, &estimate, median))
    }
}
