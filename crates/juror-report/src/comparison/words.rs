//! What every report of a comparison says in words: which runs, how many questions, which metrics.

use juror_compare::{
    ByMetric, CandidateComparison, Comparison, Flips, Kind, MetricComparison, RunFacts, thousands,
};
use juror_score::{Better, KeyPart, Ordered, Release, split_key};

use crate::amount::confidence;

/// How many characters of a run's id are shown.
const ID_WIDTH: usize = 6;

/// The letter of a run: the baseline is A, and candidates follow.
pub(crate) fn label(mut at: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(char::from(b'A' + u8::try_from(at % 26).unwrap_or(0)));
        if at < 26 {
            return letters.iter().rev().collect();
        }
        at = at / 26 - 1;
    }
}

/// The name of a run, or else the file or folder it was read from.
pub(super) fn run_name(run: &RunFacts) -> &str {
    if run.name.trim().is_empty() { &run.source } else { &run.name }
}

/// The short id of a run; empty for a file of results.
pub(super) fn short_id(run: &RunFacts) -> String {
    run.id.iter().flat_map(|id| id.chars().take(ID_WIDTH)).collect()
}

/// The day on which a run began; empty if it is not known.
pub(super) fn day(run: &RunFacts) -> &str {
    let began = run.began.as_deref().unwrap_or_default();
    began.split(['T', ' ']).next().unwrap_or_default()
}

/// What a candidate has in common with the baseline, and what not, as far as that is known.
pub(super) fn relation(baseline: &RunFacts, candidate: &CandidateComparison) -> Vec<&'static str> {
    let run = &candidate.run;
    let (same, other) = match run.kind {
        Kind::Eval => ("same reference", "another reference: equal questions are compared"),
        Kind::Bench => ("same queries", "other queries: equal ones are compared"),
    };
    let reference = (&baseline.reference, &run.reference);
    let rules = (&baseline.rules, &run.rules);
    [
        is_equal(reference).map(|is_same| if is_same { same } else { other }),
        match (baseline.release, run.release) {
            (Some(Release::Five), Some(Release::Six)) => Some("profile 6, not 5"),
            (Some(Release::Six), Some(Release::Five)) => Some("profile 5, not 6"),
            _ => is_equal(rules).filter(|is_same| !is_same).map(|_| "other rules of scoring"),
        },
        match (candidate.same_judge, baseline.has_judge_of(run)) {
            (true, Some(true)) => Some("same judge"),
            (true, _) => None,
            (false, _) => Some("another judge"),
        },
        unfinished(run),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Says that a run is not finished, or that its results are not whole.
pub(crate) fn unfinished(run: &RunFacts) -> Option<&'static str> {
    match &run.damage {
        _ if !run.is_complete => Some("not finished"),
        Some(_) => Some("damaged"),
        None => None,
    }
}

fn is_equal((one, other): (&Option<String>, &Option<String>)) -> Option<bool> {
    one.as_ref().zip(other.as_ref()).map(|(one, other)| one == other)
}

/// How many questions are compared, how many failed, and what intervals allow for.
pub(crate) fn extent(comparison: &Comparison, candidate: &CandidateComparison) -> String {
    let noun = noun(candidate.run.kind, 2);
    let joined = candidate.questions;
    let all = joined + candidate.only_in_baseline.len() + candidate.only_in_candidate.len();
    let [a, b] = candidate.errors.map(count);
    let trials = match candidate.trials {
        [1, 1] => String::new(),
        both => {
            let answers = answers(candidate.run.kind);
            format!(", with {} {answers} each", both.map(count).join(" and "))
        }
    };
    let missing = match candidate.missing {
        [0, 0] => String::new(),
        both => format!(" (missing {})", both.map(count).join(", ")),
    };
    let clusters = candidate.metrics.values().filter_map(|own| own.clusters).max();
    let clusters = clusters.map_or(String::new(), |n| {
        format!(", clustered by {} template{}", count(n), if n == 1 { "" } else { "s" })
    });
    format!(
        "{} of {} {noun} joined{trials} · errors {a}, {b}{missing} · {} intervals{clusters}",
        count(joined),
        count(all),
        confidence(comparison.confidence)
    )
}

