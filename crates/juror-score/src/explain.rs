//! Why expected steps were not found, in words.

use std::cell::OnceCell;
use std::rc::Rc;

use hashbrown::{HashMap, HashSet};
use juror_json as json;
use juror_sparql::{Comparison, Difference, Prepared, SparqlResult};

use crate::compare::{Differing, DocumentId, Expectation, Kind, Spare, View, differing};
use crate::exact::shown;
use crate::kind_names::StepKind;
use crate::limits::{TooLarge, Whose};
use crate::match_steps::{Matching, Pair, can_match, scored_groups};
use crate::output::Output;
use crate::profile::{MissingStatus, Profile, StepKinds};
use crate::question::ExpectedStep;
use crate::record::Record;
use crate::repeated::Kinds;
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
    explain_within(groups, steps, matching, &record.too_large, profile)
}

/// Explains every expected step that was not found whole by [`match_steps`](crate::match_steps).
pub fn explain_matching(
    groups: &[Vec<ExpectedStep<'_>>],
    steps: &[Step<'_>],
    matching: &Matching,
    profile: &Profile,
) -> Vec<Miss> {
    explain_within(groups, steps, matching, &matching.too_large, profile)
}

/// What could not be read when the steps were matched cannot be read here either: what is told is
/// why they scored as they did.
fn explain_within(
    groups: &[Vec<ExpectedStep<'_>>],
    steps: &[Step<'_>],
    matching: &Matching,
    too_large: &[TooLarge],
    profile: &Profile,
) -> Vec<Miss> {
    let mut views = View::of_answer(steps, profile);
    let mut refused = HashMap::new();
    for TooLarge { place, excess } in too_large {
        match place {
            Whose::Actual(step) => {
                let view = View::of_actual(&steps[*step]).under(profile);
                views[*step] = view.known_to_exceed(*excess);
            }
            Whose::Expected { group, step } => drop(refused.insert((*group, *step), *excess)),
            Whose::Question => {}
        }
    }
    let spare = Rc::new(Spare::new(&profile.limits));
    let mut is_found = vec![false; steps.len()];
    matching.pairs.iter().for_each(|pair| is_found[pair.actual] = true);
    let alike = OnceCell::new();
    let explainer = Explainer { steps, views: &views, is_found: &is_found, alike, profile };
    let mut misses = Vec::new();
    let mut incomplete = None;
    for group in scored_groups(groups, profile).rev() {
        let complete = (0..groups[group].len()).all(|at| matching.pair_of(group, at).is_some());
        let looked_for =
            (!complete && incomplete.is_none()).then(|| LookedFor::of(group, groups, matching));
        for (expected, step) in groups[group].iter().enumerate() {
            let pair = matching.pair_of(group, expected);
            if pair.is_some_and(|pair| pair.similarity >= 1.0) {
                continue;
            }
            let mut view = View::of_expected(step).under(profile).sharing(&spare);
            if let Some(excess) = refused.get(&(group, expected)) {
                view = view.known_to_exceed(*excess);
            }
            let expected_step = Expectation::new(step, &view);
            let why = match (pair, &looked_for, incomplete) {
                (Some(pair), ..) => explainer.difference(&expected_step, pair.actual),
                (None, Some(group), _) => explainer.not_found(&expected_step, group),
                (None, None, later) => {
                    let later = later.unwrap_or(group);
                    format!("not looked for, since group {} is incomplete", later + 1)
                }
            };
            misses.push(Miss { group, expected, name: step.name.to_string(), why });
        }
        if !complete && incomplete.is_none() {
            incomplete = Some(group);
        }
    }
    misses.sort_by_key(|miss| (miss.group, miss.expected));
    misses
}

/// The group that was looked for last.
struct LookedFor {
    n_expected: usize,
    /// The first of the steps that were found for later groups: it had to come before.
    before: Option<Pair>,
}

impl LookedFor {
    fn of(group: usize, groups: &[Vec<ExpectedStep<'_>>], matching: &Matching) -> LookedFor {
        let later = matching.pairs.iter().filter(|pair| pair.group > group);
        let before = later.min_by_key(|pair| pair.actual).copied();
        LookedFor { n_expected: groups[group].len(), before }
    }
}

/// Actual steps that are written alike, by position: each explains as much as the others.
struct Alike {
    first: usize,
    last: usize,
    /// The last one that was not found for another expected step, if there is one.
    last_free: Option<usize>,
    can_match: bool,
}

struct Explainer<'e> {
    steps: &'e [Step<'e>],
    views: &'e [View<'e>],
    /// Which steps were found for an expected one.
    is_found: &'e [bool],
    /// The steps by what is written, in the order of the first of each.
    alike: OnceCell<Vec<Alike>>,
    profile: &'e Profile,
}

impl Explainer<'_> {
    fn alike(&self) -> &[Alike] {
        self.alike.get_or_init(|| {
            let mut can_match_at = vec![false; self.steps.len()];
            can_match(self.steps, self.profile).for_each(|at| can_match_at[at] = true);
            let kinds = Kinds::of(self.views.iter());
            let alike = |steps: &[usize]| {
                let (first, last) = (*steps.first()?, *steps.last()?);
                let last_free = steps.iter().rfind(|at| !self.is_found[**at]).copied();
                Some(Alike { first, last, last_free, can_match: can_match_at[first] })
            };
            kinds.columns().filter_map(alike).collect()
        })
    }

    fn not_found(&self, expected: &Expectation<'_>, group: &LookedFor) -> String {
        let (step, view) = (expected.step, expected.view);
        if step.lacks_output(self.profile) {
            return "the reference gives no output to compare with".into();
        }
        let most = self.profile.limits.step_pairs;
        if group.n_expected.saturating_mul(self.alike().len()) > most {
            return format!(
                "no step was found for it; `limits.step_pairs` ({most}) allows no closer look"
            );
        }
        let kind_names = &self.profile.kind_names;
        let has_kind = |kind| self.profile.kinds == StepKinds::All || kind_names.has(kind);
        let finds_iris = view.name == "iri_discovery" && has_kind(StepKind::IriDiscovery);
        let same_name = |at: usize| match self.views[at].name {
            "autocomplete_search" | "sparql_query" if finds_iris => true,
            name => name == view.name,
        };
        let by_args = step.matches_by_args(self.profile);
        let can_match = self.alike().iter().filter(|alike| {
            let at = alike.first;
            alike.can_match && same_name(at) && (by_args || self.views[at].has_output())
        });
        if let Some(why) = self.not_free(expected, group, can_match.clone()) {
            return why;
        }
        if let Some(failed) = self.failed_call(expected) {
            return self.no_match(failed);
        }
        if let Some(nearest) = self.nearest(expected, can_match) {
            return self.difference(expected, nearest);
        }
        let of_name = self.alike().iter().filter(|alike| self.views[alike.first].name == view.name);
        match of_name.map(|alike| alike.last).max() {
            None if self.steps.is_empty() => "no steps were taken".into(),
            None if finds_iris => "no search or query was made for it".into(),
            None => "no step of this name was taken".into(),
            Some(at) => self.no_match(&self.steps[at]),
        }
    }

    /// Why a step that is as expected was not taken for it, if there is one: another expected step
    /// has it, or it came too late.
    fn not_free<'a>(
        &self,
        expected: &Expectation<'_>,
        group: &LookedFor,
        can_match: impl Iterator<Item = &'a Alike>,
    ) -> Option<String> {
        let is_like_it = |at: &usize| expected.similarity(&self.views[*at], self.profile) > 0.0;
        let like_it = can_match.map(|alike| alike.first).find(is_like_it)?;
        Some(match group.before.filter(|before| before.actual < like_it) {
            Some(before) => {
                let later = before.group + 1;
                format!("the step came only after one that was found for group {later}")
            }
            None => "a step like it was found for another expected step".into(),
        })
    }

    /// The call that was expected, where arguments decide and it was made in vain.
    fn failed_call(&self, expected: &Expectation<'_>) -> Option<&Step<'_>> {
        if !expected.step.matches_by_args(self.profile) {
            return None;
        }
        let is_it = |alike: &&Alike| {
            let actual = &self.views[alike.first];
            actual.name == expected.view.name && differing(expected.view, actual).is_empty()
        };
        let found = self.alike().iter().filter(is_it).max_by_key(|alike| alike.last)?;
        (!found.can_match).then(|| &self.steps[found.last])
    }

    /// Why a step of the right name cannot match anything.
    fn no_match(&self, step: &Step<'_>) -> String {
        match step.status {
            Status::Missing if self.profile.missing_status == MissingStatus::NoMatch => {
                "the step has no `status`, and by `steps.missing_status` it cannot match".into()
            }
            Status::Error => {
                let error = step.fields.get_set("error").map(json::text_or_json);
                format!("the step failed: {}", quote(&error.unwrap_or_default()))
            }
            Status::Success | Status::Missing => "the step returned nothing".into(),
            Status::Other => {
                let word = step.fields.get_set("status").map(json::text_or_json);
                format!("the step's status is {}, not `success`", quote(&word.unwrap_or_default()))
            }
        }
    }

    /// The step to tell the difference from: one that was not found for another expected step, if
    /// there is one; the latest, among those with the fewest differences in arguments where these
    /// decide.
    fn nearest<'a>(
        &self,
        expected: &Expectation<'_>,
        can_match: impl Iterator<Item = &'a Alike>,
    ) -> Option<usize> {
        let by_args = expected.step.matches_by_args(self.profile);
        let n_differing =
            |at: usize| if by_args { differing(expected.view, &self.views[at]).len() } else { 0 };
        let latest = can_match.map(|alike| alike.last_free.unwrap_or(alike.last));
        latest.min_by_key(|at| (self.is_found[*at], n_differing(*at), std::cmp::Reverse(*at)))
    }

    /// Why what was read is no SPARQL result.
    fn not_a_result(&self, output: &str, view: &View<'_>) -> String {
        match view.excess() {
            Some(excess) => format!("{output} is {}", excess.told(&self.profile.limits)),
            None => format!("{output} is not a SPARQL result"),
        }
    }

    /// How an actual step differs from the expected one.
    fn difference(&self, expected: &Expectation<'_>, actual: usize) -> String {
        let (step, view, actual) = (expected.step, expected.view, &self.views[actual]);
        match Kind::of(expected, actual, self.profile) {
            Kind::Sparql(format) => match (view.result(format), actual.result(format)) {
                (Some(expected), Some(found)) => sparql_difference(expected, found, step),
                (Some(_), None) => self.not_a_result("the output", actual),
                (None, _) => self.not_a_result("the reference output", view),
            },
            Kind::Retrieval => retrieval_difference(view, actual),
            Kind::TimeSeries => named_difference(view, actual, &["mrid", "limit"]),
            Kind::DataPoints => named_difference(
                view,
                actual,
                &["external_id", "granularity", "aggregates", "start", "end", "limit"],
            ),
            Kind::Args => argument_difference(differing(view, actual)),
            Kind::Iri => {
                format!("{} is not in what was found", quote(view.text().unwrap_or_default()))
            }
            Kind::Json | Kind::Plain | Kind::Never => output_difference(view, actual),
        }
    }
}

