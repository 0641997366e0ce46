//! The aspects of a case that are examined, and the keys under which results store the findings.

use std::borrow::Cow;
use std::sync::Arc;

use crate::profile::AnswerErrorKey;

/// What a finding is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Aspect {
    /// A metric of the table, by its name.
    Metric(&'static str),
    /// The claims of the answer, which give `answer_recall`, `answer_precision` and `answer_f1`. A
    /// failure is reported under this key.
    Claims(AnswerErrorKey),
    /// What a user's own evaluation asks about.
    Custom(Arc<CustomAspect>),
}

/// A custom evaluation, as far as results need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomAspect {
    /// Its name, with which the keys of its failure and its cost begin.
    pub name: String,
    /// The keys it fills.
    pub outputs: Vec<String>,
}

/// What a key of a result holds. In this order, the keys of a finding can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyPart {
    /// The number of a metric, or the output of a custom evaluation at this index.
    Value(usize),
    /// A number of claims: of the reference, of the answer, or in both.
    Count(usize),
    /// The claims themselves.
    Listed,
    /// What each of several repeats found: of the number of a metric, or of the output at this
    /// index.
    Repeats(usize),
    /// Why there is no score.
    Error,
    /// Why there is this score, in a judge's words.
    Reason,
    /// The cost.
    Cost,
}

/// The name that the keys about claims share.
const CLAIMS: &str = "answer_correctness";

/// The scores that claims give.
const CLAIM_SCORES: [&str; 3] = ["answer_recall", "answer_precision", "answer_f1"];

const CLAIM_COUNTS: [&str; 3] =
    ["answer_reference_claims_count", "answer_actual_claims_count", "answer_matching_claims_count"];

const CLAIMS_LISTED: &str = "answer_claims";

/// The endings of keys that hold something other than a score.
const ENDINGS: [(&str, KeyPart); 4] = [
    ("_error", KeyPart::Error),
    ("_reason", KeyPart::Reason),
    ("_cost", KeyPart::Cost),
    (KeyPart::REPEATS, KeyPart::Repeats(0)),
];

impl KeyPart {
    /// The ending of keys that hold the verdicts of all repeats.
    pub const REPEATS: &str = "_repeats";
}

/// Splits a key that ends like that of an error, a reason, a cost or repeats into the name and that
/// part.
/// Any other key is a name by itself.
///
/// ```
/// use juror_score::{KeyPart, split_key};
/// assert_eq!(split_key("tone_cost"), ("tone", Some(KeyPart::Cost)));
/// assert_eq!(split_key("tone"), ("tone", None));
/// ```
pub fn split_key(key: &str) -> (&str, Option<KeyPart>) {
    let split = |(ending, part): &(&str, KeyPart)| Some((key.strip_suffix(ending)?, Some(*part)));
    ENDINGS.iter().find_map(split).unwrap_or((key, None))
}

impl Aspect {
    /// Creates the aspect of a custom evaluation.
    pub fn custom(name: impl Into<String>, outputs: Vec<String>) -> Aspect {
        Aspect::Custom(Arc::new(CustomAspect { name: name.into(), outputs }))
    }

    /// Returns what its keys begin with.
    pub fn name(&self) -> &str {
        match self {
            Aspect::Metric(name) => name,
            Aspect::Claims(_) => CLAIMS,
            Aspect::Custom(own) => &own.name,
        }
    }

    /// Returns the number of its values.
    pub(super) fn n_values(&self) -> usize {
        match self {
            Aspect::Metric(_) => 1,
            Aspect::Claims(_) => CLAIM_SCORES.len(),
            Aspect::Custom(own) => own.outputs.len(),
        }
    }

    /// Returns the key of a part.
    pub fn key(&self, part: KeyPart) -> Cow<'_, str> {
        match (self, part) {
            (Aspect::Metric(name), KeyPart::Value(_)) => Cow::Borrowed(name),
            (Aspect::Claims(_), KeyPart::Value(at)) => Cow::Borrowed(CLAIM_SCORES[at]),
            (Aspect::Custom(own), KeyPart::Value(at)) => Cow::Borrowed(&own.outputs[at]),
            (_, KeyPart::Count(at)) => Cow::Borrowed(CLAIM_COUNTS[at]),
            (_, KeyPart::Repeats(at)) => {
                Cow::Owned(format!("{}{}", self.key(KeyPart::Value(at)), KeyPart::REPEATS))
            }
            (_, KeyPart::Listed) => Cow::Borrowed(CLAIMS_LISTED),
            (Aspect::Claims(error_key), KeyPart::Error) => Cow::Borrowed(error_key.as_str()),
            (_, KeyPart::Error) => Cow::Owned(format!("{}_error", self.name())),
            (_, KeyPart::Reason) => Cow::Owned(format!("{}_reason", self.name())),
            (_, KeyPart::Cost) => Cow::Owned(format!("{}_cost", self.name())),
        }
    }

    /// Returns the part that a key holds, if any; the inverse of [`Aspect::key`].
    pub fn part(&self, key: &str) -> Option<KeyPart> {
        let repeats =
            || Some(KeyPart::Repeats(self.value_at(key.strip_suffix(KeyPart::REPEATS)?)?));
        let ending = || {
            let (name, part) = split_key(key);
            part.filter(|part| name == self.name() && *part != KeyPart::Repeats(0))
        };
        let value = self.value_at(key).map(KeyPart::Value);
        match self {
            Aspect::Claims(error_key) if error_key.as_str() == key => Some(KeyPart::Error),
            Aspect::Claims(_) if key == CLAIMS_LISTED => Some(KeyPart::Listed),
            Aspect::Claims(_) => value
                .or_else(|| CLAIM_COUNTS.iter().position(|known| *known == key).map(KeyPart::Count))
                .or_else(repeats)
                .or_else(|| ending().filter(|part| *part != KeyPart::Error)),
            Aspect::Metric(_) | Aspect::Custom(_) => value.or_else(repeats).or_else(ending),
        }
    }

    /// Returns the index of the value that has this key.
    fn value_at(&self, key: &str) -> Option<usize> {
        match self {
            Aspect::Metric(name) => (*name == key).then_some(0),
            Aspect::Claims(_) => CLAIM_SCORES.iter().position(|known| *known == key),
            Aspect::Custom(own) => own.outputs.iter().position(|known| known == key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_tells_the_part_that_it_was_made_for() {
        let aspects = [
            Aspect::Metric("answer_relevance"),
            Aspect::Claims(AnswerErrorKey::Eval),
            Aspect::Claims(AnswerErrorKey::Correctness),
            Aspect::custom("tone", vec!["politeness".into(), "parse_error".into()]),
        ];
        for aspect in aspects {
            let values =
                (0..aspect.n_values()).flat_map(|at| [KeyPart::Value(at), KeyPart::Repeats(at)]);
            let of_all = [KeyPart::Error, KeyPart::Reason, KeyPart::Cost];
            let of_claims = [KeyPart::Count(0), KeyPart::Count(2), KeyPart::Listed];
            let own = of_claims.into_iter().filter(|_| matches!(aspect, Aspect::Claims(_)));
            for part in values.chain(of_all).chain(own) {
                let key = aspect.key(part);
                assert_eq!(aspect.part(&key), Some(part), "{key}");
            }
            assert_eq!(aspect.part("steps_score_error"), None);
        }
    }
}
