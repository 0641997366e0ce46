//! HTTP responses.

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{CONNECTION, CONTENT_TYPE, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use juror_tools::{Served, error_body};
use serde_json::Value;

/// Where the reply came from for this call: `cache`, `simulator`, `real` or `none`.
const SOURCE: HeaderName = HeaderName::from_static("juror-source");

/// Where a known reply came from originally: `imported`, `simulated` or `real`.
const ORIGIN: HeaderName = HeaderName::from_static("juror-origin");

/// In a response, how the arguments of a known reply differ from those of the call: `numbers`,
/// `order`. In a request, which differences are accepted: `numbers`.
pub(crate) const MATCH: HeaderName = HeaderName::from_static("juror-match");

/// What a rule made go wrong: `slow`, `error` or `malformed`.
const FAULT: HeaderName = HeaderName::from_static("juror-fault");

const JSON: HeaderValue = HeaderValue::from_static("application/json");

pub(crate) type HttpResponse = Response<Full<Bytes>>;

pub(crate) fn json_bytes(status: StatusCode, body: Bytes) -> HttpResponse {
    let mut reply = Response::new(Full::new(body));
    *reply.status_mut() = status;
    reply.headers_mut().insert(CONTENT_TYPE, JSON);
    reply
}

pub(crate) fn json(status: StatusCode, value: &Value) -> HttpResponse {
    json_bytes(status, Bytes::from(value.to_string()))
}

/// An error in the form of a tool's reply, which clients understand.
pub(crate) fn problem(status: StatusCode, error: &str) -> HttpResponse {
    json_bytes(status, error_body(error))
}

/// Marks the last response on a connection, because the rest of the request is not read.
pub(crate) fn closing(mut reply: HttpResponse) -> HttpResponse {
    reply.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    reply
}

/// Plain text, in the version that Prometheus expects.
pub(crate) fn text(body: String) -> HttpResponse {
    let mut reply = Response::new(Full::new(Bytes::from(body)));
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    reply.headers_mut().insert(CONTENT_TYPE, kind);
    reply
}

/// A tool's reply.
pub(crate) fn served(status: StatusCode, served: &Served) -> HttpResponse {
    let mut reply = json_bytes(status, served.body.clone());
    let headers = reply.headers_mut();
    headers.insert(SOURCE, HeaderValue::from_static(served.from.as_str()));
    if let Some(origin) = served.origin {
        headers.insert(ORIGIN, HeaderValue::from_static(origin.as_str()));
    }
    if let Some(found_by) = served.found_by() {
        headers.insert(MATCH, HeaderValue::from_static(found_by));
    }
    if let Some(fault) = served.fault {
        headers.insert(FAULT, HeaderValue::from_static(fault));
    }
    reply
}
