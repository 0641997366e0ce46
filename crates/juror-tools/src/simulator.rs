//! Simulates tools with language models.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use juror_json::python::{
    JsonStyle, dump_json, entries_of_json, push_repr_of_json, repr_text, str_of_json,
};
use juror_models::{CallError, ChatCall, ModelError, Models, Pending, Prompt, Schema, Stop};
use juror_store::Origin;
use juror_toolbench::{Ending, read_mirror_reply};
use serde_json::json;
use serde_json::value::RawValue;

use crate::cached::Cached;
use crate::call::{INPUT_ERROR, ToolCall};
use crate::catalog::{Catalog, NameMatching};
use crate::source::{NoReply, SourceReply, ToolSource};

/// The published servers' error for a model that gave nothing usable.
const FAILED: &str = "Failed to generate fake response";

/// How many known replies a model sees as examples, and how many characters of them.
const MOST_EXAMPLES: usize = 5;
const MOST_EXAMPLE_CHARACTERS: usize = 2048;

/// How often a model is asked for one reply.
const ATTEMPTS: u32 = 3;

/// How long to wait before a model that could not be reached is asked again.
const REST: Duration = Duration::from_secs(10);

/// The kind of model, which decides its prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulatorKind {
    /// Any chat model. It sees documentation, known replies and arguments.
    Chat,
    /// A model trained to imitate APIs. It sees the documentation under the API's own name.
    Mirror,
    /// Such a model trained on a cache. It sees the API's name in the form of cache folders.
    MirrorCache,
}

/// Whether the published servers are imitated where one could do better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimulatorStyle {
    /// Requests a JSON schema, and asks again after every unusable reply.
    Own,
    /// Sends exactly the requests of the published servers, and asks again only after invalid JSON.
    Published,
}

/// Simulates tools with a language model.
pub struct Simulator {
    /// The model, behind its queue.
    pub models: Models,
    /// Builds its prompts.
    pub prompts: PromptBuilder,
    /// The system prompt; the default of the kind if `None` or blank.
    pub system: Option<String>,
    /// When the model could not be reached.
    pub cool_down: CoolDown,
}

/// Builds the prompt for a call.
#[derive(Clone)]
pub struct PromptBuilder {
    /// The kind of model.
    pub kind: SimulatorKind,
    /// Whether the published servers are imitated.
    pub style: SimulatorStyle,
    /// The source of documentation.
    pub catalog: Arc<Catalog>,
    /// The source of examples, if any may be shown.
    pub cached: Option<Arc<Cached>>,
}

/// When a model or server could not be reached, if it is being left alone.
#[derive(Default)]
pub struct CoolDown(Mutex<Option<Instant>>);

impl SimulatorKind {
    /// The default system prompt.
    pub fn default_system(self) -> &'static str {
        match self {
            SimulatorKind::Chat => include_str!("../prompts/simulator.md"),
            SimulatorKind::Mirror | SimulatorKind::MirrorCache => {
                include_str!("../prompts/mirror.md")
            }
        }
    }
}

impl ToolSource for Simulator {
    fn name(&self) -> &'static str {
        "simulator"
    }

    fn reply<'a>(&'a self, call: &'a ToolCall) -> Pending<'a, Result<SourceReply, NoReply>> {
        Box::pin(async move {
            let (prompts, asked) = (self.prompts.clone(), call.clone());
            // Building a prompt reads files and the store.
            let user = tokio::task::spawn_blocking(move || prompts.prompt(&asked)).await;
            let user = user.map_err(|error| failed(error.to_string()))??;
            let system = self.system.clone().filter(|text| !text.trim().is_empty());
            let system = system.unwrap_or_else(|| self.prompts.kind.default_system().to_owned());
            let prompt = Prompt::plain(Some(system.trim().to_owned()), user);
            let reply = match self.prompts.kind {
                SimulatorKind::Chat => self.ask_chat(&prompt).await?,
                SimulatorKind::Mirror | SimulatorKind::MirrorCache => {
                    self.ask_mirror(&prompt).await?
                }
            };
            let model = Some(self.models.chat_name().to_owned());
            Ok(SourceReply { reply, origin: Origin::Simulated, model })
        })
    }
}

impl Simulator {
    async fn ask_chat(&self, prompt: &Prompt) -> Result<String, NoReply> {
        let schema = (self.prompts.style == SimulatorStyle::Own).then(schema);
        let mut why = String::new();
        for repeat in 0..ATTEMPTS {
            let mut call = ChatCall::new("tool_reply", prompt.clone(), schema.clone());
            call.repeat = repeat;
            let text = self.ask(&call).await?;
            match (read_chat_reply(&text), self.prompts.style) {
                (Ok(reply), _) => return Ok(reply),
                (Err(Unusable::NotJson), _) | (_, SimulatorStyle::Own) => why = of_no_use(&text),
                (Err(Unusable::OtherShape), SimulatorStyle::Published) => {
                    return Err(failed(of_no_use(&text)));
                }
            }
        }
        Err(failed(why))
    }

