//! What differs between two runs.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::manifest::{Manifest, RunKind};

/// How many differing parts are named.
const MOST_NAMES: usize = 5;

impl Manifest {
    /// Lists the differences to another run of the same kind.
    pub fn differences(&self, other: &Manifest) -> Vec<String> {
        match self.kind {
            RunKind::Eval => self.other_inputs(other),
            RunKind::Bench => differing_parts(&self.identity, &other.identity),
        }
    }

    /// Lists the inputs of an evaluation that differ. File names make no difference, and neither
    /// does how a reference is written.
    fn other_inputs(&self, other: &Manifest) -> Vec<String> {
        let differs = |place: &str| self.identity.pointer(place) != other.identity.pointer(place);
        let questions = [self, other].map(Manifest::question_hashes);
        // Earlier releases know only the file of the reference.
        let other_questions = if questions.iter().any(BTreeMap::is_empty) {
            differs("/reference/hash")
        } else {
            questions[0] != questions[1]
        };
        // Earlier releases stored rules only with judges.
        let rules = [self, other].map(|run| run.identity.get("rules"));
        let other_rules = matches!(rules, [Some(own), Some(others)] if own != others);
        let named = |differs: bool, name: &str| differs.then(|| name.to_owned());
        let reference = named(other_questions, "reference questions");
        let judges = named(differs("/judges") || other_rules, "models, prompts or rules");
        let shard = named(differs("/shard"), "shard");
        let inputs = reference.into_iter().chain(self.other_responses(other));
        inputs.chain(judges).chain(shard).collect()
    }

    /// Lists what differs about the responses: parts of the agent, if both runs asked one.
    fn other_responses(&self, other: &Manifest) -> Vec<String> {
        let subjects = [self, other].map(|run| run.identity.get("subject"));
        match subjects {
            [Some(own), Some(others)] => differing_parts(own, others),
            _ if self.identity.pointer("/responses/hash")
                == other.identity.pointer("/responses/hash") =>
            {
                Vec::new()
            }
            _ => vec!["responses".to_owned()],
        }
    }
}

/// Lists the keys of two identities that differ.
pub fn differing_parts(own: &Value, other: &Value) -> Vec<String> {
    let (Some(own), Some(others)) = (own.as_object(), other.as_object()) else {
        return vec!["everything".into()];
    };
    let mut keys: Vec<&String> = own.keys().chain(others.keys()).collect();
    keys.sort();
    keys.dedup();
    let differs = keys.into_iter().filter(|key| part(own, key) != part(others, key));
    differs.map(|key| detailed(key, own.get(key), others.get(key))).collect()
}

/// Returns a part of a benchmark's identity. Earlier releases made one attempt at each query, and
/// did not say so.
fn part(identity: &Map<String, Value>, key: &str) -> Option<Value> {
    let one = || (key == "trials").then(|| Value::from(1));
    identity.get(key).cloned().or_else(one)
}

/// Describes a key that differs, with the names of its differing parts, if any.
fn detailed(key: &str, one: Option<&Value>, other: Option<&Value>) -> String {
    let (Some(Value::Object(one)), Some(Value::Object(other))) = (one, other) else {
        return key.to_owned();
    };
    let mut names: Vec<&String> = one.keys().chain(other.keys()).collect();
    names.sort();
    names.dedup();
    names.retain(|name| one.get(*name) != other.get(*name));
    let (shown, n_more) = (names.iter().take(MOST_NAMES), names.len().saturating_sub(MOST_NAMES));
    let shown = shown.map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    let more = if n_more > 0 { format!(" and {n_more} more") } else { String::new() };
    format!("{key} ({shown}{more})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn bench(identity: Value) -> Manifest {
        Manifest::new(RunKind::Bench, "x", identity)
    }

    fn eval(identity: Value) -> Manifest {
        Manifest::new(RunKind::Eval, "x", identity)
    }

    #[test]
    fn what_differs_is_told_by_name() {
        let one = bench(json!({"agent": "a", "environment": {"A": "1", "B": "1"}}));
        let other =
            bench(json!({"agent": "a", "environment": {"A": "2", "C": "1"}, "pool": "own"}));
        assert_eq!(one.differences(&other), ["environment (A, B, C)", "pool"]);
        assert!(one.differences(&one.clone()).is_empty());
        assert_ne!(one.id, other.id);
    }

    #[test]
    fn a_run_that_does_not_say_so_made_one_attempt_at_each_query() {
        let unsaid = bench(json!({"agent": "a"}));
        assert!(unsaid.differences(&bench(json!({"agent": "a", "trials": 1}))).is_empty());
        let three = bench(json!({"agent": "a", "trials": 3}));
        assert_eq!(unsaid.differences(&three), ["trials"]);
    }

    #[test]
    fn a_reference_differs_by_its_questions_if_both_runs_tell_them() {
        let with = |hash: &str, questions: Value| {
            eval(json!({"reference": {"hash": hash, "questions": questions}}))
        };
        let one = with("r", json!({"q": "a"}));
        assert!(one.differences(&with("indented", json!({"q": "a"}))).is_empty());
        assert_eq!(one.differences(&with("r", json!({"q": "b"}))), ["reference questions"]);
        let earlier = eval(json!({"reference": {"hash": "r"}}));
        assert!(one.differences(&earlier).is_empty());
        assert_eq!(earlier.differences(&with("s", json!({"q": "a"}))), ["reference questions"]);
    }

    #[test]
    fn an_agent_that_was_asked_differs_by_its_parts() {
        let asked = |agent: &str, trials: u32| {
            let subject = json!({"agent": agent, "trials": trials});
            eval(json!({"responses": {"hash": format!("{agent}{trials}")}, "subject": subject}))
        };
        assert!(asked("a", 1).differences(&asked("a", 1)).is_empty());
        assert_eq!(asked("a", 1).differences(&asked("b", 3)), ["agent", "trials"]);
        let recorded = eval(json!({"responses": {"hash": "r"}}));
        assert_eq!(asked("a", 1).differences(&recorded), ["responses"]);
    }

    #[test]
    fn rules_differ_only_if_both_runs_tell_them() {
        let with = |rules: Value| eval(json!({"reference": {"hash": "r"}, "rules": rules}));
        let without = eval(json!({"reference": {"hash": "r"}}));
        assert!(without.differences(&with(json!(5))).is_empty());
        assert_eq!(with(json!(5)).differences(&with(json!(6))), ["models, prompts or rules"]);
        let other = eval(json!({"reference": {"hash": "s"}}));
        assert_eq!(without.differences(&other), ["reference questions"]);
    }
}
