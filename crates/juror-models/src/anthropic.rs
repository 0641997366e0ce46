//! Anthropic's protocol.

mod functions;

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::adapt::{Adaptation, Habits, ReplyForm, Tell, described};
use crate::body::Body;
use crate::conversation::{Conversation, TurnReply};
use crate::http::HttpEndpoint;
use crate::model::{ChatRequest, ModelError, ModelReply, Outcome, Usage};
use crate::protocol::{ChatProtocol, Reply};
use crate::provider::ModelSpec;
use crate::schema::Schema;

/// The protocol requires a limit; judgements are far shorter.
const MOST_TOKENS: u64 = 8192;

/// The ways to request a reply of a certain shape, best first.
const FORMS: [ReplyForm; 2] = [ReplyForm::Tool, ReplyForm::Text];

pub(crate) struct Anthropic {
    endpoint: HttpEndpoint,
    url: String,
    model: String,
    stream: bool,
    parameters: Map<String, Value>,
    adaptation: Adaptation,
}

impl Anthropic {
    pub(crate) fn new(spec: &ModelSpec, tell: Tell) -> Result<Anthropic, String> {
        let endpoint = HttpEndpoint::new(spec, ("x-api-key", ""))?;
        let version = if spec.base().ends_with("/v1") { "" } else { "v1/" };
        Ok(Anthropic {
            endpoint: endpoint.with_header("anthropic-version", "2023-06-01"),
            url: spec.url(&format!("{version}messages")),
            model: spec.model.clone(),
            stream: spec.stream,
            parameters: spec.parameters.clone(),
            adaptation: Adaptation::new(&spec.name(), &FORMS, &spec.parameters, tell),
        })
    }

    fn body(&self, request: &ChatRequest, habits: &Habits) -> Body {
        let mut body = Body::of(&habits.apply(&self.parameters));
        let mut system = request.system.clone().into_iter().collect::<Vec<String>>();
        match &request.schema {
            Some(schema) if habits.form == ReplyForm::Tool => {
                let name = &request.purpose;
                let tool =
                    ForcedTool { name, description: "Gives the verdict.", input_schema: schema };
                body.set("tools", &[tool]);
                body.set("tool_choice", &json!({"type": "tool", "name": name}));
            }
            Some(schema) => system.push(described(schema)),
            None => {}
        }
        if !system.is_empty() {
            body.set("system", &system.join("\n\n"));
        }
        if !body.has("max_tokens") {
            body.set("max_tokens", &MOST_TOKENS);
        }
        body.set("model", &self.model);
        body.set("messages", &json!([{"role": "user", "content": request.user}]));
        if self.stream && habits.takes("stream") {
            body.set("stream", &true);
        }
        body
    }

    async fn ask(&self, body: &Body) -> Result<ModelReply, ModelError> {
        if !body.has("stream") {
            return read_message(&self.endpoint.post(&self.url, body).await?);
        }
        let mut streamed = AnthropicStream::default();
        self.endpoint.post_stream(&self.url, body, |event| streamed.take(&event)).await?;
        streamed.finish()
    }
}

/// A tool that the model must call; its input is the reply.
#[derive(Serialize)]
struct ForcedTool<'a> {
    name: &'a str,
    description: &'static str,
    input_schema: &'a Schema,
}

impl ChatProtocol for Anthropic {
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

fn read_message(body: &Value) -> Result<ModelReply, ModelError> {
    let missing = || ModelError::Garbled("it has no `content`".into());
    let blocks = body.get("content").and_then(Value::as_array).ok_or_else(missing)?;
    let input = blocks.iter().find_map(|block| block.get("input"));
    let text = || blocks.iter().filter_map(|block| block.get("text")?.as_str()).collect();
    let said = if body.get("stop_reason").and_then(Value::as_str) == Some("refusal") {
        declined()
    } else {
        Outcome::Text(input.map_or_else(text, Value::to_string))
    };
    let mut usage = None;
    count(body, &mut usage);
    Ok(ModelReply { said, usage })
}

fn declined() -> Outcome {
    Outcome::Declined("it stopped with a refusal".into())
}

/// Updates the numbers of tokens; later numbers in a stream replace earlier ones.
fn count(body: &Value, usage: &mut Option<Usage>) {
    let tokens = |name: &str| body.pointer(&format!("/usage/{name}")).and_then(Value::as_u64);
    if body.get("usage").is_some_and(Value::is_object) {
        let usage = usage.get_or_insert_default();
        usage.input_tokens = tokens("input_tokens").unwrap_or(usage.input_tokens);
        usage.output_tokens = tokens("output_tokens").unwrap_or(usage.output_tokens);
    }
}

/// A streamed reply.
#[derive(Default)]
struct AnthropicStream {
    text: String,
    input: String,
    usage: Option<Usage>,
    refused: bool,
    finished: bool,
}

impl AnthropicStream {
    fn take(&mut self, event: &Value) -> Result<(), ModelError> {
        let text = |path: &str| event.pointer(path).and_then(Value::as_str).unwrap_or_default();
        match text("/type") {
            "error" => return Err(ModelError::Unavailable(text("/error/message").to_owned())),
            "message_start" => count(&event["message"], &mut self.usage),
            "content_block_delta" => {
                self.text.push_str(text("/delta/text"));
                self.input.push_str(text("/delta/partial_json"));
            }
            "message_delta" => {
                count(event, &mut self.usage);
                self.refused |= text("/delta/stop_reason") == "refusal";
            }
            "message_stop" => self.finished = true,
            _ => {}
        }
        Ok(())
    }

    fn finish(self) -> Result<ModelReply, ModelError> {
        let said = if self.refused {
            declined()
        } else if !self.finished {
            return Err(ModelError::Garbled("the stream ended too early".into()));
        } else if self.input.is_empty() {
            Outcome::Text(self.text)
        } else {
            Outcome::Text(self.input)
        };
        Ok(ModelReply { said, usage: self.usage })
    }
}
