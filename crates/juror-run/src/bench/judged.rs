//! From what an agent made of a query to its scores.

use std::sync::Arc;
use std::time::Instant;

use juror_toolbench::answer::Answer;
use juror_toolbench::{CallScore, Called, Registry};

use super::attempt::Attempt;
use super::judge::{SolveJudge, Verdict};
use super::queries::Selected;

/// What became of a query, and its scores.
pub struct Judged<'q> {
    /// The query.
    pub selected: &'q Selected,
    /// What the agent made of it; nothing while the query is open.
    pub attempt: Option<Attempt>,
    /// What the agent did; nothing where it neither answered nor called anything.
    pub answer: Option<Arc<Answer<'static>>>,
    /// What was called, tool and API; a name that no tool has stands without one.
    pub called: Vec<(String, String)>,
    /// How that fits what is right.
    pub calls: CallScore,
    /// Whether it solves the query.
    pub verdict: Verdict,
    /// How long judging took, in seconds.
    pub seconds: f64,
}

impl<'q> Judged<'q> {
    /// What became of a query, with all scores that need no judge.
    pub(super) fn new(
        selected: &'q Selected,
        attempt: Option<Attempt>,
        pool: &Registry,
    ) -> Judged<'q> {
        let answer = attempt.as_ref().and_then(Attempt::answer);
        let own = selected.query.registry();
        let called = attempt.as_ref().map(|attempt| attempt.called(&[&own, pool]));
        let called = called.unwrap_or_default();
        let calls = CallScore::of(&called, &selected.query.gold);
        let called = called.into_iter().map(Called::into_pair).collect();
        let verdict = Verdict::default();
        Judged { selected, attempt, answer, called, calls, verdict, seconds: 0.0 }
    }

    /// Has it judged.
    pub(super) async fn judge(&mut self, judge: &SolveJudge) {
        let start = Instant::now();
        let (query, answer) = (&self.selected.query.text, self.answer.as_deref());
        self.verdict = judge.verdict(query, answer, self.calls.score().unwrap_or(0.0)).await;
        self.seconds = start.elapsed().as_secs_f64();
    }

    /// What the agent says it called, where that differs from what arrived.
    pub fn claimed(&self) -> &[(String, String)] {
        self.attempt.as_ref().map(|attempt| &*attempt.claimed).unwrap_or_default()
    }

    /// What went wrong, with the agent or with the judge.
    pub fn error(&self) -> Option<&String> {
        let of_agent = self.attempt.as_ref().and_then(|attempt| attempt.error.as_ref());
        of_agent.or(self.verdict.failure.as_ref())
    }
}
