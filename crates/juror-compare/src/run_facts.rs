//! What identifies a run, as far as comparing it with others needs to know.

use hashbrown::HashMap;
use juror_score::{JudgedBy, Release};
use schemars::JsonSchema;
use serde::Serialize;

use crate::statistics::Kind;

/// A run's name, and everything that must be equal for two runs to be comparable.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunFacts {
    /// The name of what was judged.
    pub name: String,
    /// The folder or file that was read.
    pub source: String,
    /// A short hash of everything that decides the outcome; `None` for a file of results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// When it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub began: Option<String>,
    /// What its rows are.
    pub kind: Kind,
    /// Whether it ran to its end.
    pub is_complete: bool,
    /// What is wrong with its results, if they are not those that it had when it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
    /// The hash of the reference or of all queries.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The rules of scoring, as text that is equal for equal rules.
    #[serde(skip)]
    pub rules: Option<String>,
    /// The profile that the rules are based on, for results that tell no more of their rules.
    #[serde(skip)]
    pub release: Option<Release>,
    /// The judge: its models, parameters and prompts, as text that is equal for equal judges.
    #[serde(skip)]
    pub judge: Option<String>,
    /// Who judged, as far as the results say; for runs whose judge is not known better.
    #[serde(skip)]
    pub judged_by: Option<JudgedBy>,
    /// The hash of each question, by group and id, or by id with an empty group; empty if hashes are
    /// not known.
    #[serde(skip)]
    pub questions: HashMap<(String, String), String>,
}

/// Something in which two runs differ, so that they cannot be compared as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// One has answers to questions, the other attempts of an agent.
    Kind,
    /// The reference questions or queries.
    Reference,
    /// The rules of scoring.
    Rules,
    /// The profiles, and with them the rules of scoring: 5 and 6, or 6 and 5.
    Profiles {
        /// Whether the first run is of profile 6.
        first_is_6: bool,
    },
}

impl Difference {
    /// Names it.
    pub fn name(self) -> &'static str {
        match self {
            Difference::Kind => "the kind of run",
            Difference::Reference => "the reference questions",
            Difference::Rules | Difference::Profiles { .. } => "the rules of scoring",
        }
    }

    /// Says which profiles differ, if it is they.
    pub(crate) fn profiles(self) -> Option<&'static str> {
        match self {
            Difference::Profiles { first_is_6: false } => Some("profile 5 and profile 6"),
            Difference::Profiles { first_is_6: true } => Some("profile 6 and profile 5"),
            Difference::Kind | Difference::Reference | Difference::Rules => None,
        }
    }
}

impl RunFacts {
    /// A file of results without a manifest.
    pub fn of_file(source: &str, kind: Kind) -> RunFacts {
        RunFacts {
            name: source.to_owned(),
            source: source.to_owned(),
            id: None,
            began: None,
            kind,
            is_complete: true,
            damage: None,
            reference: None,
            rules: None,
            release: None,
            judge: None,
            judged_by: None,
            questions: HashMap::new(),
        }
    }

    /// Lists what differs from another run, as far as both know it.
    pub fn differences(&self, other: &RunFacts) -> Vec<Difference> {
        let known = |one: &Option<String>, other: &Option<String>| {
            one.is_some() && other.is_some() && one != other
        };
        // Nothing else can be compared between a question and a query.
        if self.kind != other.kind {
            return vec![Difference::Kind];
        }
        let is_of_other_release = self.is_of_other_release(other);
        let profiles = Difference::Profiles { first_is_6: self.release == Some(Release::Six) };
        let differs = [
            (Difference::Reference, known(&self.reference, &other.reference)),
            (profiles, is_of_other_release),
            (Difference::Rules, !is_of_other_release && known(&self.rules, &other.rules)),
        ];
        differs.into_iter().filter(|(_, differs)| *differs).map(|(what, _)| what).collect()
    }

    fn is_of_other_release(&self, other: &RunFacts) -> bool {
        self.release.zip(other.release).is_some_and(|(own, theirs)| own != theirs)
    }

    /// The hash of a question, if it is known.
    pub fn question_hash(&self, group: &str, id: &str) -> Option<&str> {
        let by = |group: &str| self.questions.get(&(group.to_owned(), id.to_owned()));
        by(group).or_else(|| by("")).map(String::as_str)
    }

    /// Whether another run was judged by the same judge; `None` if that is not known.
    pub fn has_judge_of(&self, other: &RunFacts) -> Option<bool> {
        match (&self.judge, &other.judge) {
            (Some(own), Some(theirs)) => Some(own == theirs),
            _ => Some(self.judged_by.as_ref()?.agrees_with(other.judged_by.as_ref()?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn judged(judge: Option<&str>, model: Option<&str>) -> RunFacts {
        let by = |model: &str| JudgedBy {
            model: model.to_owned(),
            embedding: None,
            prompts: BTreeMap::new(),
        };
        RunFacts {
            judge: judge.map(str::to_owned),
            judged_by: model.map(by),
            ..RunFacts::of_file("run", Kind::Eval)
        }
    }

    #[test]
    fn profiles_that_differ_are_named_in_the_order_of_the_runs() {
        let of = |release| RunFacts {
            release: Some(release),
            rules: Some(format!("{release:?}")),
            ..RunFacts::of_file("run", Kind::Eval)
        };
        let (five, six) = (of(Release::Five), of(Release::Six));
        assert_eq!(five.differences(&five), []);
        let told = |one: &RunFacts, other| {
            one.differences(other).into_iter().filter_map(Difference::profiles).collect::<Vec<_>>()
        };
        assert_eq!(told(&five, &six), ["profile 5 and profile 6"]);
        assert_eq!(told(&six, &five), ["profile 6 and profile 5"]);
        let bench = RunFacts { release: Some(Release::Six), ..RunFacts::of_file("b", Kind::Bench) };
        assert_eq!(five.differences(&bench), [Difference::Kind], "the rest does not matter");
    }

    #[test]
    fn judges_are_compared_by_what_both_runs_say() {
        let (folder, file) = (judged(Some("m with prompts"), Some("m")), judged(None, Some("m")));
        let (other, unknown) = (judged(None, Some("n")), judged(None, None));
        assert_eq!(folder.has_judge_of(&file), Some(true), "its own results");
        assert_eq!(file.has_judge_of(&other), Some(false));
        assert_eq!(folder.has_judge_of(&other), Some(false));
        assert_eq!(folder.has_judge_of(&judged(Some("n with prompts"), Some("m"))), Some(false));
        for known in [&folder, &file, &unknown] {
            assert_eq!(known.has_judge_of(&unknown), None);
        }
    }
}
