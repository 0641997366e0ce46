//! How many questions a metric applies to, and how many of them have a verdict on it.
//!
//! A mean says nothing about the questions it leaves out. What a metric needs of a question is
//! known from the reference, so a system that is down leaves questions without verdicts, not
//! questions to which nothing applies.

use juror_json as json;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::finding::{KeyPart, split_key};
use crate::kind_names::StepKind;
use crate::metric::question_metric;
use crate::overlap::{has_ascii_words, has_mentions};
use crate::profile::{AnswerErrorKey, Profile, ScoredGroups};
use crate::record::Case;

/// What a question has that metrics may need, or what a metric needs of a question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a trait of its own")]
pub struct Traits {
    /// A reference answer that is not blank.
    pub answer: bool,
    /// Expected steps.
    pub steps: bool,
    /// An expected retrieval, among the steps that are scored, that says what it retrieves.
    pub expected_retrieval: bool,
    /// A retrieval, expected or taken.
    pub retrieval: bool,
    /// A reference answer with words of the letters a–z; only known of answers that are compared word
    /// by word.
    pub ascii_words: bool,
    /// A reference answer with a number or a name; likewise.
    pub mentions: bool,
}

/// Which parts of its reference a result was written with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReferenceKeys {
    /// The reference answer, even if there is none.
    pub answer: bool,
    /// The expected steps, even if there are none.
    pub steps: bool,
}

impl Traits {
    /// No traits: any question will do.
    pub const NONE: Traits = Traits {
        answer: false,
        steps: false,
        expected_retrieval: false,
        retrieval: false,
        ascii_words: false,
        mentions: false,
    };

    /// All traits: any metric applies.
    pub const ALL: Traits = Traits {
        answer: true,
        steps: true,
        expected_retrieval: true,
        retrieval: true,
        ascii_words: true,
        mentions: true,
    };

    /// Returns the traits of a case.
    pub(crate) fn of(case: &Case<'_>, profile: &Profile) -> Traits {
        let (question, trajectory) = (case.question, case.trajectory);
        let groups = question.groups.as_deref().unwrap_or_default();
        let taken = trajectory.steps.as_deref().unwrap_or_default();
        let names = taken.iter().map(|step| step.name.as_ref());
        let has_answer = question.answer.is_some_and(is_said);
        let traits = Traits::expected(
            has_answer,
            groups,
            |step| (&step.name, step.output.is_some()),
            profile,
        )
        .with_taken(names, trajectory.ending.is_error(), profile);
        match case.reference_answer().filter(|_| profile.answer_overlap) {
            Some(answer) => traits.with_words(&answer),
            None => traits,
        }
    }

    /// Adds what the words of the reference answer allow to compare.
    #[must_use]
    pub fn with_words(self, reference_answer: &str) -> Traits {
        let ascii_words = has_ascii_words(reference_answer);
        Traits { ascii_words, mentions: has_mentions(reference_answer), ..self }
    }

