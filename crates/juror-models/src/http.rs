//! Posts JSON to a provider and classifies everything that can go wrong.

use std::sync::{Once, OnceLock};
use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::{NoProxy, Proxy, Response, StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::model::ModelError;
use crate::provider::ModelSpec;
use crate::secret::Secret;
use crate::sse::Events;
use crate::turns::{CallTurn, Turns};

/// The longest reply that is read; no judgement comes near.
const MOST_BYTES: usize = 64 << 20;

/// How much of a provider's error message is repeated.
const MOST_COMPLAINT: usize = 400;

/// The HTTP side of a provider: client, headers, timeout.
#[derive(Debug)]
pub(crate) struct HttpEndpoint {
    /// The name of the model, for messages.
    model: String,
    /// Created on first use: reading the system's certificates takes longer than judging a dataset
    /// from kept replies.
    client: OnceLock<reqwest::Client>,
    /// The key and all other values of headers, which must never appear in messages.
    secrets: Vec<Secret>,
    headers: HeaderMap,
    timeout: Duration,
    turns: Turns,
}

impl HttpEndpoint {
    /// Creates the endpoint of a model, whose key is sent in the header `key_header` after `prefix`.
    pub(crate) fn new(
        spec: &ModelSpec,
        (key_header, prefix): (&'static str, &str),
    ) -> Result<HttpEndpoint, String> {
        let ModelSpec { key, headers: extra, timeout, .. } = spec;
        let mut headers = HeaderMap::new();
        let mut secrets: Vec<Secret> = extra.iter().map(|(_, value)| value.clone()).collect();
        secrets.extend(key.clone());
        if let Some(key) = key {
            let mut value = HeaderValue::from_str(&format!("{prefix}{}", key.expose()))
                .map_err(|_| "the key has characters that a header cannot hold".to_owned())?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(key_header), value);
        }
        for (name, value) in extra {
            let name = HeaderName::try_from(name.as_str()).map_err(|_| bad_header(name))?;
            let mut value =
                HeaderValue::from_str(value.expose()).map_err(|_| bad_header(name.as_str()))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(HttpEndpoint {
            model: spec.name(),
            client: OnceLock::new(),
            secrets,
            headers,
            timeout: *timeout,
            turns: Turns::default(),
        })
    }

    /// Creates the endpoint of a server that is no model, with all headers that it gets.
    pub(crate) fn of_server(name: &str, headers: HeaderMap, timeout: Duration) -> HttpEndpoint {
        let secrets = headers.values().filter(|value| value.is_sensitive());
        let secrets = secrets.filter_map(|value| value.to_str().ok());
        HttpEndpoint {
            model: name.to_owned(),
            client: OnceLock::new(),
            secrets: secrets.flat_map(str::split_whitespace).map(Secret::new).collect(),
            headers,
            timeout,
            turns: Turns::default(),
        }
    }

    /// Adds secrets that are no headers.
    pub(crate) fn with_secrets(mut self, secrets: Vec<Secret>) -> HttpEndpoint {
        self.secrets.extend(secrets);
        self
    }

    /// Adds a header of the protocol, which is not a secret.
    pub(crate) fn with_header(mut self, name: &'static str, value: &'static str) -> HttpEndpoint {
        self.headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        self
    }

    /// Posts a body and reads the JSON reply.
    pub(crate) async fn post(
        &self,
        url: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<Value, ModelError> {
        read_json(&self.post_for_text(url, body).await?)
    }

    /// Posts a body and reads the reply as text. A parsed value would not keep the order of keys.
    pub(crate) async fn post_for_text(
        &self,
        url: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<String, ModelError> {
        self.text_of(self.send(url, body)).await
    }

    /// Gets a document as text.
    pub(crate) async fn get_for_text(&self, url: &str) -> Result<String, ModelError> {
        self.text_of(self.send_any(url, |client| client.get(url))).await
    }

    async fn text_of(
        &self,
        sent: impl Future<Output = Result<Response, ModelError>>,
    ) -> Result<String, ModelError> {
        let turn = self.turns.take();
        let begins = turn.begin();
        let within = async {
            let response = sent.await?;
            begins.now();
            let bytes = read(response).await?;
            String::from_utf8(bytes).map_err(|error| ModelError::Garbled(error.to_string()))
        };
        self.in_time(turn, within).await
    }

    /// Posts a body and calls `each` for every event of the streamed reply.
    pub(crate) async fn post_stream(
        &self,
        url: &str,
        body: &(impl Serialize + Sync),
        mut each: impl FnMut(Value) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        self.post_for_events(url, body, |data| each(read_event(data)?)).await
    }

    /// Like [`post_stream`](Self::post_stream), with the data of each event as text.
    pub(crate) async fn post_for_events(
        &self,
        url: &str,
        body: &(impl Serialize + Sync),
        mut each: impl FnMut(&str) -> Result<(), ModelError>,
    ) -> Result<(), ModelError> {
        let turn = self.turns.take();
        let begins = turn.begin();
        let within = async {
            let mut response = self.send(url, body).await?;
            let mut events = Events::default();
            let mut n_bytes = 0;
            while let Some(piece) = response.chunk().await.map_err(|error| broken(&error))? {
                // Headers may arrive long before the model begins.
                if n_bytes == 0 {
                    begins.now();
                }
                n_bytes += piece.len();
                if n_bytes > MOST_BYTES {
                    return Err(too_long());
                }
                for data in events.push(&piece) {
                    if data == "[DONE]" {
                        return Ok(());
                    }
                    each(&data)?;
                }
            }
            Ok(())
        };
        self.in_time(turn, within).await
    }

    async fn in_time<T>(
        &self,
        turn: CallTurn<'_>,
        work: impl Future<Output = Result<T, ModelError>>,
    ) -> Result<T, ModelError> {
        let late = || ModelError::TimedOut(self.timeout);
        turn.wait_for(work, self.timeout).await.ok_or_else(late)?
    }

    async fn send(&self, url: &str, body: &impl Serialize) -> Result<Response, ModelError> {
        self.send_any(url, |client| client.post(url).json(body)).await
    }

    async fn send_any(
        &self,
        url: &str,
        request: impl FnOnce(&reqwest::Client) -> reqwest::RequestBuilder,
    ) -> Result<Response, ModelError> {
        let client = match self.client.get() {
            Some(client) => client,
            None => {
                let client = http_client().map_err(ModelError::Unusable)?;
                self.client.get_or_init(|| client)
            }
        };
        let request = request(client).headers(self.headers.clone());
        let response = request.send().await.map_err(|error| self.unreachable(url, &error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let (status, retry_after) = (response.status(), retry_after(response.headers()));
        let bytes = read(response).await.unwrap_or_default();
        let complaint = Complaint::read(&bytes);
        let message = match complaint.message.as_str() {
            "" => format!("status {}", status.as_u16()),
            message => format!("status {}: {message}", status.as_u16()),
        };
        Err(complaint.into_error(status, message, retry_after))
    }

    /// The error for a failed connection. It omits the path of the URL, which may contain a key.
    fn unreachable(&self, url: &str, error: &reqwest::Error) -> ModelError {
        let (model, server) = (&self.model, server_of(url));
        ModelError::Unavailable(format!("{model} at {server}{}", innermost(error)))
    }

    /// Removes secrets from a provider's message and shortens it.
    pub(crate) fn repeatable(&self, text: &str) -> String {
        let hidden = self.secrets.iter().fold(text.to_owned(), |text, secret| secret.redact(&text));
        shorten(&hidden)
    }
}

/// Parses a reply.
pub(crate) fn read_json<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, ModelError> {
    let garbled = |error| ModelError::Garbled(shorten(&format!("not JSON: {error}")));
    serde_json::from_str(text).map_err(garbled)
}

/// Parses an event of a stream.
pub(crate) fn read_event<'t, T: Deserialize<'t>>(data: &'t str) -> Result<T, ModelError> {
    let garbled = |error| ModelError::Garbled(shorten(&format!("an event is not JSON: {error}")));
    serde_json::from_str(data).map_err(garbled)
}

async fn read(mut response: Response) -> Result<Vec<u8>, ModelError> {
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| broken(&error))? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > MOST_BYTES {
            return Err(too_long());
        }
    }
    Ok(bytes)
}

fn broken(error: &reqwest::Error) -> ModelError {
    ModelError::Unavailable(innermost(error))
}

/// Returns the scheme, host and port of a URL, for messages.
pub fn server_of(url: &str) -> String {
    let server = reqwest::Url::parse(url).map(|url| url.origin().ascii_serialization());
    server.map(|server| format!("{server}: ")).unwrap_or_default()
}

/// Returns the innermost cause of an error, which says more than the outermost.
pub fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

fn bad_header(name: &str) -> String {
    format!("the header `{name}` has characters that a header cannot hold")
}

fn too_long() -> ModelError {
    ModelError::Garbled(format!("longer than {} MB", MOST_BYTES >> 20))
}

/// Creates a client that follows no redirects, so that a key is sent to its own address or nowhere.
/// Uses the proxies of the environment, but never for this machine.
pub fn http_client() -> Result<reqwest::Client, String> {
    static PROVIDER: Once = Once::new();
    PROVIDER.call_once(|| {
        // Fails only if the process has already chosen another provider, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
    let mut client = reqwest::Client::builder().no_proxy();
    for proxy in proxies(&|name| std::env::var(name).ok())? {
        client = client.proxy(proxy);
    }
    let client = client
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(Duration::from_secs(20))
        .user_agent(concat!("juror/", env!("CARGO_PKG_VERSION")));
    client.build().map_err(|error| format!("cannot make an HTTP client: {error}"))
}

type MakeProxy = fn(String) -> reqwest::Result<Proxy>;

/// Returns the proxies that the environment names, in lower or upper case.
fn proxies(environment: &dyn Fn(&str) -> Option<String>) -> Result<Vec<Proxy>, String> {
    let get = |name: &str| {
        let value = environment(name).or_else(|| environment(&name.to_uppercase()));
        value.filter(|value| !value.trim().is_empty())
    };
    let kinds: [(&str, MakeProxy); 3] = [
        ("http_proxy", |address| Proxy::http(address)),
        ("https_proxy", |address| Proxy::https(address)),
        ("all_proxy", |address| Proxy::all(address)),
    ];
    let exempt = format!("localhost,127.0.0.0/8,::1,{}", get("no_proxy").unwrap_or_default());
    let mut proxies = Vec::new();
    for (name, proxy) in kinds {
        let Some(address) = get(name) else { continue };
        // The address may contain a password, so it is not in the message.
        let proxy =
            proxy(address).map_err(|_| format!("{name} of the environment is not an address"))?;
        proxies.push(proxy.no_proxy(NoProxy::from_string(&exempt)));
    }
    Ok(proxies)
}

/// Returns how long to wait: milliseconds from a header of their own, or seconds, or until a time.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| Some(headers.get(name)?.to_str().ok()?.trim());
    let number = |text: &str| text.parse::<f64>().ok();
    if let Some(milliseconds) = text("retry-after-ms").and_then(number) {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    let wait = text(RETRY_AFTER.as_str())?;
    match number(wait) {
        Some(seconds) => Duration::try_from_secs_f64(seconds).ok(),
        None => {
            let parser = jiff::fmt::rfc2822::DateTimeParser::new().relaxed_weekday(true);
            let moment = parser.parse_timestamp(wait).ok()?;
            let left = moment.duration_since(jiff::Timestamp::now());
            Some(left.try_into().unwrap_or_default())
        }
    }
}

/// A provider's error; all three protocols nest it in `error`.
#[derive(Default)]
struct Complaint {
    message: String,
    parameter: Option<String>,
    code: String,
}

impl Complaint {
    fn read(bytes: &[u8]) -> Complaint {
        let Ok(body) = serde_json::from_slice::<Value>(bytes) else {
            let message = String::from_utf8_lossy(bytes).trim().to_owned();
            return Complaint { message, ..Self::default() };
        };
        // Gemini's compatible address wraps its error in a list.
        let error = body.get(0).unwrap_or(&body);
        let error = error.get("error").unwrap_or(error);
        let text = |key: &str| error.get(key).and_then(Value::as_str);
        let message =
            text("message").or(error.as_str()).map_or_else(|| error.to_string(), Into::into);
        let code = text("code").or(text("type")).or(text("status")).unwrap_or_default();
        Complaint { message, parameter: text("param").map(str::to_owned), code: code.to_owned() }
    }

    fn into_error(
        self,
        status: StatusCode,
        message: String,
        retry_after: Option<Duration>,
    ) -> ModelError {
        match status.as_u16() {
            401 => ModelError::Unauthorized(message),
            403 => ModelError::Forbidden(message),
            404 | 405 => ModelError::NotThere(message),
            // Waiting does not help if the credit has run out.
            402 => ModelError::Unauthorized(message),
            429 if self.code == "insufficient_quota" => ModelError::Unauthorized(message),
            503 if self.message.to_lowercase().contains("loading") => ModelError::Loading(message),
            // Anthropic returns 529 when it is overloaded.
            429 | 529 => ModelError::RateLimited { message, retry_after },
            408 | 409 | 425 | 500.. => match retry_after {
                Some(_) => ModelError::RateLimited { message, retry_after },
                None => ModelError::Unavailable(message),
            },
            _ => ModelError::BadRequest { message, parameter: self.parameter },
        }
    }
}

/// Returns the beginning of a text that may be of any length.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(MOST_COMPLAINT) {
        None => text.trim().to_owned(),
        Some((end, _)) => format!("{}…", text[..end].trim()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_told_in_seconds_or_as_a_moment() {
        let wait = |name: &'static str, value: &str| {
            let value = HeaderValue::from_str(value).expect("a value");
            retry_after(&HeaderMap::from_iter([(HeaderName::from_static(name), value)]))
        };
        assert_eq!(wait("retry-after", "2"), Some(Duration::from_secs(2)));
        assert_eq!(wait("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(wait("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(wait("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        let later = wait("retry-after", "Fri, 21 Oct 2395 07:28:00 GMT").expect("a moment");
        assert!(later > Duration::from_hours(24));
        assert_eq!(wait("retry-after", "soon"), None);
        assert_eq!(wait("retry-after", "-1"), None);
    }
}
