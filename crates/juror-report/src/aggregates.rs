//! Serializes aggregates in the documented format.

use juror_score::{Aggregates, Level, Spread, StepCounts, Summary, metric};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// Aggregates in the documented format.
pub(crate) struct AggregatesShape<'a>(pub(crate) &'a Aggregates);

impl Serialize for AggregatesShape<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("per_template", &PerTemplate(self.0))?;
        map.serialize_entry("micro", &SummaryShape(&self.0.micro))?;
        map.serialize_entry("macro", &Macro(self.0))?;
        map.end()
    }
}

struct PerTemplate<'a>(&'a Aggregates);

impl Serialize for PerTemplate<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let templates = &self.0.per_template;
        serializer.collect_map(templates.iter().map(|(id, summary)| (id, SummaryShape(summary))))
    }
}

struct SummaryShape<'a>(&'a Summary);

impl Serialize for SummaryShape<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let summary = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("number_of_error_samples", &summary.n_errors)?;
        map.serialize_entry("number_of_success_samples", &summary.n_successes)?;
        for (name, spread) in &summary.metrics {
            map.serialize_entry(name, &SpreadShape(spread))?;
        }
        if let Some(steps) = summary.steps.as_ref().filter(|steps| !steps.total.is_empty()) {
            map.serialize_entry("steps", &StepsShape { steps, summary })?;
        }
        map.end()
    }
}

struct StepsShape<'a> {
    steps: &'a StepCounts,
    summary: &'a Summary,
}

impl Serialize for StepsShape<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (key, counts) in self.steps.iter().filter(|(_, counts)| !counts.is_empty()) {
            map.serialize_key(key)?;
            map.serialize_value(&CountMap(counts.iter()))?;
        }
        if self.summary.retrieval_in_steps {
            // The name of a custom metric may begin with `retrieval_`, too.
            let of_retrieval = |name| metric(name).is_some_and(|info| info.level == Level::Step);
            for (name, spread) in self.summary.metrics.iter().filter(|(n, _)| of_retrieval(n)) {
                map.serialize_entry(name, &SpreadShape(spread))?;
            }
        }
        map.end()
    }
}

/// Counts by name, in order.
struct CountMap<I>(I);

impl<'a, I: Iterator<Item = (&'a String, &'a usize)> + Clone> Serialize for CountMap<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.clone())
    }
}

struct SpreadShape<'a>(&'a Spread);

impl Serialize for SpreadShape<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let whole = self.0.whole;
        let mut map = serializer.serialize_map(Some(5))?;
        for (key, value) in values(self.0) {
            map.serialize_entry(key, &NumberShape { value, whole })?;
        }
        map.end()
    }
}

/// The statistics and their keys.
pub(crate) fn values(spread: &Spread) -> [(&'static str, f64); 5] {
    [
        ("sum", spread.sum),
        ("mean", spread.mean),
        ("median", spread.median),
        ("min", spread.min),
        ("max", spread.max),
    ]
}

struct Macro<'a>(&'a Aggregates);

impl Serialize for Macro<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let means = self.0.macro_means.iter();
        serializer.collect_map(means.map(|(name, mean)| (name, MeanShape(*mean))))
    }
}

struct MeanShape(f64);

impl Serialize for MeanShape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([("mean", self.0)])
    }
}

/// A number, written without a fraction if all values of the series are whole.
struct NumberShape {
    value: f64,
    whole: bool,
}

impl Serialize for NumberShape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match as_whole(self.value).filter(|_| self.whole) {
            Some(whole) => serializer.serialize_i64(whole),
            None => serializer.serialize_f64(self.value),
        }
    }
}

/// Converts a float to a whole number, if that is exact.
#[expect(clippy::cast_possible_truncation, reason = "the range is checked first")]
pub(crate) fn as_whole(value: f64) -> Option<i64> {
    (value.fract() == 0.0 && value.abs() < 9e15).then_some(value as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_score::{Aggregator, Number, Observation, ObservedStep, Profile};
    use serde_json::{Value, json};

    #[test]
    fn only_metrics_of_retrieval_steps_are_repeated_inside_steps() {
        let profile = Profile { retrieval_in_steps: true, ..Profile::V5 };
        let mut aggregator = Aggregator::new(&profile, &["retrieval_taste".to_owned()]);
        let number = |value| Number::real(value).expect("a number");
        aggregator.observe(&Observation {
            template: "t",
            values: vec![("retrieval_taste", number(0.25))],
            steps: vec![ObservedStep {
                name: "retrieval",
                is_error: false,
                is_empty: false,
                values: vec![("retrieval_answer_recall", number(0.5))],
            }],
            ..Observation::default()
        });
        let shape: Value =
            serde_json::to_value(AggregatesShape(&aggregator.finish())).expect("JSON");
        let template = &shape["per_template"]["t"];
        assert_eq!(template["retrieval_taste"]["mean"], json!(0.25));
        assert_eq!(template["steps"]["retrieval_answer_recall"]["mean"], json!(0.5));
        assert_eq!(template["steps"].get("retrieval_taste"), None);
    }
}
