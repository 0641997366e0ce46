//! What is asked about one answer, and what comes of the replies.

use super::status::Status;
use crate::answer::{Answer, Finish, read_finish};

/// What a judge is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Whether the final answer solves the query.
    Status,
    /// The same, with everything the agent did, since the final answer left it open.
    Detailed,
}

/// Where judging an answer stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A judge has to be asked.
    Ask(Ask),
    /// It is decided.
    Done(Outcome),
}

/// What judging an answer came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The status.
    pub status: Status,
    /// What it rests on.
    pub basis: Basis,
}

/// What a status rests on.
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
    /// A judge said so.
    Judged(Ask),
    /// No judge could be asked, or none gave a verdict; why.
    Failed(String),
}

impl Basis {
    /// What it rests on, in words; `None` if a judge has words of its own.
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

/// How giving up is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GiveUp {
    /// By what the agent gave to `Finish`.
    #[default]
    Said,
    /// By the word for it, wherever it stands, as the public evaluation does.
    Mentioned,
}

/// Begins to judge an answer: without one, without `Finish`, with an empty answer or after giving
/// up, no judge is asked.
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

/// What the reply to a question leads to: a status that is open is asked about once more, in
/// detail. A judge that fails leaves it open.
pub fn go_on(asked: Ask, reply: Result<Status, String>) -> Progress {
    match (asked, reply) {
        (Ask::Status, Ok(Status::Unsure)) => Progress::Ask(Ask::Detailed),
        (asked, Ok(status)) => Progress::Done(Outcome { status, basis: Basis::Judged(asked) }),
        (_, Err(why)) => {
            Progress::Done(Outcome { status: Status::Unsure, basis: Basis::Failed(why) })
        }
    }
}
