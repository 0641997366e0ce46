//! Google's protocol.

mod functions;

use serde_json::{Map, Value, json};

use crate::adapt::{Adaptation, Habits, ReplyForm, Tell, described};
use crate::body::Body;
use crate::conversation::{Conversation, TurnReply};
use crate::http::HttpEndpoint;
use crate::model::{
    ChatRequest, Embedder, Embeddings, ModelError, ModelReply, Outcome, Pending, Usage,
};
use crate::openai::read_vector;
use crate::protocol::{ChatProtocol, Reply};
use crate::provider::ModelSpec;

/// The ways to request a reply of a certain shape, best first.
const FORMS: [ReplyForm; 3] = [ReplyForm::Schema, ReplyForm::JsonMode, ReplyForm::Text];

pub(crate) struct Gemini {
    endpoint: HttpEndpoint,
    urls: Urls,
    model: String,
    stream: bool,
    parameters: Map<String, Value>,
    adaptation: Adaptation,
}

/// The URLs of the kinds of request.
struct Urls {
    generate: String,
    stream: String,
    embed: String,
}

impl Urls {
    fn new(spec: &ModelSpec, version: &str) -> Urls {
        let url = |verb: &str| spec.url(&format!("{version}models/{}:{verb}", spec.model));
        Urls {
            generate: url("generateContent"),
            stream: url("streamGenerateContent?alt=sse"),
            embed: url("batchEmbedContents"),
        }
    }
}

impl Gemini {
    pub(crate) fn new(spec: &ModelSpec, tell: Tell) -> Result<Gemini, String> {
        let header = ("x-goog-api-key", "");
        let parameters = renamed(&spec.parameters);
        let version = if spec.base().ends_with("/v1beta") { "" } else { "v1beta/" };
        Ok(Gemini {
            endpoint: HttpEndpoint::new(spec, header)?,
            urls: Urls::new(spec, version),
            model: spec.model.clone(),
            stream: spec.stream,
            adaptation: Adaptation::new(&spec.name(), &FORMS, &parameters, tell),
            parameters,
        })
    }

    fn body(&self, request: &ChatRequest, habits: &Habits) -> Body {
        let mut generation = Body::of(&habits.apply(&self.parameters));
        let mut system = request.system.clone().into_iter().collect::<Vec<String>>();
        if let Some(schema) = &request.schema {
            if habits.form == ReplyForm::Schema {
                // The protocol has no name for a schema, so its title says what the call is for.
                generation.set("responseJsonSchema", &schema.for_google(&request.purpose));
            } else {
                system.push(described(schema));
            }
            if habits.form != ReplyForm::Text {
                generation.set("responseMimeType", &"application/json");
            }
        }
        let mut body = Body::default();
        body.set("contents", &json!([{"role": "user", "parts": [{"text": request.user}]}]));
        body.set("generationConfig", &generation);
        if !system.is_empty() {
            body.set("systemInstruction", &json!({"parts": [{"text": system.join("\n\n")}]}));
        }
        body
    }

    async fn ask(&self, body: &Body) -> Result<ModelReply, ModelError> {
        let mut reply = GeminiReply::default();
        if self.stream {
            let url = &self.urls.stream;
            let take = |event: Value| {
                reply.take(&event);
                Ok(())
            };
            self.endpoint.post_stream(url, body, take).await?;
        } else {
            let url = &self.urls.generate;
            reply.take(&self.endpoint.post(url, body).await?);
        }
        reply.finish()
    }
}

/// Renames parameters to the names of this protocol.
fn renamed(parameters: &Map<String, Value>) -> Map<String, Value> {
    let name = |name: &str| match name {
        "max_tokens" | "max_completion_tokens" => "maxOutputTokens".to_owned(),
        "top_p" => "topP".to_owned(),
        "top_k" => "topK".to_owned(),
        other => other.to_owned(),
    };
    parameters.iter().map(|(key, value)| (name(key), value.clone())).collect()
}

impl ChatProtocol for Gemini {
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

/// A reply, whole or streamed in pieces of the same form.
#[derive(Default)]
struct GeminiReply {
    text: String,
    usage: Option<Usage>,
    finish: Option<String>,
    blocked: Option<String>,
}

impl GeminiReply {
    fn take(&mut self, body: &Value) {
        let text = |path: &str| body.pointer(path).and_then(Value::as_str);
        if let Some(reason) = text("/promptFeedback/blockReason") {
            self.blocked = Some(format!("blocked: {reason}"));
        }
        let parts = body.pointer("/candidates/0/content/parts").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            // Thoughts are not part of the answer.
            if part.get("thought").and_then(Value::as_bool) != Some(true) {
                self.text.push_str(part.get("text").and_then(Value::as_str).unwrap_or_default());
            }
        }
        if let Some(reason) = text("/candidates/0/finishReason") {
            self.finish = Some(reason.to_owned());
        }
        let tokens = |name: &str| {
            let value = body.pointer(&format!("/usageMetadata/{name}")).and_then(Value::as_u64);
            value.unwrap_or_default()
        };
        if body.get("usageMetadata").is_some() {
            self.usage = Some(Usage {
                input_tokens: tokens("promptTokenCount"),
                output_tokens: tokens("candidatesTokenCount") + tokens("thoughtsTokenCount"),
            });
        }
    }

    fn finish(self) -> Result<ModelReply, ModelError> {
        let said = match (self.blocked, self.finish.as_deref()) {
            (Some(why), _) => Outcome::Declined(why),
            (None, None) => return Err(ModelError::Garbled("it has no `finishReason`".into())),
            (
                None,
                Some(why @ ("SAFETY" | "PROHIBITED_CONTENT" | "BLOCKLIST" | "RECITATION" | "SPII")),
            ) => Outcome::Declined(format!("stopped: {why}")),
            (None, Some(_)) => Outcome::Text(self.text),
        };
        Ok(ModelReply { said, usage: self.usage })
    }
}

impl Embedder for Gemini {
    fn embed<'a>(&'a self, texts: &'a [String]) -> Pending<'a, Result<Embeddings, ModelError>> {
        Box::pin(async move {
            let request = |text: &String| {
                let mut request = self.parameters.clone();
                request.insert("model".into(), json!(format!("models/{}", self.model)));
                request.insert("content".into(), json!({"parts": [{"text": text}]}));
                request
            };
            let requests: Vec<_> = texts.iter().map(request).collect();
            let url = &self.urls.embed;
            let reply = self.endpoint.post(url, &json!({"requests": requests})).await;
            let reply = reply.map_err(|e| e.map_text(|text| self.endpoint.repeatable(text)))?;
            let missing = || ModelError::Garbled("it has no `embeddings`".into());
            let list = reply.get("embeddings").and_then(Value::as_array).ok_or_else(missing)?;
            let vectors: Result<Vec<_>, _> =
                list.iter().map(|entry| read_vector(entry.get("values"))).collect();
            // The protocol does not report tokens here.
            Ok(Embeddings { vectors: vectors?, usage: None })
        })
    }
}
