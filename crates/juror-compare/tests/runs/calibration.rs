//! Runs whose judge was checked by people.

use std::collections::BTreeMap;

use juror_compare::{
    Calibration, JudgeId, JudgedScores, Kind, LabelPair, LabelledAnswer, PersonsLabel, Sample,
    Statistics, check_judge,
};
use juror_score::statistics::{CONFIDENCE, SplitMix64};
use proptest::prelude::*;

use crate::support::table;

fn judge(model: &str) -> JudgeId {
    JudgeId { model: model.into(), embedding: None, prompts: BTreeMap::new() }
}

fn calibration(metric: &str, model: &str, pairs: &[(f64, f64)]) -> Calibration {
    let pair = |(judge, people): &(f64, f64)| LabelPair { judge: *judge, people: *people };
    Calibration {
        format: Calibration::FORMAT.into(),
        metric: metric.into(),
        judge: Some(judge(model)),
        made: "2026-01-02".into(),
        run: "runs/a".into(),
        pairs: pairs.iter().map(pair).collect(),
    }
}

/// Pairs in which people are stricter by 0.2 every other time.
fn stricter() -> Vec<(f64, f64)> {
    (0..40).map(|at| (0.8, if at % 2 == 0 { 0.6 } else { 0.8 })).collect()
}

fn calibrated(calibrations: &[Calibration], judges: &[JudgeId]) -> Statistics {
    let answers = [("a", "1", Some(0.9)), ("b", "2", Some(0.7)), ("c", "3", Some(0.5))];
    let scores = table(&answers);
    let mut statistics = Statistics::of(&scores, CONFIDENCE);
    statistics.calibrate(&scores, calibrations, |_| judges.to_vec());
    statistics
}

fn line(calibrations: &[Calibration], judges: &[JudgeId]) -> String {
    calibrated(calibrations, judges).calibrated["steps_score"].line("steps_score")
}

#[test]
fn the_corrected_number_stands_beside_the_raw_one() {
    let own = calibration("steps_score", "m", &stricter());
    let said = line(&[own], &[judge("m")]);
    assert_eq!(said, "steps_score corrected by 40 labels: 0.600 ±0.23 (raw 0.700)");
}

#[test]
fn another_judge_is_not_corrected() {
    let own = calibration("steps_score", "m", &stricter());
    let not = |judges: &[JudgeId]| line(std::slice::from_ref(&own), judges);
    let start = "steps_score not corrected: ";
    let changed = "the judge has changed since its calibration: the model is `n`, was `m`";
    assert_eq!(not(&[judge("n")]), format!("{start}{changed}"));
    assert_eq!(not(&[]), format!("{start}it is not known who judged"));
    assert_eq!(not(&[judge("m"), judge("n")]), format!("{start}several judges judged it"));
    let unbound = Calibration { judge: None, ..own };
    let said = line(&[unbound], &[judge("m")]);
    assert!(said.contains("does not say which judge it is of"), "{said}");
}

#[test]
fn of_several_calibrations_that_of_the_judge_counts() {
    let others = [
        calibration("steps_score", "n", &[(0.5, 0.5)]),
        calibration("steps_score", "m", &stricter()),
        calibration("answer_f1", "m", &stricter()),
    ];
    let statistics = calibrated(&others, &[judge("m")]);
    assert_eq!(statistics.calibrated["steps_score"].labels, 40);
    let missing = statistics.calibrated["answer_f1"].line("answer_f1");
    assert_eq!(missing, "answer_f1 not corrected: nothing has a score");
}

#[test]
fn statistics_without_a_calibration_do_not_mention_any() {
    let written = serde_json::to_value(calibrated(&[], &[])).expect("JSON");
    assert_eq!(written.get("calibrated"), None);
    let own = calibration("steps_score", "m", &stricter());
    let statistics = calibrated(&[own], &[judge("m")]);
    assert_eq!(statistics.kind, Kind::Eval);
    let written = serde_json::to_value(statistics).expect("JSON");
    assert_eq!(written["calibrated"]["steps_score"]["corrected"]["method"], "prediction_powered");
}

