//! Questions whose score got worse or better between two runs.

use juror_score::{Better, ScoreTable, Unit};
use schemars::JsonSchema;
use serde::Serialize;

use crate::join::Joined;
use crate::row_scores::{row_scores, scores_or};

/// The questions that changed by one metric, the largest changes first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Flips {
    /// The metric.
    pub metric: String,
    /// Questions whose score got worse, or that have an error where they had a score.
    pub broken: Vec<Flip>,
    /// Questions whose score got better.
    pub fixed: Vec<Flip>,
}

/// A question whose score changed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Flip {
    /// Its template or set.
    pub group: String,
    /// Its id.
    pub id: String,
    /// Its score in the first run; `None` for an error.
    pub a: Option<f64>,
    /// Its score in the second run; `None` for an error.
    pub b: Option<f64>,
    /// The row of the second run, for whoever explains it.
    #[serde(skip)]
    pub row: usize,
    /// Why it has the score that it has now, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A group, and how many of its questions broke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenGroup {
    /// The template or set.
    pub group: String,
    /// How many of its questions broke.
    pub n_broken: usize,
}

impl Flip {
    /// How much it changed. Errors count as 0.
    fn size(&self) -> f64 {
        (self.b.unwrap_or(0.0) - self.a.unwrap_or(0.0)).abs()
    }
}

impl Flips {
    /// The questions that changed by a metric; `None` if one of the runs does not have it.
    pub(crate) fn of(
        metric: &str,
        a: &ScoreTable,
        b: &ScoreTable,
        joined: &Joined,
    ) -> Option<Flips> {
        let (column_a, column_b) = (a.column(metric)?, b.column(metric)?);
        let is_lower_better = column_a.info.is_some_and(|info| info.better == Better::Lower);
        let is_fraction = column_a.info.is_some_and(|info| info.unit == Unit::Fraction);
        // What failed is not worse than a fraction of 0, and worse than any other number.
        let error = match (is_lower_better, is_fraction) {
            (true, _) => f64::INFINITY,
            (false, true) => 0.0,
            (false, false) => f64::NEG_INFINITY,
        };
        let scores =
            joined.both(&scores_or(error, (a, column_a)), &scores_or(error, (b, column_b)));
        let known = joined.both(&row_scores(a, column_a), &row_scores(b, column_b));
        let mut flips = Flips { metric: metric.to_owned(), ..Flips::default() };
        for (at, (scores, known)) in scores.into_iter().zip(known).enumerate() {
            let (Some(was), Some(is)) = scores else { continue };
            if is != was {
                let name = joined.name(at, a);
                let row = joined.rows(at).1;
                let is_broken = (is < was) != is_lower_better;
                let (a, b) = known;
                let flip = Flip { group: name.group, id: name.id, a, b, row, why: None };
                if is_broken { &mut flips.broken } else { &mut flips.fixed }.push(flip);
            }
        }
        for list in [&mut flips.broken, &mut flips.fixed] {
            list.sort_by(|one, other| other.size().total_cmp(&one.size()));
        }
        Some(flips)
    }

    /// The groups in which questions broke, most of them first.
    pub fn broken_groups(&self) -> Vec<BrokenGroup> {
        let mut groups: Vec<BrokenGroup> = Vec::new();
        let mut places = hashbrown::HashMap::new();
        for flip in &self.broken {
            let at = *places.entry(flip.group.as_str()).or_insert_with(|| {
                groups.push(BrokenGroup { group: flip.group.clone(), n_broken: 0 });
                groups.len() - 1
            });
            groups[at].n_broken += 1;
        }
        groups.sort_by_key(|group| std::cmp::Reverse(group.n_broken));
        groups
    }
}
