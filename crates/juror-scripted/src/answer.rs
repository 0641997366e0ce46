//! Turns a scripted reply into a provider's response.

use serde_json::{Value, json};

use crate::ask::Ask;
use crate::endpoint::Stream;
use crate::problem::Problem;
use crate::script::{FunctionCall, Reply, Script, Usage};
use crate::seen::{Protocol, RecordedRequest, RequestKind};
use crate::{anthropic, automatic, embedding, gemini, openai, pieces, schema};

pub(crate) const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// What the model says.
pub(crate) enum ModelOutput {
    Text(String),
    /// The arguments of a forced tool.
    Arguments {
        tool: String,
        json: Value,
    },
    /// Function calls, with optional text.
    Calls {
        content: Option<String>,
        calls: Vec<Call>,
    },
    Refusal(String),
    Nothing,
}

/// A function call with raw arguments.
pub(crate) struct Call {
    pub(crate) id: Option<String>,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

impl From<FunctionCall> for Call {
    fn from(call: FunctionCall) -> Call {
        let arguments = match call.arguments {
            Value::String(text) => text,
            Value::Null => "{}".to_owned(),
            json => json.to_string(),
        };
        Call { id: call.id, name: call.name, arguments }
    }
}

/// What a protocol needs to write the model's turn.
pub(crate) struct Turn<'a> {
    pub(crate) ask: &'a Ask,
    pub(crate) body: &'a Value,
    pub(crate) said: &'a ModelOutput,
    pub(crate) usage: Usage,
    /// The number of the request on its script.
    pub(crate) number: usize,
}

/// How a request is answered.
pub(crate) enum Answer {
    Http(Http),
    Hang,
    Reset,
}

/// A response to send.
pub(crate) struct Http {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<String>,
    pub(crate) media_type: &'static str,
    pub(crate) content: Content,
    /// Whether a client can use it.
    pub(crate) is_sound: bool,
}

/// The bytes of an answer.
pub(crate) enum Content {
    Whole(String),
    /// Bytes that are sent piece by piece.
    Pieces(Vec<Vec<u8>>),
    /// A body of which only the first half is sent, though its full length is announced.
    Half(String),
}

impl Answer {
    /// Answers a request with a scripted or an automatic reply.
    pub(crate) fn new(
        script: &Script,
        record: &RecordedRequest,
        number: usize,
        reply: Option<Reply>,
    ) -> Answer {
        let http = match reply {
            Some(Reply::Hang) => return Answer::Hang,
            Some(Reply::Reset) => return Answer::Reset,
            Some(Reply::Status { status, retry_after, body }) => {
                let usual = || Problem::of_status(status, &record.ask.model);
                let body = body.unwrap_or_else(|| usual().body(record.ask.protocol));
                Http { status, retry_after, is_sound: status < 300, ..Http::json(body.to_string()) }
            }
            Some(Reply::Garbled) => garbled(&record.ask),
            Some(Reply::Truncated) => Http::regular(script, record, number, None).half(),
            reply => Http::regular(script, record, number, reply),
        };
        Answer::Http(http)
    }

    /// Answers a request with an error.
    pub(crate) fn problem(problem: &Problem, protocol: Protocol) -> Answer {
        let body = problem.body(protocol).to_string();
        Answer::Http(Http { status: problem.status, is_sound: false, ..Http::json(body) })
    }
}

impl Http {
    fn json(body: String) -> Http {
        Http {
            status: 200,
            retry_after: None,
            media_type: JSON,
            content: Content::Whole(body),
            is_sound: true,
        }
    }

    fn regular(
        script: &Script,
        record: &RecordedRequest,
        number: usize,
        reply: Option<Reply>,
    ) -> Http {
        match record.ask.kind {
            RequestKind::Chat => chat(script, record, number, reply),
            RequestKind::Embeddings => embeddings(script, record, reply),
        }
    }

    fn half(self) -> Http {
        let text = match self.content {
            Content::Whole(text) | Content::Half(text) => text,
            Content::Pieces(pieces) => String::from_utf8_lossy(&pieces.concat()).into_owned(),
        };
        Http { content: Content::Half(text), is_sound: false, ..self }
    }
}

fn garbled(ask: &Ask) -> Http {
    let (media_type, text) = match ask.stream {
        Some(Stream::Events) => (EVENTS, "data: <html>Bad gateway</html>\n\n"),
        _ => (JSON, "<html>Bad gateway</html>"),
    };
    Http { media_type, is_sound: false, ..Http::json(text.to_owned()) }
}

