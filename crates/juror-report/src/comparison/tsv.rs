//! A comparison as a table: a row for each candidate and metric.

use std::fmt::Write as _;

use juror_compare::{Comparison, MetricComparison};
use juror_score::Better;

use super::words::run_name;
use crate::tsv::{cell, one_line};

const TITLES: [&str; 22] = [
    "baseline",
    "candidate",
    "group",
    "metric",
    "better",
    "n",
    "a",
    "b",
    "delta",
    "se",
    "low",
    "high",
    "p",
    "p_holm",
    "p_benjamini_hochberg",
    "probability_better",
    "won",
    "lost",
    "tied",
    "mde",
    "clusters",
    "delta_errors_as_zero",
];

/// Renders a comparison as a table: a row for each candidate and metric, over all questions and then
/// within each template or set, if these were compared. A number that cannot be had is left empty.
pub fn comparison_tsv(comparison: &Comparison) -> Vec<u8> {
    let mut table = format!("{}\n", TITLES.join("\t"));
    let baseline = one_line(run_name(&comparison.baseline));
    for candidate in &comparison.candidates {
        let name = one_line(run_name(&candidate.run));
        let groups = candidate.by_group.iter().map(|(group, own)| (group.as_str(), own));
        for (group, metrics) in std::iter::once(("", &candidate.metrics)).chain(groups) {
            for (metric, own) in metrics {
                let (group, metric) = (one_line(group), one_line(metric));
                // Writing to a string does not fail.
                let _ = writeln!(table, "{baseline}\t{name}\t{group}\t{metric}\t{}", cells(own));
            }
        }
    }
    table.into_bytes()
}

fn cells(own: &MetricComparison) -> String {
    let better = match own.better {
        Some(Better::Higher) => "higher",
        Some(Better::Lower) => "lower",
        None => "",
    };
    let (low, high) = own.interval.map(|interval| (interval.low, interval.high)).unzip();
    let count = |n: usize| n.to_string();
    [
        better.to_owned(),
        count(own.n),
        own.a.to_string(),
        own.b.to_string(),
        own.delta.to_string(),
        cell(own.se),
        cell(low),
        cell(high),
        cell(own.p),
        cell(own.p_holm),
        cell(own.p_benjamini_hochberg),
        cell(own.probability_better),
        count(own.won),
        count(own.lost),
        count(own.tied),
        cell(own.mde),
        own.clusters.map_or(String::new(), count),
        cell(own.delta_errors_as_zero),
    ]
    .join("\t")
}