/// 800 answers, of which people would pass 70 %, and 200 labelled ones: of a run before, or of these.
/// The judge passes 90 % of the good ones and 30 % of the bad ones. Returns whether the interval holds
/// the truth.
fn simulated(generator: &mut SplitMix64, are_of_this_run: bool) -> Option<bool> {
    let mut chance = |share: f64| (generator.next_number() >> 11) as f64 / 2_f64.powi(53) < share;
    let number = |is_so: bool| f64::from(u8::from(is_so));
    let answers: Vec<(f64, f64)> = (0..1000)
        .map(|_| {
            let is_good = chance(0.7);
            (number(chance(if is_good { 0.9 } else { 0.3 })), number(is_good))
        })
        .collect();
    let own = calibration("m", "m", &answers[..200]);
    let judged = if are_of_this_run { &answers[..800] } else { &answers[200..] };
    let values: Vec<f64> = judged.iter().map(|(judge, _)| *judge).collect();
    let clusters: Vec<u32> = (0..800).collect();
    let scores = JudgedScores { values: &values, clusters: &clusters };
    let interval = own.correct(scores, CONFIDENCE).ok()?.interval?;
    Some(interval.low <= 0.7 && 0.7 <= interval.high)
}

#[test]
fn the_interval_holds_the_truth_about_as_often_as_it_says() {
    let mut generator = SplitMix64::new(17);
    let mut n_held = |are_of_this_run| {
        let held = (0..1000).filter(|_| simulated(&mut generator, are_of_this_run) == Some(true));
        held.count()
    };
    let (before, same) = (n_held(false), n_held(true));
    assert!((930..=970).contains(&before), "{before} of 1000");
    assert!(
        same >= 950,
        "{same} of 1000: labels of the same run make it too wide, never too narrow"
    );
}

fn scores_of(values: &[f64]) -> Vec<u32> {
    (0..).take(values.len()).collect()
}

proptest! {
    #[test]
    fn a_judge_that_people_confirm_keeps_its_mean(
        values in prop::collection::vec(0.0..=1.0, 2..40),
        n_labelled in 1_usize..40,
    ) {
        let pairs: Vec<(f64, f64)> = values.iter().take(n_labelled).map(|own| (*own, *own)).collect();
        let clusters = scores_of(&values);
        let scores = JudgedScores { values: &values, clusters: &clusters };
        let found = calibration("m", "m", &pairs).correct(scores, CONFIDENCE).expect("a mean");
        prop_assert!((found.mean - found.raw).abs() < 1e-12);
    }

    #[test]
    fn the_order_of_labels_changes_nothing(
        pairs in prop::collection::vec((0.0..=1.0, 0.0..=1.0), 1..30),
    ) {
        let answer = |(at, (judge, people)): (usize, &(f64, f64))| LabelledAnswer {
            group: "t".into(),
            id: at.to_string(),
            trial: None,
            sample: Sample::Random,
            judge: *judge,
            people: vec![PersonsLabel { by: String::new(), score: *people }],
        };
        let labelled: Vec<LabelledAnswer> = pairs.iter().enumerate().map(answer).collect();
        let backwards: Vec<LabelledAnswer> = labelled.iter().rev().cloned().collect();
        let values: Vec<f64> = pairs.iter().map(|(judge, _)| *judge).collect();
        let clusters = scores_of(&values);
        let scores = JudgedScores { values: &values, clusters: &clusters };
        let check = |labelled: &[LabelledAnswer]| {
            check_judge(calibration("m", "m", &[]), labelled, scores, CONFIDENCE)
        };
        let (one, other) = (check(&labelled), check(&backwards));
        prop_assert_eq!(one.agreement, other.agreement);
        prop_assert_eq!(one.corrected, other.corrected);
        prop_assert_eq!(one.differing, other.differing);
    }
}
