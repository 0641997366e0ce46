//! How far a judge agrees with people, and how often it errs.

use juror_score::statistics::{CONFIDENCE, Interval, mean, proportion};
use schemars::JsonSchema;
use serde::Serialize;

use super::correction::judged_counts;
use super::labelled::names;
use super::{
    Calibration, CorrectedMean, JudgedScores, LabelAgreement, LabelPair, LabelledAnswer, Sample,
    Side,
};
use crate::estimate::Estimate;

/// Returns the JSON Schema of `juror.calibration/1`.
pub fn calibration_schema() -> serde_json::Value {
    schemars::schema_for!(CheckedJudge).into()
}

/// A calibration and everything that it rests on: the content of `calibration.json`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CheckedJudge {
    /// What later runs are corrected by.
    #[serde(flatten)]
    pub calibration: Calibration,
    /// The confidence of all intervals.
    pub confidence: f64,
    /// How many labels there are.
    pub labels: LabelCounts,
    /// How often people and judge say the same, of the random share.
    pub agreement: Option<LabelAgreement>,
    /// How often the judge passes what people pass.
    pub sensitivity: Option<LabelledRate>,
    /// How often the judge fails what people fail.
    pub specificity: Option<LabelledRate>,
    /// How far people are above the judge, of the random share.
    pub difference: Option<MeanDifference>,
    /// The judge's own mean over the run.
    pub raw: Option<RawMean>,
    /// The same without the judge's errors.
    pub corrected: Option<CorrectedMean>,
    /// Why there is no corrected mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_corrected: Option<String>,
    /// What to keep in mind, in sentences.
    pub cautions: Vec<String>,
    /// Answers, of either sample, that people and judge see differently, the largest differences first.
    pub differing: Vec<DifferingAnswer>,
}

/// How many answers people labelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LabelCounts {
    /// Answers of the random share. These alone estimate how often the judge errs.
    pub random: usize,
    /// Answers that were chosen because their verdict is in doubt.
    pub disagreement: usize,
    /// Labels that were left out.
    pub left_out: usize,
    /// How many people labelled.
    pub people: usize,
}

/// How often a judge says the same as people, of answers of one class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LabelledRate {
    /// The share.
    pub rate: f64,
    /// Its interval (Wilson).
    #[schemars(with = "[f64; 2]")]
    pub interval: Interval,
    /// Answers of the class on which they agree.
    pub agreed: u64,
    /// Answers of the class.
    pub n: u64,
}

/// How far people are above a judge.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct MeanDifference {
    /// The mean of people's score less the judge's.
    pub mean: f64,
    /// Its standard error.
    pub se: Option<f64>,
    /// The mean of its size, whatever the direction.
    pub absolute: f64,
}

/// A judge's mean over a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RawMean {
    /// How many answers the judge scored.
    pub n: usize,
    /// The mean of its scores.
    pub mean: f64,
    /// The interval of that.
    #[schemars(with = "Option<[f64; 2]>")]
    pub interval: Option<Interval>,
}

/// An answer that people and judge see differently.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct DifferingAnswer {
    /// The template or set of its question.
    pub group: String,
    /// The id of its question.
    pub id: String,
    /// Which of several answers it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trial: Option<u32>,
    /// Why it was chosen for people.
    pub sample: Sample,
    /// The judge's score.
    pub judge: f64,
    /// People's score.
    pub people: f64,
}

/// Compares a judge's scores with what people say. `calibration` says which judge it is; its pairs
/// become those of the labelled answers. `scores` are all of the judge's scores in the run.
pub fn check_judge(
    calibration: Calibration,
    labelled: &[LabelledAnswer],
    scores: JudgedScores<'_>,
    confidence: f64,
) -> CheckedJudge {
    let random: Vec<&LabelledAnswer> =
        labelled.iter().filter(|own| own.sample == Sample::Random).collect();
    let pairs: Vec<LabelPair> = random.iter().map(|own| own.pair()).collect();
    let calibration = Calibration { pairs, ..calibration };
    let pairs = &calibration.pairs;
    let counts = judged_counts(pairs, scores.values);
    let rate = |agreed, n| LabelledRate::of(agreed, n, confidence);
    let corrected = calibration.correct(scores, confidence);
    let mut checked = CheckedJudge {
        confidence,
        labels: LabelCounts::of(labelled),
        agreement: LabelAgreement::of(&random),
        sensitivity: rate(counts.judge_agrees_on_passes, counts.human_passes),
        specificity: rate(counts.judge_agrees_on_fails, counts.human_fails),
        difference: MeanDifference::of(pairs),
        raw: RawMean::of(scores, confidence),
        not_corrected: corrected.as_ref().err().map(ToString::to_string),
        corrected: corrected.ok(),
        cautions: Vec::new(),
        differing: differing(labelled),
        calibration,
    };
    checked.cautions = checked.cautions();
    checked
}

