//! Which model judges, and which one the built-in agent talks to.

use std::sync::Arc;

use juror_models::{ModelSpec, Models, Tell};
use serde_json::Value;

use crate::environment::Environment;
use crate::models::{AskOptions, Specs, judge_identity, models, specs};
use crate::settings::{ModelSettings, ModelsSettings, Settings};
use crate::setup_error::SetupError;

/// What a model is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// It judges.
    Judge,
    /// The built-in agent talks to it.
    Agent,
}

impl Role {
    /// Returns the model that settings name for a role, with its key in `llm`: one of its own, or
    /// else the one for everything.
    pub(crate) fn model(self, llm: &ModelsSettings) -> Option<(&'static str, &ModelSettings)> {
        let own = match self {
            Role::Judge => ("judge", &llm.judge),
            Role::Agent => ("agent", &llm.agent),
        };
        let found = [own, ("generation", &llm.generation)];
        found.into_iter().find_map(|(key, model)| Some((key, model.as_ref()?)))
    }
}

/// The models of a benchmark.
pub struct BenchModels {
    /// All of them, behind one queue, so that one cost ceiling covers agent and judge.
    pub models: Arc<Models>,
    /// What affects the verdicts of the model that judges, if there is one.
    pub judge: Option<Value>,
    /// Whether the agent's model is the one that judges.
    pub judges_itself: bool,
}

/// Which models a benchmark needs.
#[derive(Clone, Copy, Debug)]
pub struct Needed {
    /// Whether a model judges, if there is one.
    pub judge: bool,
    /// Whether the built-in agent is benchmarked.
    pub agent: bool,
}

/// Opens the models that a benchmark needs; `None` if neither settings nor environment name one.
pub fn bench_models(
    settings: &Settings,
    environment: &Environment,
    options: AskOptions,
    tell: Tell,
    needed: Needed,
) -> Result<Option<BenchModels>, SetupError> {
    let spec = |role, is_needed| -> Result<Option<ModelSpec>, SetupError> {
        let found = if is_needed { specs(settings, environment, &options, role)? } else { None };
        Ok(found.map(|specs| specs.chat))
    };
    let (judge, agent) = (spec(Role::Judge, needed.judge)?, spec(Role::Agent, needed.agent)?);
    let identity = judge.as_ref().map(judge_identity);
    let judges_itself = judge.as_ref().zip(agent.as_ref()).is_some_and(|(a, b)| is_same(a, b));
    let (chat, conversing) = match (judge, agent) {
        (None, None) => return Ok(None),
        (Some(_), None) if needed.agent => return Err(no_agent_model()),
        (Some(one), None) | (None, Some(one)) => (one, None),
        (Some(judge), Some(agent)) => (judge, Some(agent).filter(|_| has_two(settings))),
    };
    let specs = Specs { chat, conversing, embedding: None };
    let (models, _) = models(settings, specs, options, tell)?;
    Ok(Some(BenchModels { models: Arc::new(models), judge: identity, judges_itself }))
}

/// Returns whether two models are the same, however they are asked.
fn is_same(one: &ModelSpec, other: &ModelSpec) -> bool {
    one.name() == other.name() && one.other_address() == other.other_address()
}

/// Returns whether settings name other models for the agent and for the judge.
fn has_two(settings: &Settings) -> bool {
    let key = |role: Role| Some(role.model(settings.llm.as_ref()?)?.0);
    key(Role::Judge) != key(Role::Agent)
}

fn no_agent_model() -> SetupError {
    SetupError::new("no model is configured for the built-in agent")
        .hint("name one in `llm.agent` or `llm.generation`")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn keys(llm: serde_json::Value) -> [Option<&'static str>; 2] {
        let llm: ModelsSettings = serde_json::from_value(llm).expect("settings");
        [Role::Judge, Role::Agent].map(|role| role.model(&llm).map(|(key, _)| key))
    }

    #[test]
    fn a_role_without_a_model_of_its_own_takes_the_one_for_everything() {
        let model = json!({"provider": "openai", "model": "m"});
        assert_eq!(keys(json!({})), [None, None]);
        assert_eq!(keys(json!({"generation": model})), [Some("generation"); 2]);
        let judged = keys(json!({"generation": model, "judge": model}));
        assert_eq!(judged, [Some("judge"), Some("generation")]);
        assert_eq!(keys(json!({"agent": model})), [None, Some("agent")]);
        assert_eq!(keys(json!({"agent": model, "judge": model})), [Some("judge"), Some("agent")]);
    }
}
