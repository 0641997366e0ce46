//! What holds whatever the data.

use juror_statistics::{
    Bootstrap, CONFIDENCE, GateLevel, Interval, MarginVerdict, MeanEstimate, Paired, PairedCounts,
    benjamini_hochberg, holm, margin_verdict, mcnemar, mean, median, newcombe, paired, pass_at_k,
    pass_hat_k, proportion,
};
use proptest::prelude::*;

/// A score: right, wrong, or a fraction that binary numbers do not have.
fn score() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(1.0), (0..100_u8).prop_map(|n| f64::from(n) / 100.0), 0.0..1.0]
}

/// Two runs on the same questions, and the cluster of each question.
fn runs() -> impl Strategy<Value = (Vec<f64>, Vec<f64>, Vec<u32>)> {
    let question = (score(), score(), 0..6_u32);
    prop::collection::vec(question, 1..40).prop_map(|questions| {
        let (a, (b, clusters)) = questions.into_iter().map(|(a, b, c)| (a, (b, c))).unzip();
        (a, b, clusters)
    })
}

/// The same questions with and without their clusters.
fn both_ways(clusters: &[u32]) -> [Option<&[u32]>; 2] {
    [None, Some(clusters)]
}

fn is_near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-12 * a.abs().max(b.abs()).max(1.0)
}

