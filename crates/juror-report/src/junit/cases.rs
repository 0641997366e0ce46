//! Cases from the scores of a run, and from its gates.

use std::collections::HashMap;

use juror_compare::{GateOutcome, GateVerdict};
use juror_score::{Ordered, ScoreTable};

use super::questions::{Question, questions};
use super::threshold::{Reached, Threshold};
use super::{Case, Status, Suite, Trouble, TroubleKind};

/// How many characters of an error are its message; the rest follows below.
const MESSAGE_WIDTH: usize = 200;

/// What the cases of a run are made from.
#[derive(Clone, Copy)]
pub(crate) struct Cases<'r> {
    pub(crate) scores: &'r ScoreTable,
    /// The run that it is compared with, if any.
    pub(crate) baseline: Option<&'r ScoreTable>,
    pub(crate) gates: &'r [GateOutcome],
    pub(crate) threshold: Option<&'r Threshold>,
    /// Whether questions that do not reach the threshold fail. If not, it only tells whether trials
    /// disagree.
    pub(crate) is_asked: bool,
    /// Why each row failed or has its score. Texts are empty, or there are none, if that is not known.
    pub(crate) reasons: &'r [String],
    /// How the expected results of each row have moved with the graph, if they have.
    pub(crate) moved: &'r [String],
}

impl<'r> Cases<'r> {
    /// A suite for each template or set, with a case for each question.
    pub(crate) fn suites(&self) -> Vec<Suite> {
        let before = self.baseline.map(questions).unwrap_or_default();
        let reached = self.threshold.map(|threshold| threshold.reached(self.scores));
        let broken = self.broken_gates();
        let mut suites: Ordered<&str, Suite> = Ordered::default();
        for (key, question) in questions(self.scores) {
            let found = self.found(&question, reached.as_deref());
            let case = Case {
                name: key.id.to_owned(),
                seconds: question.seconds(),
                properties: self.properties(&question, before.get(&key)),
                status: self.status(found, broken.get(key.id).copied()),
            };
            let suite = || Suite { name: key.group.to_owned(), cases: Vec::new() };
            suites.entry(key.group).or_insert_with(suite).cases.push(case);
        }
        suites.into_values().collect()
    }

    fn properties(
        &self,
        question: &Question<'_>,
        before: Option<&Question<'_>>,
    ) -> Vec<(String, String)> {
        let mut all = properties(question, before);
        let moved = question.rows.first().and_then(|row| self.moved.get(*row));
        let moved = moved.filter(|moved| !moved.is_empty());
        all.extend(moved.map(|moved| ("graph_moved".to_owned(), moved.clone())));
        all
    }

    /// The first gate on single questions that each question breaks.
    fn broken_gates(&self) -> HashMap<&'r str, &'r GateOutcome> {
        let blocking = self.gates.iter().filter(|gate| gate.verdict == GateVerdict::Block);
        let mut broken = HashMap::new();
        for (gate, id) in blocking.flat_map(|gate| gate.questions.iter().map(move |id| (gate, id)))
        {
            broken.entry(id.as_str()).or_insert(gate);
        }
        broken
    }

    fn status(&self, found: Found, gate: Option<&GateOutcome>) -> Status {
        match gate {
            Some(gate) if !found.is_all_errors() => {
                return Status::Failed(failed_gate(gate), found.troubles);
            }
            _ if found.is_mixed() => return Status::Flaky(found.troubles),
            _ => {}
        }
        let mut troubles = found.troubles.into_iter();
        match (troubles.next(), self.threshold) {
            (Some(first), _) => Status::Failed(first, troubles.collect()),
            (None, Some(threshold)) if found.n_passed == 0 => {
                Status::Skipped(format!("{} does not apply", threshold.metric))
            }
            (None, _) => Status::Passed,
        }
    }

    /// How the answers to a question came out.
    fn found(&self, question: &Question<'_>, reached: Option<&[Reached]>) -> Found {
        let found = self.found_by(question, reached);
        // Nobody asked for the score: it only matters where trials disagree.
        if self.is_asked || found.is_mixed() { found } else { self.found_by(question, None) }
    }