/// How two outputs differ that compare as they are, or as JSON.
fn output_difference(expected: &View<'_>, actual: &View<'_>) -> String {
    let (wanted, got) = (expected.text().unwrap_or_default(), actual.text().unwrap_or_default());
    if quote(wanted) != quote(got) {
        return format!("expected {}, got {}", quote(wanted), quote(got));
    }
    // What is shown is the same, so something else has to be said.
    match (expected.json_kind(), actual.json_kind()) {
        (wanted_kind, got_kind) if wanted_kind != got_kind => format!(
            "expected the {wanted_kind} {}, got the {got_kind} {}",
            expected.quoted_json(),
            actual.quoted_json()
        ),
        _ if wanted.split_whitespace().eq(got.split_whitespace()) => {
            "the outputs differ in white space alone".into()
        }
        _ => {
            let at = wanted.chars().zip(got.chars()).take_while(|(a, b)| a == b).count();
            let rest = |text: &str| {
                let start = text.char_indices().nth(at).map_or(text.len(), |(start, _)| start);
                quote(&text[start..])
            };
            let (wanted, got) = (rest(wanted), rest(got));
            format!("from character {} on: expected {wanted}, got {got}", at + 1)
        }
    }
}

impl View<'_> {
    /// What the output is in JSON, in a word.
    fn json_kind(&self) -> &'static str {
        let other = self.output().and_then(Output::other_json);
        match other.and_then(|json| json.bytes().next()) {
            None => "text",
            Some(b'{') => "object",
            Some(b'[') => "list",
            Some(b't' | b'f') => "truth value",
            Some(_) => "number",
        }
    }

    /// The output as JSON has it, for a message.
    fn quoted_json(&self) -> String {
        let text = self.text().unwrap_or_default();
        if self.json_kind() == "text" { quote(&format!("\"{text}\"")) } else { quote(text) }
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
    let relevant = match expected.documents() {
        Ok(relevant) => relevant,
        Err(why) => return why.told("the reference output", expected.limits()),
    };
    let retrieved = match actual.documents() {
        Ok(retrieved) => retrieved,
        Err(why) => return why.told("the output", actual.limits()),
    };
    let found: HashSet<_> = retrieved.iter().filter_map(|document| document.id.as_ref()).collect();
    let missing: Vec<String> = relevant
        .iter()
        .filter_map(|document| document.id.as_ref())
        .filter(|id| !found.contains(id))
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

/// How the arguments of some names differ.
fn named_difference(expected: &View<'_>, actual: &View<'_>, names: &[&str]) -> String {
    let arg = |view: &View<'_>, name: &str| view.arg(name).map(|value| shown(value.get()));
    let of_both = |name: &&str| ((*name).to_owned(), arg(expected, name), arg(actual, name));
    let differing = names.iter().map(of_both).filter(|(_, wanted, got)| wanted != got);
    argument_difference(differing)
}

fn argument_difference(differing: impl IntoIterator<Item = Differing>) -> String {
    let shown = |json: Option<String>| json.map_or("nothing".into(), |json| quote(&json));
    let told = differing.into_iter().map(|(name, wanted, got)| {
        format!("{name}: expected {}, got {}", shown(wanted), shown(got))
    });
    let text = told.collect::<Vec<_>>().join("; ");
    if text.is_empty() { "the arguments differ".into() } else { text }
}

/// A piece of text on one line, cut where it is too long.
fn quote(text: &str) -> String {
    // A character is four bytes at most: of a long text no more is looked at than is shown.
    let mut flat = String::new();
    for word in text.split_whitespace() {
        if flat.len() > 4 * QUOTE {
            break;
        }
        if !flat.is_empty() {
            flat.push(' ');
        }
        flat.push_str(&word[..word.floor_char_boundary(8 * QUOTE)]);
    }
    match flat.char_indices().nth(QUOTE) {
        Some((end, _)) => format!("`{}…`", &flat[..end]),
        None => format!("`{flat}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{read_reference, read_responses};
    use crate::record::{Case, score};
    use juror_document::{Document, Format};
    use serde_json::{Value, json};

    fn misses(expected: &Value, actual: &Value, profile: &Profile) -> Vec<(usize, usize, String)> {
        let question = json!({"id": "q", "question_text": "Q", "reference_steps": expected});
        let reference = json!([{"template_id": "t", "questions": [question]}]).to_string();
        let responses = json!([{"question_id": "q", "actual_steps": actual}]).to_string();
        let document =
            |text: String| Document::new("d", text.into_bytes(), Format::Json).expect("a document");
        let (reference, responses) = (document(reference), document(responses));
        let dataset = read_reference(&reference).expect("a reference");
        let responses = read_responses(&responses).expect("responses");
        let question = &dataset.questions[0];
        let case = Case { question, trajectory: responses.of(question) };
        let misses = explain(&score(&case, profile), profile);
        misses.into_iter().map(|miss| (miss.group, miss.expected, miss.why)).collect()
    }

    fn why(expected: &Value, actual: &Value) -> String {
        let expected = json!([[{"name": "s", "output": expected}]]);
        let actual = json!([{"name": "s", "status": "success", "output": actual}]);
        misses(&expected, &actual, &Profile::V5).remove(0).2
    }

    #[test]
    fn a_step_that_is_as_expected_may_be_too_late_or_found_for_another() {
        let step = |output: &str| json!({"name": "s", "status": "success", "output": output});
        let (first, second) = (step("first"), step("second"));
        assert_eq!(
            misses(&json!([[first], [second]]), &json!([second, first]), &Profile::V6),
            [(0, 0, "the step came only after one that was found for group 2".to_owned())]
        );
        assert_eq!(
            misses(&json!([[first, first]]), &json!([first]), &Profile::V6),
            [(0, 0, "a step like it was found for another expected step".to_owned())]
        );
    }

    #[test]
    fn ten_thousand_misses_are_explained_by_the_steps_that_differ() {
        let step = |output: &str| json!({"name": "s", "status": "success", "output": output});
        let (wanted, got) = (vec![step("a"); 10_000], vec![step("b"); 10_000]);
        let explained = misses(&json!([wanted]), &json!(got), &Profile::V6);
        assert_eq!(explained.len(), 10_000);
        assert!(explained.iter().all(|(_, _, why)| why == "expected `a`, got `b`"));
    }

    #[test]
    fn steps_beyond_the_limit_on_pairs_are_not_looked_at_for_an_explanation() {
        let expected = json!([[{"name": "s", "args": {"c": 1}, "match": "args"}]]);
        let failed = |c: u32| json!({"name": "s", "args": {"c": c}, "status": "error"});
        let actual = json!([failed(1), failed(2), failed(3)]);
        let limits = crate::Limits { step_pairs: 2, ..crate::Limits::DEFAULT };
        let told = misses(&expected, &actual, &Profile { limits, ..Profile::V6 });
        let why = "no step was found for it; `limits.step_pairs` (2) allows no closer look";
        assert_eq!(told, [(0, 0, why.to_owned())]);
    }

    #[test]
    fn a_table_that_is_too_large_is_said_to_be() {
        let step = |output: &str| {
            json!({"name": "s", "status": "success", "output": output,
                "output_media_type": "text/tab-separated-values"})
        };
        let (expected, actual) = (step("?a\n1\n"), step("?a\t?b\n\n\n\n\n\n"));
        let limits = crate::Limits { table_cells: 3, ..crate::Limits::DEFAULT };
        let profile = Profile { limits, ..Profile::V5 };
        let told = "the output is a table that has, with those before it, more cells than \
                    `limits.table_cells` allows (3)";
        let misses = misses(&json!([[expected]]), &json!([actual]), &profile);
        assert_eq!(misses, [(0, 0, told.to_owned())]);
    }

    #[test]
    fn tables_of_an_answer_share_what_they_take_beyond_their_texts() {
        let step = |output: &str| {
            json!({"name": "s", "status": "success", "output": output,
                "output_media_type": "text/tab-separated-values"})
        };
        // Each has 20 cells, of which its text answers for a few.
        let table = |head: &str| format!("{head}\t?b\t?c\t?d\n1\n\n\n\n\n");
        let limits = crate::Limits { table_cells: 40, ..crate::Limits::DEFAULT };
        let profile = Profile { limits, ..Profile::V5 };
        let too_large = |n_tables: usize| {
            let heads = (0..n_tables).map(|n| step(&table(&format!("?a{n}"))));
            let actual: Vec<Value> = heads.collect();
            let question = json!({"id": "q", "question_text": "Q",
                "reference_steps": [[step("?a\n2\n")]]});
            let reference = json!([{"template_id": "t", "questions": [question]}]).to_string();
            let responses = json!([{"question_id": "q", "actual_steps": actual}]).to_string();
            let document = |text: String| Document::new("d", text.into_bytes(), Format::Json);
            let (reference, responses) = (document(reference), document(responses));
            let (reference, responses) = (reference.expect("JSON"), responses.expect("JSON"));
            let dataset = read_reference(&reference).expect("a reference");
            let responses = read_responses(&responses).expect("responses");
            let question = &dataset.questions[0];
            score(&Case { question, trajectory: responses.of(question) }, &profile).too_large
        };
        assert_eq!(too_large(2), []);
        let met = |step: usize| TooLarge {
            place: Whose::Actual(step),
            excess: crate::Excess::TableCells,
        };
        assert_eq!(too_large(30), (2..30).map(met).collect::<Vec<_>>());
    }

    #[test]
    fn what_could_not_be_read_for_the_score_is_not_read_for_its_explanation() {
        let step = |output: &str| {
            json!({"name": "sparql_query", "status": "success", "output": output,
                "output_media_type": "text/tab-separated-values"})
        };
        // The first takes the room of the second, which would be explained alone.
        let table = |head: &str| format!("{head}\t?b\t?c\t?d\n1\n\n\n\n\n");
        let limits = crate::Limits { table_cells: 20, ..crate::Limits::DEFAULT };
        let profile = Profile { limits, ..Profile::V6 };
        let expected = json!([[step("?a\n2\n")]]);
        let actual = json!([step(&table("?a")), step(&table("?x"))]);
        let told = "the output is a table that has, with those before it, more cells than \
                    `limits.table_cells` allows (20)";
        assert_eq!(misses(&expected, &actual, &profile), [(0, 0, told.to_owned())]);
    }

    #[test]
    fn a_reference_beyond_a_limit_is_said_to_be() {
        let step = |output: &str| {
            json!({"name": "sparql_query", "status": "success", "output": output,
                "output_media_type": "text/tab-separated-values"})
        };
        let limits = crate::Limits { table_cells: 3, ..crate::Limits::DEFAULT };
        let profile = Profile { limits, ..Profile::V6 };
        let actual = json!([step("?a\n1\n")]);
        let told = |expected: &str| misses(&json!([[step(expected)]]), &actual, &profile);
        let large = "the reference output is a table that has, with those before it, more cells \
                     than `limits.table_cells` allows (3)";
        assert_eq!(told("?a\t?b\n\n\n\n\n"), [(0, 0, large.to_owned())]);
        let wide = "the reference output is a table of more than 1024 columns";
        assert_eq!(told(&"?a\t".repeat(1025)), [(0, 0, wide.to_owned())]);
    }

    #[test]
    fn a_list_of_too_many_documents_is_said_to_be() {
        let step = |output: &Value| json!({"name": "retrieval", "status": "success", "output": output.to_string()});
        let (expected, actual) = (step(&json!([{"id": 1}])), step(&json!(vec![json!({}); 20])));
        let limits = crate::Limits { documents: 2, ..crate::Limits::DEFAULT };
        let profile = Profile { limits, ..Profile::V5 };
        let told = "the output is a list that has, with those before it, more documents than \
                    `limits.documents` allows (2)";
        let misses = misses(&json!([[expected]]), &json!([actual]), &profile);
        assert_eq!(misses, [(0, 0, told.to_owned())]);
    }

    #[test]
    fn the_call_that_was_meant_is_the_one_that_is_explained() {
        let profile = Profile::V6;
        let expected = |c: u32| json!({"name": "s", "args": {"c": c}, "match": "args"});
        let call = |c: u32, status: &str| {
            let mut call = json!({"name": "s", "args": {"c": c}, "status": status});
            let part = if status == "error" { "error" } else { "output" };
            call[part] = "x".into();
            call
        };
        let told = |actual: Value| misses(&json!([[expected(1), expected(2)]]), &actual, &profile);
        let failed = told(json!([call(1, "error"), call(2, "success")]));
        assert_eq!(failed, [(0, 0, "the step failed: `x`".to_owned())]);
        let other = told(json!([call(3, "success"), call(2, "success")]));
        assert_eq!(other, [(0, 0, "c: expected `1`, got `3`".to_owned())]);
        let outputs = json!([[{"name": "s", "output": "a"}, {"name": "s", "output": "b"}]]);
        let step = |output: &str| json!({"name": "s", "status": "success", "output": output});
        assert_eq!(
            misses(&outputs, &json!([step("c"), step("b")]), &profile),
            [(0, 0, "expected `a`, got `c`".to_owned())]
        );
    }

    #[test]
    fn a_long_output_is_not_gone_through_for_every_miss() {
        let step = |output: &str| json!({"name": "s", "status": "success", "output": output});
        let wanted: Vec<Value> = (0..5_000).map(|n| step(&n.to_string())).collect();
        let got = step(&"{} ".repeat(200_000));
        let explained = misses(&json!([wanted]), &json!([got]), &Profile::V6);
        assert_eq!(explained.len(), 5_000);
        let shown = "{} ".repeat(QUOTE / 3 + 1);
        let told = format!("expected `7`, got `{}…`", &shown[..QUOTE]);
        assert_eq!(explained[7].2, told);
        assert_eq!(quote(&"é".repeat(9 * QUOTE)), format!("`{}…`", "é".repeat(QUOTE)));
        assert_eq!(quote(&format!("{} a", "é".repeat(QUOTE))), format!("`{}…`", "é".repeat(QUOTE)));
        assert_eq!(quote(" a \n b "), "`a b`");
    }

    #[test]
    fn outputs_that_look_alike_are_told_apart() {
        let long = "x".repeat(80);
        for (expected, actual, told) in [
            (json!(5), json!("5"), "expected the number `5`, got the text `\"5\"`"),
            (
                json!("true"),
                json!(true),
                "expected the text `\"true\"`, got the truth value `true`",
            ),
            (json!("4 kg"), json!("5 kg"), "expected `4 kg`, got `5 kg`"),
            (json!("4  kg"), json!("4 kg"), "the outputs differ in white space alone"),
            (
                json!(format!("{long}4")),
                json!(format!("{long}5")),
                "from character 81 on: expected `4`, got `5`",
            ),
        ] {
            assert_eq!(why(&expected, &actual), told);
        }
    }
}