    /// Returns the traits of a result written earlier, from the JSON of its reference answer and
    /// expected steps.
    pub fn of_written<'a>(
        answer: Option<&RawValue>,
        steps: Option<&'a RawValue>,
        profile: &Profile,
    ) -> Traits {
        #[derive(Deserialize)]
        struct Named<'a> {
            #[serde(borrow)]
            name: Option<&'a RawValue>,
            #[serde(borrow)]
            output: Option<&'a RawValue>,
        }
        let has_answer = answer.is_some_and(is_said);
        let text = steps.map_or("null", RawValue::get);
        // Parse the names only if one of them matters.
        let is_plain = !profile.kind_names.has(StepKind::Retrieval);
        let is_named = || memchr::memmem::find(text.as_bytes(), b"\"retrieval\"").is_some();
        if is_plain && !is_named() && !json::may_hide_letters(text) {
            let inside = text.strip_prefix('[').map(str::trim_start);
            let has_steps = inside.is_some_and(|inside| !inside.starts_with(']'));
            return Traits { answer: has_answer, steps: has_steps, ..Traits::NONE };
        }
        let groups: Vec<Vec<Named<'_>>> = serde_json::from_str(text).unwrap_or_default();
        let read = |step: &Named<'a>| {
            let name = step.name.and_then(json::scalar_text).unwrap_or_default();
            (name, step.output.is_some())
        };
        let groups: Vec<Vec<_>> =
            groups.iter().map(|group| group.iter().map(read).collect()).collect();
        Traits::expected(has_answer, &groups, |(name, has_output)| (name, *has_output), profile)
    }

    /// Returns the traits of a question according to its reference. `step` returns the name of an
    /// expected step and whether it has an output.
    pub fn expected<T>(
        has_answer: bool,
        groups: &[Vec<T>],
        step: impl for<'s> Fn(&'s T) -> (&'s str, bool),
        profile: &Profile,
    ) -> Traits {
        let scored = match profile.scored_groups {
            ScoredGroups::Last => &groups[groups.len().saturating_sub(1)..],
            ScoredGroups::All => groups,
        };
        let is_retrieval = |name: &str| profile.kind_names.is_retrieval(name);
        let has_contexts = |expected: &T| {
            let (name, has_output) = step(expected);
            has_output && is_retrieval(name)
        };
        Traits {
            answer: has_answer,
            steps: !groups.is_empty(),
            expected_retrieval: scored.iter().flatten().any(has_contexts),
            // Retrieved texts are judged by the answer, whatever the group of their step.
            retrieval: groups.iter().flatten().any(|expected| is_retrieval(step(expected).0)),
            ..Traits::NONE
        }
    }

    /// Adds the steps that were taken. A response that failed counts as a retrieval, since nobody
    /// knows what it would have taken.
    #[must_use]
    pub fn with_taken<'n>(
        self,
        names: impl IntoIterator<Item = &'n str>,
        is_error: bool,
        profile: &Profile,
    ) -> Traits {
        let is_taken = || names.into_iter().any(|name| profile.kind_names.is_retrieval(name));
        Traits { retrieval: self.retrieval || is_error || is_taken(), ..self }
    }

    /// Returns what is needed by the metric of which a result has this key, but no number: its own key,
    /// or that of its error.
    pub fn of_unscored(key: &str) -> Traits {
        if [AnswerErrorKey::Eval, AnswerErrorKey::Correctness].iter().any(|own| own.as_str() == key)
        {
            return Traits { answer: true, ..Traits::NONE };
        }
        let name = key.strip_suffix("_error").unwrap_or(key);
        question_metric(name).map_or(Traits::NONE, |info| info.needs)
    }

    /// Like [`Traits::of_unscored`], for a key whose value is null: an error that is null is none.
    pub fn of_null(key: &str) -> Traits {
        match split_key(key) {
            (_, Some(KeyPart::Error)) => Traits::NONE,
            _ => Traits::of_unscored(key),
        }
    }

    /// Returns these traits and others.
    #[must_use]
    #[inline]
    pub fn and(self, others: Traits) -> Traits {
        Traits {
            answer: self.answer || others.answer,
            steps: self.steps || others.steps,
            expected_retrieval: self.expected_retrieval || others.expected_retrieval,
            retrieval: self.retrieval || others.retrieval,
            ascii_words: self.ascii_words || others.ascii_words,
            mentions: self.mentions || others.mentions,
        }
    }

    /// Adds the traits that a result must have, judging by its keys without a number, where it was
    /// written without its reference. A failed response without any of it lets every metric apply,
    /// since nobody knows which does not.
    #[must_use]
    pub fn with_unscored(self, unscored: Traits, is_error: bool, written: ReferenceKeys) -> Traits {
        let is_bare = !written.answer && !written.steps;
        let owed = if is_error && is_bare { Traits::ALL } else { unscored };
        self.and(Traits {
            answer: owed.answer && !written.answer,
            steps: owed.steps && !written.steps,
            expected_retrieval: owed.expected_retrieval && !written.steps,
            retrieval: owed.retrieval && !written.steps,
            ascii_words: owed.ascii_words && !written.answer,
            mentions: owed.mentions && !written.answer,
        })
    }

    /// Returns whether `others` include all of these.
    pub(crate) fn are_in(self, others: Traits) -> bool {
        let has = |needed: bool, there: bool| there || !needed;
        has(self.answer, others.answer)
            && has(self.steps, others.steps)
            && has(self.expected_retrieval, others.expected_retrieval)
            && has(self.retrieval, others.retrieval)
            && has(self.ascii_words, others.ascii_words)
            && has(self.mentions, others.mentions)
    }
}

/// Returns whether an answer, given as JSON, says anything.
pub(crate) fn is_said(answer: &RawValue) -> bool {
    let text = answer.get();
    let Some(text) = text.strip_prefix('"') else { return text != "null" };
    let mut rest = text.strip_suffix('"').unwrap_or(text);
    loop {
        rest = rest.trim_start();
        match [r"\n", r"\t", r"\r"].iter().find_map(|space| rest.strip_prefix(space)) {
            Some(after) => rest = after,
            // Whitespace written as another escape.
            None if rest.starts_with(r"\u") || rest.starts_with(r"\f") => {
                return !json::unescape(rest).trim().is_empty();
            }
            None => return !rest.is_empty(),
        }
    }
}