/// How many questions flipped; then by which metric, and where most of them broke. `name` writes names
/// that come from data.
pub(super) fn flips_line(
    candidate: &CandidateComparison,
    flips: &Flips,
    name: impl Fn(&str) -> String,
) -> [String; 2] {
    let (broken, fixed) = (count(flips.broken.len()), count(flips.fixed.len()));
    let most = flips.broken_groups().into_iter().next().map_or(String::new(), |most| {
        let n_all = candidate.groups.get(&most.group).copied().unwrap_or(most.n_broken);
        let (n, n_all) = (count(most.n_broken), count(n_all));
        format!("; most broken in {} ({n} of {n_all})", name(&most.group))
    });
    [format!("{broken} broken, {fixed} fixed"), format!("by {}{most}", name(&flips.metric))]
}

/// What rows of a run are called.
pub(crate) fn noun(kind: Kind, n: usize) -> &'static str {
    match (kind, n) {
        (Kind::Eval, 1) => "question",
        (Kind::Eval, _) => "questions",
        (Kind::Bench, 1) => "query",
        (Kind::Bench, _) => "queries",
    }
}

/// What several answers to questions, or attempts at queries, are called.
pub(crate) fn answers(kind: Kind) -> &'static str {
    match kind {
        Kind::Eval => "answers",
        Kind::Bench => "attempts",
    }
}

/// What a group of questions is called.
pub(crate) fn group_noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Eval => "template",
        Kind::Bench => "set",
    }
}

pub(crate) fn count(n: usize) -> String {
    thousands(n as f64)
}

/// The metrics to show: all, or those that do not only say what judging took.
pub(super) fn shown_metrics(
    candidate: &CandidateComparison,
    all: bool,
) -> impl Iterator<Item = (&String, &MetricComparison)> {
    candidate.metrics.iter().filter(move |(name, _)| all || !is_of_judging(name))
}

/// Whether a metric is a cost of judging or the time it took.
pub(crate) fn is_of_judging(name: &str) -> bool {
    name == "evaluation_time" || split_key(name).1 == Some(KeyPart::Cost)
}

/// The metrics to show within each group: the one of flips and those of gates, or all.
pub(super) fn metrics_by_group(candidate: &CandidateComparison, all: bool) -> Vec<&String> {
    let of_flips = candidate.flips.iter().map(|flips| &flips.metric);
    let of_gates = candidate.gates.iter().filter_map(|gate| gate.metric.as_ref());
    let wanted: Vec<&String> = of_flips.chain(of_gates).collect();
    let is_wanted = |name: &&String| all || wanted.contains(name);
    candidate.metrics.keys().filter(is_wanted).collect()
}

/// A metric within each group, the largest loss first.
pub(super) fn groups_of<'c>(
    by_group: &'c Ordered<String, ByMetric<MetricComparison>>,
    metric: &str,
) -> Vec<(&'c String, &'c MetricComparison)> {
    let own = by_group.iter().filter_map(|(group, own)| Some((group, own.get(metric)?)));
    let mut groups: Vec<(&String, &MetricComparison)> = own.collect();
    groups.sort_by(|one, other| gain(one.1).total_cmp(&gain(other.1)));
    groups
}

/// The change, positive if it is for the better.
fn gain(own: &MetricComparison) -> f64 {
    if own.better == Some(Better::Lower) { -own.delta } else { own.delta }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_letters() {
        let labels: Vec<String> = [0, 1, 25, 26, 27, 701, 702].into_iter().map(label).collect();
        assert_eq!(labels, ["A", "B", "Z", "AA", "AB", "ZZ", "AAA"]);
    }
}
