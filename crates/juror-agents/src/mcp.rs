//! An agent that is a tool of an MCP server: called with the question, it says the answer.

use std::time::Instant;

use juror_mcp::{Address, Client, ClientError, ClientSetup};
use juror_models::{Pending, Secret, Secrets};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::wire::Answered;
use super::{AgentError, Subject, Task};

/// Names of the argument that takes a question, the most telling first.
const QUESTION: [&str; 7] = ["question", "query", "prompt", "input", "message", "text", "task"];

/// A tool that answers questions.
pub struct McpAgent {
    client: Client,
    tool: String,
    /// The argument that takes the question.
    argument: String,
    secrets: Secrets,
}

impl McpAgent {
    /// Connects to a server, and finds its tool and the argument that takes a question.
    pub async fn connect(
        address: Address,
        tool: &str,
        setup: ClientSetup,
    ) -> Result<McpAgent, AgentError> {
        let secrets = Secrets::new(setup.token.iter().map(Secret::expose));
        let secrets = match &address {
            Address::Http(url) => secrets.and_of_address(url),
            Address::Command(_) => secrets,
        };
        let client = Client::connect(address, setup).await.map_err(|error| failed(&error))?;
        let listing = client.list().await.map_err(|error| failed(&error))?;
        let name = |own: &RawValue| serde_json::from_str::<Value>(own.get()).unwrap_or_default();
        let tools: Vec<Value> = listing.tools.iter().map(|own| name(own)).collect();
        let Some(own) = tools.iter().find(|own| own["name"] == *tool) else {
            let names: Vec<&str> =
                tools.iter().filter_map(|own| own["name"].as_str()).take(20).collect();
            let why = format!("the server has no tool `{tool}`, but: {}", names.join(", "));
            return Err(AgentError(why));
        };
        let argument = question_argument(&own["inputSchema"])?;
        Ok(McpAgent { client, tool: tool.to_owned(), argument, secrets })
    }

    async fn ask(&self, task: &Task<'_>) -> Result<Answered, AgentError> {
        let start = Instant::now();
        let arguments = json!({self.argument.as_str(): task.query}).to_string();
        let outcome = self.client.call(&self.tool, &arguments).await;
        let outcome =
            outcome.map_err(|error| AgentError(self.secrets.redact(error.to_string())))?;
        let outcome = outcome.without(&self.secrets);
        let text = outcome.text();
        if outcome.is_error {
            return Err(AgentError(format!("the tool failed: {text}")));
        }
        let seconds = Some(start.elapsed().as_secs_f64());
        Ok(Answered { final_answer: Some(text), seconds, ..Answered::default() })
    }
}

impl Subject for McpAgent {
    fn answer<'a>(&'a self, task: Task<'a>) -> Pending<'a, Result<Answered, AgentError>> {
        Box::pin(async move { self.ask(&task).await })
    }
}

fn failed(error: &ClientError) -> AgentError {
    AgentError(error.to_string())
}

/// Finds the argument that takes a question: the only one that is required, one with a telling
/// name, or the only one at all.
fn question_argument(schema: &Value) -> Result<String, AgentError> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let all: Vec<&str> =
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| &**name).collect();
    let telling = || QUESTION.into_iter().find(|name| all.contains(name));
    let argument = match (required.as_slice(), all.as_slice()) {
        ([only], _) | ([], [only]) => Some(*only),
        ([], _) => telling(),
        (several, _) => telling().filter(|name| several == [*name]),
    };
    argument.map(str::to_owned).ok_or_else(|| {
        let why = format!(
            "the tool cannot take a question: it requires {}, but must have exactly one required text argument, such as `question`",
            if required.is_empty() { "nothing that is known".to_owned() } else { required.join(", ") }
        );
        AgentError(why)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_argument_of_a_question_is_found() {
        let argument = |required: &[&str], all: &[&str]| {
            let all: serde_json::Map<String, Value> =
                all.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
            question_argument(&json!({"required": required, "properties": all})).ok()
        };
        assert_eq!(argument(&["q"], &["q", "k"]).as_deref(), Some("q"));
        assert_eq!(argument(&[], &["anything"]).as_deref(), Some("anything"));
        assert_eq!(argument(&[], &["k", "prompt"]).as_deref(), Some("prompt"));
        assert_eq!(argument(&["a", "question"], &["a", "question"]), None);
        assert_eq!(argument(&[], &["a", "b"]), None);
    }
}
