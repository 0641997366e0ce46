//! How far numbers can be trusted: intervals, tests and what they need.
//!
//! A mean alone does not say whether a change helped. These are the methods that do, as functions of
//! numbers in hand, one file each:
//!
//! | question | method |
//! |---|---|
//! | How far can a mean be trusted? | [`mean()`], [`macro_mean()`]; of right or wrong, [`proportion()`] |
//! | Did a change help? | [`paired()`]; of right or wrong, [`mcnemar()`] and [`newcombe()`] |
//! | Is it no worse than allowed? | [`margin_verdict`] |
//! | Which of many comparisons count? | [`holm`], [`benjamini_hochberg`] |
//! | Does an agent succeed at times, or always? | [`pass_at_k`], [`pass_hat_k`] |
//! | How much of the spread is the judge's? | [`judge_noise()`] |
//! | Does a judge agree with people? | [`agreement()`], [`fleiss_kappa`], [`alpha()`] |
//! | What would people have said? | [`corrected_rate()`], [`prediction_powered()`] |
//! | How many questions does it take? | [`questions_needed`], [`least_detectable`], [`repeats_needed`] |
//! | What if there is no formula? | [`Bootstrap`] |
//! | Which answers do people look at? | [`SplitMix64`] draws them |
//!
//! # Clusters
//!
//! Questions of one template resemble each other: a system that gets one right gets most of them
//! right. Ten such questions say little more than one, and an interval that takes them as independent
//! is too narrow, often by a factor of three. Most functions therefore take the cluster of every
//! value: its template, document, conversation, or the question that it repeats.
//!
//! Here is a change that looks like a clear success, and is one template out of four:
//!
//! ```
//! use juror_statistics::{CONFIDENCE, GateLevel, MarginVerdict, margin_verdict, paired};
//!
//! // Four templates of five questions. The change fixes one template and leaves three as they were.
//! let before = [0.0; 20];
//! let after: Vec<f64> = (0..20).map(|at| f64::from(at < 5)).collect();
//! let templates: Vec<u32> = (0..20).map(|at| at / 5).collect();
//!
//! let naive = paired(&before, &after, None, CONFIDENCE).unwrap();
//! assert_eq!((naive.delta, naive.won, naive.lost), (0.25, 5, 0));
//! assert!(naive.p.unwrap() < 0.03, "as if twenty questions were independent");
//!
//! let found = paired(&before, &after, Some(&templates), CONFIDENCE).unwrap();
//! assert!(found.p.unwrap() > 0.3, "four templates cannot tell");
//! let interval = found.interval.unwrap();
//! assert!(interval.low < 0.0 && interval.high > 0.25);
//!
//! // Whether it is safe to merge is another question: may it be worse by two points?
//! let verdict = margin_verdict(interval, 0.02, GateLevel::Block);
//! assert_eq!(verdict, MarginVerdict::Inconclusive);
//! ```
//!
//! # What holds everywhere
//!
//! - The order of values does not matter, to the last bit: sums are compensated and run over sorted
//!   values. Swapping two runs mirrors their comparison.
//! - No result is `NaN` or infinite. Where there is no number, there is `None`, and the documentation
//!   of the function or field says when. Values that are not finite, lists of different lengths and
//!   impossible counts give `None`, too; nothing panics.
//! - An interval of width 0 says that the values do not vary, not that the mean is certain:
//!   `is_degenerate` tells.
//! - Nothing is random but [`Bootstrap`], which names its seed, and [`SplitMix64`], which is given
//!   one.
//! - All but [`Bootstrap`] and [`AlphaLevel::Ratio`] take time in proportion to `n log n` at most.
//!
//! You will not find questions, runs or files here: numbers go in, numbers come out.

mod agreement;
mod alpha;
mod bootstrap;
mod compensated_sum;
mod corrected_rate;
mod distributions;
mod fleiss;
mod incomplete_beta;
mod interval;
mod judge_noise;
mod macro_mean;
mod margin;
mod mcnemar;
mod mean;
mod multiplicity;
mod newcombe;
mod paired;
mod planning;
mod prediction_powered;
mod proportion;
mod sample;
mod sign_flip;
mod split_mix;
mod trials;

pub use agreement::{Agreement, agreement};
pub use alpha::{AlphaLevel, alpha};
pub use bootstrap::{Bootstrap, ResampleItem, Resampled, median, ratio_of_sums};
pub use compensated_sum::compensated_sum;
pub use corrected_rate::{CorrectedRate, JudgedCounts, Refused, corrected_rate};
pub use fleiss::fleiss_kappa;
pub use interval::{CONFIDENCE, Interval};
pub use judge_noise::{JudgeNoise, judge_noise};
pub use macro_mean::{MacroMean, TemplateMean, macro_mean, macro_of_means};
pub use margin::{GateLevel, MarginVerdict, margin_verdict};
pub use mcnemar::{McNemar, mcnemar};
pub use mean::{InClusters, MeanErrors, MeanEstimate, mean};
pub use multiplicity::{benjamini_hochberg, holm};
pub use newcombe::{PairedCounts, PairedProportions, newcombe};
pub use paired::{Paired, paired};
pub use planning::{Design, least_detectable, questions_needed, repeats_needed};
pub use prediction_powered::{PredictionPowered, prediction_powered};
pub use proportion::{Proportion, proportion};
pub use sample::{cluster_error, ordered_sum};
pub use sign_flip::sign_flip_exact;
pub use split_mix::SplitMix64;
pub use trials::{pass_at_k, pass_hat_k};
