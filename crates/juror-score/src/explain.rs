//! Why expected steps were not found, in words.

use std::fmt::Write as _;

use crate::compare::{DocumentId, Kind, View};
use crate::json;
use crate::match_steps::{can_match, scored_groups};
use crate::profile::{Profile, StepKinds};
use crate::question::ExpectedStep;
use crate::record::Record;
use crate::solutions::{Comparison, Difference, Prepared, SparqlResult};
use crate::trajectory::{Status, Step};

/// The longest piece of an output that is quoted.
const QUOTE: usize = 60;

/// An expected step that was not found, or not found whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// Its group, counted from 0.
    pub group: usize,
    /// Its position in the group.
    pub expected: usize,
    /// Its name.
    pub name: String,
    /// How the nearest actual step differs, or that there is none.
    pub why: String,
}

/// Explains every expected step that costs the record a part of its steps score.
pub fn explain(record: &Record<'_>, profile: &Profile) -> Vec<Miss> {
    let Some(matching) = &record.matching else { return Vec::new() };
    let groups = record.case.question.groups.as_deref().unwrap_or_default();
    let steps = record.case.trajectory.steps.as_deref().unwrap_or_default();
    let views: Vec<View> = steps.iter().map(View::of_actual).collect();
    let explainer = Explainer { steps, views: &views, profile };
    let mut misses = Vec::new();
    let mut incomplete = None;
    for group in scored_groups(groups, profile).rev() {
        for (expected, step) in groups[group].iter().enumerate() {
            let pair = matching.pair_of(group, expected);
            if pair.is_some_and(|pair| pair.similarity >= 1.0) {
                continue;
            }
            let view = View::of_expected(step);
            let why = match (pair, incomplete) {
                (Some(pair), _) => explainer.difference(step, &view, pair.actual),
                (None, Some(later)) => {
                    format!("not looked for, since group {} is incomplete", later + 1)
                }
                (None, None) => explainer.not_found(step, &view),
            };
            misses.push(Miss { group, expected, name: step.name.to_string(), why });
        }
        let complete = (0..groups[group].len()).all(|at| matching.pair_of(group, at).is_some());
        if !complete && incomplete.is_none() {
            incomplete = Some(group);
        }
    }
    misses.sort_by_key(|miss| (miss.group, miss.expected));
    misses
}

struct Explainer<'e> {
    steps: &'e [Step<'e>],
    views: &'e [View<'e>],
    profile: &'e Profile,
}

impl Explainer<'_> {
    fn not_found(&self, expected: &ExpectedStep<'_>, view: &View<'_>) -> String {
        let by_arguments =
            view.name.starts_with("retrieve_") && self.profile.kinds == StepKinds::All;
        if view.text().is_none() && !by_arguments {
            return "the reference gives no output to compare with".into();
        }
        let finds_iris = expected.name == "iri_discovery" && self.profile.kinds == StepKinds::All;
        let same_name = |index: &usize| match self.steps[*index].name.as_ref() {
            "autocomplete_search" | "sparql_query" if finds_iris => true,
            name => name == expected.name,
        };
        if let Some(nearest) = can_match(self.steps, self.profile).filter(same_name).last() {
            return self.difference(expected, view, nearest);
        }
        let called: Vec<&Step> =
            self.steps.iter().filter(|step| step.name == expected.name).collect();
        match called.last() {
            None if self.steps.is_empty() => "no steps were taken".into(),
            None if finds_iris => "no search or query was made for it".into(),
            None => "no step of this name was taken".into(),
            Some(step) if step.status == Status::Missing => {
                "the step has no `status`, and by `steps.missing_status` it cannot match".into()
            }
            Some(step) if step.status == Status::Error => {
                let error = step.fields.get_set("error").map(json::output_text);
                format!("the step failed: {}", quote(&error.unwrap_or_default()))
            }
            Some(step) if step.status == Status::Success => "the step returned nothing".into(),
            Some(_) => "the step did not succeed".into(),
        }
    }

    /// How an actual step differs from the expected one.
    fn difference(&self, step: &ExpectedStep<'_>, view: &View<'_>, actual: usize) -> String {
        let actual = &self.views[actual];
        match Kind::of(view, actual, self.profile) {
            Kind::Sparql(format) => match (view.result(format), actual.result(format)) {
                (Some(expected), Some(found)) => sparql_difference(expected, found, step),
                (Some(_), None) => "the output is not a SPARQL result".into(),
                (None, _) => "the reference output is not a SPARQL result".into(),
            },
            Kind::Retrieval => retrieval_difference(view, actual),
            Kind::TimeSeries => argument_difference(view, actual, &["mrid", "limit"]),
            Kind::DataPoints => argument_difference(
                view,
                actual,
                &["external_id", "granularity", "aggregates", "start", "end", "limit"],
            ),
            Kind::Iri => {
                format!("{} is not in what was found", quote(view.text().unwrap_or_default()))
            }
            Kind::Json | Kind::Plain | Kind::Never => {
                let texts = (view.text().unwrap_or_default(), actual.text().unwrap_or_default());
                format!("expected {}, got {}", quote(texts.0), quote(texts.1))
            }
        }
    }
}