/// How many of the questions a metric applies to have a verdict on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    /// Questions with a verdict: a number that enters the statistics.
    pub n_scored: usize,
    /// Questions that the metric applies to; never fewer than have a verdict.
    pub n_applicable: usize,
}

impl Coverage {
    /// Returns the share of questions with a verdict; 0 if the metric applies to none.
    pub fn share(self) -> f64 {
        self.n_scored as f64 / self.n_applicable.max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blank_answer_says_nothing() {
        for (json, said) in [
            (r#""""#, false),
            (r#"" \n\t \r ""#, false),
            ("null", false),
            (r#"" \n\u0020\f\u00a0""#, false),
            (r#"" \u0020\u0078""#, true),
            (r#"" \n x""#, true),
            (r#""\"""#, true),
            ("0", true),
            ("[]", true),
        ] {
            let raw: &RawValue = serde_json::from_str(json).expect("JSON");
            assert_eq!(is_said(raw), said, "{json}");
        }
    }

    #[test]
    fn a_metric_applies_where_the_question_has_all_that_it_needs() {
        let answer = Traits { answer: true, ..Traits::NONE };
        let both = Traits { steps: true, ..answer };
        let applies = |name| {
            let needs = crate::metric::metric(name).expect("a metric").needs;
            [Traits::NONE, answer, both].map(|traits| needs.are_in(traits))
        };
        assert_eq!(applies("answer_f1"), [false, true, true]);
        assert_eq!(applies("steps_score"), [false, false, true]);
        assert_eq!(applies("elapsed_sec"), [true, true, true]);
        assert_eq!(applies("retrieval_context_f1"), [false, false, false]);
    }

    #[test]
    fn a_retrieval_is_expected_in_whatever_group_it_stands() {
        let groups = |text: &str| serde_json::from_str::<Box<RawValue>>(text).expect("JSON");
        let of =
            |text: &str, profile: &Profile| Traits::of_written(None, Some(&groups(text)), profile);
        let first = r#"[[{"name": "retrieval", "output": []}], [{"name": "sparql_query"}]]"#;
        let (five, six) = (of(first, &Profile::V5), of(first, &Profile::V6));
        assert!(five.retrieval && !five.expected_retrieval, "the last group is scored");
        assert!(six.retrieval && six.expected_retrieval);
        let escaped = first.replace("retrieval", r"\u0072etrieva\u006c");
        assert_eq!((of(&escaped, &Profile::V5), of(&escaped, &Profile::V6)), (five, six));
        for without in [r#"{"name": "retrieval"}"#, r#"{"name": "retrieval", "output": null}"#] {
            let traits = of(&format!("[[{without}]]"), &Profile::V6);
            assert!(traits.retrieval && !traits.expected_retrieval, "no contexts to compare");
        }
    }

    #[test]
    fn a_key_without_a_number_is_that_of_a_metric_that_applies() {
        let (answer, steps) =
            (Traits { answer: true, ..Traits::NONE }, Traits { steps: true, ..Traits::NONE });
        for (key, needs) in [
            ("steps_score", steps),
            ("steps_score_error", steps),
            ("answer_eval_error", answer),
            ("answer_correctness_error", answer),
            ("answer_f1", answer),
            ("question_text", Traits::NONE),
        ] {
            assert_eq!(Traits::of_unscored(key), needs, "{key}");
        }
        assert_eq!(Traits::of_null("steps_score"), steps);
        assert_eq!(Traits::of_null("steps_score_error"), Traits::NONE, "no error");
        let without = |is_error, written| Traits::NONE.with_unscored(steps, is_error, written);
        let known = ReferenceKeys { steps: true, ..ReferenceKeys::default() };
        assert_eq!(without(false, ReferenceKeys::default()), steps);
        assert_eq!(without(true, ReferenceKeys::default()), Traits::ALL);
        assert_eq!(without(true, known), Traits::NONE, "the reference knows better");
    }

    #[test]
    fn a_failed_response_may_have_taken_a_retrieval() {
        let expected = Traits { answer: true, steps: true, ..Traits::NONE };
        let taken = |is_error| expected.with_taken(["sparql_query"], is_error, &Profile::V5);
        assert!(taken(true).retrieval && !taken(false).retrieval);
    }
}
