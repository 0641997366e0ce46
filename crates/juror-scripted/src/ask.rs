//! A request, independent of the protocol.

use serde_json::Value;

use crate::endpoint::{Endpoint, Stream};
use crate::seen::{Protocol, RequestKind};
use crate::{anthropic, gemini, openai};

/// What a request asks for.
pub(crate) struct Ask {
    pub(crate) protocol: Protocol,
    pub(crate) kind: RequestKind,
    pub(crate) purpose: String,
    pub(crate) model: String,
    pub(crate) prompt: String,
    /// The tool that the model must call.
    pub(crate) tool: Option<String>,
    /// The functions that the model may call.
    pub(crate) functions: Vec<String>,
    /// Whether it contains the result of a call.
    pub(crate) has_results: bool,
    /// The texts to embed.
    pub(crate) inputs: Vec<String>,
    pub(crate) stream: Option<Stream>,
    /// The features that it uses, of those that a script can refuse.
    pub(crate) uses: Vec<&'static str>,
}

/// The parts of a request that each protocol puts in another place.
pub(crate) struct Parts<'a> {
    pub(crate) texts: Vec<&'a str>,
    pub(crate) tool: Option<&'a str>,
    pub(crate) functions: Vec<&'a str>,
    pub(crate) has_results: bool,
    /// The schema's name, if it is separate from the schema.
    pub(crate) schema_name: Option<&'a str>,
    pub(crate) uses: Vec<&'static str>,
}

impl Ask {
    /// Reads the body of a request. Tolerates missing parts.
    pub(crate) fn read(endpoint: &Endpoint<'_>, body: &Value) -> Ask {
        let parts = match endpoint.protocol {
            Protocol::OpenAi | Protocol::Azure => openai::read(endpoint.kind, body),
            Protocol::Anthropic => anthropic::read(body),
            Protocol::Gemini => gemini::read(endpoint, body),
        };
        let open_purpose = if parts.functions.is_empty() { "text" } else { "functions" };
        let purpose = match endpoint.kind {
            RequestKind::Embeddings => "embeddings",
            RequestKind::Chat => parts.schema_name.or(parts.tool).unwrap_or(open_purpose),
        };
        let inputs = match endpoint.kind {
            RequestKind::Embeddings => parts.texts.iter().map(|&text| text.to_owned()).collect(),
            RequestKind::Chat => Vec::new(),
        };
        let model = endpoint.model.as_deref().or_else(|| body["model"].as_str());
        Ask {
            protocol: endpoint.protocol,
            kind: endpoint.kind,
            purpose: purpose.to_owned(),
            model: model.unwrap_or_default().to_owned(),
            prompt: parts.texts.join("\n"),
            tool: parts.tool.map(str::to_owned),
            functions: parts.functions.iter().map(|&name| name.to_owned()).collect(),
            has_results: parts.has_results,
            inputs,
            stream: endpoint.stream.or((body["stream"] == true).then_some(Stream::Events)),
            uses: parts.uses,
        }
    }

    /// Returns the schema of the reply.
    pub(crate) fn schema<'a>(&self, body: &'a Value) -> Option<&'a Value> {
        match self.protocol {
            Protocol::OpenAi | Protocol::Azure => openai::schema(body, self.tool.as_deref()),
            Protocol::Anthropic => anthropic::schema(body, self.tool.as_deref()),
            Protocol::Gemini => gemini::schema(body),
        }
    }
}

/// Collects the texts of a content: itself, or those of its parts.
pub(crate) fn add_texts<'a>(content: &'a Value, texts: &mut Vec<&'a str>) {
    match content {
        Value::String(text) => texts.push(text),
        Value::Array(parts) => parts.iter().for_each(|part| add_texts(part, texts)),
        Value::Object(part) => {
            texts.extend(part.get("text").and_then(Value::as_str));
            // The result of a call, in Anthropic's and Google's formats.
            let google = content.pointer("/functionResponse/response/output");
            for result in part.get("content").into_iter().chain(google) {
                add_texts(result, texts);
            }
        }
        _ => {}
    }
}

/// The only tool of a list: a model that must call some tool must call this one.
pub(crate) fn only(tools: &Value) -> Option<&Value> {
    match tools.as_array()?.as_slice() {
        [tool] => Some(tool),
        _ => None,
    }
}
