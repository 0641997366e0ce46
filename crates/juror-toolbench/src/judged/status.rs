//! Whether an answer solves its query.

use std::fmt;

/// Whether an answer solves its query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// It does not.
    Unsolved,
    /// In part, or it cannot be told.
    Unsure,
    /// It does.
    Solved,
}

impl Status {
    const ALL: [Status; 3] = [Status::Unsolved, Status::Unsure, Status::Solved];

    /// What it counts: 1, 0.5 or 0.
    pub fn score(self) -> f64 {
        match self {
            Status::Solved => 1.0,
            Status::Unsure => 0.5,
            Status::Unsolved => 0.0,
        }
    }

    /// The status with a score.
    pub fn of_score(score: f64) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.score() == score)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Status::Solved => "Solved",
            Status::Unsure => "Unsure",
            Status::Unsolved => "Unsolved",
        }
    }

    /// The status that a judge's word names; `None` for another word.
    pub fn of_reply(word: &str) -> Option<Status> {
        let word = word.trim();
        let word = word.strip_prefix(FILE_PREFIX).unwrap_or(word);
        Status::ALL.into_iter().find(|status| word.eq_ignore_ascii_case(status.name()))
    }

    /// The status in a file of judgements, where each stands with a prefix. A word without it is
    /// none, and counts nothing: so it is published.
    pub fn of_file(word: &str) -> Option<Status> {
        let word = word.strip_prefix(FILE_PREFIX)?;
        Status::ALL.into_iter().find(|status| word == status.name())
    }

    /// The status as files of judgements have it.
    pub fn file_word(self) -> String {
        format!("{FILE_PREFIX}{self}")
    }
}

const FILE_PREFIX: &str = "AnswerStatus.";

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The status that most judge runs came to. Where several are as frequent, it is unsure; without
/// any run, unsolved.
pub fn majority(statuses: &[Status]) -> Status {
    let count = |status: &Status| statuses.iter().filter(|other| *other == status).count();
    let most = Status::ALL.iter().map(count).max().unwrap_or_default();
    let mut leading = Status::ALL.into_iter().filter(|status| count(status) == most);
    match (leading.next(), leading.next()) {
        _ if most == 0 => Status::Unsolved,
        (Some(only), None) => only,
        _ => Status::Unsure,
    }
}

/// Whether a query can be solved at all, as an older evaluation asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solvability {
    /// It can.
    Solvable,
    /// It cannot be told.
    Unsure,
    /// It cannot.
    Unsolvable,
}

/// What an older evaluation makes of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// The agent did all it could.
    Passed,
    /// It cannot be told.
    Unsure,
    /// The agent did not.
    Failed,
}

/// The older pass: an answer that does not solve what cannot be solved is none the worse for it.
pub fn passes(answer: Status, query: Solvability) -> Pass {
    match (answer, query) {
        (Status::Solved, _) | (_, Solvability::Unsolvable) => Pass::Passed,
        (Status::Unsolved, Solvability::Solvable) => Pass::Failed,
        (Status::Unsure, _) | (_, Solvability::Unsure) => Pass::Unsure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Status::{Solved, Unsolved, Unsure};

    #[test]
    fn words_are_read() {
        let check = |word: &str, of_reply: Option<Status>, of_file: Option<Status>| {
            assert_eq!(
                (Status::of_reply(word), Status::of_file(word)),
                (of_reply, of_file),
                "{word}"
            );
        };
        check("Solved", Some(Solved), None);
        check("AnswerStatus.Unsure", Some(Unsure), Some(Unsure));
        check(" unsolved\n", Some(Unsolved), None);
        check("Maybe", None, None);
        check("AnswerStatus.Solved ", Some(Solved), None);
        check("", None, None);
    }

    #[test]
    fn most_runs_decide_and_a_tie_is_unsure() {
        let check = |statuses: &[Status], wanted| assert_eq!(majority(statuses), wanted);
        check(&[Solved, Solved, Unsolved], Solved);
        check(&[Solved, Unsolved], Unsure);
        check(&[Solved, Unsure, Unsolved], Unsure);
        check(&[Unsolved, Unsure, Unsolved], Unsolved);
        check(&[], Unsolved);
    }
}
