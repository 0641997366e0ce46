//! Sends an answer.

use std::io;
use std::sync::Arc;
use std::vec;

use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER};
use axum::http::response::Builder;
use axum::http::{Response, StatusCode};
use futures_util::stream;

use crate::answer::{Answer, Content, Http, JSON};
use crate::connection::Breaker;
use crate::problem::Problem;
use crate::seen::{Protocol, RecordedRequest};
use crate::traffic::InFlight;

/// A request that is about to be answered.
pub(crate) struct Delivery {
    pub(crate) record: Arc<RecordedRequest>,
    pub(crate) in_flight: InFlight,
    pub(crate) breaker: Breaker,
}

impl Delivery {
    pub(crate) async fn send(self, answer: Answer) -> Response<Body> {
        match answer {
            // Ends when the client leaves or the server stops, both of which drop this future.
            Answer::Hang => std::future::pending().await,
            Answer::Reset => {
                self.breaker.pull();
                Response::default()
            }
            Answer::Http(http) => self.send_http(http),
        }
    }

    fn send_http(self, http: Http) -> Response<Body> {
        let mut head =
            Response::builder().status(http.status).header(CONTENT_TYPE, http.media_type);
        if let Some(seconds) = http.retry_after {
            head = head.header(RETRY_AFTER, seconds);
        }
        match http.content {
            Content::Whole(text) => {
                self.finish(http.is_sound);
                build(head, Body::from(text))
            }
            Content::Pieces(pieces) => build(head, self.stream(pieces, http.is_sound)),
            Content::Half(text) => {
                let head = head.header(CONTENT_LENGTH, text.len());
                build(head, half(text))
            }
        }
    }

    /// Records the answer before its last byte is sent, so that a client that has all of it can
    /// look at once.
    fn finish(self, is_sound: bool) {
        if is_sound {
            self.record.set_answered();
        }
        drop(self.in_flight);
    }

    fn stream(self, pieces: Vec<Vec<u8>>, is_sound: bool) -> Body {
        let start = (Some(self), pieces.into_iter());
        Body::from_stream(stream::unfold(start, move |(mut delivery, mut pieces)| async move {
            let piece = pieces.next()?;
            send_what_there_is().await;
            if pieces.len() == 0
                && let Some(delivery) = delivery.take()
            {
                delivery.finish(is_sound);
            }
            Some((io::Result::Ok(Bytes::from(piece)), (delivery, pieces)))
        }))
    }
}

/// The response for an unknown path.
pub(crate) fn not_found(message: &str) -> Response<Body> {
    let problem = Problem { status: 404, ..Problem::invalid(message) };
    let body = problem.body(Protocol::OpenAi).to_string();
    build(Response::builder().status(404).header(CONTENT_TYPE, JSON), Body::from(body))
}

fn half(text: String) -> Body {
    let mut bytes = text.into_bytes();
    bytes.truncate(bytes.len() / 2);
    let parts: vec::IntoIter<io::Result<Bytes>> =
        vec![Ok(Bytes::from(bytes)), Err(io::ErrorKind::UnexpectedEof.into())].into_iter();
    Body::from_stream(stream::unfold(parts, |mut parts| async {
        let part = parts.next()?;
        send_what_there_is().await;
        Some((part, parts))
    }))
}

/// A body that is not ready makes the server send what it has, so that pieces stay pieces.
async fn send_what_there_is() {
    tokio::task::yield_now().await;
}

fn build(head: Builder, body: Body) -> Response<Body> {
    // Only a script with an invalid status or header gets here.
    head.body(body).unwrap_or_else(|error| {
        let mut response = Response::new(Body::from(format!("the script is wrong: {error}")));
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        response
    })
}