    fn found_by(&self, question: &Question<'_>, reached: Option<&[Reached]>) -> Found {
        let mut found = Found::default();
        for &row in &question.rows {
            match self.outcome(row, reached) {
                Outcome::Passed => found.n_passed += 1,
                Outcome::Unknown => found.n_unknown += 1,
                Outcome::Trouble(trouble) => found.troubles.push(trouble),
            }
        }
        found
    }

    fn outcome(&self, row: usize, reached: Option<&[Reached]>) -> Outcome {
        let reason = self.reasons.get(row).filter(|reason| !reason.is_empty());
        let trouble = |kind, message| Trouble { kind, message, why: reason.cloned() };
        if self.scores.items()[row].is_error {
            return Outcome::Trouble(error(reason));
        }
        match reached.map(|reached| &reached[row]) {
            None | Some(Reached::Yes) => Outcome::Passed,
            Some(Reached::NotApplicable) => Outcome::Unknown,
            Some(Reached::No(complaint)) => {
                Outcome::Trouble(trouble(TroubleKind::Failure, complaint.clone()))
            }
            Some(Reached::Unscored) => {
                let metric = self.threshold.map_or("", |threshold| &threshold.metric);
                let message = format!("{metric} could not be computed");
                Outcome::Trouble(trouble(TroubleKind::Error, message))
            }
        }
    }
}

/// How the answers to a question came out.
#[derive(Default)]
struct Found {
    n_passed: usize,
    /// Those to which the metric does not apply.
    n_unknown: usize,
    troubles: Vec<Trouble>,
}

impl Found {
    fn is_mixed(&self) -> bool {
        self.n_passed > 0 && !self.troubles.is_empty()
    }

    /// Whether there is not even a wrong answer.
    fn is_all_errors(&self) -> bool {
        let is_error = |trouble: &Trouble| trouble.kind == TroubleKind::Error;
        self.n_passed + self.n_unknown == 0 && self.troubles.iter().all(is_error)
    }
}

/// How one answer came out.
enum Outcome {
    Passed,
    Trouble(Trouble),
    /// The metric does not apply.
    Unknown,
}

/// An answer that failed or is missing: the beginning of the reason, and the whole of it if it is
/// longer.
fn error(reason: Option<&String>) -> Trouble {
    let kind = TroubleKind::Error;
    let Some(reason) = reason else {
        return Trouble { kind, message: "failed, or there is no answer".into(), why: None };
    };
    let message: String = reason.lines().next().unwrap_or("").chars().take(MESSAGE_WIDTH).collect();
    let why = (message != *reason).then(|| reason.clone());
    Trouble { kind, message, why }
}

/// The scores of a question, those of the baseline, and how often it was answered.
fn properties(question: &Question<'_>, before: Option<&Question<'_>>) -> Vec<(String, String)> {
    let text = |score: f64| score.to_string();
    let own = question.scores().map(|(name, score)| (name.to_owned(), text(score)));
    let earlier = before.into_iter().flat_map(Question::scores);
    let earlier = earlier.map(|(name, score)| (format!("baseline.{name}"), text(score)));
    let n_trials = question.rows.len();
    let trials = (n_trials > 1).then(|| ("trials".to_owned(), n_trials.to_string()));
    own.chain(earlier).chain(trials).collect()
}

/// The gates as a suite of their own; `None` if there are none.
pub(crate) fn gate_suite(name: &str, gates: &[GateOutcome]) -> Option<Suite> {
    let cases: Vec<Case> = gates.iter().map(gate_case).collect();
    (!cases.is_empty()).then(|| Suite { name: name.to_owned(), cases })
}

fn gate_case(gate: &GateOutcome) -> Case {
    let status = match gate.verdict {
        GateVerdict::Pass | GateVerdict::Warn => Status::Passed,
        GateVerdict::Inconclusive => Status::Skipped(gate.why.clone()),
        GateVerdict::Block => Status::Failed(failed_gate(gate), Vec::new()),
    };
    let why = (status == Status::Passed).then(|| ("why".to_owned(), gate.why.clone()));
    let verdict = ("verdict".to_owned(), gate.verdict.word().to_owned());
    let properties = std::iter::once(verdict).chain(why).collect();
    Case { name: gate.gate.clone(), seconds: None, properties, status }
}

fn failed_gate(gate: &GateOutcome) -> Trouble {
    let message = format!("gate not met: {}", gate.gate);
    Trouble { kind: TroubleKind::Failure, message, why: Some(gate.why.clone()) }
}
