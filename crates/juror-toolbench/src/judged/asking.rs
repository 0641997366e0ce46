//! What to ask about one answer, and what to conclude from the replies.

use super::status::Status;
use crate::answer::{Answer, Finish, read_finish};

/// A question to a judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Whether the final answer solves the query.
    Status,
    /// The same, showing everything the agent did, because the final answer alone left it open.
    Detailed,
}

/// The state of judging an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Ask a judge.
    Ask(Ask),
    /// The outcome is known.
    Done(Outcome),
}

/// The outcome of judging an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The status.
    pub status: Status,
    /// What the status is based on.
    pub basis: Basis,
}

/// What a status is based on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Basis {
    /// There is no answer.
    Missing,
    /// The agent did not call `Finish`.
    NoFinish,
    /// The answer is empty.
    Empty,
    /// The agent gave up.
    GaveUp,
    /// A judge decided.
    Judged(Ask),
    /// No judge could be asked, or none gave a verdict; says why.
    Failed(String),
}

impl Basis {
    /// Returns the basis in words, or `None` if a judge decided and gives its own reason.
    pub fn reason(&self) -> Option<String> {
        Some(match self {
            Basis::Missing => "there is no answer".to_owned(),
            Basis::NoFinish => "the agent did not call Finish".to_owned(),
            Basis::Empty => "the answer is empty".to_owned(),
            Basis::GaveUp => "the agent gave up".to_owned(),
            Basis::Judged(_) => return None,
            Basis::Failed(why) => format!("the judge gave no verdict: {why}"),
        })
    }
}

/// How to recognize that an agent gave up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GiveUp {
    /// By the arguments it gave to `Finish`.
    #[default]
    Said,
    /// By the word for it anywhere in the answer, as the public evaluation does.
    Mentioned,
}

/// Begins to judge an answer. Asks no judge if the answer is missing or empty, or if the agent did
/// not call `Finish` or gave up.
pub fn begin(answer: Option<&Answer<'_>>, give_up: GiveUp) -> Progress {
    match answer {
        None => unsolved(Basis::Missing),
        Some(answer) if !answer.has_finish() => unsolved(Basis::NoFinish),
        Some(answer) => begin_with(&answer.final_text(), give_up),
    }
}

/// Begins to judge a final answer alone.
pub fn begin_with(final_answer: &str, give_up: GiveUp) -> Progress {
    if final_answer.is_empty() {
        return unsolved(Basis::Empty);
    }
    match give_up {
        GiveUp::Mentioned if final_answer.contains("give_up_and_restart") => {
            unsolved(Basis::GaveUp)
        }
        GiveUp::Mentioned => Progress::Ask(Ask::Status),
        GiveUp::Said => match read_finish(final_answer) {
            Finish::GaveUp => unsolved(Basis::GaveUp),
            Finish::Answered(text) if text.is_empty() => unsolved(Basis::Empty),
            Finish::Answered(_) => Progress::Ask(Ask::Status),
        },
    }
}

fn unsolved(basis: Basis) -> Progress {
    Progress::Done(Outcome { status: Status::Unsolved, basis })
}

/// Returns the next step after a reply. An unsure status is asked about once more, in detail; if
/// the judge fails, the status stays unsure.
pub fn go_on(asked: Ask, reply: Result<Status, String>) -> Progress {
    match (asked, reply) {
        (Ask::Status, Ok(Status::Unsure)) => Progress::Ask(Ask::Detailed),
        (asked, Ok(status)) => Progress::Done(Outcome { status, basis: Basis::Judged(asked) }),
        (_, Err(why)) => {
            Progress::Done(Outcome { status: Status::Unsure, basis: Basis::Failed(why) })
        }
    }
}
