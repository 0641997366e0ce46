//! Finds the words for a step that was not found, and how it stands to the nearest one.

use std::cell::{Cell, OnceCell};

use juror_json as json;
use juror_sparql::{AlignmentRoom, Prepared};

use super::MatchedSteps;
use super::difference::{
    argument_difference, named_differing, output_difference, quote, retrieval_difference,
    sparql_difference,
};
use crate::alignment::{DocumentAlignment, StepDetails};
use crate::compare::{CompareBy, Expectation, View, differing};
use crate::kind_names::StepKind;
use crate::match_steps::{Matching, Pair, can_match};
use crate::profile::{MissingStatus, Profile, StepKinds};
use crate::question::ExpectedStep;
use crate::repeated::RepeatedSteps;
use crate::shown_output::ShownLimits;
use crate::trajectory::{Status, Step};

/// What is to be said about a step that was not found, or only partly.
pub(super) struct Explanation {
    pub(super) why: String,
    /// The actual step that it is explained against.
    pub(super) against: Option<usize>,
    pub(super) details: StepDetails,
}

impl Explanation {
    pub(super) fn new(why: impl Into<String>, against: impl Into<Option<usize>>) -> Explanation {
        Explanation { why: why.into(), against: against.into(), details: StepDetails::default() }
    }
}

/// The incomplete group at which the search ended.
pub(super) struct LookedFor {
    n_expected: usize,
    /// The first step found for later groups; steps of this group had to come before it.
    before: Option<Pair>,
}

impl LookedFor {
    pub(super) fn of(
        group: usize,
        groups: &[Vec<ExpectedStep<'_>>],
        matching: &Matching,
    ) -> LookedFor {
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

pub(super) struct Explainer<'e, 't> {
    steps: &'e [Step<'e>],
    views: &'e [View<'t>],
    /// Whether each step is paired with an expected one.
    is_found: Vec<bool>,
    /// Identical steps, in the order of the first of each; computed on first use.
    alike: OnceCell<Vec<AlikeSteps>>,
    /// How far tables are aligned, all together.
    room: Cell<AlignmentRoom>,
    /// How much is shown; `None` if words are enough.
    limits: Option<&'e ShownLimits>,
    profile: &'e Profile,
}

impl<'e, 't> Explainer<'e, 't> {
    pub(super) fn new(
        matched: &MatchedSteps<'e>,
        views: &'e [View<'t>],
        limits: Option<&'e ShownLimits>,
    ) -> Explainer<'e, 't> {
        let MatchedSteps { steps, matching, profile, .. } = *matched;
        let mut is_found = vec![false; steps.len()];
        matching.pairs.iter().for_each(|pair| is_found[pair.actual] = true);
        let room = Cell::new(limits.map_or(AlignmentRoom::NONE, ShownLimits::room));
        Explainer { steps, views, is_found, alike: OnceCell::new(), room, limits, profile }
    }

    /// Calls `align` with the room for tables that is left.
    fn with_room<T>(&self, align: impl FnOnce(&mut AlignmentRoom) -> T) -> T {
        let mut room = self.room.get();
        let aligned = align(&mut room);
        self.room.set(room);
        aligned
    }

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

    /// Explains why no step was found.
    pub(super) fn not_found(&self, expected: &Expectation<'_>, group: &LookedFor) -> Explanation {
        let (step, view) = (expected.step, expected.view);
        if step.lacks_output(self.profile) {
            return Explanation::new("the reference gives no output to compare with", None);
        }
        let most = self.profile.limits.step_pairs;
        if group.n_expected.saturating_mul(self.alike().len()) > most {
            let why = format!(
                "no step was found for it; `limits.step_pairs` ({most}) allows no closer look"
            );
            return Explanation::new(why, None);
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
        let why = match of_name.map(|alike| alike.last).max() {
            Some(at) => return self.no_match(at),
            None if self.steps.is_empty() => "no steps were taken",
            None if finds_iris => "no search or query was made for it",
            None => "no step of this name was taken",
        };
        Explanation::new(why, None)
    }

    /// If there is a step like the expected one, explains why it was not paired with it: it is
    /// paired with another expected step, or came too late.
    fn not_free<'a>(
        &self,
        expected: &Expectation<'_>,
        group: &LookedFor,
        can_match: impl Iterator<Item = &'a AlikeSteps>,
    ) -> Option<Explanation> {
        let is_like_it = |at: &usize| expected.similarity(&self.views[*at], self.profile) > 0.0;
        let like_it = can_match.map(|alike| alike.first).find(is_like_it)?;
        let why = match group.before.filter(|before| before.actual < like_it) {
            Some(before) => {
                let later = before.group + 1;
                format!("the step came only after one that was found for group {later}")
            }
            None => "a step like it was found for another expected step".into(),
        };
        Some(Explanation::new(why, like_it))
    }

