//! An agent behind an HTTP address.

use std::time::Duration;

use juror_models::{Pending, Secret, Secrets, http_client, innermost, says_who_asks, server_of};
use reqwest::Url;
use reqwest::header::HeaderMap;
use serde::Serialize;
use tokio::time::Instant;

use super::headers::Headers;
use super::wire::{Answered, Tell, read_answered};
use super::{AgentError, Subject, Task, beginning};

/// The longest answer to read.
const MOST_BYTES: usize = 64 << 20;

/// How long to look for an agent before any query.
const LONGEST_LOOK: Duration = Duration::from_secs(30);

/// An agent asked by POST.
pub struct RemoteAgent {
    client: reqwest::Client,
    address: Url,
    headers: HeaderMap,
    timeout: Duration,
}

/// The request for a query.
#[derive(Serialize)]
struct Post<'p> {
    #[serde(flatten)]
    tell: Tell<'p>,
    tools_url: &'p str,
}

impl RemoteAgent {
    /// Creates an agent at an address, which receives `headers` with each query.
    pub fn new(address: &str, headers: &Headers, timeout: Duration) -> Result<RemoteAgent, String> {
        let (client, address) = (http_client()?, parse_address(address)?);
        Ok(RemoteAgent { client, address, headers: headers.to_map(), timeout })
    }

    /// Checks that something listens, before any query. Any response will do.
    pub async fn check(&self) -> Result<(), AgentError> {
        look(&self.client, &self.address, &self.headers, self.timeout).await
    }

    async fn ask(&self, task: &Task<'_>) -> Result<Answered, AgentError> {
        let body = in_time(self.timeout, self.post(task)).await?;
        read_answered(&body, task.query_id).map_err(AgentError)
    }

    async fn post(&self, task: &Task<'_>) -> Result<String, AgentError> {
        // There is no other chance to say where tools are listed.
        let body = Post { tell: task.tell(), tools_url: task.tools_url };
        let post = self.client.post(self.address.clone()).headers(self.headers.clone());
        let post = post.json(&body);
        let mut response = post.send().await.map_err(|error| self.unreachable(&error))?;
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| broken(&error))? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > MOST_BYTES {
                return Err(AgentError("the agent's answer is too long".into()));
            }
        }
        let text = self.secrets(task).redact(String::from_utf8_lossy(&bytes).into_owned());
        if status.is_success() {
            return Ok(text);
        }
        let said = beginning(&text);
        let said = if said.is_empty() { said } else { format!(": {said}") };
        Err(AgentError(format!("the agent answers with status {}{said}", status.as_u16())))
    }

    /// Returns what the agent receives and its answers must not repeat, since they are stored.
    fn secrets(&self, task: &Task<'_>) -> Secrets {
        let headers = self.headers.iter().filter(|(name, _)| says_who_asks(name.as_str()));
        let headers = headers.filter_map(|(_, value)| value.to_str().ok());
        let secrets = Secrets::new(headers.chain(task.token.map(Secret::expose)));
        secrets.and_of_address(&self.address)
    }

    fn unreachable(&self, error: &reqwest::Error) -> AgentError {
        let server = server_of(self.address.as_str());
        AgentError(format!("the agent cannot be reached: {server}{}", innermost(error)))
    }
}

impl Subject for RemoteAgent {
    fn answer<'a>(&'a self, task: Task<'a>) -> Pending<'a, Result<Answered, AgentError>> {
        Box::pin(async move { self.ask(&task).await })
    }
}

/// Parses the address of an agent.
pub(super) fn parse_address(address: &str) -> Result<Url, String> {
    // It may contain a password, which is not repeated.
    let is_http = |url: &Url| matches!(url.scheme(), "http" | "https");
    let why = "the agent's address is not an address that begins with http:// or https://";
    address.parse().ok().filter(is_http).ok_or_else(|| why.to_owned())
}

/// Checks that something listens at an address. Any response will do.
pub(super) async fn look(
    client: &reqwest::Client,
    address: &Url,
    headers: &HeaderMap,
    timeout: Duration,
) -> Result<(), AgentError> {
    let look = client.head(address.clone()).headers(headers.clone());
    match look.timeout(timeout.min(LONGEST_LOOK)).send().await {
        Err(error) if error.is_connect() => Err(broken(&error)),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Waits for an agent no longer than it may take.
pub(super) async fn in_time<T>(
    timeout: Duration,
    work: impl Future<Output = Result<T, AgentError>>,
) -> Result<T, AgentError> {
    tokio::time::timeout(timeout, work).await.map_err(|_| late(timeout))?
}

/// Waits for an agent until its time is up. Work that knows the same deadline says itself how it failed.
pub(super) async fn until<T>(
    deadline: Instant,
    timeout: Duration,
    work: impl Future<Output = Result<T, AgentError>>,
) -> Result<T, AgentError> {
    tokio::time::timeout_at(deadline, work).await.map_err(|_| late(timeout))?
}

fn late(timeout: Duration) -> AgentError {
    AgentError(format!("the agent did not respond for {} s", timeout.as_secs_f64()))
}

fn broken(error: &reqwest::Error) -> AgentError {
    AgentError(format!("the agent cannot be reached: {}", innermost(error)))
}
