//! Checks for settings that have the right type but make no sense.

use juror_document::{Document, Notice, Path, Problem, Problems};
use juror_models::{PROVIDERS, Provider};
use juror_read::OwnMetrics;
use juror_score::ContextJudge;
use serde_json::Value;

use super::gates::WHAT_A_GATE_NEEDS;
use super::typed::nearest;
use super::{CustomEvaluation, ModelSettings, Settings};
use crate::models::{AN_ADDRESS, is_address, known_providers, no_address, no_provider};
use crate::roles::Role;

/// The valid values of a model's parameter.
struct Bounds {
    name: &'static str,
    /// A description of the valid values.
    expected: &'static str,
    fits: fn(&Value) -> bool,
}

/// Parameters that mean the same for every provider; all others are left to the provider.
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

/// Where the names of metrics are listed.
const METRICS_ARE: &str =
    "docs/metrics.md lists them; outputs of custom evaluations are metrics too";

fn is_between(value: &Value, least: f64, most: f64) -> bool {
    value.as_f64().is_some_and(|number| (least..=most).contains(&number))
}

fn is_positive(value: &Value) -> bool {
    value.as_u64().is_some_and(|number| number > 0)
}

/// Values that make no sense. They are collected first, so that the text is searched for all of their
/// places at once.
#[derive(Debug, Default)]
pub(super) struct Complaints {
    /// As many as are reported, with their places and what to do about them.
    found: Vec<(Path, Problem)>,
    n_more: usize,
}

impl Complaints {
    pub(super) fn add(&mut self, path: Path, message: impl Into<String>, hint: &str) {
        if self.found.len() < Problems::MOST {
            self.found.push((path, bad_setting(message.into(), hint)));
        } else {
            self.n_more += 1;
        }
    }

    /// Adds them to the problems of a document, with their lines and columns.
    pub(super) fn report(self, document: &Document, problems: &mut Problems) {
        problems.extend(document.errors_at(self.found));
        problems.count_more(&bad_setting(String::new(), ""), self.n_more);
    }
}

fn bad_setting(message: String, hint: &str) -> Problem {
    Problem::BadSetting { message, hint: Some(hint.into()) }
}

impl Settings {
    /// Whether results can have a metric of this name.
    fn has_metric(&self, name: &str) -> bool {
        let has_output = |custom: &CustomEvaluation| custom.outputs.contains_key(name);
        juror_score::metric(name).is_some() || self.custom_evaluations.iter().any(has_output)
    }

    /// Complains about gates that make no sense, or are on something that is not a metric. A gate of
    /// which a part could not be read is among the problems already.
    pub(super) fn check_gates(
        &self,
        own: &OwnMetrics,
        problems: &Problems,
        complaints: &mut Complaints,
    ) {
        let is_metric = |name: &str| self.has_metric(name) || own.has(name);
        for (at, gate) in self.gates.iter().enumerate() {
            let path = Path::default().key("gates").index(at);
            let is_reported =
                problems.errors.iter().any(|error| error.place.path.0.starts_with(&path.0));
            match gate.gate() {
                _ if is_reported => {}
                Err(WHAT_A_GATE_NEEDS) => complaints.add(
                    path,
                    WHAT_A_GATE_NEEDS,
                    "for example `{metric: steps_score, min: 0.8}`",
                ),
                Err(why) => complaints.add(path, why, WHAT_A_GATE_NEEDS),
                Ok(gate) => {
                    if let Some(name) = gate.metric().filter(|name| !is_metric(name)) {
                        let message = format!("`{name}` is not a metric");
                        complaints.add(path.key("metric"), message, METRICS_ARE);
                    }
                }
            }
        }
    }

    /// Complains about values that make no sense. If a part could not be read (`is_whole` is false),
    /// nothing is reported as missing.
    pub(super) fn check_values(
        &self,
        document: &Document,
        is_whole: bool,
        complaints: &mut Complaints,
    ) {
        let top = Path::default();
        let llm = self.llm.clone().unwrap_or_default();
        for (path, model) in self.models() {
            check_model(model, &path, complaints);
        }
        let relevance = self.answer_relevance.as_ref().and_then(|own| own.enabled);
        let is_asked_for = relevance == Some(true) && is_whole;
        let is_judged = Role::Judge.model(&llm).is_some();
        if is_asked_for && is_judged && llm.embedding.is_none() {
            let message = "there is no embedding model, by which meanings are compared";
            let path = top.key("answer_relevance").key("enabled");
            complaints.add(path, message, "name one in `llm.embedding`, or leave the metric out");
        }
        if self.runs.folder.as_ref().is_some_and(|folder| folder.trim().is_empty()) {
            let message = "the folder of runs has no name";
            complaints.add(
                top.key("runs").key("folder"),
                message,
                "name one, or leave the key out",
            );
        }
        let written = serde_json::from_str::<Value>(document.json()).unwrap_or_default();
        let evaluations = written.get("custom_evaluations").and_then(Value::as_array);
        if evaluations.is_some_and(Vec::is_empty) {
            let message = "there is no custom evaluation in the list";
            complaints.add(top.key("custom_evaluations"), message, "add one, or leave the key out");
        }
    }

