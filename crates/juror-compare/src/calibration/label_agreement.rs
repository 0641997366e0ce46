//! How far people and judge agree, and people among themselves.

use juror_score::statistics::{AlphaLevel, agreement, alpha};
use schemars::JsonSchema;
use serde::Serialize;

use super::labelled::names;
use super::{LabelledAnswer, Side, is_binary};

/// How far people and judge agree on passing and failing answers.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LabelAgreement {
    /// How many answers.
    pub n: u64,
    /// What rows and columns of the table are: `fail`, `unsure` if anybody is, `pass`.
    pub categories: Vec<&'static str>,
    /// The answers by what the judge says (rows) and what people say (columns).
    pub table: Vec<Vec<u64>>,
    /// The share of each category, in the mean of people and judge.
    pub prevalence: Vec<f64>,
    /// The share on which they agree.
    pub observed: f64,
    /// Cohen's kappa: agreement beyond chance.
    pub kappa: Option<f64>,
    /// The standard error of kappa.
    pub kappa_se: Option<f64>,
    /// Kappa as if all categories were equally common.
    pub pabak: Option<f64>,
    /// Krippendorff's alpha of people among themselves, if several labelled the same answers.
    pub alpha: Option<f64>,
}

impl LabelAgreement {
    /// Counts the answers; `None` if there are none.
    pub(super) fn of(random: &[&LabelledAnswer]) -> Option<LabelAgreement> {
        let sides: Vec<(Side, Side)> =
            random.iter().map(|own| (Side::of(own.judge), Side::of(own.people()))).collect();
        let mut known = vec![Side::Fail, Side::Unsure, Side::Pass];
        let is_used = |side: Side| sides.iter().any(|pair| pair.0 == side || pair.1 == side);
        known.retain(|side| *side != Side::Unsure || is_used(Side::Unsure));
        let count = |judge: Side, people: Side| {
            sides.iter().filter(|pair| **pair == (judge, people)).count() as u64
        };
        let row = |judge: &Side| known.iter().map(|people| count(*judge, *people)).collect();
        let table: Vec<Vec<u64>> = known.iter().map(row).collect();
        let found = agreement(&table)?;
        // One answer says nothing about chance.
        let beyond_chance = |own: Option<f64>| own.filter(|_| found.n > 1);
        Some(LabelAgreement {
            n: found.n,
            categories: known.iter().map(|side| side.name()).collect(),
            table,
            observed: found.observed,
            kappa: beyond_chance(found.kappa),
            kappa_se: beyond_chance(found.kappa_se),
            pabak: beyond_chance(found.pabak),
            prevalence: found.prevalence,
            alpha: alpha_of_people(random),
        })
    }
}

impl Side {
    fn name(self) -> &'static str {
        match self {
            Side::Fail => "fail",
            Side::Unsure => "unsure",
            Side::Pass => "pass",
        }
    }
}

/// Labels of 0 and 1 are names of classes; others are numbers.
fn alpha_of_people(random: &[&LabelledAnswer]) -> Option<f64> {
    let said = |own: &LabelledAnswer, name: &str| {
        own.people.iter().find(|label| label.by == name).map(|label| label.score)
    };
    let ratings: Vec<Vec<Option<f64>>> = names(random.iter().copied())
        .into_iter()
        .map(|name| random.iter().map(|own| said(own, name)).collect())
        .collect();
    let are_classes = ratings.iter().flatten().flatten().all(|score| is_binary(*score));
    alpha(&ratings, if are_classes { AlphaLevel::Nominal } else { AlphaLevel::Interval })
}
