//! Replies of the server.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use juror_tools::{Served, error_body};
use serde_json::Value;

/// Where the reply came from just now: `cache`, `simulator`, `real` or `none`.
const SOURCE: HeaderName = HeaderName::from_static("juror-source");

/// Where a kept reply came from when it was made: `imported`, `simulated` or `real`.
const ORIGIN: HeaderName = HeaderName::from_static("juror-origin");

/// In what the arguments of a known reply differ from those of the call: `numbers`, `order`. In a
/// request, that they may: `numbers`.
pub(crate) const MATCH: HeaderName = HeaderName::from_static("juror-match");

const JSON: HeaderValue = HeaderValue::from_static("application/json");

pub(crate) type Reply = Response<Full<Bytes>>;

/// JSON that is ready.
pub(crate) fn json_bytes(status: StatusCode, body: Bytes) -> Reply {
    let mut reply = Response::new(Full::new(body));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, JSON);
    reply
}

/// A value as JSON.
pub(crate) fn json(status: StatusCode, value: &Value) -> Reply {
    json_bytes(status, Bytes::from(value.to_string()))
}

/// What went wrong, in the form of a tool's reply, which clients know.
pub(crate) fn problem(status: StatusCode, error: &str) -> Reply {
    json_bytes(status, error_body(error))
}

/// A reply that is the last on its connection, since what the client sends is not read to its end.
pub(crate) fn closing(mut reply: Reply) -> Reply {
    reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    reply
}

/// Text for people and Prometheus.
pub(crate) fn text(body: String) -> Reply {
    let mut reply = Response::new(Full::new(Bytes::from(body)));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    reply.headers_mut().insert(CONTENT_TYPE, kind);
    reply
}

/// A tool's reply.
pub(crate) fn served(status: StatusCode, served: &Served) -> Reply {
    let mut reply = json_bytes(status, served.body.clone());
    let headers = reply.headers_mut();
    headers.insert(SOURCE, HeaderValue::from_static(served.from.as_str()));
    if let Some(origin) = served.origin {
        headers.insert(ORIGIN, HeaderValue::from_static(origin.as_str()));
    }
    if let Some(found_by) = served.found_by() {
        headers.insert(MATCH, HeaderValue::from_static(found_by));
    }
    reply
}
