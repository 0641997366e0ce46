//! Calls to servers that are no models, such as those of agents, with the patience of calls to models.

use std::time::Duration;

use reqwest::header::HeaderMap;
use serde::Serialize;

use crate::http::HttpEndpoint;
use crate::model::ModelError;
use crate::models::{Limits, wait_before_retry};
use crate::secret::{Secrets, says_who_asks};

/// A server that is asked again after temporary failures: when it is busy, broken or unreachable.
#[derive(Debug)]
pub struct PatientEndpoint {
    http: HttpEndpoint,
    /// What replies must not repeat, since they are stored.
    secrets: Secrets,
    limits: Limits,
}

impl PatientEndpoint {
    /// Creates an endpoint that messages call by `name`, which gets these headers with each request
    /// and has this long for a reply.
    pub fn new(name: &str, headers: HeaderMap, timeout: Duration) -> PatientEndpoint {
        let keys = headers.iter().filter(|(name, _)| says_who_asks(name.as_str()));
        let secrets = Secrets::new(keys.filter_map(|(_, value)| value.to_str().ok()));
        let http = HttpEndpoint::of_server(name, headers, timeout);
        PatientEndpoint { http, secrets, limits: Limits::default() }
    }

    /// Posts a body, and returns the text of the reply.
    pub async fn post(
        &self,
        url: &str,
        body: &(impl Serialize + Sync),
    ) -> Result<String, ModelError> {
        let mut attempt = 0;
        loop {
            match self.http.post_for_text(url, body).await {
                Ok(text) => return Ok(self.secrets.redact(text)),
                Err(error) if self.is_final(&error, attempt) => return Err(self.told(error)),
                Err(error) => {
                    let wait = wait_before_retry(&error, attempt, self.limits.first_wait);
                    tokio::time::sleep(wait).await;
                    attempt += 1;
                }
            }
        }
    }

    /// Gets a document, once.
    pub async fn get(&self, url: &str) -> Result<String, ModelError> {
        let text = self.http.get_for_text(url).await;
        text.map(|text| self.secrets.redact(text)).map_err(|error| self.told(error))
    }

    /// A reply that was read is not asked for again, whatever it says.
    fn is_final(&self, error: &ModelError, attempt: u32) -> bool {
        let may_pass = error.may_pass() && !matches!(error, ModelError::Garbled(_));
        !may_pass || attempt >= self.limits.retries
    }

    fn told(&self, error: ModelError) -> ModelError {
        error.map_text(|text| self.http.repeatable(text))
    }
}
