//! Which judge it is, so that a calibration is not applied to another one.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A judge of one metric: its models, and the hashes of the prompts by which it judges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JudgeId {
    /// The model that was asked, with its provider.
    pub model: String,
    /// The model that compared meanings, if the metric needs one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub embedding: Option<String>,
    /// The hash of each prompt, by purpose.
    pub prompts: BTreeMap<String, String>,
}

impl JudgeId {
    /// Says what has changed since an earlier judge; empty if nothing has.
    pub fn changes_since(&self, earlier: &JudgeId) -> Vec<String> {
        let mut changes = Vec::new();
        if self.model != earlier.model {
            changes.push(format!("the model is `{}`, was `{}`", self.model, earlier.model));
        }
        if self.embedding != earlier.embedding {
            let name = |own: &Option<String>| own.clone().unwrap_or_else(|| "none".into());
            let (is, was) = (name(&self.embedding), name(&earlier.embedding));
            changes.push(format!("the embedding model is `{is}`, was `{was}`"));
        }
        let mut purposes: Vec<&String> =
            self.prompts.keys().chain(earlier.prompts.keys()).collect();
        purposes.sort_unstable();
        purposes.dedup();
        let differs = |name: &&&String| self.prompts.get(**name) != earlier.prompts.get(**name);
        let others = purposes.iter().filter(differs);
        changes.extend(others.map(|name| format!("the prompt `{name}` changed")));
        changes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(model: &str, embedding: Option<&str>, prompts: &[(&str, &str)]) -> JudgeId {
        JudgeId {
            model: model.into(),
            embedding: embedding.map(Into::into),
            prompts: prompts.iter().map(|(name, hash)| ((*name).into(), (*hash).into())).collect(),
        }
    }

    #[test]
    fn a_judge_has_not_changed_since_itself() {
        let own = judge("m", Some("e"), &[("a", "1")]);
        assert_eq!(own.changes_since(&own), Vec::<String>::new());
    }

    #[test]
    fn every_change_is_named() {
        let earlier = judge("m", None, &[("a", "1"), ("b", "2"), ("c", "3")]);
        let now = judge("n", Some("e"), &[("a", "1"), ("b", "9"), ("d", "4")]);
        let changes = now.changes_since(&earlier);
        let wanted = [
            "the model is `n`, was `m`",
            "the embedding model is `e`, was `none`",
            "the prompt `b` changed",
            "the prompt `c` changed",
            "the prompt `d` changed",
        ];
        assert_eq!(changes, wanted);
    }
}
