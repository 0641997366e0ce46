//! Bodies of requests.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use hyper::{Request, StatusCode};
use juror_tools::{Held, Room};

use crate::reply::{Reply, closing};
use crate::seats::{Phase, Seat};
use crate::server::Server;

/// Bodies up to this length are read without asking whether there is room for them.
const SHORT: usize = 64 << 10;

/// In what steps room is asked for as a longer one comes.
const STEP: usize = 256 << 10;

/// Why a body cannot be had.
enum NoBody {
    TooLong,
    BrokenOff,
    NoRoom,
    Late,
}

impl Server {
    /// The body of a request, if it comes whole and in time, and the room that it takes if it is long.
    pub(crate) async fn body(
        &self,
        request: Request<Incoming>,
        seat: &Seat,
    ) -> Result<(Bytes, Option<Held>), Reply> {
        let (limits, room) = (&self.setup.limits, self.setup.tools.room());
        seat.set(Phase::Body);
        let coming = read(request.into_body(), limits.body, room);
        let body = at_once_or_within(limits.receiving, coming).await;
        seat.set(Phase::Working);
        body.unwrap_or(Err(NoBody::Late)).map_err(|why| {
            let (status, why) = match why {
                NoBody::TooLong => (
                    StatusCode::PAYLOAD_TOO_LARGE,
                    format!("The request is longer than {} bytes (--max-body)", limits.body),
                ),
                NoBody::BrokenOff => (StatusCode::BAD_REQUEST, "The request broke off".to_owned()),
                NoBody::NoRoom => (StatusCode::SERVICE_UNAVAILABLE, room.full()),
                NoBody::Late => {
                    let seconds = limits.receiving.as_secs_f64();
                    let why = format!("The body took over {seconds} s (--body-timeout)");
                    (StatusCode::REQUEST_TIMEOUT, why)
                }
            };
            closing(self.refuse(status, &why))
        })
    }
}

async fn read(body: Incoming, most: usize, room: &Room) -> Result<(Bytes, Option<Held>), NoBody> {
    if body.size_hint().upper().is_some_and(|length| length <= SHORT as u64) {
        let whole = Limited::new(body, most).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() { NoBody::TooLong } else { NoBody::BrokenOff }
        })?;
        return Ok((whole.to_bytes(), None));
    }
    read_long(body, most, room).await
}

/// Reads a body piece by piece, with room for what has come: what is only announced takes none.
async fn read_long(
    mut body: Incoming,
    most: usize,
    room: &Room,
) -> Result<(Bytes, Option<Held>), NoBody> {
    if body.size_hint().lower() > most as u64 {
        return Err(NoBody::TooLong);
    }
    let mut whole = Vec::new();
    let (mut held, mut n_held): (Option<Held>, usize) = (None, SHORT);
    while let Some(frame) = body.frame().await {
        let Ok(piece) = frame.map_err(|_| NoBody::BrokenOff)?.into_data() else { continue };
        let n_bytes = whole.len() + piece.len();
        if n_bytes > most {
            return Err(NoBody::TooLong);
        }
        while n_bytes > n_held {
            let more = room.take(STEP).ok_or(NoBody::NoRoom)?;
            held = Some(match held.take() {
                Some(held) => held.and(more),
                None => more,
            });
            n_held += STEP;
        }
        whole.extend_from_slice(&piece);
    }
    Ok((Bytes::from(whole), held))
}

/// What a future comes to, if it does in time. Most bodies come with their heads, and no clock is set
/// for them.
async fn at_once_or_within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    tokio::pin!(future);
    let first = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
    match first {
        Poll::Ready(output) => Some(output),
        Poll::Pending => tokio::time::timeout(limit, future).await.ok(),
    }
}
