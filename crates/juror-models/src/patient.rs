//! Calls to servers that are no models, such as those of agents, with the patience of calls to models.

use std::time::Duration;

use reqwest::Url;
use reqwest::header::HeaderMap;
use serde::Serialize;
use tokio::time::{Instant, sleep, timeout_at};

use crate::http::HttpEndpoint;
use crate::model::ModelError;
use crate::models::{Limits, wait_before_retry};
use crate::secret::{Secrets, says_who_asks, secrets_of_address};

/// A server that is asked again after temporary failures: when it is busy, broken or unreachable.
#[derive(Debug)]
pub struct PatientEndpoint {
    http: HttpEndpoint,
    timeout: Duration,
    /// What replies must not repeat, since they are stored.
    secrets: Secrets,
    limits: Limits,
}

impl PatientEndpoint {
    /// Creates an endpoint at a server's address that messages call by `name`, which gets these headers
    /// with each request and has this long for a reply.
    pub fn new(
        name: &str,
        address: &Url,
        headers: HeaderMap,
        timeout: Duration,
    ) -> PatientEndpoint {
        let keys = headers.iter().filter(|(name, _)| says_who_asks(name.as_str()));
        let secrets = Secrets::new(keys.filter_map(|(_, value)| value.to_str().ok()));
        let http = HttpEndpoint::of_server(name, headers, timeout);
        PatientEndpoint {
            http: http.with_secrets(secrets_of_address(address)),
            timeout,
            secrets: secrets.and_of_address(address),
            limits: Limits::default(),
        }
    }

    /// Posts a body, and returns the text of the reply. Once the time is up, or would be before the
    /// server may be asked again, the last failure is the outcome: it says more than that time has
    /// passed.
    pub async fn post(
        &self,
        url: &str,
        body: &(impl Serialize + Sync),
        deadline: Instant,
    ) -> Result<String, ModelError> {
        let (mut attempt, mut last) = (0, None);
        loop {
            let error = match timeout_at(deadline, self.http.post_for_text(url, body)).await {
                Err(_) => return Err(last.unwrap_or(ModelError::TimedOut(self.timeout))),
                Ok(Ok(text)) => return Ok(self.secrets.redact(text)),
                Ok(Err(error)) => error,
            };
            let wait = wait_before_retry(&error, attempt, self.limits.first_wait);
            let is_last = self.is_final(&error, attempt) || Instant::now() + wait >= deadline;
            let told = self.told(error, attempt);
            if is_last {
                return Err(told);
            }
            last = Some(told);
            sleep(wait).await;
            attempt += 1;
        }
    }

    /// Gets a document, once.
    pub async fn get(&self, url: &str) -> Result<String, ModelError> {
        let text = self.http.get_for_text(url).await;
        text.map(|text| self.secrets.redact(text)).map_err(|error| self.told(error, 0))
    }

    /// A reply that was read is not asked for again, whatever it says.
    fn is_final(&self, error: &ModelError, attempt: u32) -> bool {
        let may_pass = error.may_pass() && !matches!(error, ModelError::Garbled(_));
        !may_pass || attempt >= self.limits.retries
    }

    /// Returns the error as it may be shown, with how often the server was asked again.
    fn told(&self, error: ModelError, n_again: u32) -> ModelError {
        let again =
            if n_again == 0 { String::new() } else { format!(" (asked {} times)", n_again + 1) };
        error.map_text(|text| format!("{}{again}", self.http.repeatable(text)))
    }
}
