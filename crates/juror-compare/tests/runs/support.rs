//! Small runs for the tests.

use juror_compare::{Kind, RunFacts};
use juror_score::{Aggregator, Number, Observation, Profile, ScoreTable, Traits};

/// An answer: template, id, and its steps score; `None` for an error.
pub(crate) type Answer<'a> = (&'a str, &'a str, Option<f64>);

/// The scores of answers to questions that expect steps.
pub(crate) fn table(answers: &[Answer<'_>]) -> ScoreTable {
    let mut aggregator = Aggregator::new(&Profile::V6, &[]);
    for (template, id, score) in answers {
        let value = score.map(|score| ("steps_score", Number::real(score).expect("a number")));
        aggregator.observe(&Observation {
            id,
            template,
            is_error: score.is_none(),
            traits: Traits { steps: true, ..Traits::NONE },
            values: value.into_iter().collect(),
            ..Observation::default()
        });
    }
    aggregator.scores().clone()
}

/// What is known about a file of results.
pub(crate) fn facts(name: &str) -> RunFacts {
    RunFacts::of_file(name, Kind::Eval)
}
