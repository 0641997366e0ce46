//! Small runs and their comparison.

use juror_compare::{CompareOptions, ComparedRun, Comparison, Kind, RunFacts, compare};
use juror_score::{Aggregator, Number, Observation, Profile, ScoreTable, Traits};

/// An answer to a question that expects steps.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) template: String,
    pub(crate) id: String,
    pub(crate) trial: Option<u32>,
    /// `None` for an error.
    pub(crate) score: Option<f64>,
    pub(crate) tokens: f64,
}

pub(crate) fn answer(template: &str, id: &str, score: impl Into<Option<f64>>) -> Answer {
    let (template, id, score) = (template.to_owned(), id.to_owned(), score.into());
    Answer { template, id, score, ..Answer::default() }
}

pub(crate) fn table(answers: &[Answer]) -> ScoreTable {
    let mut aggregator = Aggregator::new(&Profile::V6, &[]);
    for own in answers {
        let number = |value| Number::real(value).expect("a number");
        let score = own.score.map(|score| ("steps_score", number(score)));
        let tokens = (own.tokens > 0.0).then(|| ("total_tokens", number(own.tokens)));
        aggregator.observe(&Observation {
            id: &own.id,
            template: &own.template,
            trial: own.trial,
            is_error: own.score.is_none(),
            traits: Traits { steps: true, ..Traits::NONE },
            values: score.into_iter().chain(tokens).collect(),
            ..Observation::default()
        });
    }
    aggregator.scores().clone()
}

/// A run with a name, an id and a date.
pub(crate) fn facts(name: &str, id: &str, began: &str) -> RunFacts {
    RunFacts {
        id: Some(id.to_owned()),
        began: Some(began.to_owned()),
        reference: Some("r".into()),
        judge: Some("j".into()),
        ..RunFacts::of_file(name, Kind::Eval)
    }
}

/// Compares runs of these names with the first.
pub(crate) fn compared(runs: &[(&str, &ScoreTable)], options: &CompareOptions) -> Comparison {
    let facts: Vec<RunFacts> = runs
        .iter()
        .map(|(name, _)| facts(name, "e09f11deadbeef", "2026-11-16T08:30:00Z"))
        .collect();
    let runs: Vec<ComparedRun<'_>> =
        facts.iter().zip(runs).map(|(facts, (_, scores))| ComparedRun { facts, scores }).collect();
    compare(runs[0], &runs[1..], options).expect("comparable")
}

/// Runs of twelve templates with four questions each. The second run gets four questions wrong that
/// were right, and two right; one of each run failed.
pub(crate) fn two_runs() -> [Vec<Answer>; 2] {
    let run = |is_second: bool| {
        let own = |at: usize| {
            let was = f64::from(u8::from(!at.is_multiple_of(3)));
            let is = match at {
                4 | 5 | 7 | 40 => 0.0,
                0 | 3 => 1.0,
                _ => was,
            };
            let score = if is_second { is } else { was };
            let has_failed = at == if is_second { 20 } else { 21 };
            Answer {
                tokens: 1000.0 + if is_second { (150 + at) as f64 } else { (at % 7) as f64 },
                ..answer(
                    &format!("template_{}", at / 4),
                    &format!("q{at}"),
                    (!has_failed).then_some(score),
                )
            }
        };
        (0..48).map(own).collect()
    };
    [run(false), run(true)]
}
