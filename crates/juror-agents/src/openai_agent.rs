//! An agent that speaks the protocol of `OpenAI`'s models: it is asked like a model, calls its tools by
//! itself, and what it sends back tells the steps it took.

use std::time::Duration;

use juror_models::{PatientEndpoint, Pending, http_client};
use juror_traces::{CallStatus, Conversation, Rules, Step, openai};
use reqwest::Url;
use serde_json::value::to_raw_value;
use serde_json::{Value, json};

use super::headers::Headers;
use super::remote::{in_time, look, parse_address};
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
        let endpoint = PatientEndpoint::new("the agent", headers.to_map(), timeout);
        Ok(OpenAiAgent { endpoint, address, headers: headers.clone(), model, timeout })
    }

    /// Checks that something listens, before any query. Any response will do.
    pub async fn check(&self) -> Result<(), AgentError> {
        let client = http_client().map_err(AgentError)?;
        look(&client, &self.address, &self.headers.to_map(), self.timeout).await
    }

    async fn ask(&self, query: &str) -> Result<Answered, AgentError> {
        let text = self.endpoint.post(self.address.as_str(), &self.body(query)).await;
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
        Box::pin(in_time(self.timeout, self.ask(task.query)))
    }
}

/// Reads a chat completion or a response.
fn read_reply(text: &str) -> Result<Answered, String> {
    let reply: Value = serde_json::from_str(text)
        .map_err(|error| format!("the agent's reply is not JSON: {error}"))?;
    let conversation = conversation_of(&reply)?;
    let usage = openai::usage_of_reply(&reply).unwrap_or(conversation.usage);
    let final_answer = conversation.answer.or_else(|| refusal_of(&reply));
    let error = error_of(&reply).or(conversation.error);
    let unanswered = || no_answer(&conversation.steps).to_owned();
    let error = error.or_else(|| final_answer.is_none().then(unanswered));
    // An answer alone does not tell what was called to find it.
    let is_told = !conversation.steps.is_empty() || !messages_of(&reply).is_empty();
    Ok(Answered {
        final_answer,
        error,
        steps: is_told.then(|| to_raw_value(&conversation.steps).ok()).flatten(),
        tokens: usage.total(),
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        usd: usage.cost,
        ..Answered::default()
    })
}

fn conversation_of(reply: &Value) -> Result<Conversation, String> {
    let messages = messages_of(reply);
    if let Some(items) = reply["output"].as_array() {
        let mut conversation = openai::read_items(items, &Rules::default());
        if conversation.steps.is_empty() {
            conversation.steps = openai::read_messages(messages, &Rules::default()).steps;
        }
        return Ok(conversation);
    }
    let Some(choices) = reply["choices"].as_array() else {
        return Err("the agent's reply has neither `choices` nor `output`".to_owned());
    };
    let last = choices.first().map(|choice| &choice["message"]);
    let messages: Vec<Value> = messages.iter().chain(last).cloned().collect();
    Ok(openai::read_messages(&messages, &Rules::default()))
}

/// Returns the whole conversation with its calls, which some agents send along.
fn messages_of(reply: &Value) -> &[Value] {
    reply["messages"].as_array().map_or(&[], Vec::as_slice)
}

fn refusal_of(reply: &Value) -> Option<String> {
    reply.pointer("/choices/0/message/refusal")?.as_str().map(str::to_owned)
}

/// Returns what the reply says went wrong.
fn error_of(reply: &Value) -> Option<String> {
    let error = reply.get("error").filter(|error| !error.is_null())?;
    let message = error["message"].as_str().or(error.as_str());
    Some(message.map_or_else(|| error.to_string(), str::to_owned))
}

/// Says why there is no answer.
fn no_answer(steps: &[Step]) -> &'static str {
    let is_open = |step: &Step| step.call_status == CallStatus::NoResult;
    if steps.last().is_some_and(is_open) {
        "the agent leaves its calls to others: it must call its tools by itself"
    } else {
        "the agent's reply has no answer"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(reply: &Value) -> Answered {
        read_reply(&reply.to_string()).expect("a reply")
    }

    fn steps(answered: &Answered) -> Value {
        let steps = answered.steps.as_ref().expect("steps");
        serde_json::from_str(steps.get()).expect("JSON")
    }

    fn call(id: &str) -> Value {
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function",
            "function": {"name": "lookup", "arguments": "{\"q\": 1}"}}]})
    }

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

    #[test]
    fn messages_that_come_along_tell_the_steps() {
        let answer = json!({"role": "assistant", "content": "Oslo."});
        let result = json!({"role": "tool", "tool_call_id": "c", "content": "Oslo"});
        let reply = json!({"choices": [{"message": answer}], "messages": [call("c"), result],
            "usage": {"prompt_tokens": 5, "completion_tokens": 2}});
        let answered = read(&reply);
        assert_eq!(answered.final_answer.as_deref(), Some("Oslo."));
        assert_eq!((answered.tokens, answered.input_tokens), (Some(7), Some(5)));
        let steps = steps(&answered);
        assert_eq!((&steps[0]["name"], &steps[0]["output"]), (&json!("lookup"), &json!("Oslo")));
        assert_eq!(answered.error, None);
    }

    #[test]
    fn an_answer_alone_does_not_tell_the_steps() {
        let answer = json!({"role": "assistant", "content": "Oslo."});
        let completion = json!({"choices": [{"message": answer}]});
        let text = json!([{"type": "output_text", "text": "Oslo."}]);
        let item = json!({"type": "message", "role": "assistant", "content": text});
        let response = json!({"output": [item]});
        let question = json!({"role": "user", "content": "Where?"});
        let result = json!({"role": "tool", "tool_call_id": "c", "content": "Oslo"});
        for mut reply in [completion, response] {
            let answered = read(&reply);
            assert_eq!(answered.final_answer.as_deref(), Some("Oslo."));
            assert!(answered.steps.is_none(), "{reply}");
            reply["messages"] = json!([question]);
            assert_eq!(steps(&read(&reply)), json!([]), "the conversation has no calls");
            reply["messages"] = json!([question, call("c"), result]);
            assert_eq!(steps(&read(&reply))[0]["name"], "lookup");
        }
    }

    #[test]
    fn a_reply_without_an_answer_says_why() {
        let waiting = read(&json!({"choices": [{"message": call("c")}]}));
        let why = "the agent leaves its calls to others: it must call its tools by itself";
        assert_eq!(waiting.error.as_deref(), Some(why));
        let empty = read(&json!({"choices": []}));
        assert_eq!(empty.error.as_deref(), Some("the agent's reply has no answer"));
        let failed = read(&json!({"output": [], "error": {"message": "no model"}}));
        assert_eq!(failed.error.as_deref(), Some("no model"));
        let declined = json!({"role": "assistant", "content": null, "refusal": "I will not."});
        let declined = read(&json!({"choices": [{"message": declined}]}));
        assert_eq!(declined.final_answer.as_deref(), Some("I will not."));
        assert!(read_reply("{}").is_err() && read_reply("[]").is_err() && read_reply("<").is_err());
    }
}
