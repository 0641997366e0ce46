//! The numbers of a part of an evaluation, which merge to the same bytes for any split.
//!
//! Where one machine is not enough, answers are evaluated in parts: shards of a job, batches of an
//! engine. Each part is reduced to a [`Partial`], which is small; partials merge in any order, and
//! [`Partial::finish`] makes of them the aggregates and statistics that one evaluation of everything
//! would have.
//!
//! ```
//! use juror_partial::Partial;
//! use juror_score::{Aggregator, Number, Observation, Profile};
//!
//! let part = |scores: &[f64]| {
//!     let mut aggregator = Aggregator::new(&Profile::V6, &[]);
//!     for score in scores {
//!         let values = vec![("steps_score", Number::real(*score).unwrap())];
//!         let template = "capitals";
//!         aggregator.observe(&Observation { template, values, ..Observation::default() });
//!     }
//!     Partial::of(&aggregator)
//! };
//! let (mut one, other) = (part(&[1.0, 0.5]), part(&[0.0]));
//! one.merge(&Partial::from_bytes(&other.to_bytes()).unwrap()).unwrap();
//! assert_eq!(one.to_bytes(), part(&[0.0, 0.5, 1.0]).to_bytes());
//!
//! let finished = one.finish(0.95);
//! assert_eq!(finished.aggregates.micro.spread("steps_score").unwrap().mean, 0.5);
//! assert_eq!(finished.statistics.metric("steps_score").unwrap().n, 3);
//! ```
//!
//! What a partial has of a metric, in each template:
//!
//! - counts, minimum and maximum, and sums of values and of squares without rounding;
//! - how often each value occurs, up to [`MOST_DISTINCT`] distinct ones; beyond that, a sketch from
//!   which medians are told within [`ACCURACY`] of their value (`median_within` in the statistics);
//! - sums over questions with several numbers, because steps of one question are not independent;
//! - the answers themselves if a question has several: which belong together is known only when all
//!   parts are there.
//!
//! You will not find files, runs or printing here.

mod aggregates;
mod bytes;
mod exact_sum;
mod merge_error;
mod origin;
mod partial;
mod read_bytes;
mod series;
mod sketch;
mod statistics;
mod tally;

use juror_compare::Statistics;
use juror_score::Aggregates;

pub use merge_error::MergeError;
pub use origin::Origin;
pub use partial::Partial;
pub use read_bytes::Unreadable;
pub use series::MOST_DISTINCT;
pub use sketch::ACCURACY;

/// What comes of all parts together.
#[derive(Clone, Debug, PartialEq)]
pub struct Finished {
    /// The documented aggregates.
    pub aggregates: Aggregates,
    /// Means with intervals and coverage.
    pub statistics: Statistics,
}

impl Partial {
    /// Computes the aggregates and statistics of everything that was merged.
    pub fn finish(&self, confidence: f64) -> Finished {
        let merged = aggregates::Merged::of(self);
        Finished { aggregates: merged.aggregates(), statistics: merged.statistics(confidence) }
    }
}