    async fn ask_mirror(&self, prompt: &Prompt) -> Result<String, NoReply> {
        let call = ChatCall::new("tool_reply", prompt.clone(), None);
        let text = self.ask(&call).await?;
        let reply = read_mirror_reply(&text, Ending::Kept);
        let reply = reply.and_then(|reply| dump_json(&reply.json(), JsonStyle::Compact).ok());
        reply.ok_or_else(|| failed(of_no_use(&text)))
    }

    /// Asks the model once. A model that could not be reached is left alone for a while.
    async fn ask(&self, call: &ChatCall) -> Result<String, NoReply> {
        if self.models.stopped().is_some_and(|stop| may_end(&stop)) && self.cool_down.is_over() {
            self.models.resume();
        }
        let answer = self.models.ask_text(call, |_| true).await;
        if self.models.stopped().is_some() {
            self.cool_down.begin();
        }
        answer.outcome.map_err(|error| failed(logged(&error)).unasked())
    }
}

impl PromptBuilder {
    fn prompt(&self, call: &ToolCall) -> Result<String, NoReply> {
        match self.kind {
            SimulatorKind::Chat if self.is_unknown(call) => Err(unknown(call)),
            SimulatorKind::Chat => Ok(self.chat_prompt(call)),
            SimulatorKind::Mirror | SimulatorKind::MirrorCache => self.mirror_prompt(call),
        }
    }

    /// Whether there are tool files and none of them has the API. The published servers let a model
    /// invent a reply to such calls as well.
    fn is_unknown(&self, call: &ToolCall) -> bool {
        let has_tools = !self.catalog.tools().is_empty();
        self.style == SimulatorStyle::Own
            && has_tools
            && self.catalog.requested_api(&call.names).is_none()
    }

    fn chat_prompt(&self, call: &ToolCall) -> String {
        let documentation = match self.catalog.document(&call.names, NameMatching::Settled) {
            None => "{'tool_description': '', 'api_info': ''}".to_owned(),
            Some(tool) => {
                let info = tool.apis.iter().map(|api| {
                    let description = repr(api.description.as_deref());
                    format!("{{'name': {}, 'description': {description}}}", repr_text(&api.name))
                });
                let info: Vec<String> = info.collect();
                format!(
                    "{{'tool_description': {}, 'api_info': [{}]}}",
                    repr(Some(&tool.description)),
                    info.join(", ")
                )
            }
        };
        let examples_of = |cached: &Arc<Cached>| cached.examples(&call.api_path(), MOST_EXAMPLES);
        let known = self.cached.as_ref().map(examples_of).unwrap_or_default();
        format!(
            "API Documentation:{documentation}\nAPI Examples:{}\nAPI Input:{}\n",
            examples(&known),
            // The published servers include the caller's key.
            match (self.style, without_key(&call.input)) {
                (SimulatorStyle::Own, Some(input)) => input,
                _ => call.key.clone(),
            }
        )
    }

    fn mirror_prompt(&self, call: &ToolCall) -> Result<String, NoReply> {
        let Some(request) = without_key(&call.input) else {
            let (told, why) = (INPUT_ERROR.into(), "no object of arguments".into());
            return Err(NoReply { told, why, is_unasked: false });
        };
        let how = match self.style {
            SimulatorStyle::Own => NameMatching::Settled,
            SimulatorStyle::Published => NameMatching::Published,
        };
        let tool = self.catalog.document(&call.names, how);
        let tool = tool.ok_or_else(|| unknown(call))?;
        let api = tool.apis.first().ok_or_else(|| unknown(call))?;
        let missing = |name: &str| {
            let (api, tool) = (&call.api, &call.tool);
            NoReply::new(format!("no such API: the file of {tool} gives {api} no `{name}`"))
        };
        let required = api.required.as_deref().ok_or_else(|| missing("required_parameters"))?;
        let optional = api.optional.as_deref().ok_or_else(|| missing("optional_parameters"))?;
        let name = match self.kind {
            SimulatorKind::MirrorCache => &call.names.api,
            _ => &api.name,
        };
        let tool_name = call.tool.split("_for_").next().unwrap_or_default();
        Ok(format!(
            "API doc:\n{{'api_name': {}, 'api_description': {}, 'required_parameters': {}, \
             'optional_parameters': {}, 'tool_description': {}, 'tool_name': {}, \
             'tool_category': {}}}\n\nRequest:\n{request}",
            repr_text(name),
            repr(api.description.as_deref()),
            repr(Some(required)),
            repr(Some(optional)),
            repr(Some(&tool.description)),
            repr_text(tool_name),
            repr_text(&call.names.category),
        ))
    }
}

impl CoolDown {
    pub(crate) fn begin(&self) {
        let mut since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        since.get_or_insert_with(Instant::now);
    }

    /// Whether the cool-down has passed; ends it if so.
    pub(crate) fn is_over(&self) -> bool {
        let mut since = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = since.is_none_or(|since| since.elapsed() >= REST);
        if is_over {
            *since = None;
        }
        is_over
    }
}

