//! Forms that pages send.

use std::time::Duration;

use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::body::Incoming;
use hyper::{Request, StatusCode};

use crate::message_page::Message;
use crate::reply::Reply;

/// The longest form, in bytes.
const MOST_BODY: usize = 64 << 10;

/// How long a form may take after its head.
const BODY: Duration = Duration::from_secs(20);

/// Reads a form as the text that it was sent as.
pub(crate) async fn read_form(request: Request<Incoming>) -> Result<String, Box<Reply>> {
    let refused = |status, why: &str| Box::new(Message::new("Refused", why).reply(status));
    let whole = Limited::new(request.into_body(), MOST_BODY).collect();
    let Ok(whole) = tokio::time::timeout(BODY, whole).await else {
        return Err(refused(StatusCode::REQUEST_TIMEOUT, "The form took too long"));
    };
    let whole = whole.map_err(|error| {
        if error.is::<LengthLimitError>() {
            return refused(StatusCode::PAYLOAD_TOO_LARGE, "The form is longer than 64 kB");
        }
        refused(StatusCode::BAD_REQUEST, "The form broke off")
    })?;
    String::from_utf8(whole.to_bytes().into())
        .map_err(|_| refused(StatusCode::BAD_REQUEST, "The form is not text"))
}
