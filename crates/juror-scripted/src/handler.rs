//! Handles requests.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{ConnectInfo, State};
use axum::http::{HeaderMap, Method, Response, Uri};
use serde_json::Value;

use crate::ask::Ask;
use crate::connection::Breaker;
use crate::conversation;
use crate::delivery::{Delivery, not_found};
use crate::endpoint::{Endpoint, has};
use crate::problem::Problem;
use crate::seen::{Protocol, RecordedRequest};
use crate::stage::Stage;

pub(crate) async fn handle(
    State(stage): State<Arc<Stage>>,
    ConnectInfo(breaker): ConnectInfo<Breaker>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    bytes: Bytes,
) -> Response<Body> {
    let query = uri.query().unwrap_or_default();
    let Some(endpoint) = Endpoint::of(uri.path(), query).filter(|_| method == Method::POST) else {
        return not_found(&format!("Unknown request URL: {method} {}", uri.path()));
    };
    let Some(play) = stage.play(endpoint.script) else {
        return not_found(&format!("No script at {}", uri.path()));
    };
    let in_flight = stage.traffic.enter();
    let parsed: Result<Value, _> = serde_json::from_slice(&bytes);
    let problem = match &parsed {
        Ok(body) => find_problem(&endpoint, query, &headers, body),
        Err(error) => Some(Problem::invalid(format!(
            "We could not parse the JSON body of your request: {error}"
        ))),
    };
    let body = parsed.unwrap_or_default();
    let key = read_key(endpoint.protocol, &headers);
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let ask = Ask::read(&endpoint, &body);
    let record = RecordedRequest::new(ask, key, query.to_owned(), body, text);
    let (record, answer) = play.take(record, problem);
    play.work().await;
    Delivery { record, in_flight, breaker }.send(answer).await
}

/// Returns the key of a request, from where its provider expects it.
fn read_key(protocol: Protocol, headers: &HeaderMap) -> Option<String> {
    let header = |name: &str| headers.get(name)?.to_str().ok();
    let key = match protocol {
        Protocol::OpenAi => header("authorization")?.strip_prefix("Bearer "),
        Protocol::Azure => header("api-key"),
        Protocol::Anthropic => header("x-api-key"),
        Protocol::Gemini => header("x-goog-api-key"),
    };
    key.map(str::to_owned)
}

/// Checks what the provider requires of every request.
fn find_problem(
    endpoint: &Endpoint<'_>,
    query: &str,
    headers: &HeaderMap,
    body: &Value,
) -> Option<Problem> {
    match endpoint.protocol {
        Protocol::Azure if !has(query, "api-version", None) => {
            Some(Problem { status: 404, ..Problem::invalid("Resource not found") })
        }
        Protocol::Anthropic if !headers.contains_key("anthropic-version") => {
            Some(Problem::invalid("anthropic-version: header is required"))
        }
        Protocol::Anthropic if body["max_tokens"].is_null() => {
            Some(Problem::invalid("max_tokens: Field required"))
        }
        protocol => conversation::problem(protocol, body).map(Problem::invalid),
    }
}
