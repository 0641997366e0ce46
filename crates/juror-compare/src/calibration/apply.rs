//! Corrects the means of a run by what people said about its judge.

use juror_score::ScoreTable;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Calibration, CorrectedMean, JudgeId, JudgedScores};
use crate::question_numbers::QuestionNumbers;
use crate::row_scores::item_scores;
use crate::statistics::Statistics;

/// A metric for which there is a calibration: its corrected mean, or why it has none.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CalibratedMetric {
    /// How many random labels it rests on.
    pub labels: usize,
    /// When the calibration was made.
    pub made: String,
    /// The corrected mean beside the judge's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub corrected: Option<CorrectedMean>,
    /// Why nothing is corrected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_corrected: Option<String>,
}

impl CalibratedMetric {
    /// Says it in a line, such as `answer_f1 corrected by 120 labels: 0.680 ±0.05 (raw 0.720)`.
    pub fn line(&self, metric: &str) -> String {
        format!("{metric} {}", self.words())
    }

    /// The same without the metric.
    pub fn words(&self) -> String {
        let Some(corrected) = &self.corrected else {
            let why = self.not_corrected.as_deref().unwrap_or_default();
            return format!("not corrected: {why}");
        };
        let labels = if self.labels == 1 { "label" } else { "labels" };
        let (shown, raw) = (corrected.shown(), corrected.raw);
        format!("corrected by {} {labels}: {shown} (raw {raw:.3})", self.labels)
    }
}

impl Statistics {
    /// Adds the corrected mean of every metric for which there is a calibration. `judges_of` returns
    /// who judged a metric in this run. If that is not the judge of a calibration, nothing is
    /// corrected, and the reason is added instead.
    pub fn calibrate(
        &mut self,
        table: &ScoreTable,
        calibrations: &[Calibration],
        judges_of: impl Fn(&str) -> Vec<JudgeId>,
    ) {
        for calibration in calibrations {
            let metric = &calibration.metric;
            let is_done = |known: &CalibratedMetric| known.corrected.is_some();
            if self.calibrated.get(metric).is_some_and(is_done) {
                continue;
            }
            let corrected = self.corrected(table, calibration, &judges_of(metric));
            let found = CalibratedMetric {
                labels: calibration.pairs.len(),
                made: calibration.made.clone(),
                not_corrected: corrected.as_ref().err().cloned(),
                corrected: corrected.ok(),
            };
            if found.corrected.is_some() || self.calibrated.get(metric).is_none() {
                self.calibrated.insert(metric.clone(), found);
            }
        }
    }

    fn corrected(
        &self,
        table: &ScoreTable,
        calibration: &Calibration,
        judges: &[JudgeId],
    ) -> Result<CorrectedMean, String> {
        let column = table.column(&calibration.metric);
        let column = column.filter(|column| !column.values().is_empty());
        let column = column.ok_or("nothing has a score")?;
        check_same_judge(calibration.judge.as_ref(), judges)?;
        let clusters = QuestionNumbers::of(table).clusters_of_rows(table);
        let (values, clusters): (Vec<f64>, Vec<u32>) =
            item_scores(column).map(|(item, score)| (score, clusters[item])).unzip();
        let scores = JudgedScores { values: &values, clusters: &clusters };
        calibration.correct(scores, self.confidence).map_err(|why| why.to_string())
    }
}

fn check_same_judge(known: Option<&JudgeId>, judges: &[JudgeId]) -> Result<(), String> {
    let known = known.ok_or("its calibration does not say which judge it is of")?;
    match judges {
        [] => Err("it is not known who judged".into()),
        [judge] => match &judge.changes_since(known)[..] {
            [] => Ok(()),
            changes => {
                Err(format!("the judge has changed since its calibration: {}", changes.join(", ")))
            }
        },
        _ => Err("several judges judged it".into()),
    }
}
