//! From an agent's attempt at a query to its scorecard.

use std::sync::Arc;
use std::time::Instant;

use juror_score::{Ending, Finding, Number, Resources, Scorecard};
use juror_toolbench::answer::Answer;
use juror_toolbench::result::call_findings;
use juror_toolbench::{CallScore, Called, Registry};

use super::attempt::Attempt;
use super::judge::{SolveJudge, Solves};
use super::queries::Selected;

/// An attempt at a query, and everything found out about it.
pub struct Judged<'q> {
    /// The query.
    pub selected: &'q Selected,
    /// What the agent made of it; `None` while the query is open.
    pub attempt: Option<Attempt>,
    /// What the agent did; `None` if it neither answered nor called anything.
    pub answer: Option<Arc<Answer<'static>>>,
    /// What was called, tool and API; a name that no tool has stands after an empty text.
    pub called: Vec<(String, String)>,
    /// What the judge says.
    pub solves: Solves,
    computed: Vec<Finding>,
    judged: Vec<Finding>,
}

impl<'q> Judged<'q> {
    /// An attempt with everything that can be found out without a judge.
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

    /// Has it judged.
    pub(super) async fn judge(&mut self, judge: &SolveJudge) {
        let start = Instant::now();
        let (query, answer) = (&self.selected.query.text, self.answer.as_deref());
        let call_score = self.card().number("api_call_score").unwrap_or(0.0);
        self.solves = judge.solves(query, answer, call_score).await;
        self.judged = self.solves.findings(start.elapsed().as_secs_f64());
    }

    /// What statistics and reports read of it. An error of the agent or of its judge is how it ended.
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

    /// What the agent says it called, if that differs from what arrived.
    pub fn claimed(&self) -> &[(String, String)] {
        self.attempt.as_ref().map(|attempt| &*attempt.claimed).unwrap_or_default()
    }

    /// What went wrong, with the agent or with the judge.
    pub fn error(&self) -> Option<&str> {
        let of_agent = self.attempt.as_ref().and_then(|attempt| attempt.error.as_deref());
        let of_judge = self.solves.failure.as_ref().map(|why| &*why.message);
        of_agent.or(of_judge)
    }
}
