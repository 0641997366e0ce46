//! What to keep in mind about the numbers of a checked judge.

use super::{CheckedJudge, Side};

/// With fewer random labels than this, error rates are rough.
const FEW_LABELS: usize = 20;

/// With fewer labels of a class than this, the rate of that class is rough.
const FEW_OF_A_CLASS: usize = 5;

/// Sensitivity + specificity − 1 up to which a judge hardly tells good answers from bad.
const BLIND: f64 = 0.1;

const UNBOUND: &str = "the run does not say who judged: the calibration is bound to no judge, and \
    `judge.calibration` will not apply it";

impl CheckedJudge {
    /// Lists what makes the numbers rough, in sentences.
    pub(super) fn cautions(&self) -> Vec<String> {
        let n = self.labels.random;
        let few = (n > 0 && n < FEW_LABELS).then(|| {
            let labels = if n == 1 { "label is" } else { "labels are" };
            format!("{n} random {labels} few: error rates are rough below {FEW_LABELS}")
        });
        let unbound = self.calibration.judge.is_none().then(|| UNBOUND.to_owned());
        let all = [
            few,
            self.few_of(Side::Pass, "pass", "sensitivity"),
            self.few_of(Side::Fail, "fail", "specificity"),
            self.unsure(),
            self.hardly_tells(),
            unbound,
        ];
        all.into_iter().flatten().collect()
    }

    fn n_of(&self, side: Side) -> usize {
        self.calibration.pairs.iter().filter(|pair| Side::of(pair.people) == side).count()
    }

    fn few_of(&self, side: Side, verb: &str, rate: &str) -> Option<String> {
        let n = self.n_of(side);
        (self.labels.random > 0 && n < FEW_OF_A_CLASS).then(|| {
            format!(
                "people {verb} {n} of the random answers: {rate} is rough below {FEW_OF_A_CLASS}"
            )
        })
    }

    fn unsure(&self) -> Option<String> {
        let n = self.n_of(Side::Unsure);
        (n > 0).then(|| {
            format!("people are unsure about {n} of the random answers, which are in neither class")
        })
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
