//! Servers that speak the SPARQL 1.1 protocol.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use juror_models::{Secret, http_client, innermost, secrets_of_address};
use juror_sparql::{ResultFormat, SparqlResult};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::{Response, Url};
use sparesults::QueryResultsFormat;
use tokio::runtime::Runtime;
use tokio::time::{Instant, sleep, timeout_at};

use crate::QueryLimits;
use crate::answer::Answer;
use crate::failure::{EndpointFailure, QueryFailure};
use crate::query::Query;

/// What endpoints are asked to send, the best first. CSV is not among it: it does not tell texts from
/// IRIs.
const WANTED: &str = "application/sparql-results+json, application/sparql-results+xml;q=0.8, \
    text/tab-separated-values;q=0.5, application/json;q=0.3";

/// How often a busy server is asked again.
const RETRIES: u32 = 3;

/// After how many failures in a row an endpoint is not asked any more: otherwise a thousand questions
/// would each wait for a server that is down.
const MOST_FAILURES: usize = 5;

/// How much of what a server says about an error is repeated.
const MOST_COMPLAINT: usize = 300;

/// An endpoint that is asked over HTTP.
pub struct Endpoint {
    url: Url,
    shown: String,
    headers: HeaderMap,
    secrets: Vec<Secret>,
    client: reqwest::Client,
    runtime: Runtime,
    /// Failures since the last answer.
    failures: AtomicUsize,
    first_wait: Duration,
}

/// How an endpoint is asked.
#[derive(Clone, Debug)]
pub struct EndpointOptions {
    /// Headers of every request, such as who asks.
    pub headers: HeaderMap,
    /// How long to wait before a busy server is asked again; doubled each time.
    pub first_wait: Duration,
}

impl Default for EndpointOptions {
    fn default() -> EndpointOptions {
        EndpointOptions { headers: HeaderMap::new(), first_wait: Duration::from_secs(1) }
    }
}

impl Endpoint {
    /// Creates an endpoint at an address. Nothing is sent yet.
    pub fn new(address: &str, options: EndpointOptions) -> Result<Endpoint, String> {
        let url = Url::parse(address).map_err(|why| format!("`{address}` is no address: {why}"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!("`{}` is not http or https", url.scheme()));
        }
        let secrets = options.headers.values().filter(|value| value.is_sensitive());
        let secrets = secrets.filter_map(|value| value.to_str().ok());
        let mut secrets: Vec<Secret> =
            secrets.flat_map(str::split_whitespace).map(Secret::new).collect();
        secrets.extend(secrets_of_address(&url));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        Ok(Endpoint {
            shown: shown(&url),
            url,
            headers: options.headers,
            secrets,
            client: http_client()?,
            runtime: runtime.map_err(|error| format!("cannot start a runtime: {error}"))?,
            failures: AtomicUsize::new(0),
            first_wait: options.first_wait,
        })
    }

    pub(crate) fn describe(&self) -> String {
        self.shown.clone()
    }

    /// The address with its parameters, without passwords and keys.
    pub(crate) fn open_address(&self) -> String {
        let mut url = self.url.clone();
        // Only addresses without a host refuse this, and they have no password.
        let _ = url.set_password(None);
        self.secrets.iter().fold(url.to_string(), |text, secret| secret.redact(&text))
    }

    pub(crate) fn ask(&self, query: &Query, limits: &QueryLimits) -> Result<Answer, QueryFailure> {
        if self.failures.load(Ordering::Relaxed) >= MOST_FAILURES {
            return Err(EndpointFailure::GivenUp(MOST_FAILURES).into());
        }
        let answer = self.runtime.block_on(self.ask_patiently(query, limits));
        match &answer {
            Err(failure) if failure.is_outside() => {
                self.failures.fetch_add(1, Ordering::Relaxed);
            }
            _ => self.failures.store(0, Ordering::Relaxed),
        }
        answer
    }

    async fn ask_patiently(
        &self,
        query: &Query,
        limits: &QueryLimits,
    ) -> Result<Answer, QueryFailure> {
        let deadline = Instant::now() + limits.timeout;
        let timed_out = || EndpointFailure::TimedOut(limits.timeout);
        let mut attempt = 0;
        loop {
            let asked = timeout_at(deadline, self.ask_once(query, limits)).await;
            let failure = match asked.map_err(|_| timed_out())? {
                Err(Asked::Busy(failure, wait)) if attempt < RETRIES => {
                    let wait = wait.unwrap_or(self.first_wait * 2_u32.pow(attempt));
                    if Instant::now() + wait < deadline {
                        sleep(wait).await;
                        attempt += 1;
                        continue;
                    }
                    failure
                }
                Err(Asked::Busy(failure, _) | Asked::Failed(failure)) => failure,
                Err(Asked::NoResult(failure)) => return Err(failure),
                Ok(answer) => return Ok(answer),
            };
            return Err(failure.into());
        }
    }

