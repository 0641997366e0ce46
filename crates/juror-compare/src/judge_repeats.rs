//! Several verdicts of a judge on the same answer: what is the judge's noise, and what the questions'
//! spread.

use juror_score::statistics::judge_noise;
use schemars::JsonSchema;
use serde::Serialize;

/// How far verdicts of a judge differ, by one metric.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct JudgeStatistics {
    /// How many verdicts there are on each answer.
    pub repeats: usize,
    /// Answers with so many verdicts.
    pub answers: usize,
    /// Answers with fewer, because the judge failed, which are left out.
    pub n_left_out: usize,
    /// The variance of verdicts on one answer: the judge's noise.
    pub judge_variance: Option<f64>,
    /// The variance of answers without that noise.
    pub question_variance: Option<f64>,
    /// The share of the variance that is the answers' (intraclass correlation).
    pub icc: Option<f64>,
    /// The share of answers on which verdicts are not unanimous.
    pub flip_rate: f64,
    /// The standard error of the mean, taking answers as independent.
    pub se: Option<f64>,
    /// What it would be with one verdict on each answer.
    pub se_without_repeats: Option<f64>,
}

impl JudgeStatistics {
    /// Returns the statistics of a metric, from the verdicts on each answer; `None` unless some answer
    /// has several.
    pub fn of<V: AsRef<[f64]>>(verdicts: &[V]) -> Option<JudgeStatistics> {
        let repeats = verdicts.iter().map(|own| own.as_ref().len()).max()?;
        let whole: Vec<&V> = verdicts.iter().filter(|own| own.as_ref().len() == repeats).collect();
        let noise = judge_noise(&whole)?;
        Some(JudgeStatistics {
            repeats,
            answers: whole.len(),
            n_left_out: verdicts.len() - whole.len(),
            judge_variance: noise.judge_variance,
            question_variance: noise.question_variance,
            icc: noise.icc,
            flip_rate: noise.flip_rate,
            se: noise.se,
            se_without_repeats: noise.predicted_se(1),
        })
    }
}
