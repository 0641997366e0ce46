//! Tools over MCP: listed page by page or searched, and called like all others.

use std::sync::Arc;
use std::time::Instant;

use hyper::body::Incoming;
use hyper::header::{ALLOW, HeaderName, HeaderValue};
use hyper::{Method, Request, StatusCode};
use juror_json::{Object, text_of};
use juror_mcp::{CallResult, Headers, Page, RpcError, ToolHost, Transport, answer};
use juror_models::Pending;
use juror_tools::{NumberMatching, RawCall, Served, ToolCall, error_body};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::open_connections::ConnectionState;
use crate::recorder::QueryAddress;
use crate::response::{self, HttpResponse};
use crate::server::{MatchNumbers, Server};
use crate::url_parts::field;

/// Up to so many APIs are listed; more are searched, unless the server or the client says
/// otherwise.
pub const MOST_LISTED: usize = 128;

/// How many tools are on a page of the list.
const PAGE: usize = 500;

/// How many APIs a search returns by default, and at most.
const DEFAULT_FOUND: usize = 10;
const MOST_FOUND: usize = 100;

const SEARCH: &str = "search_tools";
const CALL: &str = "call_tool";

/// How a client gets to know tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum McpListing {
    /// By a list of all, or by search if there are more than [`MOST_LISTED`].
    #[default]
    Auto,
    /// By a list of all.
    List,
    /// By two tools, one that finds APIs and one that calls them.
    Search,
}

impl McpListing {
    /// Reads the word that users write.
    pub fn of_word(word: &str) -> Option<McpListing> {
        match word {
            "auto" => Some(McpListing::Auto),
            "list" => Some(McpListing::List),
            "search" => Some(McpListing::Search),
            _ => None,
        }
    }

    fn searches(self, n_apis: usize) -> bool {
        match self {
            McpListing::Auto => n_apis > MOST_LISTED,
            McpListing::List => false,
            McpListing::Search => true,
        }
    }
}

/// The tools of a server, for one query or for none.
struct McpTools {
    server: Arc<Server>,
    of: Option<QueryAddress>,
    searches: bool,
}

#[derive(Deserialize)]
struct SearchArguments {
    query: String,
    #[serde(default)]
    k: Option<usize>,
}

#[derive(Deserialize)]
struct CallArguments<'c> {
    name: String,
    #[serde(borrow, default)]
    arguments: Option<&'c RawValue>,
}

impl Server {
    /// The tools over MCP, for streams other than HTTP.
    pub fn mcp_tools(self: &Arc<Server>) -> Arc<dyn ToolHost> {
        Arc::new(self.tools_for(None, self.setup.mcp_listing))
    }

    fn tools_for(self: &Arc<Server>, of: Option<QueryAddress>, listing: McpListing) -> McpTools {
        let searches = listing.searches(self.setup.catalog.n_apis());
        McpTools { server: self.clone(), of, searches }
    }

