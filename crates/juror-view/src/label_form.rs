//! What pages of labels are asked for, and what people answer.

use juror_compare::Choice;
use juror_labels::JudgedAnswer;
use juror_runs::short_hash;
use juror_serve::url_parts::field;

/// How many answers people get by default, and at most.
const USUAL_N: usize = 100;
const MOST_N: usize = 100_000;

/// The longest name of a person, in characters.
const MOST_NAME: usize = 200;

/// What a page of labels is about.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LabelTask {
    /// The metric; `None` for the one that says best whether answers are right.
    pub(crate) metric: Option<String>,
    /// Who labels; empty for somebody without a name.
    pub(crate) by: String,
    /// How many answers.
    pub(crate) n: usize,
    /// Which of them to show; `None` for the first without a label of this person.
    pub(crate) at: Option<usize>,
}

impl LabelTask {
    /// Reads the task from the parameters of an address or a form. A name that the server was
    /// started with is the name of everybody.
    pub(crate) fn read(parameters: &str, name: Option<&str>) -> LabelTask {
        let given = |name: &str| field(parameters, name).filter(|value| !value.trim().is_empty());
        let by = name.map(ToOwned::to_owned).or_else(|| given("by")).unwrap_or_default();
        let n = given("n").and_then(|n| n.parse().ok()).unwrap_or(USUAL_N);
        LabelTask {
            metric: given("metric"),
            by: by.trim().chars().take(MOST_NAME).collect(),
            n: n.clamp(1, MOST_N),
            at: given("at").and_then(|at| at.parse().ok()),
        }
    }

    /// The choice that `juror label` makes.
    pub(crate) fn choice(&self) -> Choice {
        Choice { n: self.n, random_share: 0.5, seed: 1 }
    }
}

/// What a person says about an answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answered {
    pub(crate) label: f64,
    pub(crate) note: Option<String>,
    id: String,
    group: String,
    trial: String,
    shown: String,
}

impl Answered {
    /// Reads a form; `None` if it is not one of ours.
    pub(crate) fn read(form: &str) -> Option<Answered> {
        let given = |name: &str| field(form, name);
        let label = match given("label")?.as_str() {
            "right" => 1.0,
            "wrong" => 0.0,
            "unsure" => 0.5,
            _ => return None,
        };
        Some(Answered {
            label,
            note: given("note").map(|note| note.trim().to_owned()).filter(|note| !note.is_empty()),
            id: given("id")?,
            group: given("group")?,
            trial: given("trial")?,
            shown: given("shown")?,
        })
    }

    /// Whether it is about an answer, whatever the run has of it by now.
    pub(crate) fn is_about(&self, answer: &JudgedAnswer) -> bool {
        self.id == answer.id && self.group == answer.group && self.trial == trial_text(answer)
    }

    /// Whether an answer is still the one that was shown.
    pub(crate) fn has_seen(&self, answer: &JudgedAnswer) -> bool {
        self.shown == seen(answer)
    }
}

pub(crate) fn trial_text(answer: &JudgedAnswer) -> String {
    answer.trial.map_or(String::new(), |trial| trial.to_string())
}

/// A hash of what people see of an answer.
pub(crate) fn seen(answer: &JudgedAnswer) -> String {
    let texts = [Some(&answer.question), answer.reference_answer.as_ref(), answer.answer.as_ref()];
    short_hash(&format!("{texts:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_has_limits_and_a_name_that_was_given_counts_for_everybody() {
        let task = LabelTask::read("metric=m&by=+ann+&n=5&at=2", None);
        assert_eq!((task.metric.as_deref(), &*task.by, task.n), (Some("m"), "ann", 5));
        let task = LabelTask::read("n=0&by=ann&at=x&metric=", Some("bob"));
        assert_eq!(task, LabelTask { metric: None, by: "bob".into(), n: 1, at: None });
    }

    #[test]
    fn a_form_says_one_of_three_words() {
        let form = |label: &str| format!("label={label}&id=q%201&group=t&trial=&shown=abc&note=+");
        for (word, label) in [("right", 1.0), ("wrong", 0.0), ("unsure", 0.5)] {
            let read = Answered::read(&form(word)).expect("a form");
            assert_eq!((read.label, read.note, &*read.id), (label, None, "q 1"));
        }
        assert_eq!(Answered::read(&form("maybe")), None);
        assert_eq!(Answered::read("label=right"), None);
    }
}