impl LabelCounts {
    fn of(labelled: &[LabelledAnswer]) -> LabelCounts {
        let n_of = |sample| labelled.iter().filter(|own| own.sample == sample).count();
        LabelCounts {
            random: n_of(Sample::Random),
            disagreement: n_of(Sample::Disagreement),
            left_out: 0,
            people: names(labelled.iter()).len(),
        }
    }
}

impl LabelledRate {
    fn of(agreed: u64, n: u64, confidence: f64) -> Option<LabelledRate> {
        let whole = |count: u64| usize::try_from(count).ok();
        let interval = proportion(whole(agreed)?, whole(n)?, confidence)?.wilson;
        Some(LabelledRate { rate: agreed as f64 / n as f64, interval, agreed, n })
    }
}

impl RawMean {
    fn of(scores: JudgedScores<'_>, confidence: f64) -> Option<RawMean> {
        let Estimate { mean, interval, .. } =
            Estimate::of(scores.values, scores.clusters, confidence)?;
        Some(RawMean { n: mean.n, mean: mean.mean, interval })
    }
}

impl MeanDifference {
    fn of(pairs: &[LabelPair]) -> Option<MeanDifference> {
        let differences: Vec<f64> = pairs.iter().map(|pair| pair.people - pair.judge).collect();
        let sizes: Vec<f64> = differences.iter().map(|difference| difference.abs()).collect();
        let of = |values: &[f64]| mean(values, None, CONFIDENCE);
        let (found, absolute) = (of(&differences)?, of(&sizes)?.mean);
        Some(MeanDifference { mean: found.mean, se: found.se, absolute })
    }
}

