//! What to keep in mind about the numbers of a checked judge.

use super::{CheckedJudge, Side};

/// With fewer random labels than this, error rates are rough.
const FEW_LABELS: usize = 20;

/// With fewer labels of a class than this, the rate of that class is rough.
const FEW_OF_A_CLASS: u64 = 5;

/// Sensitivity + specificity − 1 up to which a judge hardly tells good answers from bad.
const BLIND: f64 = 0.1;

impl CheckedJudge {
    /// Lists what makes the numbers rough, in sentences.
    pub(super) fn cautions(&self) -> Vec<String> {
        let mut cautions = Vec::new();
        let n = self.labels.random;
        if n > 0 && n < FEW_LABELS {
            cautions.push(format!(
                "{n} random labels are few: error rates are rough below {FEW_LABELS}"
            ));
        }
        let pairs = &self.calibration.pairs;
        let n_side =
            |side| pairs.iter().filter(|pair| Side::of(pair.people) == side).count() as u64;
        for (side, verb, rate) in
            [(Side::Pass, "pass", "sensitivity"), (Side::Fail, "fail", "specificity")]
        {
            let n_side = n_side(side);
            if n > 0 && n_side < FEW_OF_A_CLASS {
                cautions.push(format!("people {verb} {n_side} of the random answers: {rate} is rough below {FEW_OF_A_CLASS}"));
            }
        }
        match n_side(Side::Unsure) {
            0 => {}
            n => cautions.push(format!(
                "people are unsure about {n} of the random answers, which are in neither class"
            )),
        }
        cautions.extend(self.hardly_tells());
        if self.calibration.judge.is_none() {
            cautions.push("the run does not say who judged: the calibration is bound to no judge, and `judge.calibration` will not apply it".into());
        }
        cautions
    }

    /// A judge that hardly tells good answers from bad, where the correction does not refuse it.
    fn hardly_tells(&self) -> Option<String> {
        let informedness = self.sensitivity?.rate + self.specificity?.rate - 1.0;
        let is_corrected = self.corrected.is_some();
        (is_corrected && informedness <= BLIND).then(|| {
            format!("the judge hardly tells good answers from bad: sensitivity + specificity - 1 is {informedness:.3}")
        })
    }
}