fn sparql_difference(
    reference: &SparqlResult<'_>,
    found: &SparqlResult<'_>,
    step: &ExpectedStep<'_>,
) -> String {
    let (expected, actual) = match (reference, found) {
        (SparqlResult::Table(expected), SparqlResult::Table(actual)) => (expected, actual),
        (SparqlResult::Truth(expected), SparqlResult::Truth(actual)) => {
            return format!("expected {expected}, got {actual}");
        }
        (SparqlResult::Truth(_), _) => return "expected true or false, got a table".into(),
        (_, SparqlResult::Truth(_)) => return "expected a table, got true or false".into(),
    };
    if actual.n_rows == 0 {
        return format!("{} expected, none returned", rows(expected.n_rows));
    }
    let difference = Difference::between(expected, actual, &step.rules);
    if !difference.unpaired.is_empty() {
        return format!("no column holds the values of `{}`", difference.unpaired.join("`, `"));
    }
    if difference.order_differs {
        return "the rows are in another order".into();
    }
    let mut parts = Vec::new();
    if difference.n_missing > 0 {
        let first = difference.first_missing.as_deref().unwrap_or_default();
        parts.push(format!("{} missing ({})", rows(difference.n_missing), quote(first)));
    }
    if difference.n_extra > 0 {
        parts.push(format!("{} extra", rows(difference.n_extra)));
    }
    if parts.is_empty() {
        return match Prepared::new(reference, &step.rules).compare(found) {
            Comparison::Undecided => "the tables are too contrived to compare".into(),
            _ => "the columns do not belong together".into(),
        };
    }
    parts.join(", ")
}

fn rows(n: usize) -> String {
    if n == 1 { "1 row".into() } else { format!("{n} rows") }
}

fn retrieval_difference(expected: &View<'_>, actual: &View<'_>) -> String {
    let Some(relevant) = expected.documents() else {
        return "the reference output is not a list of documents".into();
    };
    let Some(retrieved) = actual.documents() else {
        return "the output is not a list of documents".into();
    };
    let missing: Vec<String> = relevant
        .iter()
        .filter(|document| !retrieved.iter().any(|found| found.id == document.id))
        .filter_map(|document| document.id.as_ref())
        .map(|id| match id {
            DocumentId::Text(text) => text.to_string(),
            DocumentId::Number(number) => number.to_string(),
            DocumentId::Other(json) => json.clone(),
        })
        .collect();
    if missing.is_empty() {
        return "the relevant ids are not among the first k".into();
    }
    let ids = missing.join(", ");
    format!("{} of {} ids not retrieved: {}", missing.len(), relevant.len(), quote(&ids))
}

fn argument_difference(expected: &View<'_>, actual: &View<'_>, names: &[&str]) -> String {
    let shown =
        |value: Option<serde_json::Value>| value.map_or("nothing".into(), |v| v.to_string());
    let mut text = String::new();
    for name in names {
        let (wanted, got) = (expected.arg(name), actual.arg(name));
        if wanted != got {
            let separator = if text.is_empty() { "" } else { "; " };
            // Writing to a string does not fail.
            let _ =
                write!(text, "{separator}{name}: expected {}, got {}", shown(wanted), shown(got));
        }
    }
    if text.is_empty() { "the arguments differ".into() } else { text }
}

/// A piece of text on one line, cut where it is too long.
fn quote(text: &str) -> String {
    let flat: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(QUOTE) {
        Some((end, _)) => format!("`{}…`", &flat[..end]),
        None => format!("`{flat}`"),
    }
}
