//! Turns an agent's attempt at a query into a scorecard.

use std::sync::Arc;
use std::time::Instant;

use juror_score::{Ending, Finding, Number, Resources, Scorecard};
use juror_toolbench::answer::Answer;
use juror_toolbench::result::call_findings;
use juror_toolbench::{CallScore, Called, Registry};

use crate::attempt::Attempt;
use crate::judge::{SolveJudge, Solves};
use crate::queries::Selected;

/// An attempt at a query, with its answer, calls and verdict.
pub struct Judged<'q> {
    /// The query.
    pub selected: &'q Selected,
    /// The agent's attempt; `None` while the query is open.
    pub attempt: Option<Attempt>,
    /// The agent's answer; `None` if it neither answered nor called anything.
    pub answer: Option<Arc<Answer<'static>>>,
    /// The calls, as pairs of tool and API. A name that no tool has is paired with an empty tool.
    pub called: Vec<(String, String)>,
    /// The judge's verdict.
    pub solves: Solves,
    computed: Vec<Finding>,
    judged: Vec<Finding>,
}

impl<'q> Judged<'q> {
    /// Scores everything that needs no judge.
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
        let has_finish = answer.as_deref().is_some_and(Answer::has_finish);
        Judged {
            selected,
            called: called.into_iter().map(Called::into_pair).collect(),
            attempt,
            answer,
            solves: Solves::default(),
            computed: call_findings(&calls, has_finish),
            judged: Vec::new(),
        }
    }

    /// Judges the attempt.
    pub(super) async fn judge(&mut self, judge: &SolveJudge) {
        let start = Instant::now();
        let (query, answer) = (&self.selected.query.text, self.answer.as_deref());
        let call_score = self.card().number("api_call_score").unwrap_or(0.0);
        self.solves = judge.solves(query, answer, call_score).await;
        self.judged = self.solves.findings(start.elapsed().as_secs_f64());
    }

    /// Returns the scorecard that statistics and reports read. An error of the agent or its judge
    /// becomes the outcome of the attempt.
    pub fn card(&self) -> Scorecard<'_> {
        let attempt = self.attempt.as_ref();
        let number = |value: f64, whole| Number::real(value).map(|own| Number { whole, ..own });
        let tokens = attempt.map(|attempt| attempt.tokens).filter(|tokens| *tokens > 0);
        Scorecard {
            trial: self.selected.trial,
            ending: match (self.error(), attempt) {
                (Some(error), _) => Ending::Failed(error.into()),
                (None, Some(_)) => Ending::Responded,
                (None, None) => Ending::Missing,
            },
            computed: (&self.computed).into(),
            judged: (&self.judged).into(),
            usage: Resources {
                total_tokens: tokens.and_then(|tokens| number(tokens as f64, true)),
                usd: attempt.and_then(|attempt| number(attempt.usd?, false)),
                seconds: attempt.and_then(|attempt| number(attempt.seconds?, false)),
                ..Resources::default()
            },
            ..Scorecard::of_attempt(&self.selected.set, &self.selected.id)
        }
    }

    /// Returns whether the agent has attempted the query, and the judge has judged the attempt.
    pub(super) fn is_done(&self) -> bool {
        self.attempt.is_some() && !self.judged.is_empty()
    }

    /// Returns the calls that the agent claims, if they differ from those received.
    pub fn claimed(&self) -> &[(String, String)] {
        self.attempt.as_ref().map(|attempt| &*attempt.claimed).unwrap_or_default()
    }

    /// Returns the error of the agent or the judge.
    pub fn error(&self) -> Option<&str> {
        let of_agent = self.attempt.as_ref().and_then(|attempt| attempt.error.as_deref());
        let of_judge = self.solves.failure.as_ref().map(|why| &*why.message);
        of_agent.or(of_judge)
    }
}
