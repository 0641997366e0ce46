//! The estimate of a mean: which interval it has, or why it has none.

use juror_score::statistics::{self, Interval, MeanEstimate};
use juror_score::{MetricInfo, Unit};
use schemars::JsonSchema;
use serde::Serialize;

/// With fewer clusters than this an interval says so: it is too narrow more often than it claims.
pub const FEW_CLUSTERS: usize = 10;

/// How an interval was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Student's t with standard errors that allow for clusters (CR1).
    ClusteredT,
    /// Student's t for independent values.
    T,
    /// Wilson's interval of a proportion, for independent zeros and ones.
    Wilson,
}

impl Method {
    /// The name in files.
    pub fn name(self) -> &'static str {
        match self {
            Method::ClusteredT => "clustered_t",
            Method::T => "t",
            Method::Wilson => "wilson",
        }
    }
}

/// Why a number cannot be had, or what to keep in mind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Caution {
    /// There is one value: no spread, no interval.
    OneValue,
    /// All values belong to one cluster: nothing is known about others.
    OneCluster,
    /// All values are equal, or all clusters have the same mean: an interval would have no width.
    NoSpread,
    /// There are fewer than [`FEW_CLUSTERS`] clusters.
    FewClusters,
}

/// The words for what a cluster is in messages: a template, a question or a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClusterNoun(pub &'static str);

impl ClusterNoun {
    /// Counts clusters, such as `3 queries`.
    pub fn count(self, n: usize) -> String {
        if n == 1 { format!("1 {}", self.0) } else { format!("{n} {}", self.plural()) }
    }

    fn plural(self) -> String {
        let ClusterNoun(noun) = self;
        noun.strip_suffix('y').map_or_else(|| format!("{noun}s"), |stem| format!("{stem}ies"))
    }

    /// What is compared between runs, where this is what a cluster is.
    fn compared(self) -> &'static str {
        if self.0 == "query" { "queries" } else { "questions" }
    }
}

impl Caution {
    /// What to say about the interval of values in clusters.
    pub(crate) fn of_clusters(n_clusters: usize, interval: Option<Interval>) -> Option<Caution> {
        match interval {
            _ if n_clusters < 2 => Some(Caution::OneCluster),
            None => Some(Caution::NoSpread),
            Some(_) => (n_clusters < FEW_CLUSTERS).then_some(Caution::FewClusters),
        }
    }

    /// Says why there is no interval, or what to keep in mind about it, without a full stop.
    pub fn text(self, of: Numbered, clusters: Option<usize>, noun: ClusterNoun) -> String {
        let ClusterNoun(one) = noun;
        let (what, others) = match of {
            Numbered::Values => ("values", "differ"),
            Numbered::Changes => (noun.compared(), "change"),
        };
        let seen = match (self, of) {
            (Caution::FewClusters, _) => {
                let counted = noun.count(clusters.unwrap_or(0));
                return format!("{counted} are too few for a reliable interval");
            }
            (Caution::OneValue, Numbered::Values) => "there is one value".into(),
            (Caution::OneValue, Numbered::Changes) => "only one was compared".into(),
            (Caution::OneCluster, _) => format!("all {what} are of one {one}"),
            (Caution::NoSpread, _) => what_is_equal(of, clusters, noun),
        };
        format!("{seen}, which does not show how far others would {others}")
    }
}

/// Says what is equal where there is no spread.
fn what_is_equal(of: Numbered, clusters: Option<usize>, noun: ClusterNoun) -> String {
    match (of, clusters.map(|_| noun.plural())) {
        (Numbered::Values, None) => "all values are equal".into(),
        (Numbered::Values, Some(all)) => format!("the means of all {all} are equal"),
        (Numbered::Changes, None) => format!("all {} changed by the same amount", noun.compared()),
        (Numbered::Changes, Some(all)) => format!("all {all} changed by the same amount"),
    }
}

/// What an interval is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbered {
    /// The numbers of a run.
    Values,
    /// How questions changed from one run to another.
    Changes,
}

/// The mean of some values, with its interval if one can be had.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The mean and its standard errors.
    pub mean: MeanEstimate,
    /// The interval; `None` if there is none, and `caution` says why.
    pub interval: Option<Interval>,
    /// How the interval was computed.
    pub method: Option<Method>,
    /// What to keep in mind.
    pub caution: Option<Caution>,
}

impl Estimate {
    /// Estimates the mean of shares, each of which belongs to a cluster. Clusters matter only if one
    /// of them has several values. Returns `None` if there are no values.
    pub fn of(values: &[f64], clusters: &[u32], confidence: f64) -> Option<Estimate> {
        Estimate::of_metric(None, values, clusters, confidence)
    }

    /// The same for values of a metric, which may be amounts; a metric that is not in the table is
    /// taken for a share.
    pub fn of_metric(
        info: Option<&MetricInfo>,
        values: &[f64],
        clusters: &[u32],
        confidence: f64,
    ) -> Option<Estimate> {
        if any_shared(clusters) {
            Estimate::clustered(values, clusters, confidence)
        } else {
            Estimate::independent(values, is_share(info), confidence)
        }
    }

