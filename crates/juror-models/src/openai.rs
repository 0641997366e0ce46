//! `OpenAI`'s protocol, also used by Azure and many compatible servers.

mod functions;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::adapt::{Adaptation, Habits, ReplyForm, Tell, described};
use crate::body::Body;
use crate::conversation::{Conversation, TurnReply};
use crate::http::HttpEndpoint;
use crate::model::{
    ChatRequest, Embedder, Embeddings, ModelError, ModelReply, Outcome, Pending, Usage,
};
use crate::protocol::{ChatProtocol, Reply};
use crate::provider::{ModelSpec, Protocol};
use crate::schema::Schema;

/// The default version of Azure's protocol, the first that supports reply schemas.
const AZURE_VERSION: &str = "2024-10-21";

/// The ways to request a reply of a certain shape, best first.
const FORMS: [ReplyForm; 4] =
    [ReplyForm::Schema, ReplyForm::Tool, ReplyForm::JsonMode, ReplyForm::Text];

pub(crate) struct OpenAi {
    endpoint: HttpEndpoint,
    chat_url: String,
    embeddings_url: String,
    model: String,
    stream: bool,
    parameters: Map<String, Value>,
    adaptation: Adaptation,
}

impl OpenAi {
    pub(crate) fn new(spec: &ModelSpec, tell: Tell) -> Result<OpenAi, String> {
        let header = match spec.provider.protocol {
            Protocol::Azure => ("api-key", ""),
            _ => ("authorization", "Bearer "),
        };
        Ok(OpenAi {
            endpoint: HttpEndpoint::new(spec, header)?,
            chat_url: url(spec, "chat/completions"),
            embeddings_url: url(spec, "embeddings"),
            model: spec.model.clone(),
            stream: spec.stream,
            parameters: spec.parameters.clone(),
            adaptation: Adaptation::new(&spec.name(), &FORMS, &spec.parameters, tell),
        })
    }

    fn body(&self, request: &ChatRequest, habits: &Habits) -> Body {
        let mut body = Body::of(&habits.apply(&self.parameters));
        let mut system = request.system.clone().into_iter().collect::<Vec<String>>();
        if let Some(schema) = &request.schema {
            let name = &request.purpose;
            match habits.form {
                ReplyForm::Schema => {
                    let json_schema = NamedSchema { name, strict: true, schema };
                    body.set(
                        "response_format",
                        &ResponseFormat { r#type: "json_schema", json_schema },
                    );
                }
                ReplyForm::Tool => {
                    let function = ForcedFunction { name, parameters: schema };
                    body.set("tools", &[FunctionTool { r#type: "function", function }]);
                    let choice = json!({"type": "function", "function": {"name": name}});
                    body.set("tool_choice", &choice);
                }
                ReplyForm::JsonMode => {
                    body.set("response_format", &json!({"type": "json_object"}));
                    system.push(described(schema));
                }
                ReplyForm::Text => system.push(described(schema)),
            }
        }
        let mut messages = Vec::new();
        if !system.is_empty() {
            messages.push(json!({"role": "system", "content": system.join("\n\n")}));
        }
        messages.push(json!({"role": "user", "content": request.user}));
        body.set("model", &self.model);
        body.set("messages", &messages);
        if self.stream && habits.takes("stream") {
            body.set("stream", &true);
            if habits.takes("stream_options") {
                body.set("stream_options", &json!({"include_usage": true}));
            }
        }
        body
    }

    async fn ask(&self, body: &Body) -> Result<ModelReply, ModelError> {
        if !body.has("stream") {
            return read_completion(&self.endpoint.post(&self.chat_url, body).await?);
        }
        let mut streamed = OpenAiStream::default();
        self.endpoint.post_stream(&self.chat_url, body, |event| streamed.take(&event)).await?;
        streamed.finish()
    }
}

#[derive(Serialize)]
struct ResponseFormat<'a> {
    r#type: &'static str,
    json_schema: NamedSchema<'a>,
}

#[derive(Serialize)]
struct NamedSchema<'a> {
    name: &'a str,
    strict: bool,
    schema: &'a Schema,
}

#[derive(Serialize)]
struct FunctionTool<'a> {
    r#type: &'static str,
    function: ForcedFunction<'a>,
}

/// A function that the model must call; its arguments are the reply.
#[derive(Serialize)]
struct ForcedFunction<'a> {
    name: &'a str,
    parameters: &'a Schema,
}

/// Returns the URL of a path. Azure has one address per model, and a newer one like everyone else's.
fn url(spec: &ModelSpec, path: &str) -> String {
    let is_plain = spec.base().ends_with("/v1");
    if spec.provider.protocol != Protocol::Azure || is_plain {
        return spec.url(path);
    }
    let version = spec.api_version.as_deref().unwrap_or(AZURE_VERSION);
    spec.url(&format!("openai/deployments/{}/{path}?api-version={version}", spec.model))
}

impl ChatProtocol for OpenAi {
    fn endpoint(&self) -> &HttpEndpoint {
        &self.endpoint
    }

    fn adaptation(&self) -> &Adaptation {
        &self.adaptation
    }

