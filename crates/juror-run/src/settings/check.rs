//! Values of settings that fit their types and make no sense.

use juror_score::ContextJudge;
use juror_score::read::{Document, Path, Problem, Problems};
use serde_json::Value;

use super::{ModelSettings, Settings};

/// What a parameter of a model may be.
struct Bounds {
    name: &'static str,
    /// In words.
    expected: &'static str,
    fits: fn(&Value) -> bool,
}

/// Parameters that every provider understands alike; all others are the provider's matter.
const BOUNDS: [Bounds; 4] = [
    Bounds {
        name: "temperature",
        expected: "a number from 0 to 2",
        fits: |value| is_between(value, 0.0, 2.0),
    },
    Bounds {
        name: "top_p",
        expected: "a number from 0 to 1",
        fits: |value| is_between(value, 0.0, 1.0),
    },
    Bounds { name: "max_tokens", expected: "a whole number, 1 or more", fits: is_positive },
    Bounds {
        name: "max_completion_tokens",
        expected: "a whole number, 1 or more",
        fits: is_positive,
    },
];

fn is_between(value: &Value, least: f64, most: f64) -> bool {
    value.as_f64().is_some_and(|number| (least..=most).contains(&number))
}

fn is_positive(value: &Value) -> bool {
    value.as_u64().is_some_and(|number| number > 0)
}

impl Settings {
    /// Complains about what cannot be meant, each with its place.
    pub(super) fn check_values(&self, document: &Document, problems: &mut Problems) {
        let mut complain = |path: Path, message: String, hint: &str| {
            let problem = Problem::BadSetting { message, hint: Some(hint.into()) };
            problems.push(document.error_at(path, problem));
        };
        let top = Path::default();
        let llm = self.llm.clone().unwrap_or_default();
        for (name, model) in [("generation", &llm.generation), ("embedding", &llm.embedding)] {
            check_model(model.as_ref(), &top.key("llm").key(name), &mut complain);
        }
        let simulator = &self.tools.simulator;
        let simulator = simulator.as_ref().and_then(|simulator| simulator.model.as_ref());
        check_model(simulator, &top.key("tools").key("simulator").key("model"), &mut complain);
        let relevance = self.answer_relevance.as_ref().and_then(|own| own.enabled);
        if relevance == Some(true) && llm.generation.is_some() && llm.embedding.is_none() {
            let message = "there is no embedding model, by which meanings are compared".into();
            let path = top.key("answer_relevance").key("enabled");
            complain(path, message, "name one in `llm.embedding`, or leave the metric out");
        }
        let written = serde_json::from_str::<Value>(document.json()).unwrap_or_default();
        let evaluations = written.get("custom_evaluations").and_then(Value::as_array);
        if evaluations.is_some_and(Vec::is_empty) {
            let message = "there is no custom evaluation in the list".into();
            complain(top.key("custom_evaluations"), message, "add one, or leave the key out");
        }
    }

    /// The first metric that these settings turn on by name and that needs a model.
    pub fn needs_model(&self) -> Option<&'static str> {
        let is_on = |enabled: Option<bool>| enabled == Some(true);
        // By other rules, ids and texts are compared, and nobody is asked.
        let asks_of_contexts = self.plan().profile.contexts == ContextJudge::Model;
        let contexts = self.retrieval_context.as_ref().filter(|_| asks_of_contexts);
        let metrics = [
            ("answer_correctness", self.answer_correctness.as_ref().and_then(|own| own.enabled)),
            ("answer_relevance", self.answer_relevance.as_ref().and_then(|own| own.enabled)),
            ("retrieval_answer", self.retrieval_answer.as_ref().and_then(|own| own.enabled)),
            ("retrieval_context", contexts.and_then(|own| own.enabled)),
        ];
        metrics.into_iter().find(|(_, enabled)| is_on(*enabled)).map(|(name, _)| name)
    }
}

fn check_model(
    model: Option<&ModelSettings>,
    path: &Path,
    complain: &mut impl FnMut(Path, String, &str),
) {
    let Some(model) = model else { return };
    for Bounds { name, expected, fits } in BOUNDS {
        // A parameter that is `null` is not sent.
        let value = model.parameters.get(name).filter(|value| !value.is_null());
        if let Some(value) = value.filter(|value| !fits(value)) {
            let message = format!("expected {expected}, found `{}`", shown(value));
            complain(path.key(name), message, "leave it out for the usual value");
        }
    }
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What a value should be, where a reader of numbers has complained in its own words.
pub(super) fn number_in_words(complaint: &str) -> Option<String> {
    let (found, expected) = complaint.split_once(", expected ")?;
    let expected = match expected {
        "a nonzero u32" | "a nonzero u64" | "a nonzero usize" => "a whole number, 1 or more",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "f64" => "a number",
        _ => return None,
    };
    let found = found.rsplit_once(": ").map_or(found, |(_, found)| found);
    Some(format!("expected {expected}, found {found}"))
}
