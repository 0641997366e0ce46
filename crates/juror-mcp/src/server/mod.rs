//! The server half: answers messages.

mod lines;
mod request;

use juror_models::Pending;
use serde_json::json;
use serde_json::value::RawValue;

pub use lines::serve_lines;
pub(crate) use lines::{next_line, write_line};

use crate::message::{METHOD_NOT_FOUND, Message, RpcError, reply};
use crate::version;
use request::{Era, Parameters, check_headers};

/// The tools that a server offers.
pub trait ToolHost: Send + Sync {
    /// Returns a page of the list of tools: the first, or the one that a cursor stands for.
    fn page<'a>(&'a self, cursor: Option<&'a str>) -> Pending<'a, Result<Page, RpcError>>;

    /// Calls a tool. An error is about the request; a tool that fails has a result that says so.
    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a RawValue,
    ) -> Pending<'a, Result<CallResult, RpcError>>;

    /// What models should know about the tools, if anything.
    fn instructions(&self) -> Option<&str> {
        None
    }
}

/// A page of the list of tools.
#[derive(Clone, Debug)]
pub struct Page {
    /// The tools as a JSON list.
    pub tools: String,
    /// The cursor of the next page.
    pub next: Option<String>,
}

/// The result of a tool.
#[derive(Clone, Debug)]
pub struct CallResult {
    /// What it says.
    pub text: String,
    /// Whether it failed.
    pub is_error: bool,
}

/// How a message arrived.
#[derive(Clone, Copy, Debug)]
pub enum Transport<'t> {
    /// As a line of a stream.
    Lines,
    /// As the body of an HTTP request.
    Http(Headers<'t>),
}

/// The headers that repeat parts of a message.
#[derive(Clone, Copy, Debug, Default)]
pub struct Headers<'h> {
    /// `mcp-protocol-version`.
    pub version: Option<&'h str>,
    /// `mcp-method`.
    pub method: Option<&'h str>,
    /// `mcp-name`.
    pub name: Option<&'h str>,
}

/// The reply to a message.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The status of an HTTP response.
    pub status: u16,
    /// A message; none in reply to a notification.
    pub body: Option<String>,
}

/// Answers a message.
pub async fn answer(host: &dyn ToolHost, transport: Transport<'_>, text: &str) -> Reply {
    let refused = |error: &RpcError, id: Option<&RawValue>| Reply {
        status: 400,
        body: Some(error.reply(id)),
    };
    let message = match Message::read(text) {
        Ok(message) => message,
        Err(error) => return refused(&error, None),
    };
    let id = match message.request_id() {
        Ok(id) => id,
        Err(error) => return refused(&error, None),
    };
    let (Some(method), Some(id)) = (&message.method, id) else {
        // A notification, or a response to a request that Juror never made.
        return Reply { status: 202, body: None };
    };
    let parameters = match Parameters::read(message.params) {
        Ok(parameters) => parameters,
        Err(error) => return refused(&error, Some(id)),
    };
    let era = match check_headers(method, &parameters, transport) {
        Ok(era) => era,
        Err(error) => return refused(&error, Some(id)),
    };
    match result_of(host, method, &parameters, era).await {
        Ok(result) => Reply { status: 200, body: Some(reply(id, &result)) },
        Err(error) => {
            let is_unknown = era == Era::Stateless && error.code == METHOD_NOT_FOUND;
            Reply { status: if is_unknown { 404 } else { 200 }, body: Some(error.reply(Some(id))) }
        }
    }
}

/// Returns the result of a request as JSON.
async fn result_of(
    host: &dyn ToolHost,
    method: &str,
    parameters: &Parameters<'_>,
    era: Era,
) -> Result<String, RpcError> {
    match (method, era) {
        ("initialize", Era::Handshake) => Ok(initialized(host, parameters)),
        ("ping", Era::Handshake) => Ok("{}".to_owned()),
        ("server/discover", Era::Stateless) => Ok(discovered(host)),
        ("tools/list", _) => {
            let page = host.page(parameters.cursor.as_deref()).await?;
            let next = page.next.map(|next| format!(",\"nextCursor\":{}", json!(next)));
            let more = era.more(Cached::Yes);
            Ok(format!("{{\"tools\":{}{}{more}}}", page.tools, next.unwrap_or_default()))
        }
        ("tools/call", _) => {
            let name = parameters.name.as_deref();
            let name = name.ok_or_else(|| RpcError::bad_parameters("`name` is missing"))?;
            let result = host.call(name, parameters.arguments()?).await?;
            let content = json!([{"type": "text", "text": result.text}]);
            let more = era.more(Cached::No);
            Ok(format!("{{\"content\":{content},\"isError\":{}{more}}}", result.is_error))
        }
        _ => Err(RpcError::new(METHOD_NOT_FOUND, format!("There is no method `{method}` here"))),
    }
}

/// Whether clients may keep a result, which results of the revision without a handshake say.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cached {
    Yes,
    No,
}

impl Era {
    /// The fields that the revision adds to a result.
    fn more(self, cached: Cached) -> &'static str {
        match (self, cached) {
            (Era::Handshake, _) => "",
            (Era::Stateless, Cached::No) => ",\"resultType\":\"complete\"",
            (Era::Stateless, Cached::Yes) => {
                ",\"resultType\":\"complete\",\"ttlMs\":0,\"cacheScope\":\"private\""
            }
        }
    }
}

fn initialized(host: &dyn ToolHost, parameters: &Parameters<'_>) -> String {
    let requested = parameters.protocol_version.as_deref().unwrap_or_default();
    let mut result = json!({"protocolVersion": version::agreed(requested),
        "capabilities": {"tools": {}}, "serverInfo": server_info()});
    if let Some(instructions) = host.instructions() {
        result["instructions"] = instructions.into();
    }
    result.to_string()
}

fn discovered(host: &dyn ToolHost) -> String {
    let versions: Vec<&str> = version::all().collect();
    let mut result = json!({"supportedVersions": versions, "capabilities": {"tools": {}},
        "serverInfo": server_info(), "resultType": "complete", "ttlMs": 0,
        "cacheScope": "private"});
    if let Some(instructions) = host.instructions() {
        result["instructions"] = instructions.into();
    }
    result.to_string()
}

fn server_info() -> serde_json::Value {
    json!({"name": "juror", "version": env!("CARGO_PKG_VERSION")})
}

#[cfg(test)]
mod tests;
