//! Whose fault it is that an answer does not match: the graph's, which moved, or the agent's.

use juror_score::{Case, Profile, Question, Trajectory, score};

/// How an agent stands to a result that has moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The agent is right by the graph as it is now, and would be wrong by what was recorded.
    Graph,
    /// The agent is right by what was recorded, and no longer: it was asked before the graph moved.
    Time,
    /// The agent is as right or wrong by both.
    Agent,
}

impl Blame {
    /// Scores an answer by both results.
    pub fn of(
        recorded: &Question<'_>,
        fresh: &Question<'_>,
        trajectory: &Trajectory<'_>,
        profile: &Profile,
    ) -> Blame {
        let steps_score = |question| {
            let record = score(&Case { question, trajectory }, profile);
            record.matching.map_or(0.0, |matching| matching.score)
        };
        let (then, now) = (steps_score(recorded), steps_score(fresh));
        if now > then {
            Blame::Graph
        } else if now < then {
            Blame::Time
        } else {
            Blame::Agent
        }
    }

    /// Says it in words.
    pub fn in_words(self) -> &'static str {
        match self {
            Blame::Graph => "the graph moved; the agent is right by the graph as it is now",
            Blame::Time => "the graph moved; the agent is right by what was recorded before",
            Blame::Agent => "the agent is no better by one result than by the other",
        }
    }
}
