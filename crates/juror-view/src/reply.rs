//! Responses, and what browsers may do with them.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body_util::{Either, Full};
use hyper::body::{Body, Frame};
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, LOCATION,
    REFERRER_POLICY, SET_COOKIE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use hyper::{Response, StatusCode};
use juror_report::{page_policy, view_policy};
use tokio::sync::mpsc;

/// A response: a page, or events without an end.
pub(crate) type Reply = Response<Either<Full<Bytes>, Events>>;

/// Pages of other origins may not load or open these.
const SAME_ORIGIN: [(HeaderName, &str); 2] = [
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Server-sent events, until nobody sends any more.
pub(crate) struct Events(pub(crate) mpsc::Receiver<Bytes>);

impl Body for Events {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        self.0.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

/// A page of the viewer's own.
pub(crate) fn page(status: StatusCode, html: String) -> Reply {
    html_with(status, html.into(), &view_policy())
}

/// A report.
pub(crate) fn report(html: Bytes) -> Reply {
    html_with(StatusCode::OK, html, &page_policy())
}

fn html_with(status: StatusCode, html: Bytes, policy: &str) -> Reply {
    let mut reply = Response::new(Either::Left(Full::new(html)));
    *reply.status_mut() = status;
    protect(&mut reply, "text/html; charset=utf-8", policy);
    reply
}

/// Leads a browser to another page, after what it sent was kept.
pub(crate) fn see_other(address: &str, cookie: Option<&str>) -> Reply {
    let mut reply = html_with(StatusCode::SEE_OTHER, Bytes::new(), "default-src 'none'");
    let headers = reply.headers_mut();
    // Addresses are encoded, and cookies are digits: both are always values of headers.
    headers.extend(HeaderValue::from_str(address).ok().map(|value| (LOCATION, value)));
    let cookie = cookie.and_then(|cookie| HeaderValue::from_str(cookie).ok());
    headers.extend(cookie.map(|value| (SET_COOKIE, value)));
    reply
}

/// That the viewer is up.
pub(crate) fn health() -> Reply {
    let body = concat!(r#"{"status":"ok","version":""#, env!("CARGO_PKG_VERSION"), r#""}"#);
    let mut reply = Response::new(Either::Left(Full::new(Bytes::from_static(body.as_bytes()))));
    protect(&mut reply, "application/json", "default-src 'none'");
    reply
}

/// Events as they happen.
pub(crate) fn events(events: Events) -> Reply {
    let mut reply = Response::new(Either::Right(events));
    protect(&mut reply, "text/event-stream", "default-src 'none'");
    reply
}

/// Says what the response is, and forbids everything else: other sites may not frame it, nobody
/// keeps it, and addresses of this server do not leave it.
fn protect(reply: &mut Reply, kind: &'static str, policy: &str) {
    let headers = reply.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    let fixed = [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (CACHE_CONTROL, "no-store"),
        (X_FRAME_OPTIONS, "DENY"),
        // Not `no-referrer`: browsers would then hide the origin of forms, which is checked.
        (REFERRER_POLICY, "same-origin"),
    ];
    for (name, value) in fixed.into_iter().chain(SAME_ORIGIN) {
        headers.insert(name, HeaderValue::from_static(value));
    }
    let policy = HeaderValue::from_str(policy);
    headers.extend(policy.ok().map(|policy| (CONTENT_SECURITY_POLICY, policy)));
}
