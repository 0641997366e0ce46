//! The formula of every number on the page.

use juror_score::metric;

use crate::amount::confidence;
use crate::html::page::PageSource;
use crate::terminal::visible;

/// A metric and how it is computed.
pub(crate) struct MetricMethod {
    pub(crate) name: String,
    pub(crate) means: String,
    pub(crate) formula: String,
}

/// The metrics that some run has.
pub(super) fn methods(source: &PageSource<'_>) -> Vec<MetricMethod> {
    let mut names: indexmap::IndexSet<&str> = indexmap::IndexSet::new();
    for run in &source.runs {
        names.extend(run.statistics.micro.keys().map(String::as_str));
    }
    let method = |name: &str| match metric(name) {
        Some(info) => MetricMethod {
            name: name.to_owned(),
            means: info.means.to_owned(),
            formula: info.formula.to_owned(),
        },
        None => MetricMethod {
            name: visible(name),
            means: "a metric of your own".into(),
            formula: "as the custom evaluation defines it".into(),
        },
    };
    names.into_iter().map(method).collect()
}

/// How means, intervals and comparisons are made.
pub(super) fn rules(source: &PageSource<'_>) -> Vec<String> {
    let statistics = source.runs.first().map(|run| run.statistics);
    let level = statistics.map_or_else(|| confidence(0.95), |own| confidence(own.confidence));
    let cluster = statistics.map_or("template", |own| own.kind.cluster_noun().0);
    let mut rules = vec![
        format!(
            "An interval holds the true mean in {level} of such runs. Answers of one {cluster} are \
             alike, so they count as a cluster: the standard error is that of clusters (CR1), with \
             Student's t for one less degree of freedom than there are clusters. Without clusters it \
             is the t-interval, or Wilson's for metrics that are 0 or 1."
        ),
        "Coverage is the share of the answers to which a metric applies that have a verdict. A gate \
         below its coverage is not met, whatever the mean."
            .into(),
    ];
    if source.comparison.is_some() {
        rules.extend([
            "Runs are compared question by question: the difference of each question, averaged, with \
             the same clustered interval. p is the probability of a difference at least as large if \
             nothing had changed; better is the probability that the candidate is better; MDE is the \
             least difference that such a comparison would find in four of five cases."
                .to_owned(),
            "A gate on a change passes if the whole interval is within its margin, blocks if the \
             whole interval is outside, and is inconclusive otherwise."
                .to_owned(),
            "A question is broken if its score got worse or it failed, and fixed if it is the other \
             way round."
                .to_owned(),
        ]);
    }
    rules
}
