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
    /// The share of the variance that is the answers' (intraclass correlation), at least 0.
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
            // Estimated below 0, the share of the questions in the variance is 0, as their variance is.
            icc: noise.icc.map(|icc| icc.max(0.0)),
            flip_rate: noise.flip_rate,
            se: noise.se,
            se_without_repeats: noise.predicted_se(1),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_read::read_results;
    use juror_score::{Aggregator, Profile};

    #[test]
    fn a_judge_that_contradicts_itself_more_than_questions_differ_leaves_them_no_share() {
        let rows = [[1.0, 0.0], [0.0, 1.0]].map(|verdicts| {
            format!(
                r#"{{"template_id": "t", "answer_f1": 0.5, "answer_f1_repeats": {verdicts:?}}}"#
            )
        });
        let format = juror_document::Format::JsonLines;
        let document = juror_document::Document::new("r.jsonl", rows.join("\n").into(), format);
        let mut aggregator = Aggregator::new(&Profile::V5, &[]);
        read_results(&document.expect("JSON"), &mut aggregator).expect("results");
        let scores = aggregator.into_scores();
        let judge = JudgeStatistics::of(scores.column("answer_f1").expect("a metric").repeats());
        let judge = judge.expect("several verdicts");
        assert_eq!((judge.icc, judge.question_variance), (Some(0.0), Some(0.0)));
    }
}
