//! A server behind a URL: a request for each message, answered by JSON or by events.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use base64::Engine;
use juror_models::{Events, Secret, http_client, innermost};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Response, Url};

use super::connection::RequestHead;
use super::process::answer_of;
use super::{ClientError, ClientSetup, unreachable};
use crate::message::Message;

/// The longest reply that is read.
const MOST_BYTES: usize = 16 << 20;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// A server behind a URL.
pub(super) struct HttpServer {
    client: reqwest::Client,
    url: Url,
    token: Option<Secret>,
    n_requests: AtomicU64,
    /// The session that the server has opened, if it has any.
    session: Mutex<Option<HeaderValue>>,
    was_forgotten: AtomicBool,
}

impl HttpServer {
    pub(super) fn new(url: &Url, setup: &ClientSetup) -> Result<HttpServer, ClientError> {
        Ok(HttpServer {
            client: http_client().map_err(unreachable)?,
            url: url.clone(),
            token: setup.token.clone(),
            n_requests: AtomicU64::new(0),
            session: Mutex::default(),
            was_forgotten: AtomicBool::new(false),
        })
    }

    /// Whether the server does not know its session any more.
    pub(super) fn was_forgotten(&self) -> bool {
        self.was_forgotten.load(Ordering::Acquire)
    }

    pub(super) async fn request(
        &self,
        head: RequestHead<'_>,
        params: &str,
    ) -> Result<String, ClientError> {
        let id = self.n_requests.fetch_add(1, Ordering::Relaxed) + 1;
        let method = head.method;
        let message =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        let response = self.post(head, message).await?;
        if let Some(session) = response.headers().get(SESSION) {
            *self.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session.clone());
        }
        let status = response.status();
        if status == 404 && self.session().is_some() {
            self.was_forgotten.store(true, Ordering::Release);
        }
        let is_events = kind_of(&response).starts_with("text/event-stream");
        if is_events && status.is_success() {
            return read_events(response, id).await;
        }
        let text = read_text(response).await?;
        // Errors come with other statuses, too.
        match Message::read(&text) {
            Ok(message) if message.result.is_some() || message.error.is_some() => {
                answer_of(&message)
            }
            _ if status.is_success() => Err(unreachable("its reply is not a message")),
            _ => Err(unreachable(format!("it answers with status {}", status.as_u16()))),
        }
    }

    pub(super) async fn notify(&self, head: RequestHead<'_>) -> Result<(), ClientError> {
        let message = format!(r#"{{"jsonrpc":"2.0","method":"{}"}}"#, head.method);
        self.post(head, message).await.map(|_| ())
    }

    async fn post(&self, head: RequestHead<'_>, message: String) -> Result<Response, ClientError> {
        let request = self.client.post(self.url.clone()).headers(self.headers(head)?);
        let sent = request.body(message).send().await;
        sent.map_err(|error| unreachable(innermost(&error)))
    }

    fn session(&self) -> Option<HeaderValue> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn headers(&self, head: RequestHead<'_>) -> Result<HeaderMap, ClientError> {
        let unfit = |_| unreachable("the token cannot be sent in a header");
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let accept = HeaderValue::from_static("application/json, text/event-stream");
        headers.insert(ACCEPT, accept);
        if let Some(token) = &self.token {
            let mut value =
                HeaderValue::from_str(&format!("Bearer {}", token.expose())).map_err(unfit)?;
            value.set_sensitive(true);
            headers.insert(AUTHORIZATION, value);
        }
        headers.extend(self.session().map(|session| (SESSION, session)));
        let text = |text: &str| HeaderValue::from_str(text).ok();
        headers.extend(head.version.and_then(text).map(|version| (VERSION, version)));
        if head.is_stateless {
            headers.extend(text(head.method).map(|method| (METHOD, method)));
            headers.extend(head.name.map(encoded).and_then(|name| Some((NAME, text(&name)?))));
        }
        Ok(headers)
    }
}

/// Encodes a name with characters that headers cannot contain.
pub(crate) fn encoded(name: &str) -> String {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_graphic());
    if is_plain && !name.starts_with("=?") {
        return name.to_owned();
    }
    format!("=?base64?{}?=", base64::engine::general_purpose::STANDARD.encode(name))
}

fn kind_of(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.unwrap_or_default().to_ascii_lowercase()
}

async fn read_text(mut response: Response) -> Result<String, ClientError> {
    let mut bytes = Vec::new();
    while let Some(piece) = next_piece(&mut response, bytes.len()).await? {
        bytes.extend_from_slice(&piece);
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads events until one is the reply to a request.
async fn read_events(mut response: Response, id: u64) -> Result<String, ClientError> {
    let (mut events, mut n_bytes) = (Events::default(), 0);
    while let Some(piece) = next_piece(&mut response, n_bytes).await? {
        n_bytes += piece.len();
        for event in events.push(&piece) {
            let Ok(message) = Message::read(&event) else { continue };
            let is_it = message.id.is_some_and(|own| own.get() == id.to_string());
            if is_it && message.method.is_none() {
                return answer_of(&message);
            }
        }
    }
    Err(unreachable("its reply broke off"))
}

async fn next_piece(
    response: &mut Response,
    n_bytes: usize,
) -> Result<Option<impl AsRef<[u8]> + std::ops::Deref<Target = [u8]> + use<>>, ClientError> {
    if n_bytes > MOST_BYTES {
        return Err(unreachable("its reply is too long"));
    }
    response.chunk().await.map_err(|error| unreachable(innermost(&error)))
}
