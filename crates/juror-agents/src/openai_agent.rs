//! An agent that speaks the protocol of `OpenAI`'s models: it is asked like a model, calls its tools by
//! itself, and what it sends back tells the steps it took.

use std::time::Duration;

use juror_models::{PatientEndpoint, Pending, http_client};
use reqwest::Url;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::headers::Headers;
use super::openai_reply::read_reply;
use super::remote::{look, parse_address};
use super::wire::Answered;
use super::{AgentError, Subject, Task, in_words};

/// The two protocols, by the end of an address.
const RESPONSES: &str = "/responses";
const COMPLETIONS: &str = "/chat/completions";

/// An agent behind an address that answers like a model.
pub struct OpenAiAgent {
    endpoint: PatientEndpoint,
    address: Url,
    headers: Headers,
    model: Option<String>,
    timeout: Duration,
}

impl OpenAiAgent {
    /// Creates an agent. An address that ends with neither protocol is the base of chat completions,
    /// such as `http://host/v1`. Requests name `model`, if one is given.
    pub fn new(
        address: &str,
        headers: &Headers,
        model: Option<String>,
        timeout: Duration,
    ) -> Result<OpenAiAgent, String> {
        let mut address = parse_address(address)?;
        let path = address.path().trim_end_matches('/').to_owned();
        let is_whole = path.ends_with(RESPONSES) || path.ends_with(COMPLETIONS);
        address.set_path(&if is_whole { path } else { format!("{path}{COMPLETIONS}") });
        let endpoint = PatientEndpoint::new("the agent", &address, headers.to_map(), timeout);
        Ok(OpenAiAgent { endpoint, address, headers: headers.clone(), model, timeout })
    }

    /// Checks that something listens, before any query. Any response will do.
    pub async fn check(&self) -> Result<(), AgentError> {
        let client = http_client().map_err(AgentError)?;
        look(&client, &self.address, &self.headers.to_map(), self.timeout).await
    }

    async fn ask(&self, query: &str) -> Result<Answered, AgentError> {
        let deadline = Instant::now() + self.timeout;
        let text = self.endpoint.post(self.address.as_str(), &self.body(query), deadline).await;
        read_reply(&text.map_err(|error| in_words(&error))?).map_err(AgentError)
    }

    fn body(&self, query: &str) -> Value {
        let mut body = if self.address.path().ends_with(RESPONSES) {
            json!({"input": query, "stream": false})
        } else {
            json!({"messages": [{"role": "user", "content": query}], "stream": false})
        };
        if let Some(model) = &self.model {
            body["model"] = json!(model);
        }
        body
    }
}

impl Subject for OpenAiAgent {
    fn answer<'a>(&'a self, task: Task<'a>) -> Pending<'a, Result<Answered, AgentError>> {
        Box::pin(self.ask(task.query))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_names_no_protocol_is_a_base() {
        let at = |address: &str| {
            let agent =
                OpenAiAgent::new(address, &Headers::default(), None, Duration::from_secs(1));
            agent.map(|agent| agent.address.to_string())
        };
        let completions = "http://h/v1/chat/completions";
        for (address, wanted) in [
            ("http://h/v1", completions),
            ("http://h/v1/", completions),
            (completions, completions),
            ("http://h/v1/responses/", "http://h/v1/responses"),
            ("http://h?tenant=a", "http://h/chat/completions?tenant=a"),
        ] {
            assert_eq!(at(address).as_deref(), Ok(wanted), "{address}");
        }
        assert!(at("ftp://h").is_err() && at("h").is_err());
    }
}