    async fn chat_once(&self, request: &ChatRequest, habits: Habits) -> Reply<ModelReply> {
        self.ask(&self.body(request, &habits)).await
    }

    async fn converse_once(&self, talk: &Conversation, habits: Habits) -> Reply<TurnReply> {
        functions::ask(self, talk, &habits).await
    }
}

fn read_completion(body: &Value) -> Result<ModelReply, ModelError> {
    let choice = body.pointer("/choices/0").ok_or_else(|| missing("choices"))?;
    let message = choice.get("message").ok_or_else(|| missing("message"))?;
    let text = |value: &Value, name: &str| {
        value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let why = declined(&text(message, "refusal"), &text(choice, "finish_reason"));
    let arguments = message.pointer("/tool_calls/0/function/arguments").and_then(Value::as_str);
    let said = match why {
        Some(why) => Outcome::Declined(why),
        None => {
            let content = || text_of_content(message.get("content"));
            Outcome::Text(arguments.map_or_else(content, str::to_owned))
        }
    };
    Ok(ModelReply { said, usage: usage(body) })
}

/// Returns why the model declined to answer, if it did.
fn declined(refusal: &str, finish: &str) -> Option<String> {
    match (refusal, finish) {
        ("", "content_filter") => Some("stopped by the provider's content filter".into()),
        ("", _) => None,
        (refusal, _) => Some(refusal.to_owned()),
    }
}

/// Returns the text of a message, which may consist of parts.
fn text_of_content(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect()
        }
        _ => String::new(),
    }
}

fn usage(body: &Value) -> Option<Usage> {
    let usage = body.get("usage").filter(|usage| usage.is_object())?;
    let tokens = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
    Some(Usage {
        input_tokens: tokens("prompt_tokens"),
        output_tokens: tokens("completion_tokens"),
    })
}

fn missing(field: &str) -> ModelError {
    ModelError::Garbled(format!("it has no `{field}`"))
}

/// A streamed reply.
#[derive(Default)]
struct OpenAiStream {
    text: String,
    arguments: String,
    refusal: String,
    usage: Option<Usage>,
    finished: bool,
}

impl OpenAiStream {
    fn take(&mut self, event: &Value) -> Result<(), ModelError> {
        if let Some(error) = event.get("error") {
            return Err(ModelError::Unavailable(error.to_string()));
        }
        self.usage = usage(event).or(self.usage);
        let Some(choice) = event.pointer("/choices/0") else { return Ok(()) };
        self.finished |= choice.get("finish_reason").is_some_and(Value::is_string);
        let text = |path: &str| choice.pointer(path).and_then(Value::as_str).unwrap_or_default();
        self.text.push_str(text("/delta/content"));
        self.arguments.push_str(text("/delta/tool_calls/0/function/arguments"));
        self.refusal.push_str(text("/delta/refusal"));
        Ok(())
    }

    fn finish(self) -> Result<ModelReply, ModelError> {
        let said = if !self.refusal.is_empty() {
            Outcome::Declined(self.refusal)
        } else if !self.finished {
            return Err(ModelError::Garbled("the stream ended too early".into()));
        } else if self.arguments.is_empty() {
            Outcome::Text(self.text)
        } else {
            Outcome::Text(self.arguments)
        };
        Ok(ModelReply { said, usage: self.usage })
    }
}

impl Embedder for OpenAi {
    fn embed<'a>(&'a self, texts: &'a [String]) -> Pending<'a, Result<Embeddings, ModelError>> {
        Box::pin(async move {
            let ask = |habits: Habits| -> Pending<'a, _> {
                let mut body = habits.apply(&self.parameters);
                body.insert("model".into(), json!(self.model));
                body.insert("input".into(), json!(texts));
                Box::pin(async move {
                    let body = Value::Object(body);
                    read_embeddings(&self.endpoint.post(&self.embeddings_url, &body).await?)
                })
            };
            self.adaptation.until_taken(&self.endpoint, false, ask).await
        })
    }
}

fn read_embeddings(body: &Value) -> Result<Embeddings, ModelError> {
    let data = body.get("data").and_then(Value::as_array);
    let data = data.ok_or_else(|| missing("data"))?;
    let mut vectors: Vec<(u64, Vec<f64>)> = Vec::with_capacity(data.len());
    for (position, entry) in (0..).zip(data) {
        let index = entry.get("index").and_then(Value::as_u64).unwrap_or(position);
        vectors.push((index, read_vector(entry.get("embedding"))?));
    }
    vectors.sort_by_key(|(index, _)| *index);
    let vectors = vectors.into_iter().map(|(_, vector)| vector).collect();
    Ok(Embeddings { vectors, usage: usage(body) })
}

/// Reads a vector of numbers.
pub(crate) fn read_vector(value: Option<&Value>) -> Result<Vec<f64>, ModelError> {
    let numbers = value.and_then(Value::as_array);
    let numbers = numbers.ok_or_else(|| missing("embedding"))?;
    let vector: Option<Vec<f64>> = numbers.iter().map(Value::as_f64).collect();
    vector
        .ok_or_else(|| ModelError::Unusable("a vector contains values that are not numbers".into()))
}
