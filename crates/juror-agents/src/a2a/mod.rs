//! An agent that speaks the `Agent2Agent` protocol: JSON-RPC over HTTP.
//!
//! The agent's card says where it is asked, and in which of two generations of the protocol. A reply
//! is a message, or a task that is asked about until it has ended.

mod card;
mod reply;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use juror_models::{ModelError, PatientEndpoint, Pending, http_client};
use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::time::Instant;

use self::card::{Card, Generation};
use self::reply::{Progress, read_reply};
use super::headers::Headers;
use super::remote::{look, parse_address, until};
use super::wire::Answered;
use super::{AgentError, Subject, Task, in_words};

/// How long to wait before a task is asked about again: at first, and at most.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// What an agent may answer in.
const MODES: [&str; 2] = ["text/plain", "application/json"];

/// An agent behind an address.
pub struct A2aAgent {
    endpoint: PatientEndpoint,
    card: Card,
    timeout: Duration,
    n_sent: AtomicU64,
}

impl A2aAgent {
    /// Reads the agent's card; an agent that has none is asked at the address itself.
    pub async fn connect(
        address: &str,
        headers: &Headers,
        timeout: Duration,
    ) -> Result<A2aAgent, AgentError> {
        let (address, mut headers) =
            (parse_address(address).map_err(AgentError)?, headers.to_map());
        let client = http_client().map_err(AgentError)?;
        look(&client, &address, &headers, timeout).await?;
        let card = read_card(&address, &headers, timeout).await;
        if card.generation == Generation::One {
            headers.insert(HeaderName::from_static("a2a-version"), HeaderValue::from_static("1.0"));
        }
        let endpoint = PatientEndpoint::new("the agent", &address, headers, timeout);
        Ok(A2aAgent { endpoint, card, timeout, n_sent: AtomicU64::default() })
    }

    async fn ask(&self, query: &str, deadline: Instant) -> Result<Answered, AgentError> {
        let message = self.card.generation.message(query, &self.message_id());
        let params = json!({"message": message, "configuration": self.configuration()});
        let mut wait = FIRST_WAIT;
        let mut progress = self.call(self.card.generation.send(), params, deadline).await?;
        loop {
            match progress {
                Progress::Answered(said) => {
                    let (final_answer, remarks) = (Some(said.text), said.remarks);
                    return Ok(Answered { final_answer, remarks, ..Answered::default() });
                }
                Progress::Working { task } => {
                    tokio::time::sleep(wait).await;
                    wait = (wait * 2).min(LONGEST_WAIT);
                    let params = json!({"id": task});
                    progress = self.call(self.card.generation.get(), params, deadline).await?;
                }
            }
        }
    }

    async fn call(
        &self,
        method: &str,
        params: Value,
        deadline: Instant,
    ) -> Result<Progress, AgentError> {
        let id = self.n_sent.fetch_add(1, Ordering::Relaxed);
        let body = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        let text = self.endpoint.post(self.card.address.as_str(), &body, deadline).await;
        read_reply(&text.map_err(|error| in_words(&error))?).map_err(AgentError)
    }

    fn configuration(&self) -> Value {
        match self.card.generation {
            Generation::Zero => json!({"blocking": true, "acceptedOutputModes": MODES}),
            Generation::One => json!({"acceptedOutputModes": MODES}),
        }
    }

    /// Returns an id that no other message has, also of another run.
    fn message_id(&self) -> String {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        format!("juror-{now:x}-{}", self.n_sent.fetch_add(1, Ordering::Relaxed))
    }
}

impl Subject for A2aAgent {
    fn answer<'a>(&'a self, task: Task<'a>) -> Pending<'a, Result<Answered, AgentError>> {
        let deadline = Instant::now() + self.timeout;
        Box::pin(until(deadline, self.timeout, self.ask(task.query, deadline)))
    }

    fn name(&self) -> Option<&str> {
        self.card.name.as_deref()
    }
}

/// Looks for the agent's card where agents have it.
async fn read_card(address: &Url, headers: &HeaderMap, timeout: Duration) -> Card {
    let timeout = timeout.min(CARD_TIME);
    let endpoint = PatientEndpoint::new("the agent", address, headers.clone(), timeout);
    for place in card::places(address) {
        let text: Result<String, ModelError> = endpoint.get(place.as_str()).await;
        if let Some(card) = text.ok().and_then(|text| Card::read(&text, address)) {
            return card;
        }
    }
    Card::none(address)
}

/// How long a card may take.
const CARD_TIME: Duration = Duration::from_secs(30);