fn differing(labelled: &[LabelledAnswer]) -> Vec<DifferingAnswer> {
    let mut differing: Vec<DifferingAnswer> = labelled
        .iter()
        .filter(|own| Side::of(own.judge) != Side::of(own.people()))
        .map(|own| DifferingAnswer {
            group: own.group.clone(),
            id: own.id.clone(),
            trial: own.trial,
            sample: own.sample,
            judge: own.judge,
            people: own.people(),
        })
        .collect();
    let size = |own: &DifferingAnswer| (own.people - own.judge).abs();
    differing.sort_by(|a, b| {
        let name = |own: &DifferingAnswer| (own.group.clone(), own.id.clone(), own.trial);
        size(b).total_cmp(&size(a)).then_with(|| name(a).cmp(&name(b)))
    });
    differing
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::PersonsLabel;
    use juror_score::statistics::{AlphaLevel, alpha};

    fn answer(id: usize, sample: Sample, judge: f64, people: &[(&str, f64)]) -> LabelledAnswer {
        let label = |(by, score): &(&str, f64)| PersonsLabel { by: (*by).into(), score: *score };
        LabelledAnswer {
            group: "t".into(),
            id: id.to_string(),
            trial: None,
            sample,
            judge,
            people: people.iter().map(label).collect(),
        }
    }

    /// Random answers by the scores of judge and people.
    fn random(counts: &[(f64, f64, usize)]) -> Vec<LabelledAnswer> {
        let each = counts.iter().flat_map(|(judge, people, n)| vec![(*judge, *people); *n]);
        each.enumerate()
            .map(|(id, (judge, people))| answer(id, Sample::Random, judge, &[("", people)]))
            .collect()
    }

    fn check(labelled: &[LabelledAnswer], values: &[f64]) -> CheckedJudge {
        let calibration = Calibration {
            format: Calibration::FORMAT.into(),
            metric: "m".into(),
            judge: None,
            made: String::new(),
            run: String::new(),
            pairs: Vec::new(),
        };
        let clusters: Vec<u32> = (0..).take(values.len()).collect();
        let scores = JudgedScores { values, clusters: &clusters };
        check_judge(calibration, labelled, scores, CONFIDENCE)
    }

    fn near(got: Option<f64>, wanted: f64) {
        let got = got.expect("a number");
        assert!((got - wanted).abs() < 1e-9, "got {got}, wanted {wanted}");
    }

    #[test]
    fn agreement_has_the_published_numbers() {
        let labelled = random(&[(0.0, 0.0, 20), (0.0, 1.0, 5), (1.0, 0.0, 10), (1.0, 1.0, 15)]);
        let found = check(&labelled, &[1.0, 0.0]);
        let agreement = found.agreement.expect("an agreement");
        assert_eq!(agreement.table, [[20, 5], [10, 15]]);
        assert_eq!(agreement.categories, ["fail", "pass"]);
        near(agreement.kappa, 0.4);
        near(agreement.kappa_se, 0.126_996_063);
        near(agreement.pabak, 0.4);
        assert_eq!(agreement.alpha, None, "nobody labelled what another did");
        let sensitivity = found.sensitivity.expect("a rate");
        assert_eq!((sensitivity.agreed, sensitivity.n, sensitivity.rate), (15, 20, 0.75));
        let wilson = proportion(15, 20, CONFIDENCE).expect("an interval").wilson;
        assert_eq!(sensitivity.interval, wilson);
        assert_eq!(found.specificity.map(|own| (own.agreed, own.n)), Some((20, 30)));
    }

    #[test]
    fn only_the_random_share_estimates_error_rates() {
        let mut labelled = random(&[(0.0, 0.0, 20), (1.0, 1.0, 18), (1.0, 0.0, 2)]);
        let alone = check(&labelled, &[1.0, 0.0, 1.0]);
        labelled.push(answer(90, Sample::Disagreement, 1.0, &[("", 0.0)]));
        labelled.push(answer(91, Sample::Disagreement, 0.4, &[("", 0.6)]));
        let found = check(&labelled, &[1.0, 0.0, 1.0]);
        assert_eq!((found.labels.random, found.labels.disagreement), (40, 2));
        assert_eq!(found.agreement, alone.agreement);
        assert_eq!(found.corrected, alone.corrected);
        assert_eq!(found.calibration, alone.calibration);
        let ids: Vec<&str> = found.differing.iter().map(|own| own.id.as_str()).collect();
        assert_eq!(ids, ["38", "39", "90", "91"], "but all of them show where it errs");
    }

    #[test]
    fn people_agree_among_themselves_by_alpha() {
        let labelled: Vec<LabelledAnswer> = [(1.0, 1.0), (0.0, 0.0), (1.0, 1.0), (0.0, 1.0)]
            .into_iter()
            .enumerate()
            .map(|(id, (a, b))| answer(id, Sample::Random, 1.0, &[("a", a), ("b", b)]))
            .collect();
        let found = check(&labelled, &[1.0]);
        assert_eq!(found.labels.people, 2);
        let ratings = [[1.0, 0.0, 1.0, 0.0], [1.0, 0.0, 1.0, 1.0]].map(|own| own.map(Some));
        let wanted = alpha(&ratings, AlphaLevel::Nominal);
        assert_eq!(found.agreement.as_ref().expect("an agreement").alpha, wanted);
        assert_eq!(found.calibration.pairs[3].people, 0.5, "a tie is unsure");
        assert!(found.cautions.iter().any(|own| own.contains("unsure about 1")), "{found:?}");
    }

    #[test]
    fn few_labels_are_said() {
        let cautions = |counts: &[(f64, f64, usize)]| check(&random(counts), &[1.0]).cautions;
        let few = cautions(&[(1.0, 1.0, 15), (0.0, 0.0, 4)]);
        assert!(few[0].starts_with("19 random labels are few"), "{few:?}");
        assert!(few[1].starts_with("people fail 4 of the random answers"), "{few:?}");
        let enough = cautions(&[(1.0, 1.0, 15), (0.0, 0.0, 5)]);
        assert!(enough.iter().all(|own| own.contains("bound to no judge")), "{enough:?}");
    }

    #[test]
    fn a_judge_that_hardly_sees_is_refused_or_said() {
        let coin = [(1.0, 1.0, 10), (0.0, 1.0, 10), (1.0, 0.0, 10), (0.0, 0.0, 10)];
        let found = check(&random(&coin), &[1.0, 0.0]);
        assert_eq!(found.corrected, None);
        assert!(found.not_corrected.expect("a reason").contains("is 0.000, at most 0.1"));
        let graded = coin.map(|(judge, people, n)| ((judge - 0.5) / 2.0 + 0.5, people, n));
        let found = check(&random(&graded), &[0.75, 0.25]);
        assert!(found.corrected.is_some());
        assert!(found.cautions.iter().any(|own| own.contains("hardly tells")), "{found:?}");
    }

    #[test]
    fn without_random_labels_nothing_is_estimated() {
        let found = check(&[answer(1, Sample::Disagreement, 0.5, &[("", 1.0)])], &[0.5]);
        assert_eq!((found.agreement, found.sensitivity, found.corrected), (None, None, None));
        assert!(found.not_corrected.expect("a reason").contains("random share"));
        assert_eq!(found.differing.len(), 1);
    }
}