fn chat(script: &Script, record: &RecordedRequest, number: usize, reply: Option<Reply>) -> Http {
    let (ask, body) = (&record.ask, &record.body);
    let said = match reply {
        Some(Reply::Json(json)) => say(ask, json),
        Some(Reply::Text(text)) => ModelOutput::Text(text),
        Some(Reply::Calls { content, calls }) => {
            ModelOutput::Calls { content, calls: calls.into_iter().map(Call::from).collect() }
        }
        Some(Reply::Refusal(text)) => ModelOutput::Refusal(text),
        Some(Reply::Empty) => ModelOutput::Nothing,
        _ => say_automatically(ask, body),
    };
    let usage = script.usage.unwrap_or_else(|| count(ask, &said));
    let turn = Turn { ask, body, said: &said, usage, number };
    let http = match ask.stream {
        Some(Stream::Events) => {
            let content = Content::Pieces(pieces::of_events(&events(&turn)));
            Http { media_type: EVENTS, content, ..Http::json(String::new()) }
        }
        Some(Stream::Array) => Http::json(Value::from(gemini::chunks(&turn)).to_string()),
        None => Http::json(whole(&turn).to_string()),
    };
    Http { is_sound: !matches!(said, ModelOutput::Nothing), ..http }
}

fn say(ask: &Ask, json: Value) -> ModelOutput {
    match &ask.tool {
        Some(tool) => ModelOutput::Arguments { tool: tool.clone(), json },
        None => ModelOutput::Text(json.to_string()),
    }
}

fn say_automatically(ask: &Ask, body: &Value) -> ModelOutput {
    if ask.purpose == "functions" {
        return call_automatically(ask);
    }
    let json = |schema| say(ask, automatic::reply(&ask.purpose, schema, &ask.prompt));
    if let Some(schema) = ask.schema(body) {
        return json(Some(schema));
    }
    if ask.uses.contains(&"json_object") {
        // Clients that ask for any JSON describe the schema in the prompt.
        return json(schema::find_in(&ask.prompt).as_ref());
    }
    if ask.purpose == "text" { ModelOutput::Text(automatic::TEXT.to_owned()) } else { json(None) }
}

/// Calls the first function, and then the one that finishes, if there is one.
fn call_automatically(ask: &Ask) -> ModelOutput {
    let call = |name: &str, arguments: Value| {
        let (name, arguments) = (name.to_owned(), arguments.to_string());
        ModelOutput::Calls { content: None, calls: vec![Call { id: None, name, arguments }] }
    };
    let first = ask.functions.iter().find(|name| *name != automatic::FINISH);
    match first.filter(|_| !ask.has_results) {
        Some(name) => call(name, json!({})),
        None if ask.functions.iter().any(|name| name == automatic::FINISH) => {
            call(automatic::FINISH, automatic::finish())
        }
        None => ModelOutput::Text(automatic::TEXT.to_owned()),
    }
}

fn count(ask: &Ask, said: &ModelOutput) -> Usage {
    let tokens = |text: &str| text.chars().count() as u64 / 4;
    let completion_tokens = match said {
        ModelOutput::Text(text) | ModelOutput::Refusal(text) => tokens(text),
        ModelOutput::Arguments { json, .. } => tokens(&json.to_string()),
        ModelOutput::Calls { content, calls } => {
            let arguments: u64 = calls.iter().map(|call| tokens(&call.arguments)).sum();
            tokens(content.as_deref().unwrap_or_default()) + arguments
        }
        ModelOutput::Nothing => 0,
    };
    Usage { prompt_tokens: tokens(&ask.prompt), completion_tokens }
}

fn whole(turn: &Turn<'_>) -> Value {
    match turn.ask.protocol {
        Protocol::OpenAi | Protocol::Azure => openai::whole(turn),
        Protocol::Anthropic => anthropic::whole(turn),
        Protocol::Gemini => gemini::whole(turn),
    }
}

fn events(turn: &Turn<'_>) -> Vec<String> {
    match turn.ask.protocol {
        Protocol::OpenAi | Protocol::Azure => openai::events(turn),
        Protocol::Anthropic => anthropic::events(turn),
        Protocol::Gemini => gemini::events(turn),
    }
}

fn embeddings(script: &Script, record: &RecordedRequest, reply: Option<Reply>) -> Http {
    let ask = &record.ask;
    let mut vectors = embedding::vectors(script, &ask.inputs);
    let mut is_sound = true;
    match reply {
        Some(Reply::Json(body)) => return Http::json(body.to_string()),
        Some(Reply::Text(text)) => return Http::json(text),
        Some(Reply::Refusal(text)) => {
            let body = Problem::invalid(text).body(ask.protocol);
            return Http { status: 400, is_sound: false, ..Http::json(body.to_string()) };
        }
        Some(Reply::WrongSize) => {
            vectors.last_mut().map(Vec::pop);
            is_sound = false;
        }
        Some(Reply::MissingVector) => {
            vectors.pop();
            is_sound = false;
        }
        Some(Reply::Empty) => {
            vectors.clear();
            is_sound = false;
        }
        _ => {}
    }
    let tokens = script.embedding_tokens;
    let body = match ask.protocol {
        Protocol::Gemini => gemini::embeddings(&vectors, tokens),
        _ => openai::embeddings(ask, &record.body, &vectors, tokens),
    };
    Http { is_sound, ..Http::json(body.to_string()) }
}
