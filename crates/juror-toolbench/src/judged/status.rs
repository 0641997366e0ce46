//! Whether an answer solves its query.

use std::fmt;

/// Whether an answer solves its query.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Status {
    /// It does not.
    Unsolved,
    /// Only in part, or it is unclear.
    Unsure,
    /// It does.
    Solved,
}

impl Status {
    const ALL: [Status; 3] = [Status::Unsolved, Status::Unsure, Status::Solved];

    /// Returns 1, 0.5 or 0.
    pub fn score(self) -> f64 {
        match self {
            Status::Solved => 1.0,
            Status::Unsure => 0.5,
            Status::Unsolved => 0.0,
        }
    }

    /// Returns the status with this score.
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

    /// Parses a judge's word; returns `None` for any other word.
    pub fn of_reply(word: &str) -> Option<Status> {
        let word = word.trim();
        let word = word.strip_prefix(FILE_PREFIX).unwrap_or(word);
        Status::ALL.into_iter().find(|status| word.eq_ignore_ascii_case(status.name()))
    }

    /// Parses a status in a file of judgements, where each has a prefix. As published, a word
    /// without the prefix is not a status and counts as 0.
    pub fn of_file(word: &str) -> Option<Status> {
        let word = word.strip_prefix(FILE_PREFIX)?;
        Status::ALL.into_iter().find(|status| word == status.name())
    }

    /// Returns the status as files of judgements write it.
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

/// Returns the status that most judge runs gave: unsure if several are equally frequent, unsolved
/// if there are no runs.
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
    /// It is unclear.
    Unsure,
    /// It cannot.
    Unsolvable,
}

/// How an older evaluation combines status and solvability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// The agent did all it could.
    Passed,
    /// It is unclear.
    Unsure,
    /// The agent did not.
    Failed,
}

/// Computes the older pass. Failing to solve an unsolvable query counts as a pass.
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