/// Whether asking may become possible again by itself.
fn may_end(stop: &Stop) -> bool {
    !matches!(stop, Stop::Interrupted | Stop::CostCeiling(_))
}

fn unknown(call: &ToolCall) -> NoReply {
    NoReply::new(format!("no such API: {} of {}", call.api, call.tool))
}

/// The log message for a failed call. A provider's error about a bad request is left out, because
/// it may quote the arguments.
fn logged(error: &CallError) -> String {
    match error {
        CallError::Failed(ModelError::BadRequest { .. }) => "the model refuses the request".into(),
        error => error.to_string(),
    }
}

fn failed(why: impl Into<String>) -> NoReply {
    NoReply { told: FAILED.into(), why: why.into(), is_unasked: false }
}

fn schema() -> Schema {
    Schema::object([("error", Schema::text()), ("response", Schema::plain(json!({})))])
}

enum Unusable {
    NotJson,
    OtherShape,
}

/// Reads a reply: an object with `error` and `response`, possibly in a code fence.
fn read_chat_reply(text: &str) -> Result<String, Unusable> {
    let bare = if text.contains("```json") {
        text.replace("```json", "").replace("```", "").trim().to_owned()
    } else {
        text.to_owned()
    };
    let json = dump_json(&bare, JsonStyle::Compact).map_err(|_| Unusable::NotJson)?;
    let fields = entries_of_json(&json).unwrap_or_default();
    let has = |name: &str| fields.iter().any(|(own, _)| own == name);
    let has_both = has("error") && has("response");
    if has_both { Ok(json) } else { Err(Unusable::OtherShape) }
}

/// Renders known replies as a Python list of pairs, as many whole pairs as fit.
fn examples(known: &[(String, String)]) -> String {
    let pairs: Vec<String> = known
        .iter()
        .map(|(key, reply)| {
            let mut pair = format!("({}, ", repr_text(key));
            // Stored replies are valid JSON.
            let _ = push_repr_of_json(reply, &mut pair);
            pair.push(')');
            pair
        })
        .collect();
    let mut n_shown = pairs.len();
    let list = |n: usize| format!("[{}]", pairs[..n].join(", "));
    while n_shown > 1 && list(n_shown).chars().count() > MOST_EXAMPLE_CHARACTERS {
        n_shown -= 1;
    }
    list(n_shown).chars().take(MOST_EXAMPLE_CHARACTERS).collect()
}

/// Renders the arguments in Python's notation, without the caller's key. Returns `None` if they are
/// not an object.
fn without_key(input: &str) -> Option<String> {
    let entries = entries_of_json(input).ok()?;
    let kept = entries.iter().filter(|(key, _)| key != "toolbench_key").map(|(key, value)| {
        let mut entry = repr_text(key);
        entry.push_str(": ");
        push_repr_of_json(value, &mut entry).ok()?;
        Some(entry)
    });
    Some(format!("{{{}}}", kept.collect::<Option<Vec<String>>>()?.join(", ")))
}

/// Renders a value of a tool file in Python's notation; a missing one is an empty string.
fn repr(value: Option<&RawValue>) -> String {
    let mut text = String::new();
    match value {
        Some(value) if value.get().starts_with('"') => {
            let _ = push_repr_of_json(value.get(), &mut text);
        }
        Some(value) => text = str_of_json(value.get()).unwrap_or_default(),
        None => text.push_str("''"),
    }
    text
}

/// The log message for an unusable reply. The reply is not quoted, because it may repeat arguments.
fn of_no_use(reply: &str) -> String {
    format!("the model's reply of {} characters cannot be used", reply.chars().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_objects_with_error_and_response() {
        let read = |text: &str| read_chat_reply(text).ok();
        let reply = r#"{"error":"","response":[1]}"#;
        assert_eq!(read(r#" {"error": "", "response": [1]} "#).as_deref(), Some(reply));
        let fenced = "```json\n{\"error\": \"\", \"response\": [1]}\n```";
        assert_eq!(read(fenced).as_deref(), Some(reply));
        for text in ["", "[1]", "5", "{}", "{\"response\": 1}", "```\n{}\n```", "{\"error\": "] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn examples_are_dropped_whole_and_the_last_is_cut() {
        let known = |length: usize| -> Vec<(String, String)> {
            let reply = format!("\"{}\"", "é".repeat(length));
            (0..5).map(|n| (format!("{{'p': '{n}'}}"), reply.clone())).collect()
        };
        assert_eq!(examples(&known(1)[..1]), r#"[("{'p': '0'}", 'é')]"#);
        assert_eq!(examples(&known(600)).matches("'p'").count(), 3);
        let cut = examples(&known(5000));
        assert_eq!((cut.matches("'p'").count(), cut.chars().count()), (1, 2048));
        assert_eq!(examples(&[]), "[]");
    }

    #[test]
    fn the_callers_key_is_not_shown() {
        assert_eq!(without_key(r#"{"toolbench_key": "K", "a": 1}"#).as_deref(), Some("{'a': 1}"));
        assert_eq!(without_key("5"), None);
        assert_eq!(without_key("{}").as_deref(), Some("{}"));
    }
}
