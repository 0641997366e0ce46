//! Whatever the split, partials merge to the same bytes, and to the numbers of the whole.

use juror_compare::Statistics;
use juror_partial::{ACCURACY, Finished, MOST_DISTINCT, Partial};
use juror_score::{Aggregator, Number, Observation, ObservedStep, Profile, Traits};
use proptest::prelude::*;
use serde_json::Value;

const CONFIDENCE: f64 = 0.95;
const RETRIEVED: &str = "retrieval_context_recall";

/// An answer to a question, as it enters statistics.
#[derive(Clone, Debug)]
struct Answer {
    id: String,
    template: String,
    trial: Option<u32>,
    is_error: bool,
    traits: Traits,
    values: Vec<(&'static str, Number)>,
    repeats: Vec<f64>,
    /// Names of steps, whether they failed, and how well they retrieved.
    steps: Vec<(&'static str, bool, f64)>,
}

impl Answer {
    fn observation(&self) -> Observation<'_> {
        let step = |(name, is_error, recall): &(&'static str, bool, f64)| ObservedStep {
            name,
            is_error: *is_error,
            is_empty: name.len() % 2 == 1,
            values: vec![(RETRIEVED, real(*recall))],
        };
        let repeats = match &self.repeats[..] {
            [] => Vec::new(),
            verdicts => vec![("answer_relevance", verdicts.to_vec())],
        };
        Observation {
            id: &self.id,
            template: &self.template,
            trial: self.trial,
            is_error: self.is_error,
            traits: self.traits,
            values: self.values.clone(),
            repeats,
            steps: self.steps.iter().map(step).collect(),
            ..Observation::default()
        }
    }
}

fn real(value: f64) -> Number {
    Number::real(value).expect("finite")
}

fn custom() -> Vec<String> {
    vec!["taste".to_owned()]
}

fn collect<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Aggregator {
    let mut aggregator = Aggregator::new(&Profile::V6, &custom());
    answers.into_iter().for_each(|answer| aggregator.observe(&answer.observation()));
    aggregator
}

/// A score as comparators and judges give it.
fn score() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => Just(0.0),
        3 => Just(1.0),
        2 => (1..12_u8, 1..12_u8).prop_map(|(a, b)| f64::from(a.min(b)) / f64::from(a.max(b))),
        1 => 0.0..1.0_f64,
    ]
}

fn values() -> impl Strategy<Value = Vec<(&'static str, Number)>> {
    let maybe = |name, strategy: BoxedStrategy<Number>| {
        prop::option::weighted(0.8, strategy.prop_map(move |value| (name, value)))
    };
    (
        maybe("answer_relevance", score().prop_map(real).boxed()),
        maybe("steps_score", any::<bool>().prop_map(|hit| real(f64::from(u8::from(hit)))).boxed()),
        maybe(
            "input_tokens",
            (0..1000_u32).prop_map(|n| Number { value: n.into(), whole: true }).boxed(),
        ),
        maybe("elapsed_sec", (1e-6..1e4_f64).prop_map(real).boxed()),
        maybe("taste", (-5.0..5.0_f64).prop_map(real).boxed()),
    )
        .prop_map(|(a, b, c, d, e)| [a, b, c, d, e].into_iter().flatten().collect())
}

fn step() -> impl Strategy<Value = (&'static str, bool, f64)> {
    let names = prop_oneof![Just("retrieval"), Just("sparql_query"), Just("look"), Just("up")];
    (names, any::<bool>(), score())
}

/// Answers to different questions, with at most so many steps each.
fn answers(most: usize, n_steps: usize) -> impl Strategy<Value = Vec<Answer>> {
    let answer = (
        0..7_u8,
        any::<bool>(),
        any::<bool>(),
        values(),
        prop::option::weighted(0.2, prop::collection::vec(score(), 1..4)),
        prop::collection::vec(step(), 0..=n_steps),
    );
    let answer =
        answer.prop_map(|(template, is_error, has_answer, values, repeats, steps)| Answer {
            id: String::new(),
            template: format!("template {}", (template * 5) % 7),
            trial: None,
            is_error,
            traits: Traits { answer: has_answer, ..Traits::ALL },
            values,
            repeats: repeats.unwrap_or_default(),
            steps,
        });
    prop::collection::vec(answer, 1..most).prop_map(|mut answers| {
        for (at, answer) in answers.iter_mut().enumerate() {
            answer.id = format!("q{at}");
        }
        answers
    })
}

