//! Infers which profile produced some results.
//!
//! Results do not name their rules, and the numbers of failed responses count by one profile and not
//! by the other. But the profiles leave traces: of a failed response, profile 6 always writes the steps
//! and profile 5 never does, and only profile 6 looks for steps before the last group.

use juror_json as json;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::coverage::ReferenceKeys;

/// How many results are searched for steps that were found before the last group.
const MOST_SEARCHED: usize = 100;

/// One of the two profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// [`Profile::V5`](crate::Profile::V5).
    Five,
    /// [`Profile::V6`](crate::Profile::V6).
    Six,
}

/// What a result shows of the rules it was made by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleTraces {
    /// Which parts of its reference it was written with. One without any was not written by an
    /// evaluation, or was cut down since, and tells nothing.
    pub written: ReferenceKeys,
    /// Whether it has `actual_steps`, even if they are empty.
    pub has_steps: bool,
    /// Whether a step was found in a group before the last.
    pub matches_early: bool,
}

impl RuleTraces {
    /// Which profile wrote the result of a failed response.
    fn of_failed(self) -> Option<Release> {
        let is_whole = self.written.answer || self.written.steps;
        is_whole.then_some(if self.has_steps { Release::Six } else { Release::Five })
    }
}

/// Which profile some results were made by, as far as they tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToldRules {
    /// Whether failed responses are written as profile 5 does, and as profile 6 does.
    failed_as: [bool; 2],
    matches_early: bool,
    n_searched: usize,
    /// Failed responses with numbers.
    n_failed: usize,
}

impl ToldRules {
    /// Looks at a result.
    pub(crate) fn add(&mut self, traces: RuleTraces, is_error: bool, has_numbers: bool) {
        self.matches_early |= traces.matches_early;
        self.n_searched += usize::from(traces.written.steps);
        if is_error {
            let release = traces.of_failed();
            self.failed_as[0] |= release == Some(Release::Five);
            self.failed_as[1] |= release == Some(Release::Six);
            self.n_failed += usize::from(has_numbers);
        }
    }

    pub(crate) fn merge(&mut self, other: ToldRules) {
        self.failed_as = [0, 1].map(|at| self.failed_as[at] || other.failed_as[at]);
        self.matches_early |= other.matches_early;
        self.n_searched += other.n_searched;
        self.n_failed += other.n_failed;
    }

    /// Whether to search the next result for steps that were found early: not if one was found, or if
    /// many results had none.
    #[inline]
    pub fn wants_early_matches(&self) -> bool {
        !self.matches_early && self.n_searched < MOST_SEARCHED
    }

    /// The profile; `None` if nothing tells it, or some results tell the one and some the other.
    /// Failed responses come first, since only their numbers depend on it.
    pub fn release(&self) -> Option<Release> {
        match self.failed_as {
            [true, false] => Some(Release::Five),
            [false, true] => Some(Release::Six),
            [true, true] => None,
            [false, false] => self.matches_early.then_some(Release::Six),
        }
    }

    /// How many failed responses have numbers of which nobody knows whether they count; 0 if the
    /// profile is known.
    pub fn n_unsure(&self) -> usize {
        if self.release().is_some() { 0 } else { self.n_failed }
    }
}

/// Whether a step was found in a group before the last, according to the expected steps of a result.
pub fn matches_early(reference_steps: &RawValue) -> bool {
    #[derive(Deserialize)]
    struct Found {
        matches: Option<IgnoredAny>,
    }
    let text = reference_steps.get();
    let is_named = memchr::memmem::find(text.as_bytes(), b"\"matches\"").is_some();
    if !is_named && !json::may_hide_letters(text) {
        return false;
    }
    let groups: Vec<Vec<Found>> = serde_json::from_str(text).unwrap_or_default();
    let before_last = &groups[..groups.len().saturating_sub(1)];
    before_last.iter().flatten().any(|step| step.matches.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: ReferenceKeys = ReferenceKeys { answer: true, steps: false };

    fn told(rows: &[(RuleTraces, bool)]) -> ToldRules {
        let mut told = ToldRules::default();
        for (traces, is_error) in rows {
            told.add(*traces, *is_error, true);
        }
        told
    }

    #[test]
    fn failed_responses_tell_by_their_steps() {
        let five = RuleTraces { written: WHOLE, ..RuleTraces::default() };
        let six = RuleTraces { has_steps: true, ..five };
        let bare = RuleTraces { has_steps: true, ..RuleTraces::default() };
        let early = RuleTraces { matches_early: true, ..six };
        for (rows, release, n_unsure) in [
            (&[(five, true)][..], Some(Release::Five), 0),
            (&[(six, true), (bare, true)], Some(Release::Six), 0),
            (&[(five, false), (six, false)], None, 0),
            (&[(bare, true)], None, 1),
            (&[(five, true), (six, true), (bare, true)], None, 3),
            (&[(early, false)], Some(Release::Six), 0),
            (&[(early, false), (five, true)], Some(Release::Five), 0),
        ] {
            let told = told(rows);
            assert_eq!((told.release(), told.n_unsure()), (release, n_unsure), "{rows:?}");
        }
    }

    #[test]
    fn a_step_found_before_the_last_group_is_seen() {
        for (text, is_early) in [
            (r#"[[{"name": "a", "matches": "1"}]]"#, false),
            (r#"[[{"name": "a"}], [{"name": "b", "matches": "1"}]]"#, false),
            (r#"[[{"name": "a", "matches": "1"}], [{"name": "b"}]]"#, true),
            (r#"[[{"name": "a", "m\u0061tches": "1"}], [{"name": "b"}]]"#, true),
            ("null", false),
        ] {
            let steps: &RawValue = serde_json::from_str(text).expect("JSON");
            assert_eq!(matches_early(steps), is_early, "{text}");
        }
    }
}
