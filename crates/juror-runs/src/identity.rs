//! The identity of a run: everything that affects its outcome.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use serde_json::Value;

use crate::fingerprint::short_hash;
use crate::manifest::{Manifest, RunKind};
use crate::shard::ShardIdentity;

/// How many characters of a run's id are shown to people.
const SHORT: usize = 6;

/// What identifies an evaluation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct EvalIdentity {
    /// The questions.
    pub reference: ReferenceIdentity,
    /// The responses to them.
    pub responses: InputIdentity,
    /// The agent that gave them when it was asked, as the identity of a benchmark has it; absent if
    /// they were recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<Value>,
    /// Models with their parameters, and hashes of prompts; null if no model judged.
    pub judges: Option<Value>,
    /// The rules of scoring and judging, in the words of the settings.
    #[serde(default)]
    pub rules: Value,
    /// Which part of the reference the questions are; absent if they are all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardIdentity>,
}

/// What identifies an input file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InputIdentity {
    /// The name that the user gave.
    pub name: String,
    /// The hash of the content.
    pub hash: String,
}

/// What identifies a reference.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReferenceIdentity {
    /// The name that the user gave.
    pub name: String,
    /// The hash of the content.
    pub hash: String,
    /// For each question, a hash of everything in it that decides a score.
    #[serde(default)]
    pub questions: BTreeMap<String, String>,
    /// How many further questions the reference has that were not to be asked.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// What identifies a benchmark.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct BenchIdentity {
    /// The release of Juror.
    pub juror: String,
    /// The agent's name.
    pub name: String,
    /// The agent as the user writes it, with hashes in place of keys.
    pub agent: String,
    /// Hashes of the files that the agent's command names.
    #[serde(rename = "agent files")]
    pub agent_files: BTreeMap<String, String>,
    /// The agent's description of itself.
    #[serde(rename = "agent's own word")]
    pub declared: Option<Value>,
    /// The agent's method, if it has one to choose.
    pub method: Option<String>,
    /// How much of the pool the agent sees.
    pub pool: String,
    /// The built-in agent's limits.
    pub limits: BTreeMap<String, String>,
    /// The model that Juror calls for the agent: name, address, parameters.
    pub model: Option<Value>,
    /// The environment that reaches the agent: names, and hashes of values.
    pub environment: BTreeMap<String, String>,
    /// For each query, as `set/id`, a hash of everything in it that decides an answer or a score.
    pub queries: BTreeMap<String, String>,
    /// How many attempts are made at each query.
    #[serde(default)]
    pub trials: u32,
    /// The hash of the tool folder.
    pub tools: Option<String>,
    /// The hash of the settings that affect how calls are answered.
    #[serde(rename = "tool options")]
    pub tool_options: Option<String>,
    /// The sources of tool replies, in order.
    pub sources: Option<Vec<String>>,
    /// The model that simulates tools.
    pub simulator: Option<Value>,
    /// Hashes of the places of known replies.
    pub cache: BTreeMap<String, String>,
    /// The tool server, if it is another process.
    pub server: Option<String>,
    /// Which part of a list the queries are; absent if they are all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<ShardIdentity>,
}

/// Returns the schema of an identity, which depends on the kind of the run.
pub(crate) fn identity_schema(generator: &mut SchemaGenerator) -> Schema {
    let kinds =
        [generator.subschema_for::<EvalIdentity>(), generator.subschema_for::<BenchIdentity>()];
    json_schema!({"description": "Everything that affects the outcome.", "anyOf": kinds})
}

/// Returns the JSON Schema of `run.json`.
pub fn run_schema() -> Value {
    schemars::schema_for!(Manifest).to_value()
}

impl Manifest {
    /// Returns the first characters of the id, for people.
    pub fn short_id(&self) -> &str {
        self.id.get(..SHORT).unwrap_or(&self.id)
    }

    /// Returns a hash of all questions or queries: equal ones have equal hashes, however their file
    /// is written. `None` if the run does not say.
    pub fn reference_hash(&self) -> Option<String> {
        let questions = self.identity.pointer(self.place_of_questions());
        let of_questions =
            questions.and_then(Value::as_object).map(|hashes| short_hash(&text_of(hashes)));
        // Earlier releases know only the file.
        let of_file = || self.identity.pointer("/reference/hash")?.as_str().map(ToOwned::to_owned);
        of_questions.or_else(of_file)
    }

