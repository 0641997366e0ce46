//! How a run was judged, as settings that lead to the replies of its judges.

use std::num::NonZero;

use juror_run::{Environment, ModelSettings, Settings, is_database};
use juror_runs::{Manifest, RunKind};
use serde_json::{Value, json};

/// Where the replies of judges may be.
#[derive(Clone, Debug, Default)]
pub struct JudgeReplies {
    /// The settings of results that do not say how they were judged.
    pub settings: Settings,
    /// The variables of such settings.
    pub environment: Environment,
    /// Where replies are kept, if not where the settings say.
    pub cache: Option<String>,
}

impl JudgeReplies {
    /// Returns what leads to the replies of a run: what the run says about itself, or else these
    /// settings. What a run says about its models leaves nothing to the environment.
    pub(crate) fn of(&self, run: Option<&Manifest>) -> JudgeReplies {
        let Some(run) = run else { return self.clone() };
        let (environment, cache) = (Environment::nothing(), self.cache.clone());
        JudgeReplies { settings: settings_of(run), environment, cache }
    }
}

/// The settings by which a run was judged.
pub(crate) fn settings_of(run: &Manifest) -> Settings {
    let written = run.settings.as_ref().map(without_stars).unwrap_or_default();
    let mut settings: Settings = serde_json::from_value(written).unwrap_or_default();
    let judge = run.judge().unwrap_or_default();
    let repeats = judge.get("repeats").and_then(Value::as_u64);
    let repeats = repeats.and_then(|repeats| NonZero::new(u32::try_from(repeats).ok()?));
    settings.judge.repeats = repeats.or(settings.judge.repeats.filter(|_| judge.is_null()));
    let (chat, embedding) = match run.kind {
        RunKind::Eval => (judge.get("chat"), judge.get("embedding")),
        RunKind::Bench => (Some(&judge), None),
    };
    let mut llm = settings.llm.unwrap_or_default();
    let written = llm.judge.take().or(llm.generation.take());
    llm.generation = chat.and_then(|judged| model_of(judged, written));
    let written = llm.embedding.take();
    llm.embedding = embedding.and_then(|judged| model_of(judged, written));
    // Nothing is sent, so nothing can cost too much.
    llm.max_cost_usd = None;
    // Whoever made the run does not decide with whom this machine connects.
    llm.cache = llm.cache.filter(|place| !is_database(place));
    settings.llm = Some(llm);
    settings
}

/// A model as a run names it, with what the settings add, if they name the same one.
fn model_of(judged: &Value, written: Option<ModelSettings>) -> Option<ModelSettings> {
    let (provider, model) = judged.get("model")?.as_str()?.split_once('/')?;
    let named = json!({"provider": provider, "model": model});
    let named: ModelSettings = serde_json::from_value(named).ok()?;
    let own = written.filter(|written| written.model == model).unwrap_or(named);
    let address = judged.get("address").and_then(Value::as_str).map(str::to_owned);
    // A gateway's address does not tell models apart, so runs do not store it.
    let base_url = if own.gateway { own.base_url } else { address };
    let provider = provider.to_owned();
    Some(ModelSettings { provider, base_url, api_key: None, ..own })
}

/// Settings without what was hidden in them, which would not be of the right type.
fn without_stars(settings: &Value) -> Value {
    let is_hidden = |value: &Value| value.as_str() == Some("***");
    match settings {
        Value::Object(fields) => {
            let open = fields.iter().filter(|(_, value)| !is_hidden(value));
            open.map(|(name, value)| (name.clone(), without_stars(value))).collect()
        }
        Value::Array(items) => items.iter().map(without_stars).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(settings: &Value, judges: &Value) -> Manifest {
        let identity = json!({"judges": judges});
        Manifest::new(RunKind::Eval, "run", identity).with_settings(settings)
    }

    #[test]
    fn models_are_those_of_the_run_with_the_parameters_of_its_settings() {
        let settings = json!({"llm": {
            "generation": {"provider": "openai", "model": "m", "api_key": "***", "headers": "***",
                "base_url": "env:SOMEWHERE", "seed": 7},
            "cache": "replies", "max_cost_usd": 1.0}});
        let judges = json!({"chat": {"model": "openai/m", "address": "http://127.0.0.1:9/v1"},
            "embedding": {"model": "openai/e"}, "repeats": 3});
        let found = settings_of(&manifest(&settings, &judges));
        let llm = found.llm.expect("models");
        let chat = llm.generation.expect("a chat model");
        assert_eq!(chat.base_url.as_deref(), Some("http://127.0.0.1:9/v1"));
        assert_eq!(chat.parameters["seed"], 7);
        assert_eq!(llm.embedding.expect("an embedding model").model, "e");
        assert_eq!((llm.cache.as_deref(), llm.max_cost_usd), (Some("replies"), None));
        assert_eq!(found.judge.repeats.map(NonZero::get), Some(3));
    }

    #[test]
    fn a_run_does_not_lead_to_a_database() {
        let settings = json!({"llm": {"cache": "postgresql://elsewhere/evals"}});
        let found = settings_of(&manifest(&settings, &json!({"chat": {"model": "openai/m"}})));
        assert_eq!(found.llm.expect("models").cache, None);
    }

    #[test]
    fn another_model_than_that_of_the_settings_is_asked_without_their_parameters() {
        let settings = json!({"llm": {"generation":
            {"provider": "openai", "model": "other", "seed": 7}}});
        let judges = json!({"chat": {"model": "anthropic/m"}, "embedding": null});
        let llm = settings_of(&manifest(&settings, &judges)).llm.expect("models");
        let chat = llm.generation.expect("a chat model");
        assert_eq!((&*chat.provider, &*chat.model), ("anthropic", "m"));
        assert!(chat.parameters.is_empty() && llm.embedding.is_none());
    }
}
