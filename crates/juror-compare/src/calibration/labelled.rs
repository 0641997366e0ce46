//! Answers that people labelled.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LabelPair, Side};

/// Why an answer was chosen for people to label.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Sample {
    /// By chance. These stand for all answers.
    Random,
    /// Because its verdict is in doubt. These say where a judge errs, and not how often.
    Disagreement,
}

/// An answer that people labelled and a judge judged.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledAnswer {
    /// The template or set of its question.
    pub group: String,
    /// The id of its question.
    pub id: String,
    /// Which of several answers it is.
    pub trial: Option<u32>,
    /// Why it was chosen.
    pub sample: Sample,
    /// The judge's score.
    pub judge: f64,
    /// What people say; one entry for each person.
    pub people: Vec<PersonsLabel>,
}

/// What a person says about an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct PersonsLabel {
    /// Who; empty for somebody without a name.
    pub by: String,
    /// From 0, wrong, to 1, right.
    pub score: f64,
}

impl LabelledAnswer {
    /// What people say, in the mean; 0.5 if nobody does.
    pub fn people(&self) -> f64 {
        let sum: f64 = self.people.iter().map(|label| label.score).sum();
        if self.people.is_empty() { Side::MIDDLE } else { sum / self.people.len() as f64 }
    }

    /// Both scores.
    pub fn pair(&self) -> LabelPair {
        LabelPair { judge: self.judge, people: self.people() }
    }
}

/// The names of those who labelled, sorted.
pub(super) fn names<'l>(labelled: impl Iterator<Item = &'l LabelledAnswer>) -> Vec<&'l str> {
    let mut names: Vec<&str> =
        labelled.flat_map(|own| &own.people).map(|label| label.by.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}