    /// Answers a request of MCP.
    pub(crate) async fn answer_mcp(
        self: &Arc<Server>,
        request: Request<Incoming>,
        of: Option<QueryAddress>,
        connection: &ConnectionState,
    ) -> HttpResponse {
        if request.method() != Method::POST {
            let mut reply = self.refuse(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
            reply.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
            return reply;
        }
        if let Some(Err(why)) = of.as_ref().map(|of| self.recorder.check(of)) {
            return self.refuse_run(why);
        }
        let listing = match field(request.uri().query().unwrap_or_default(), "tools") {
            None => self.setup.mcp_listing,
            Some(word) => match McpListing::of_word(&word) {
                Some(listing) => listing,
                None => {
                    let why = "`tools` is one of auto, list and search";
                    return self.refuse(StatusCode::BAD_REQUEST, why);
                }
            },
        };
        let [version, method, name] = HEADERS.map(|header| header_of(&request, &header));
        let (body, _reservation) = match self.body(request, connection).await {
            Ok(read) => read,
            Err(refusal) => return refusal,
        };
        let _slot = match self.slot(connection).await {
            Ok(slot) => slot,
            Err(refusal) => return refusal,
        };
        let Ok(text) = std::str::from_utf8(&body) else {
            return self.refuse(StatusCode::BAD_REQUEST, "The request is not UTF-8");
        };
        let headers = Headers {
            version: version.as_deref(),
            method: method.as_deref(),
            name: name.as_deref(),
        };
        let tools = self.tools_for(of, listing);
        let reply = answer(&tools, Transport::Http(headers), text).await;
        let status = StatusCode::from_u16(reply.status).unwrap_or(StatusCode::OK);
        response::json_bytes(status, reply.body.unwrap_or_default().into())
    }

    /// Answers a call, and records it even if its caller leaves.
    async fn call_for_mcp(self: &Arc<Server>, call: ToolCall, of: Option<QueryAddress>) -> Served {
        let (start, server) = (Instant::now(), self.clone());
        let work = async move {
            let call = Arc::new(call);
            let reply = server.in_time(&call).await;
            server.tell(&call, &reply, of, start.elapsed());
            reply
        };
        let bug = |_| Served::busy("Juror failed to answer");
        tokio::spawn(work).await.unwrap_or_else(bug)
    }
}

/// The headers that repeat parts of a message.
const HEADERS: [HeaderName; 3] = [
    HeaderName::from_static("mcp-protocol-version"),
    HeaderName::from_static("mcp-method"),
    HeaderName::from_static("mcp-name"),
];

fn header_of(request: &Request<Incoming>, header: &HeaderName) -> Option<String> {
    request.headers().get(header)?.to_str().ok().map(str::to_owned)
}

impl ToolHost for McpTools {
    fn page<'a>(&'a self, cursor: Option<&'a str>) -> Pending<'a, Result<Page, RpcError>> {
        Box::pin(async move {
            if self.searches {
                return Ok(Page { tools: search_and_call(), next: None });
            }
            let catalog = self.server.setup.catalog.clone();
            let n_apis = catalog.n_apis();
            let bad = || RpcError::bad_parameters("no page has this cursor");
            let start: usize = cursor.map_or(Ok(0), str::parse).map_err(|_| bad())?;
            if start > n_apis {
                return Err(bad());
            }
            let end = n_apis.min(start + PAGE);
            let tools = tokio::task::spawn_blocking(move || catalog.list_tools(start..end)).await;
            let tools = tools.map_err(|_| RpcError::bad_parameters("Juror failed to answer"))?;
            Ok(Page { tools, next: (end < n_apis).then(|| end.to_string()) })
        })
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a RawValue,
    ) -> Pending<'a, Result<CallResult, RpcError>> {
        Box::pin(async move {
            match name {
                SEARCH => self.search(arguments).await,
                CALL => {
                    let inner: CallArguments<'_> = read_arguments(arguments)?;
                    let empty = || serde_json::from_str("{}").unwrap_or(RawValue::NULL);
                    let arguments = inner.arguments.unwrap_or_else(empty);
                    Ok(match self.call_api(&inner.name, arguments).await {
                        Ok(result) => result,
                        // A model that made the name up can try again.
                        Err(error) => CallResult { text: error.message, is_error: true },
                    })
                }
                name => self.call_api(name, arguments).await,
            }
        })
    }

    fn instructions(&self) -> Option<&str> {
        self.searches.then_some(
            "There are too many tools to list: find those that fit with search_tools, and call them with call_tool.",
        )
    }
}

impl McpTools {
    async fn search(&self, arguments: &RawValue) -> Result<CallResult, RpcError> {
        let SearchArguments { query, k } = read_arguments(arguments)?;
        let catalog = self.server.setup.catalog.clone();
        let most = k.unwrap_or(DEFAULT_FOUND).min(MOST_FOUND);
        let find = move || {
            let found = catalog.find(&query, most);
            catalog.list_tools(found.iter().map(|found| found.number))
        };
        let found = tokio::task::spawn_blocking(find).await;
        let text = found.map_err(|_| RpcError::bad_parameters("Juror failed to answer"))?;
        Ok(CallResult { text, is_error: false })
    }