    fn clustered(values: &[f64], clusters: &[u32], confidence: f64) -> Option<Estimate> {
        Some(Estimate::of_clusters(statistics::mean(values, Some(clusters), confidence)?))
    }

    /// The estimate of values in clusters, from their mean.
    pub fn of_clusters(mean: MeanEstimate) -> Estimate {
        let n_clusters = mean.n_clusters.unwrap_or(0);
        let interval = mean.interval.filter(has_width);
        let caution = Caution::of_clusters(n_clusters, interval);
        let method = interval.map(|_| Method::ClusteredT);
        Estimate { mean, interval, method, caution }
    }

    fn independent(values: &[f64], is_share: bool, confidence: f64) -> Option<Estimate> {
        let mean = statistics::mean(values, None, confidence)?;
        let wilson = if mean.n > 1 && is_share { wilson(values, confidence) } else { None };
        Some(Estimate::of_independent(mean, wilson))
    }

    /// The estimate of independent values, from their mean, and Wilson's interval if they are successes
    /// and failures.
    pub fn of_independent(mean: MeanEstimate, wilson: Option<Interval>) -> Estimate {
        let t = || Some((mean.interval.filter(has_width)?, Method::T));
        let (interval, method) = wilson.map(|own| (own, Method::Wilson)).or_else(t).unzip();
        let caution = match interval {
            Some(_) => None,
            None if mean.n == 1 => Some(Caution::OneValue),
            None => Some(Caution::NoSpread),
        };
        Estimate { mean, interval, method, caution }
    }
}

/// Whether zeros and ones of a metric are failures and successes. Amounts that happen to be 0 or 1
/// are not.
pub fn is_share(info: Option<&MetricInfo>) -> bool {
    info.is_none_or(|info| info.unit == Unit::Fraction)
}

/// Whether all values are 0 or 1.
pub(crate) fn are_binary<'v>(values: impl IntoIterator<Item = &'v f64>) -> bool {
    values.into_iter().all(|value| *value == 0.0 || *value == 1.0)
}

/// Wilson's interval, if all values are 0 or 1.
fn wilson(values: &[f64], confidence: f64) -> Option<Interval> {
    are_binary(values).then_some(())?;
    let n_successes = values.iter().filter(|value| **value == 1.0).count();
    Some(statistics::proportion(n_successes, values.len(), confidence)?.wilson)
}

/// Whether an interval says anything: one without a width only says that values do not vary.
pub(crate) fn has_width(interval: &Interval) -> bool {
    interval.high > interval.low
}

/// Whether a cluster has several values.
fn any_shared(clusters: &[u32]) -> bool {
    // Rows come by question and questions often by template, so neighbours mostly decide.
    let is_ascending = clusters.is_sorted_by(|a, b| a < b);
    !is_ascending && n_distinct(clusters) < clusters.len()
}

/// How many distinct clusters there are.
pub(crate) fn n_distinct(clusters: &[u32]) -> usize {
    clusters.iter().collect::<hashbrown::HashSet<_>>().len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_counted_in_words() {
        for (noun, n, words) in
            [("query", 1, "1 query"), ("query", 3, "3 queries"), ("template", 2, "2 templates")]
        {
            assert_eq!(ClusterNoun(noun).count(n), words);
        }
        let few = Caution::FewClusters.text(Numbered::Values, Some(3), ClusterNoun("query"));
        assert_eq!(few, "3 queries are too few for a reliable interval");
    }

    #[test]
    fn why_there_is_no_interval_is_told_in_a_sentence() {
        let told = |caution: Caution, of, clusters| {
            let text = caution.text(of, clusters, ClusterNoun("template"));
            let (seen, why) = text.split_once(", which does not show ").expect("a reason");
            assert!(why.starts_with("how far others would "), "{text}");
            seen.to_owned()
        };
        for (caution, of, clusters, seen) in [
            (Caution::OneValue, Numbered::Values, None, "there is one value"),
            (Caution::OneCluster, Numbered::Values, Some(1), "all values are of one template"),
            (Caution::NoSpread, Numbered::Values, None, "all values are equal"),
            (Caution::NoSpread, Numbered::Values, Some(3), "the means of all templates are equal"),
            (Caution::OneValue, Numbered::Changes, None, "only one was compared"),
            (Caution::OneCluster, Numbered::Changes, Some(1), "all questions are of one template"),
            (
                Caution::NoSpread,
                Numbered::Changes,
                None,
                "all questions changed by the same amount",
            ),
            (
                Caution::NoSpread,
                Numbered::Changes,
                Some(3),
                "all templates changed by the same amount",
            ),
        ] {
            assert_eq!(told(caution, of, clusters), seen);
        }
    }
}