    /// Returns the expected call if it was made and failed. Only for steps matched by arguments.
    fn failed_call(&self, expected: &Expectation<'_>) -> Option<usize> {
        if !expected.step.matches_by_args(self.profile) {
            return None;
        }
        let is_it = |alike: &&AlikeSteps| {
            let actual = &self.views[alike.first];
            actual.name == expected.view.name && differing(expected.view, actual).is_empty()
        };
        let found = self.alike().iter().filter(is_it).max_by_key(|alike| alike.last)?;
        (!found.can_match).then_some(found.last)
    }

    /// Explains why a step of the right name cannot match anything.
    fn no_match(&self, at: usize) -> Explanation {
        let step = &self.steps[at];
        let why = match step.status {
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
        };
        Explanation::new(why, at)
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
    pub(super) fn difference(&self, expected: &Expectation<'_>, at: usize) -> Explanation {
        let (view, actual) = (expected.view, &self.views[at]);
        let compare_by = CompareBy::of(expected, actual, self.profile);
        let mut details = StepDetails::default();
        let why = match compare_by {
            CompareBy::Sparql(format) => match (view.result(format), actual.result(format)) {
                (Some(reference), Some(found)) => {
                    let Some(prepared) = expected.prepared(format) else {
                        return Explanation::new(
                            self.not_a_result("the reference output", view),
                            at,
                        );
                    };
                    let told = self
                        .with_room(|room| sparql_difference((reference, prepared), found, room));
                    details.table = told.1.filter(|_| self.limits.is_some());
                    told.0
                }
                (Some(_), None) => self.not_a_result("the output", actual),
                (None, _) => self.not_a_result("the reference output", view),
            },
            CompareBy::Retrieval => {
                details.documents = self.documents(view, actual);
                retrieval_difference(view, actual)
            }
            CompareBy::TimeSeries | CompareBy::DataPoints | CompareBy::Args => {
                let differing = match compare_by {
                    CompareBy::TimeSeries => named_differing(view, actual, &["mrid", "limit"]),
                    CompareBy::DataPoints => named_differing(view, actual, DATA_POINTS),
                    _ => differing(view, actual),
                };
                let why = argument_difference(&differing);
                details.args = self.limits.map(|limits| limits.shorten_args(differing));
                why
            }
            CompareBy::Iri => {
                format!("{} is not in what was found", quote(view.text().unwrap_or_default()))
            }
            CompareBy::Json | CompareBy::Plain | CompareBy::Never => {
                output_difference(view, actual)
            }
        };
        Explanation { why, against: Some(at), details }
    }

    /// Returns how a step that was found stands to the expected one.
    pub(super) fn details_of_found(&self, expected: &Expectation<'_>, at: usize) -> StepDetails {
        let actual = &self.views[at];
        let mut details = StepDetails::default();
        match CompareBy::of(expected, actual, self.profile) {
            CompareBy::Sparql(format) => {
                let tables = expected.prepared(format).zip(actual.result(format));
                let align = |(prepared, found): (&Prepared<'_>, _)| {
                    self.with_room(|room| prepared.align(found, room))
                };
                // Identical texts are the same even where one side cannot be read like the other.
                details.table = tables.and_then(align).filter(|table| table.is_same);
            }
            CompareBy::Retrieval => details.documents = self.documents(expected.view, actual),
            _ => {}
        }
        details
    }

    fn documents(&self, expected: &View<'_>, actual: &View<'_>) -> Option<DocumentAlignment> {
        DocumentAlignment::of(expected, actual, self.limits?)
    }
}

/// The arguments that retrievals of data points are compared by.
const DATA_POINTS: &[&str] = &["external_id", "granularity", "aggregates", "start", "end", "limit"];
