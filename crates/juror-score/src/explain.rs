//! Explains in words why expected steps were not found.

mod difference;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::rc::Rc;

use difference::{
    argument_difference, named_difference, output_difference, quote, retrieval_difference,
    sparql_difference,
};
use hashbrown::HashMap;
use juror_json as json;

use crate::compare::{CompareBy, Expectation, Spare, View, differing};
use crate::kind_names::StepKind;
use crate::limits::{TooLarge, Whose};
use crate::match_steps::{Matching, Pair, can_match, scored_groups};
use crate::profile::{MissingStatus, Profile, StepKinds};
use crate::question::ExpectedStep;
use crate::record::Record;
use crate::repeated::RepeatedSteps;
use crate::trajectory::{Status, Step};

/// An expected step that was not found, or only partly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// The group of the step, counted from 0.
    pub group: usize,
    /// The position of the step in its group.
    pub expected: usize,
    /// The name of the step.
    pub name: String,
    /// How the nearest actual step differs, or why there is none.
    pub why: String,
}

/// Explains every expected step that lowers the record's steps score.
pub fn explain(record: &Record<'_>, profile: &Profile) -> Vec<Miss> {
    let Some(matching) = &record.matching else { return Vec::new() };
    let groups = record.case.question.groups.as_deref().unwrap_or_default();
    let steps = record.case.trajectory.steps.as_deref().unwrap_or_default();
    explain_within(groups, steps, matching, &record.too_large, profile)
}

/// Explains every expected step that [`match_steps`](fn@crate::match_steps) did not find completely.
pub fn explain_matching(
    groups: &[Vec<ExpectedStep<'_>>],
    steps: &[Step<'_>],
    matching: &Matching,
    profile: &Profile,
) -> Vec<Miss> {
    explain_within(groups, steps, matching, &matching.too_large, profile)
}

/// Outputs that exceeded a limit when the steps were matched count as unreadable here too, since the
/// explanation is for the score as it is.
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

/// The incomplete group at which the search ended.
struct LookedFor {
    n_expected: usize,
    /// The first step found for later groups; steps of this group had to come before it.
    before: Option<Pair>,
}

impl LookedFor {
    fn of(group: usize, groups: &[Vec<ExpectedStep<'_>>], matching: &Matching) -> LookedFor {
        let later = matching.pairs.iter().filter(|pair| pair.group > group);
        let before = later.min_by_key(|pair| pair.actual).copied();
        LookedFor { n_expected: groups[group].len(), before }
    }
}

/// Actual steps that are written identically, by position. Explaining one explains all.
struct AlikeSteps {
    first: usize,
    last: usize,
    /// The last one that is not paired with another expected step.
    last_free: Option<usize>,
    can_match: bool,
}

struct Explainer<'e> {
    steps: &'e [Step<'e>],
    views: &'e [View<'e>],
    /// Whether each step is paired with an expected one.
    is_found: &'e [bool],
    /// Identical steps, in the order of the first of each; computed on first use.
    alike: OnceCell<Vec<AlikeSteps>>,
    profile: &'e Profile,
}

impl Explainer<'_> {
    fn alike(&self) -> &[AlikeSteps] {
        self.alike.get_or_init(|| {
            let mut can_match_at = vec![false; self.steps.len()];
            can_match(self.steps, self.profile).for_each(|at| can_match_at[at] = true);
            let kinds = RepeatedSteps::of(self.views.iter());
            let alike = |steps: &[usize]| {
                let (first, last) = (*steps.first()?, *steps.last()?);
                let last_free = steps.iter().rfind(|at| !self.is_found[**at]).copied();
                Some(AlikeSteps { first, last, last_free, can_match: can_match_at[first] })
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

    /// If there is a step like the expected one, explains why it was not paired with it: it is
    /// paired with another expected step, or came too late.
    fn not_free<'a>(
        &self,
        expected: &Expectation<'_>,
        group: &LookedFor,
        can_match: impl Iterator<Item = &'a AlikeSteps>,
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

    /// Returns the expected call if it was made and failed. Only for steps matched by arguments.
    fn failed_call(&self, expected: &Expectation<'_>) -> Option<&Step<'_>> {
        if !expected.step.matches_by_args(self.profile) {
            return None;
        }
        let is_it = |alike: &&AlikeSteps| {
            let actual = &self.views[alike.first];
            actual.name == expected.view.name && differing(expected.view, actual).is_empty()
        };
        let found = self.alike().iter().filter(is_it).max_by_key(|alike| alike.last)?;
        (!found.can_match).then(|| &self.steps[found.last])
    }

    /// Explains why a step of the right name cannot match anything.
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

    /// Returns the step to compare with: preferably one that is not paired with another expected
    /// step; then, if arguments decide, one with the fewest different arguments; then the latest.
    fn nearest<'a>(
        &self,
        expected: &Expectation<'_>,
        can_match: impl Iterator<Item = &'a AlikeSteps>,
    ) -> Option<usize> {
        let by_args = expected.step.matches_by_args(self.profile);
        let n_differing =
            |at: usize| if by_args { differing(expected.view, &self.views[at]).len() } else { 0 };
        let latest = can_match.map(|alike| alike.last_free.unwrap_or(alike.last));
        latest.min_by_key(|at| (self.is_found[*at], n_differing(*at), std::cmp::Reverse(*at)))
    }

    /// Explains why an output is not a SPARQL result.
    fn not_a_result(&self, output: &str, view: &View<'_>) -> String {
        match view.excess() {
            Some(excess) => format!("{output} is {}", excess.describe(&self.profile.limits)),
            None => format!("{output} is not a SPARQL result"),
        }
    }

    /// Describes how an actual step differs from the expected one.
    fn difference(&self, expected: &Expectation<'_>, actual: usize) -> String {
        let (step, view, actual) = (expected.step, expected.view, &self.views[actual]);
        match CompareBy::of(expected, actual, self.profile) {
            CompareBy::Sparql(format) => match (view.result(format), actual.result(format)) {
                (Some(expected), Some(found)) => sparql_difference(expected, found, step),
                (Some(_), None) => self.not_a_result("the output", actual),
                (None, _) => self.not_a_result("the reference output", view),
            },
            CompareBy::Retrieval => retrieval_difference(view, actual),
            CompareBy::TimeSeries => named_difference(view, actual, &["mrid", "limit"]),
            CompareBy::DataPoints => named_difference(
                view,
                actual,
                &["external_id", "granularity", "aggregates", "start", "end", "limit"],
            ),
            CompareBy::Args => argument_difference(differing(view, actual)),
            CompareBy::Iri => {
                format!("{} is not in what was found", quote(view.text().unwrap_or_default()))
            }
            CompareBy::Json | CompareBy::Plain | CompareBy::Never => {
                output_difference(view, actual)
            }
        }
    }
}
