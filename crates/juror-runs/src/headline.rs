//! The main figures of a run, for lists.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::manifest::RunKind;
use crate::stored::StoredRun;

/// The main figures of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Headline {
    /// How many questions or queries it has, if that is known.
    pub n: Option<u64>,
    /// The means of the main metrics that the run has.
    pub means: Vec<HeadlineMean>,
    /// What models cost, in US dollars, if that is known.
    pub usd: Option<f64>,
}

/// The mean of a main metric.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeadlineMean {
    /// The metric's name.
    pub metric: &'static str,
    /// The mean.
    pub mean: f64,
    /// The ends of its interval; `None` if it has none, or the run does not say.
    pub interval: Option<[f64; 2]>,
    /// Whether the interval is from few templates or queries.
    pub is_of_few: bool,
}

/// The main metrics of a kind of run, and where their means are in `aggregates.json`.
fn metrics(kind: RunKind) -> &'static [(&'static str, &'static str)] {
    match kind {
        RunKind::Eval => {
            &[("steps_score", "/micro/steps_score/mean"), ("answer_f1", "/micro/answer_f1/mean")]
        }
        RunKind::Bench => &[
            ("sopr_score", "/summary/average_sopr_score"),
            ("api_call_score", "/summary/average_api_call_score"),
        ],
    }
}

impl StoredRun {
    /// Returns the main figures; those that are not known are left out.
    pub fn headline(&self) -> Headline {
        let [aggregates, statistics] = [self.aggregates_path(), self.statistics_path()].map(read);
        let n_listed = self.manifest.question_hashes().len() as u64;
        let Some(aggregates) = aggregates else {
            return Headline { n: Some(n_listed).filter(|n| *n > 0), ..Headline::default() };
        };
        let kind = self.manifest.kind;
        let mean = |(metric, place): &(&'static str, &str)| {
            let known = statistics.as_ref().and_then(|own| mean_in(own, metric));
            known.or_else(|| {
                // Earlier releases stored no statistics.
                let number = aggregates.pointer(place).and_then(Value::as_f64);
                let mean = number.filter(|_| applies(metric, &aggregates))?;
                Some(HeadlineMean { metric, mean, ..HeadlineMean::default() })
            })
        };
        // Aggregates count answers, of which a question may have several.
        let n_questions = statistics.as_ref().and_then(|own| own["questions"].as_u64());
        Headline {
            n: n_questions
                .or_else(|| count(kind, &aggregates))
                .or(Some(n_listed).filter(|n| *n > 0)),
            means: metrics(kind).iter().filter_map(mean).collect(),
            usd: cost(kind, &aggregates),
        }
    }
}

/// The parts of aggregates and statistics that figures are taken from. What they say about single
/// templates is most of them, and is skipped.
#[derive(Deserialize, Serialize)]
struct Figures {
    #[serde(default)]
    micro: Value,
    #[serde(default)]
    summary: Value,
    #[serde(default)]
    juror: Value,
    #[serde(default)]
    questions: Value,
}

/// Reads these parts of a file of JSON; `None` if there is none.
fn read(path: Option<PathBuf>) -> Option<Value> {
    let text = juror_files::read_plain(&path?).ok()?;
    let figures: Figures = serde_json::from_slice(&text).ok()?;
    serde_json::to_value(figures).ok()
}

/// Returns a mean over all rows from `statistics.json`.
fn mean_in(statistics: &Value, metric: &'static str) -> Option<HeadlineMean> {
    let own = statistics.pointer("/micro")?.get(metric)?;
    Some(HeadlineMean {
        metric,
        mean: own["mean"].as_f64()?,
        interval: own["interval"][0]
            .as_f64()
            .zip(own["interval"][1].as_f64())
            .map(<[f64; 2]>::from),
        is_of_few: own["caution"] == "few_clusters",
    })
}

/// Benchmarks without right APIs have a call score of 0 that means nothing.
fn applies(metric: &str, aggregates: &Value) -> bool {
    let number = |place| aggregates.pointer(place).and_then(Value::as_u64).unwrap_or(0);
    metric != "api_call_score"
        || number("/summary/api_call_not_applicable_count") < number("/summary/total_evaluations")
}

fn count(kind: RunKind, aggregates: &Value) -> Option<u64> {
    let number = |place| aggregates.pointer(place).and_then(Value::as_u64);
    match kind {
        RunKind::Eval => Some(
            number("/micro/number_of_error_samples")? + number("/micro/number_of_success_samples")?,
        ),
        RunKind::Bench => number("/summary/total_queries"),
    }
}

/// Whether a cost is already in those of recall and precision, which it adds up.
fn is_sum(cost: &str) -> bool {
    cost.starts_with("retrieval_") && cost.ends_with("_f1_cost")
}