/// Some questions with several answers.
fn with_trials(mut answers: Vec<Answer>) -> Vec<Answer> {
    for at in 0..answers.len() {
        if !at.is_multiple_of(4) {
            let question = at - at % 4 / 2;
            let template = answers[question].template.clone();
            answers[at].template = template;
            answers[at].id = format!("q{question}");
            answers[at].trial = u32::try_from(at).ok();
        }
    }
    answers
}

/// Splits answers by any key, and merges the parts in an order that another key gives.
fn merged(answers: &[Answer], keys: &[u32], n_parts: usize) -> Partial {
    let key = |at: usize| keys[at % keys.len()] as usize;
    let mut order: Vec<usize> = (0..n_parts).collect();
    order.sort_by_key(|part| (key(*part), *part));
    let mut whole = Partial::empty(&Profile::V6, &custom());
    for part in order {
        let own: Vec<usize> =
            (0..answers.len()).filter(|at| (key(*at) / 7 + at) % n_parts == part).collect();
        let aggregator = collect(own.iter().map(|at| &answers[*at]));
        let partial = Partial::at(&aggregator, |row| own[row] as u64);
        let read = Partial::from_bytes(&partial.to_bytes()).expect("its own bytes");
        assert_eq!(read.to_bytes(), partial.to_bytes());
        whole.merge(&read).expect("parts of the same");
    }
    whole
}

fn whole(answers: &[Answer]) -> (Partial, Finished) {
    let aggregator = collect(answers);
    let partial = Partial::at(&aggregator, |row| row as u64);
    let statistics = Statistics::of(aggregator.scores(), CONFIDENCE);
    (partial, Finished { aggregates: aggregator.finish(), statistics })
}

/// Compares numbers that are computed from the same values in another way.
fn assert_near(got: &Value, wanted: &Value, place: &str) {
    match (got, wanted) {
        (Value::Object(a), Value::Object(b)) => {
            assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>(), "{place}");
            a.iter().for_each(|(key, own)| assert_near(own, &b[key], &format!("{place}.{key}")));
        }
        (Value::Array(a), Value::Array(b)) => {
            assert_eq!(a.len(), b.len(), "{place}");
            a.iter().zip(b).for_each(|(a, b)| assert_near(a, b, place));
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().expect("a number"), b.as_f64().expect("a number"));
            let is_near = (a - b).abs() <= 1e-9 * b.abs().max(a.abs()).max(1e-12);
            assert!(is_near, "{place}: {a} and not {b}");
        }
        _ => assert_eq!(got, wanted, "{place}"),
    }
}

fn json(statistics: &Statistics) -> Value {
    serde_json::to_value(statistics).expect("JSON")
}