    async fn ask_once(&self, query: &Query, limits: &QueryLimits) -> Result<Answer, Asked> {
        let body = url::form_urlencoded::Serializer::new(String::new())
            .append_pair("query", query.text())
            .finish();
        let form = HeaderValue::from_static("application/x-www-form-urlencoded");
        let request = self.client.post(self.url.clone()).headers(self.headers.clone());
        let request = request.header(CONTENT_TYPE, form).header(ACCEPT, WANTED).body(body);
        let sent = request.send().await;
        let response = sent.map_err(|error| {
            let why = self.repeatable(&innermost(&error));
            // A server that restarts is back soon.
            Asked::Busy(EndpointFailure::Unreachable(why), None)
        })?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        let media_type = media_type_of(&response);
        let format = format_of(media_type.as_deref())
            .map_err(|other| EndpointFailure::OtherMediaType(self.repeatable(&other)))?;
        let bytes = self.read(response, limits).await?;
        let format = format.unwrap_or_else(|| by_look(&bytes));
        match Answer::read(&bytes, format, limits) {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(failure)) => Err(Asked::NoResult(failure)),
            Err(why) => {
                let why = self.repeatable(&why);
                // The endpoint is well if everything but a term is.
                Err(if is_result(&bytes, format) {
                    Asked::NoResult(QueryFailure::BadTerm(why))
                } else {
                    EndpointFailure::Garbled(why).into()
                })
            }
        }
    }

    async fn read(&self, mut response: Response, limits: &QueryLimits) -> Result<Vec<u8>, Asked> {
        let mut bytes = Vec::new();
        loop {
            match response.chunk().await {
                Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
                Ok(None) => return Ok(bytes),
                Err(error) => {
                    let why = self.repeatable(&innermost(&error));
                    return Err(Asked::Busy(EndpointFailure::CutOff(why), None));
                }
            }
            if bytes.len() > limits.bytes {
                return Err(EndpointFailure::TooLong(limits.bytes).into());
            }
        }
    }

    /// Returns what a reply without success means.
    async fn refused(&self, mut response: Response) -> Asked {
        let status = response.status().as_u16();
        let wait = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let wait = wait.and_then(|value| value.trim().parse().ok()).map(Duration::from_secs);
        let target = response.headers().get("location").and_then(|value| value.to_str().ok());
        if let (300..=399, Some(target)) = (status, target) {
            let target = self.without_secrets(target);
            return EndpointFailure::Redirect { status, target }.into();
        }
        let is_html = media_type_of(&response).is_some_and(|kind| kind.contains("html"));
        let mut said = Vec::new();
        while said.len() < 4 * MOST_COMPLAINT
            && let Ok(Some(chunk)) = response.chunk().await
        {
            said.extend_from_slice(&chunk);
        }
        // Pages of proxies say nothing that helps.
        let said =
            if is_html { String::new() } else { self.repeatable(&String::from_utf8_lossy(&said)) };
        let complaint = if said.is_empty() { String::new() } else { format!(": {said}") };
        match status {
            401 | 403 | 407 => EndpointFailure::Denied(status).into(),
            400 | 422 => {
                let said = if said.is_empty() { format!("HTTP {status}") } else { said };
                EndpointFailure::BadQuery(said).into()
            }
            408 | 429 | 502..=504 => {
                Asked::Busy(EndpointFailure::Status { status, complaint }, wait)
            }
            _ => EndpointFailure::Status { status, complaint }.into(),
        }
    }

    /// Returns the address to which a server sends, without passwords and parameters.
    fn without_secrets(&self, target: &str) -> String {
        let target = self.url.join(target);
        self.repeatable(&target.map_or_else(|_| "no address".to_owned(), |url| shown(&url)))
    }

    /// Returns a text of the server on one line, short and without secrets.
    fn repeatable(&self, text: &str) -> String {
        let text = self.secrets.iter().fold(text.to_owned(), |text, secret| secret.redact(&text));
        let words: Vec<&str> = text.split_whitespace().collect();
        let mut flat = words.join(" ");
        flat.truncate(flat.floor_char_boundary(MOST_COMPLAINT));
        flat
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Endpoint").field(&self.shown).finish()
    }
}

/// Why asking once gave no answer.
enum Asked {
    /// Asking again may help, after this time.
    Busy(EndpointFailure, Option<Duration>),
    Failed(EndpointFailure),
    NoResult(QueryFailure),
}

impl From<EndpointFailure> for Asked {
    fn from(failure: EndpointFailure) -> Asked {
        Asked::Failed(failure)
    }
}

/// Returns an address without user, password and parameters.
fn shown(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}{}", url.scheme(), url.host_str().unwrap_or_default(), url.path())
}

fn media_type_of(response: &Response) -> Option<String> {
    let value = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let name = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    (!name.is_empty()).then_some(name)
}

/// Returns the format of a media type; `None` if the server does not say. Fails with the media type if it
/// is not that of a result.
fn format_of(media_type: Option<&str>) -> Result<Option<QueryResultsFormat>, String> {
    match media_type {
        None | Some("application/octet-stream" | "text/plain") => Ok(None),
        Some("application/json" | "application/sparql-results+json" | "text/json") => {
            Ok(Some(QueryResultsFormat::Json))
        }
        Some("application/xml" | "text/xml" | "application/sparql-results+xml") => {
            Ok(Some(QueryResultsFormat::Xml))
        }
        Some("text/tab-separated-values") => Ok(Some(QueryResultsFormat::Tsv)),
        Some("text/html" | "application/xhtml+xml") => Err("an HTML page".into()),
        Some(other) => Err(format!("`{other}`")),
    }
}

/// Whether a reply is a result by a reader that does not look into its terms.
fn is_result(bytes: &[u8], format: QueryResultsFormat) -> bool {
    let format = match format {
        QueryResultsFormat::Json => ResultFormat::Json,
        QueryResultsFormat::Xml => ResultFormat::Xml,
        QueryResultsFormat::Tsv => ResultFormat::Tsv,
        _ => return false,
    };
    let text = std::str::from_utf8(bytes);
    text.is_ok_and(|text| SparqlResult::parse(text, format).is_ok())
}

fn by_look(bytes: &[u8]) -> QueryResultsFormat {
    match bytes.trim_ascii_start().first() {
        Some(b'{') => QueryResultsFormat::Json,
        Some(b'<') => QueryResultsFormat::Xml,
        _ => QueryResultsFormat::Tsv,
    }
}
