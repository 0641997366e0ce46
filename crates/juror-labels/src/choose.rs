//! Which answers people get.

use juror_compare::{Candidate, Choice, Sample, choose_answers};

use crate::{JudgedAnswer, JudgedRun, LabelLine};

/// An answer that people are asked about.
#[derive(Clone, Copy, Debug)]
pub struct Chosen<'r> {
    /// The answer.
    pub answer: &'r JudgedAnswer,
    /// Why it was chosen.
    pub sample: Sample,
}

impl<'r> Chosen<'r> {
    /// Returns the answer as a line without a label.
    pub fn line(&self, run: &JudgedRun, metric: &'r str) -> LabelLine<'r> {
        LabelLine::of(self.answer, run.kind, metric, self.sample)
    }
}

/// Chooses answers of a run that have a judge's score for a metric. The same choice gives the same
/// answers in the same order.
pub fn choose<'r>(run: &'r JudgedRun, metric: &str, choice: Choice) -> Vec<Chosen<'r>> {
    let scored: Vec<(&JudgedAnswer, Candidate)> = run
        .answers
        .iter()
        .zip(run.question_numbers())
        .filter_map(|(answer, question)| {
            let spread = spread_of(answer.repeats(metric));
            Some((answer, Candidate { question, score: answer.score(metric)?, spread }))
        })
        .collect();
    let candidates: Vec<Candidate> = scored.iter().map(|(_, candidate)| *candidate).collect();
    let chosen = choose_answers(&candidates, choice).into_iter();
    chosen.map(|(at, sample)| Chosen { answer: scored[at].0, sample }).collect()
}

/// How far verdicts are apart.
fn spread_of(verdicts: &[f64]) -> f64 {
    let least = verdicts.iter().copied().reduce(f64::min);
    let most = verdicts.iter().copied().reduce(f64::max);
    most.zip(least).map_or(0.0, |(most, least)| most - least)
}