    async fn call_api(&self, name: &str, arguments: &RawValue) -> Result<CallResult, RpcError> {
        let setup = &self.server.setup;
        let number = setup.catalog.registry().position(name);
        let Some(offer) = number.and_then(|number| setup.catalog.offer(number)) else {
            let shown: String = name.chars().take(200).collect();
            let why = format!("There is no tool `{shown}`");
            self.record_unknown(shown, arguments, &why);
            return Err(RpcError::bad_parameters(why));
        };
        let (category, tool, api) = (offer.category, offer.tool, offer.api.name.as_str());
        let call = ToolCall::new(category, tool, api, arguments.get(), "");
        let call = call.map_err(|_| RpcError::bad_parameters("the arguments cannot be read"))?;
        let mut call = call.ruled_by(setup.tools.rules());
        if setup.match_numbers != MatchNumbers::Never {
            call.numbers = NumberMatching::Equal;
        }
        Ok(result_of(&self.server.call_for_mcp(call, self.of.clone()).await))
    }

    /// Records a call of a tool that there is not.
    fn record_unknown(&self, api: String, arguments: &RawValue, why: &str) {
        let (category, tool) = (String::new(), String::new());
        let asked = RawCall { category, tool, api, input: arguments.get().to_owned() };
        self.server.record_refused(asked, error_body(why), self.of.clone());
    }
}

fn read_arguments<'a, T: Deserialize<'a>>(arguments: &'a RawValue) -> Result<T, RpcError> {
    serde_json::from_str(arguments.get())
        .map_err(|error| RpcError::bad_parameters(juror_json::reason(&error)))
}

/// What a client is told of a reply: the response alone, or the whole reply if it is an error.
fn result_of(served: &Served) -> CallResult {
    let body = String::from_utf8_lossy(&served.body).into_owned();
    let Ok(fields) = juror_json::from_str::<Object<'_>>(&body) else {
        return CallResult { text: body, is_error: served.failure.is_some() };
    };
    let says_nothing =
        |error: &RawValue| matches!(error.get(), "\"\"" | "null" | "false" | "{}" | "[]");
    let is_error = fields.get("error").is_some_and(|error| !says_nothing(error));
    match fields.get("response") {
        Some(response) if !is_error && served.failure.is_none() => {
            let text = text_of(response).map_or_else(|| response.get().to_owned(), Into::into);
            CallResult { text, is_error: false }
        }
        _ => CallResult { is_error: is_error || served.failure.is_some(), text: body },
    }
}

/// The two tools that stand for all, as a JSON list.
fn search_and_call() -> String {
    let query = json!({"type": "string", "description": "What the tools should be able to do"});
    let k = json!({"type": "integer", "description": "How many to find", "default": DEFAULT_FOUND,
        "minimum": 1, "maximum": MOST_FOUND});
    let name = json!({"type": "string", "description": "A name that search_tools has found"});
    let arguments =
        json!({"type": "object", "description": "Its arguments, as its inputSchema says"});
    json!([
        {"name": SEARCH, "description": "Finds the tools that fit a text best. Returns their names, descriptions and input schemas; call_tool calls them.",
         "inputSchema": {"type": "object", "properties": {"query": query, "k": k}, "required": ["query"]}},
        {"name": CALL, "description": "Calls a tool that search_tools has found.",
         "inputSchema": {"type": "object", "properties": {"name": name, "arguments": arguments},
            "required": ["name", "arguments"]}},
    ])
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_told_the_response_or_the_whole_error() {
        let check = |body: &str, text: &str, is_error: bool| {
            let served = Served { body: body.to_owned().into(), failure: None, ..Served::busy("") };
            let result = result_of(&served);
            assert_eq!((&*result.text, result.is_error), (text, is_error), "{body}");
        };
        check(r#"{"error":"","response":"rain"}"#, "rain", false);
        check(r#"{"error":"","response":{"a": 1}}"#, r#"{"a": 1}"#, false);
        check(r#"{"error":"no","response":""}"#, r#"{"error":"no","response":""}"#, true);
        check(r#"{"other": 1}"#, r#"{"other": 1}"#, false);
        check(r#"{"error":"","resp"#, r#"{"error":"","resp"#, false);
    }

    #[test]
    fn large_pools_are_searched() {
        assert!(McpListing::Auto.searches(MOST_LISTED + 1));
        assert!(!McpListing::Auto.searches(MOST_LISTED));
        assert!(!McpListing::List.searches(1_000_000));
        assert_eq!(McpListing::of_word("search"), Some(McpListing::Search));
    }
}