    /// Returns the configured models with their places.
    fn models(&self) -> Vec<(Path, &ModelSettings)> {
        let llm = self.llm.as_ref();
        let top = Path::default();
        let simulator = self.tools.simulator.as_ref();
        let models = [
            (top.key("llm").key("generation"), llm.and_then(|llm| llm.generation.as_ref())),
            (top.key("llm").key("judge"), llm.and_then(|llm| llm.judge.as_ref())),
            (top.key("llm").key("agent"), llm.and_then(|llm| llm.agent.as_ref())),
            (top.key("llm").key("embedding"), llm.and_then(|llm| llm.embedding.as_ref())),
            (
                top.key("tools").key("simulator").key("model"),
                simulator.and_then(|simulator| simulator.model.as_ref()),
            ),
        ];
        models.into_iter().filter_map(|(path, model)| Some((path, model?))).collect()
    }

    /// Reports models that could not be asked, whatever the environment contains.
    pub fn check_servers(&self, document: &Document) -> Problems {
        let mut problems = Problems::default();
        let mut complain = |path: Path, message: String, hint: Option<String>| {
            problems.push(document.error_at(path, Problem::BadSetting { message, hint }));
        };
        for (path, model) in self.models() {
            if Provider::of(&model.provider).is_none() {
                let known = PROVIDERS.iter().flat_map(|provider| provider.names.iter().copied());
                let hint = match nearest(&model.provider, known) {
                    Some(nearest) => format!("did you mean `{nearest}`?"),
                    None => known_providers(),
                };
                complain(path.key("provider"), no_provider(&model.provider), Some(hint));
            }
            let address = model.base_url.as_deref().filter(|address| !address.starts_with("env:"));
            if let Some(address) = address.filter(|address| !is_address(address)) {
                complain(path.key("base_url"), no_address(address), Some(AN_ADDRESS.into()));
            }
        }
        problems
    }

    /// Explains why a model of these settings cannot be asked, with its place in the file if known.
    pub fn unaskable(&self, place: &str, model: &ModelSettings, why: Notice) -> Notice {
        let is_known = |address: &String| address.starts_with("env:") || is_address(address);
        let is_askable =
            Provider::of(&model.provider).is_some() && model.base_url.as_ref().is_none_or(is_known);
        if is_askable || self.unaskable.is_empty() {
            return why.at(place);
        }
        Notice::from(&self.unaskable)
    }

    /// Returns the first metric that the settings enable by name and that needs a model.
    pub fn needs_model(&self) -> Option<&'static str> {
        let is_on = |enabled: Option<bool>| enabled == Some(true);
        // Under the other rules, ids and texts are compared without a model.
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

fn check_model(model: &ModelSettings, path: &Path, complaints: &mut Complaints) {
    for Bounds { name, expected, fits } in BOUNDS {
        // A `null` parameter is not sent.
        let value = model.parameters.get(name).filter(|value| !value.is_null());
        if let Some(value) = value.filter(|value| !fits(value)) {
            let message = format!("expected {expected}, found {}", shown(value));
            complaints.add(path.key(name), message, "leave it out for the usual value");
        }
    }
}

fn shown(value: &Value) -> String {
    match value.as_str() {
        Some(text) => shown_text(text),
        None => format!("`{value}`"),
    }
}

/// Marks strings as such, since `"0"` looks like a number. The special cases are numbers that JSON
/// lacks.
fn shown_text(text: &str) -> String {
    let in_yaml = match text {
        "NaN" => ".nan",
        "Infinity" => ".inf",
        "-Infinity" => "-.inf",
        _ => return format!("the text `{text}`"),
    };
    format!("`{text}`, in YAML `{in_yaml}`")
}

/// Describes the expected type in plain words, given the parser's complaint.
pub(super) fn type_in_words(complaint: &str) -> Option<String> {
    let (found, expected) = complaint.split_once(", expected ")?;
    let expected = match expected {
        "a nonzero u32" | "a nonzero u64" | "a nonzero usize" => "a whole number, 1 or more",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "f64" => "a number",
        "a string" => "a text",
        "a boolean" => "true or false",
        _ => return None,
    };
    let (_, found) = found.split_once(": ")?;
    let text =
        found.strip_prefix("string ").and_then(|text| serde_json::from_str::<String>(text).ok());
    let found = match (text, found) {
        (Some(text), _) => shown_text(&text),
        (_, "map") => "keys with their values".to_owned(),
        (_, "sequence") => "a list".to_owned(),
        (_, found) => found.find('`').map_or(found, |at| &found[at..]).to_owned(),
    };
    Some(format!("expected {expected}, found {found}"))
}