fn text(statistics: &Statistics) -> String {
    serde_json::to_string(statistics).expect("JSON")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// One number for each metric and question: equal to the last bit, and in the same order.
    #[test]
    fn any_split_has_the_bytes_and_the_numbers_of_the_whole(
        answers in answers(150, 1),
        keys in prop::collection::vec(any::<u32>(), 1..50),
        n_parts in 1..=200_usize,
    ) {
        let (partial, wanted) = whole(&answers);
        let merged = merged(&answers, &keys, n_parts);
        prop_assert_eq!(merged.to_bytes(), partial.to_bytes());
        let finished = merged.finish(CONFIDENCE);
        prop_assert_eq!(format!("{:?}", finished.aggregates), format!("{:?}", wanted.aggregates));
        prop_assert_eq!(text(&finished.statistics), text(&wanted.statistics));
    }

    /// Several steps and several answers: the same aggregates to the last bit, and statistics that
    /// differ by no more than the rounding of their formulas.
    #[test]
    fn steps_and_trials_may_be_split_in_any_way_too(
        answers in answers(120, 4).prop_map(with_trials),
        keys in prop::collection::vec(any::<u32>(), 1..50),
        n_parts in 1..=200_usize,
    ) {
        let (partial, wanted) = whole(&answers);
        let merged = merged(&answers, &keys, n_parts);
        prop_assert_eq!(merged.to_bytes(), partial.to_bytes());
        let finished = merged.finish(CONFIDENCE);
        prop_assert_eq!(format!("{:?}", finished.aggregates), format!("{:?}", wanted.aggregates));
        assert_near(&json(&finished.statistics), &json(&wanted.statistics), "");
    }

    #[test]
    fn bytes_that_were_changed_are_refused(
        answers in answers(20, 2),
        at in any::<prop::sample::Index>(),
        bit in 0..8_u8,
        length in any::<prop::sample::Index>(),
    ) {
        let bytes = whole(&answers).0.to_bytes();
        let mut changed = bytes.clone();
        changed[at.index(bytes.len())] ^= 1 << bit;
        prop_assert!(Partial::from_bytes(&changed).is_err());
        prop_assert!(Partial::from_bytes(&bytes[..length.index(bytes.len())]).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn medians_of_more_distinct_values_are_within_a_thousandth(
        keys in prop::collection::vec(any::<u32>(), 1..50),
        n_parts in 2..=200_usize,
        scale in 1e-9..1e9_f64,
    ) {
        let n = 2 * MOST_DISTINCT + 1;
        let answer = |at: usize| Answer {
            id: at.to_string(),
            template: format!("t{}", at % 2),
            trial: None,
            is_error: false,
            traits: Traits::NONE,
            values: vec![("elapsed_sec", real(scale * ((at * 7919) % n + 1) as f64 / 3.0))],
            repeats: Vec::new(),
            steps: Vec::new(),
        };
        let answers: Vec<Answer> = (0..n).map(answer).collect();
        let (partial, wanted) = whole(&answers);
        let merged = merged(&answers, &keys, n_parts);
        prop_assert_eq!(merged.to_bytes(), partial.to_bytes());
        let Finished { aggregates, mut statistics } = merged.finish(CONFIDENCE);
        let (told, true_one) = (aggregates.micro.spread("elapsed_sec"), wanted.aggregates.micro.spread("elapsed_sec"));
        let (told, true_one) = (told.expect("a spread"), true_one.expect("a spread"));
        prop_assert!((told.median - true_one.median).abs() <= ACCURACY * true_one.median);
        prop_assert_eq!((told.sum, told.mean, told.min, told.max), (true_one.sum, true_one.mean, true_one.min, true_one.max));
        // What is sketched says so, and nothing else suffers.
        let of_all = statistics.micro.get_mut("elapsed_sec").expect("statistics");
        prop_assert_eq!(of_all.median_within, Some(ACCURACY));
        of_all.median_within = None;
        of_all.median = wanted.statistics.metric("elapsed_sec").expect("statistics").median;
        let is_exact = statistics.groups.values().filter(|own| own["elapsed_sec"].median_within.is_none());
        prop_assert_eq!(is_exact.count(), 1, "one of the templates has one value more than can be counted");
        for (name, own) in &mut statistics.groups {
            let wanted = &wanted.statistics.groups[name]["elapsed_sec"];
            let own = own.get_mut("elapsed_sec").expect("statistics");
            prop_assert!((own.median - wanted.median).abs() <= ACCURACY * wanted.median);
            (own.median, own.median_within) = (wanted.median, None);
        }
        assert_near(&json(&statistics), &json(&wanted.statistics), "");
    }
}

#[test]
fn nothing_merges_with_anything() {
    let (partial, _) = whole(&[]);
    let finished = partial.finish(CONFIDENCE);
    assert_eq!(finished.statistics.answers, 0);
    assert_eq!(finished.aggregates, collect(&[]).finish());
    assert_eq!(partial.to_bytes(), merged(&[], &[1], 3).to_bytes());
}

#[test]
fn a_part_in_which_all_answers_failed_says_why_there_is_no_mean() {
    let failed = Answer {
        id: "q0".into(),
        template: "t".into(),
        trial: None,
        is_error: true,
        traits: Traits::ALL,
        values: Vec::new(),
        repeats: Vec::new(),
        steps: Vec::new(),
    };
    let (partial, whole) = whole(&[failed]);
    let finished = partial.finish(CONFIDENCE);
    assert_eq!(finished.statistics.without_mean, whole.statistics.without_mean);
    assert!(finished.statistics.without_mean.contains_key("steps_score"));
}
