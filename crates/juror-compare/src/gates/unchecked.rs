//! Gates that a command does not check, and why.

use std::fmt;

use super::{Gate, Gates};
use crate::statistics::Kind;

/// How many runs there are to check gates on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunCount {
    /// One, by itself.
    One,
    /// A baseline, and others that are compared with it.
    Several,
}

/// Why a gate is not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unchecked {
    /// It is about the change from one run to another, and there is only one.
    TakesTwoRuns,
    /// Runs of this kind cannot have its metric.
    OtherKind(Kind),
}

impl Gate {
    /// Says why the gate is not checked on runs of a kind; `None` if it is.
    pub fn unchecked(&self, kind: Kind, runs: RunCount) -> Option<Unchecked> {
        if self.metric().is_some_and(|metric| !kind.can_have(metric)) {
            Some(Unchecked::OtherKind(kind))
        } else if self.needs_baseline() && runs == RunCount::One {
            Some(Unchecked::TakesTwoRuns)
        } else {
            None
        }
    }
}

impl Gates {
    /// The gates that are not checked on runs of a kind, and why.
    pub fn unchecked(
        &self,
        kind: Kind,
        runs: RunCount,
    ) -> impl Iterator<Item = (&Gate, Unchecked)> {
        self.gates.iter().filter_map(move |gate| Some((gate, gate.unchecked(kind, runs)?)))
    }
}

impl fmt::Display for Unchecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unchecked::TakesTwoRuns => "it takes two runs",
            Unchecked::OtherKind(Kind::Eval) => "answers to questions do not have the metric",
            Unchecked::OtherKind(Kind::Bench) => "attempts of agents do not have the metric",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::{ChangeLimit, Condition, LevelLimit, Margin};

    #[test]
    fn a_gate_says_why_it_is_not_checked() {
        let limit = ChangeLimit::MaxDrop(Margin::Absolute(0.1));
        let fall = Gate::blocking(Condition::Change { metric: "steps_score".into(), limit });
        let gates = Gates {
            gates: vec![
                Gate::on_mean("steps_score", LevelLimit::Min(0.5)),
                Gate::on_mean("sopr_score", LevelLimit::Min(0.5)),
                Gate::on_mean("taste", LevelLimit::Min(0.5)),
                fall,
            ],
            ..Gates::default()
        };
        let words = |kind, runs| -> Vec<String> {
            let unchecked = gates.unchecked(kind, runs);
            unchecked.map(|(gate, why)| format!("{gate}: {why}")).collect()
        };
        let of_agents = "sopr_score at least 0.5: answers to questions do not have the metric";
        let two = "steps_score may fall 0.1: it takes two runs";
        assert_eq!(words(Kind::Eval, RunCount::One), [of_agents, two]);
        assert_eq!(words(Kind::Eval, RunCount::Several), [of_agents]);
        assert_eq!(words(Kind::Bench, RunCount::Several).len(), 2);
    }
}