    fn place_of_questions(&self) -> &'static str {
        match self.kind {
            RunKind::Eval => "/reference/questions",
            RunKind::Bench => "/queries",
        }
    }

    /// Returns the hash of each question by its id, or of each query by `set/id`; empty if the run
    /// does not say, as those of earlier releases.
    pub fn question_hashes(&self) -> BTreeMap<&str, &str> {
        let hashes = self.identity.pointer(self.place_of_questions()).and_then(Value::as_object);
        let hashes = hashes.into_iter().flatten();
        hashes.filter_map(|(id, hash)| Some((id.as_str(), hash.as_str()?))).collect()
    }

    /// Returns how many attempts a benchmark makes at each query; `None` for an evaluation.
    pub fn trials(&self) -> Option<u64> {
        let trials = self.identity.get("trials").and_then(Value::as_u64);
        (self.kind == RunKind::Bench).then(|| trials.unwrap_or(1).max(1))
    }

    /// Returns which shard of which list the run is; `None` if it is all of it.
    pub fn shard(&self) -> Option<ShardIdentity> {
        serde_json::from_value(self.identity.get("shard")?.clone()).ok()
    }

    /// Returns the rules of scoring and judging; `None` for a benchmark, or if the run does not say.
    pub fn rules(&self) -> Option<&Value> {
        // Earlier releases stored rules only with judges.
        let rules = self.identity.get("rules").or_else(|| self.identity.pointer("/judges/rules"));
        rules.filter(|rules| !rules.is_null())
    }

    /// Returns who judged: runs with equal values can be compared by judged metrics. `None` if
    /// nobody did.
    pub fn judge(&self) -> Option<Value> {
        let judge = match self.kind {
            RunKind::Eval => self.identity.get("judges"),
            RunKind::Bench => self.judge.as_ref(),
        };
        let mut judge = judge.filter(|judge| !judge.is_null())?.clone();
        if let Some(parts) = judge.as_object_mut() {
            parts.remove("rules");
        }
        Some(judge)
    }
}

fn text_of(map: &serde_json::Map<String, Value>) -> String {
    // Keys are sorted.
    serde_json::to_string(map).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_equal_reference_is_known_by_its_questions_however_it_is_written() {
        let hash = |reference: Value| {
            Manifest::new(RunKind::Eval, "x", json!({"reference": reference})).reference_hash()
        };
        let one = json!({"hash": "r", "questions": {"q1": "a", "q2": "b"}});
        let indented = json!({"hash": "s", "questions": {"q2": "b", "q1": "a"}});
        let changed = json!({"hash": "r", "questions": {"q1": "a", "q2": "c"}});
        assert_eq!(hash(one.clone()), hash(indented));
        assert_ne!(hash(one), hash(changed));
        assert_eq!(hash(json!({"hash": "r"})).as_deref(), Some("r"), "of an earlier release");
        assert_eq!(hash(json!({})), None);
    }

    #[test]
    fn an_evaluation_tells_what_decides_its_scores() {
        let identity = json!({
            "reference": {"hash": "r", "questions": {"q1": "a", "q2": "b"}},
            "judges": {"chat": {"model": "m"}, "rules": 1},
            "rules": 5,
        });
        let run = Manifest::new(RunKind::Eval, "x", identity);
        assert_eq!(run.question_hashes(), BTreeMap::from([("q1", "a"), ("q2", "b")]));
        assert_eq!(run.rules(), Some(&json!(5)));
        assert_eq!(run.judge(), Some(json!({"chat": {"model": "m"}})));
        assert_eq!(run.short_id(), &run.id[..6]);
    }

    #[test]
    fn an_evaluation_of_an_earlier_release_tells_what_it_can() {
        let judged = json!({"reference": {"hash": "r"}, "judges": {"chat": 1, "rules": 5}});
        let run = Manifest::new(RunKind::Eval, "x", judged);
        assert_eq!((run.rules(), run.question_hashes().len()), (Some(&json!(5)), 0));
        let unjudged = json!({"reference": {"hash": "r"}, "judges": null});
        let run = Manifest::new(RunKind::Eval, "x", unjudged);
        assert_eq!((run.rules(), run.judge()), (None, None));
    }

    #[test]
    fn a_benchmark_is_told_by_its_queries() {
        let run = |queries: Value| Manifest::new(RunKind::Bench, "x", json!({"queries": queries}));
        let one = run(json!({"G1/1": "a"}));
        assert_eq!(one.question_hashes(), BTreeMap::from([("G1/1", "a")]));
        assert_eq!(one.reference_hash(), run(json!({"G1/1": "a"})).reference_hash());
        assert_ne!(one.reference_hash(), run(json!({"G1/1": "b"})).reference_hash());
        assert_eq!(one.trials(), Some(1));
        let judged = one.with_judge(json!({"model": "m"}));
        assert_eq!(judged.judge(), Some(json!({"model": "m"})));
    }

    #[test]
    fn the_schema_knows_both_kinds() {
        let schema = run_schema().to_string();
        for word in ["questions", "agent's own word", "work_tree", "juror.run/1"] {
            assert!(schema.contains(word), "{word}");
        }
    }
}
