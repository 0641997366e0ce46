//! Reads the bodies of requests.

use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::{Body, Incoming};
use hyper::{Request, StatusCode};
use juror_tools::{MemoryBudget, Reservation};

use crate::open_connections::{ConnectionState, Phase};
use crate::response::{HttpResponse, closing};
use crate::server::Server;

/// Bodies up to this length are read without a reservation.
const SHORT: usize = 64 << 10;

/// The size of reservations while a longer body arrives.
const STEP: usize = 256 << 10;

/// Why a body could not be read.
enum NoBody {
    TooLong,
    BrokenOff,
    NoRoom,
    Late,
}

impl Server {
    /// Reads the body of a request. A long body comes with its reservation of memory.
    pub(crate) async fn body(
        &self,
        request: Request<Incoming>,
        connection: &ConnectionState,
    ) -> Result<(Bytes, Option<Reservation>), HttpResponse> {
        let (limits, budget) = (&self.setup.limits, self.setup.tools.budget());
        connection.set(Phase::Body);
        let coming = read(request.into_body(), limits.body, budget);
        let body = at_once_or_within(limits.receiving, coming).await;
        connection.set(Phase::Working);
        body.unwrap_or(Err(NoBody::Late)).map_err(|why| {
            let (status, why) = match why {
                NoBody::TooLong => (
                    StatusCode::PAYLOAD_TOO_LARGE,
                    format!("The request is longer than {} bytes (--max-body)", limits.body),
                ),
                NoBody::BrokenOff => (StatusCode::BAD_REQUEST, "The request broke off".to_owned()),
                NoBody::NoRoom => (StatusCode::SERVICE_UNAVAILABLE, budget.full_message()),
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

async fn read(
    body: Incoming,
    most: usize,
    budget: &MemoryBudget,
) -> Result<(Bytes, Option<Reservation>), NoBody> {
    if body.size_hint().upper().is_some_and(|length| length <= SHORT as u64) {
        let whole = Limited::new(body, most).collect().await.map_err(|error| {
            if error.is::<LengthLimitError>() { NoBody::TooLong } else { NoBody::BrokenOff }
        })?;
        return Ok((whole.to_bytes(), None));
    }
    read_long(body, most, budget).await
}

/// Reads a body piece by piece. Memory is reserved for what has arrived, not for what was
/// announced.
async fn read_long(
    mut body: Incoming,
    most: usize,
    budget: &MemoryBudget,
) -> Result<(Bytes, Option<Reservation>), NoBody> {
    if body.size_hint().lower() > most as u64 {
        return Err(NoBody::TooLong);
    }
    let mut whole = Vec::new();
    let (mut reservation, mut n_reserved): (Option<Reservation>, usize) = (None, SHORT);
    while let Some(frame) = body.frame().await {
        let Ok(piece) = frame.map_err(|_| NoBody::BrokenOff)?.into_data() else { continue };
        let n_bytes = whole.len() + piece.len();
        if n_bytes > most {
            return Err(NoBody::TooLong);
        }
        while n_bytes > n_reserved {
            let more = budget.reserve(STEP).ok_or(NoBody::NoRoom)?;
            reservation = Some(match reservation.take() {
                Some(reservation) => reservation.and(more),
                None => more,
            });
            n_reserved += STEP;
        }
        whole.extend_from_slice(&piece);
    }
    Ok((Bytes::from(whole), reservation))
}

/// Waits for a future with a time limit. Most bodies arrive with their heads, and need no timer.
async fn at_once_or_within<T>(limit: Duration, future: impl Future<Output = T>) -> Option<T> {
    tokio::pin!(future);
    let first = poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await;
    match first {
        Poll::Ready(output) => Some(output),
        Poll::Pending => tokio::time::timeout(limit, future).await.ok(),
    }
}