proptest! {
    #[test]
    fn swapping_two_runs_mirrors_the_comparison((a, b, clusters) in runs()) {
        for clusters in both_ways(&clusters) {
            let there = paired(&a, &b, clusters, CONFIDENCE).expect("a comparison");
            let back = paired(&b, &a, clusters, CONFIDENCE).expect("a comparison");
            prop_assert_eq!(there.delta, -back.delta);
            prop_assert_eq!(there.interval, back.interval.map(Interval::negated));
            prop_assert_eq!((there.p, there.se, there.mde), (back.p, back.se, back.mde));
            prop_assert_eq!(there.p_sign_flip_exact, back.p_sign_flip_exact);
            prop_assert_eq!((there.won, there.lost, there.tied), (back.lost, back.won, back.tied));
            let sum = there.probability_positive.zip(back.probability_positive);
            prop_assert!(sum.is_none_or(|(there, back)| is_near(there + back, 1.0)));
        }
    }

    #[test]
    fn equal_runs_differ_by_nothing((a, _, clusters) in runs()) {
        for clusters in both_ways(&clusters) {
            let found = paired(&a, &a, clusters, CONFIDENCE).expect("a comparison");
            prop_assert_eq!((found.delta, found.won, found.lost), (0.0, 0, 0));
            prop_assert!(found.p.is_none_or(|p| p == 1.0));
            prop_assert!(found.probability_positive.is_none_or(|share| share == 0.5));
            let verdict = found.interval.map(|it| margin_verdict(it, 0.0, GateLevel::Block));
            prop_assert!(verdict.is_none_or(|verdict| verdict == MarginVerdict::Pass));
        }
    }

    #[test]
    fn repeating_every_question_does_not_narrow_the_clustered_interval((a, b, clusters) in runs()) {
        let twice = |values: &[f64]| [values, values].concat();
        let clusters_twice = [&clusters[..], &clusters].concat();
        let once = paired(&a, &b, Some(&clusters), CONFIDENCE).expect("a comparison");
        let again = paired(&twice(&a), &twice(&b), Some(&clusters_twice), CONFIDENCE);
        let again = again.expect("a comparison");
        prop_assert!(is_near(once.delta, again.delta));
        prop_assert_eq!(once.interval.is_some(), again.interval.is_some());
        if let Some((once, again)) = once.interval.zip(again.interval) {
            prop_assert!(is_near(once.low, again.low) && is_near(once.high, again.high));
        }
    }

    #[test]
    fn the_order_of_questions_and_the_names_of_clusters_do_not_matter(
        (a, b, clusters) in runs(), keys in prop::collection::vec(any::<u32>(), 40),
    ) {
        let mut order: Vec<usize> = (0..a.len()).collect();
        order.sort_by_key(|at| keys[*at]);
        let shuffled = |values: &[f64]| -> Vec<f64> { order.iter().map(|at| values[*at]).collect() };
        let renamed: Vec<u32> = order.iter().map(|at| u32::MAX - clusters[*at] * 7).collect();
        let in_order = paired(&a, &b, Some(&clusters), CONFIDENCE);
        let moved = paired(&shuffled(&a), &shuffled(&b), Some(&renamed), CONFIDENCE);
        prop_assert_eq!(in_order, moved);
        prop_assert_eq!(mean(&a, None, CONFIDENCE), mean(&shuffled(&a), None, CONFIDENCE));
        let bootstrap = Bootstrap { n_resamples: 20, ..Bootstrap::default() };
        let of = |values: &[f64], ids| bootstrap.run(values, Some(ids), median);
        prop_assert_eq!(of(&a, &clusters), of(&shuffled(&a), &renamed));
    }

    #[test]
    fn interval_and_p_never_contradict_each_other((a, b, clusters) in runs()) {
        for clusters in both_ways(&clusters) {
            let found = paired(&a, &b, clusters, CONFIDENCE).expect("a comparison");
            let Some((interval, p)) = found.interval.zip(found.p) else { continue };
            let leaves_out_zero = interval.low > 1e-12 || interval.high < -1e-12;
            let holds_zero = interval.low < -1e-12 && interval.high > 1e-12;
            prop_assert!(!(p < 0.05 - 1e-9 && holds_zero), "{found:?}");
            prop_assert!(!(p > 0.05 + 1e-9 && leaves_out_zero), "{found:?}");
        }
    }

    #[test]
    fn questions_of_their_own_are_independent(values in prop::collection::vec(score(), 2..40)) {
        let alone: Vec<u32> = (0..).take(values.len()).collect();
        let clustered = mean(&values, Some(&alone), CONFIDENCE).expect("an estimate");
        let plain = mean(&values, None, CONFIDENCE).expect("an estimate");
        let (clustered, plain) = (clustered.se.expect("an error"), plain.se.expect("an error"));
        prop_assert!(is_near(clustered, plain));
    }

    #[test]
    fn no_result_is_endless_or_no_number(
        values in prop::collection::vec(any::<f64>(), 0..8), ids in prop::collection::vec(0..3_u32, 0..8),
    ) {
        for clusters in both_ways(&ids) {
            let estimate = mean(&values, clusters, CONFIDENCE);
            prop_assert!(estimate.is_none_or(|estimate| all_finite(&numbers_of_mean(&estimate))));
            let shifted: Vec<f64> = values.iter().rev().copied().collect();
            let comparison = paired(&values, &shifted, clusters, CONFIDENCE);
            prop_assert!(comparison.is_none_or(|found| all_finite(&numbers_of_pairs(&found))));
        }
    }

    #[test]
    fn intervals_of_proportions_hold_the_proportion(n in 1..10_000_usize, part in 0.0..=1.0) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to n")]
        let successes = (part * n as f64) as usize;
        let found = proportion(successes, n, CONFIDENCE).expect("a proportion");
        let share = successes as f64 / n as f64;
        for interval in [found.wilson, found.clopper_pearson] {
            prop_assert!(interval.low >= 0.0 && interval.high <= 1.0);
            prop_assert!(interval.low <= share + 1e-12 && interval.high >= share - 1e-12);
            prop_assert!(interval.half_width() > 0.0);
        }
    }

    #[test]
    fn p_of_counts_are_probabilities(lost in 0..100_000_u64, won in 0..100_000_u64) {
        let found = mcnemar(lost, won);
        prop_assert!(found.p_mid >= 0.0 && found.p_mid <= found.p_exact && found.p_exact <= 1.0);
        prop_assert_eq!(found, mcnemar(won, lost));
    }

    #[test]
    fn differences_of_proportions_stay_within_their_limits(
        both in 0..50_u64, lost in 0..50_u64, won in 0..50_u64, neither in 1..50_u64,
    ) {
        let of = |lost, won| newcombe(PairedCounts { both, lost, won, neither }, CONFIDENCE);
        let (there, back) = (of(lost, won).expect("a result"), of(won, lost).expect("a result"));
        prop_assert!(there.interval.low >= -1.0 && there.interval.high <= 1.0);
        prop_assert!(there.interval.low <= there.delta && there.delta <= there.interval.high);
        prop_assert!(is_near(there.interval.low, -back.interval.high));
    }

    #[test]
    fn adjusted_p_are_never_smaller(p in prop::collection::vec(0.0..=1.0, 0..12)) {
        let adjusted = holm(&p).into_iter().zip(benjamini_hochberg(&p));
        for (p, (holm, benjamini_hochberg)) in p.iter().zip(adjusted) {
            prop_assert!(*p <= benjamini_hochberg + 1e-15 && benjamini_hochberg <= holm + 1e-15);
            prop_assert!(holm <= 1.0);
        }
    }

    #[test]
    fn more_trials_help_any_and_hurt_all(n in 1..30_u64, part in 0..30_u64, k in 1..30_u64) {
        let (successes, k) = (part.min(n), k.min(n));
        let any = |k| pass_at_k(n, successes, k).expect("a chance");
        let all = |k| pass_hat_k(n, successes, k).expect("a chance");
        prop_assert!(is_near(any(1), successes as f64 / n as f64) && is_near(any(1), all(1)));
        if k > 1 {
            prop_assert!(any(k) >= any(k - 1) - 1e-12 && all(k) <= all(k - 1) + 1e-12);
        }
    }
}

fn all_finite(numbers: &[Option<f64>]) -> bool {
    numbers.iter().flatten().all(|number| number.is_finite())
}

fn ends(interval: Option<Interval>) -> [Option<f64>; 2] {
    [interval.map(|interval| interval.low), interval.map(|interval| interval.high)]
}

fn numbers_of_mean(found: &MeanEstimate) -> Vec<Option<f64>> {
    let numbers = [Some(found.mean), found.se_independent, found.se, found.deff, found.n_eff];
    [&numbers[..], &ends(found.interval)].concat()
}

fn numbers_of_pairs(found: &Paired) -> Vec<Option<f64>> {
    let means = [found.mean_a, found.mean_b, found.delta].map(Some);
    let numbers =
        [found.se, found.p, found.probability_positive, found.mde, found.p_sign_flip_exact];
    [&means[..], &numbers, &ends(found.interval)].concat()
}