/// Adds up what judging and the agent cost; `None` if nothing is known of it.
fn cost(kind: RunKind, aggregates: &Value) -> Option<f64> {
    let sum = |costs: Vec<f64>| costs.into_iter().reduce(|sum, usd| sum + usd);
    match kind {
        RunKind::Eval => {
            let metrics = aggregates.get("micro")?.as_object()?.iter();
            let costs = metrics.filter(|(name, _)| name.ends_with("_cost") && !is_sum(name));
            sum(costs.filter_map(|(_, own)| own.get("sum")?.as_f64()).collect())
        }
        RunKind::Bench => {
            let costs = ["/juror/agent_usd", "/juror/judge_usd"];
            sum(costs.iter().filter_map(|place| aggregates.pointer(place)?.as_f64()).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Manifest;
    use serde_json::json;

    fn bare(metric: &'static str, mean: f64) -> HeadlineMean {
        HeadlineMean { metric, mean, ..HeadlineMean::default() }
    }

    #[test]
    fn means_have_the_intervals_of_the_statistics() {
        let folder = tempfile::tempdir().expect("a folder");
        Manifest::new(RunKind::Eval, "x", json!({})).write(folder.path()).expect("written");
        let write = |name: &str, value: Value| {
            std::fs::write(folder.path().join(name), value.to_string()).expect("written");
        };
        write(
            "aggregates.json",
            json!({"micro": {"steps_score": {"mean": 0.5},
            "answer_f1": {"mean": 0.25}}}),
        );
        write(
            "statistics.json",
            json!({"micro": {"steps_score": {"mean": 0.75,
            "interval": [0.5, 1.25], "caution": "few_clusters"}}}),
        );
        let told = StoredRun::open(folder.path()).expect("a run").headline();
        let (metric, interval) = ("steps_score", Some([0.5, 1.25]));
        let steps = HeadlineMean { metric, mean: 0.75, interval, is_of_few: true };
        assert_eq!(told.means, [steps, bare("answer_f1", 0.25)]);
    }

    fn headline(kind: RunKind, identity: Value, aggregates: Option<Value>) -> Headline {
        let folder = tempfile::tempdir().expect("a folder");
        let manifest = Manifest::new(kind, "x", identity);
        manifest.write(folder.path()).expect("written");
        if let Some(aggregates) = aggregates {
            let path = folder.path().join("aggregates.json");
            std::fs::write(path, aggregates.to_string()).expect("written");
        }
        StoredRun::open(folder.path()).expect("a run").headline()
    }

    #[test]
    fn an_evaluation_tells_its_means_and_what_judging_cost() {
        let aggregates = json!({"micro": {"number_of_error_samples": 1,
            "number_of_success_samples": 3, "steps_score": {"mean": 0.5},
            "answer_correctness_cost": {"sum": 0.25}, "answer_relevance_cost": {"sum": 0.5}}});
        let told = headline(RunKind::Eval, json!({}), Some(aggregates));
        let means = vec![bare("steps_score", 0.5)];
        assert_eq!(told, Headline { n: Some(4), means, usd: Some(0.75) });
    }

    #[test]
    fn a_call_that_two_metrics_tell_the_cost_of_is_paid_once() {
        let of_texts = |texts: &str| {
            let cost = |part: &str, usd: f64| {
                (format!("retrieval_{texts}_{part}_cost"), json!({"sum": usd}))
            };
            [cost("recall", 0.25), cost("precision", 0.5), cost("f1", 0.75)]
        };
        let own = ("taste_f1_cost".to_owned(), json!({"sum": 1.0}));
        let costs = of_texts("answer").into_iter().chain(of_texts("context")).chain([own]);
        let micro: serde_json::Map<String, Value> = costs.collect();
        let told = headline(RunKind::Eval, json!({}), Some(json!({"micro": micro})));
        assert_eq!(told.usd, Some(2.5));
    }

    #[test]
    fn a_benchmark_tells_its_rates_and_what_the_agent_and_the_judge_cost() {
        let aggregates = |n_without: u64| {
            json!({"summary": {"total_queries": 2, "total_evaluations": 2,
                "average_sopr_score": 0.5, "average_api_call_score": 0.0,
                "api_call_not_applicable_count": n_without},
                "juror": {"agent_usd": null, "judge_usd": 0.5}})
        };
        let told = headline(RunKind::Bench, json!({}), Some(aggregates(1)));
        let means = vec![bare("sopr_score", 0.5), bare("api_call_score", 0.0)];
        assert_eq!(told, Headline { n: Some(2), means, usd: Some(0.5) });
        let told = headline(RunKind::Bench, json!({}), Some(aggregates(2)));
        assert_eq!(told.means, [bare("sopr_score", 0.5)], "no API is right for any query");
    }

    #[test]
    fn an_unfinished_run_tells_how_many_questions_it_has() {
        let identity = json!({"reference": {"questions": {"a": "1", "b": "2"}}});
        let told = headline(RunKind::Eval, identity, None);
        assert_eq!(told, Headline { n: Some(2), ..Headline::default() });
        assert_eq!(headline(RunKind::Eval, json!({}), None), Headline::default());
    }
}
