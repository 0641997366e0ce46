//! Reads what an agent sends that answers like a model of `OpenAI`: a chat completion or a response.
//!
//! What can be kept of an answer is kept: the texts of its parts, a refusal, the transcript of speech.
//! Whatever else belongs to the answer is told in its remarks.

use std::collections::BTreeMap;

use juror_traces::{CallStatus, Conversation, Rules, Step, openai};
use serde_json::Value;
use serde_json::value::to_raw_value;

use super::wire::Answered;
use super::{beginning, not_json};

/// Reads a chat completion or a response.
pub(super) fn read_reply(text: &str) -> Result<Answered, String> {
    let reply: Value = serde_json::from_str(text).map_err(|error| not_json(text, &error))?;
    let (conversation, said) = match (reply["output"].as_array(), reply["choices"].as_array()) {
        (Some(items), _) => (of_items(items, &reply), Said::of_response(&reply, items)),
        (None, Some(choices)) => (of_choices(choices, &reply), Said::of_completion(choices)),
        (None, None) => match error_of(&reply) {
            Some(why) => return Err(format!("the agent answers with an error: {why}")),
            None => return Err(unknown(text)),
        },
    };
    let usage = openai::usage_of_reply(&reply).unwrap_or(conversation.usage);
    let is_answered = conversation.answer.is_some();
    let final_answer = conversation.answer.or_else(|| said.text.clone());
    let error = error_of(&reply).or(conversation.error);
    let open_calls = || if is_answered { None } else { left_calls(&conversation.steps) };
    let error = error.or_else(open_calls);
    let error = error.or_else(|| final_answer.is_none().then(|| said.no_answer()));
    // An answer alone does not tell what was called to find it.
    let is_told = !conversation.steps.is_empty() || !messages_of(&reply).is_empty();
    Ok(Answered {
        remarks: if final_answer.is_some() { said.remarks() } else { Vec::new() },
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

fn unknown(text: &str) -> String {
    let begins = beginning(text);
    format!("the agent's reply has neither `choices` nor `output`; it begins with `{begins}`")
}

fn of_items(items: &[Value], reply: &Value) -> Conversation {
    let mut conversation = openai::read_items(items, &Rules::default());
    if conversation.steps.is_empty() {
        conversation.steps = openai::read_messages(messages_of(reply), &Rules::default()).steps;
    }
    conversation
}

fn of_choices(choices: &[Value], reply: &Value) -> Conversation {
    let last = choices.first().map(|choice| &choice["message"]);
    let messages: Vec<Value> = messages_of(reply).iter().chain(last).cloned().collect();
    openai::read_messages(&messages, &Rules::default())
}

/// Returns the whole conversation with its calls, which some agents send along.
fn messages_of(reply: &Value) -> &[Value] {
    reply["messages"].as_array().map_or(&[], Vec::as_slice)
}

/// Returns what the reply says went wrong.
fn error_of(reply: &Value) -> Option<String> {
    let error = reply.get("error").filter(|error| !error.is_null())?;
    let message = error["message"].as_str().or(error.as_str());
    Some(message.map_or_else(|| error.to_string(), str::to_owned))
}

/// Says that the agent wants others to call its tools, if its last steps are such calls.
fn left_calls(steps: &[Step]) -> Option<String> {
    let open = steps.iter().rev().take_while(|step| step.call_status == CallStatus::NoResult);
    let mut names: Vec<&str> = open.map(|step| step.name.as_str()).collect();
    names.reverse();
    names.dedup();
    (!names.is_empty()).then(|| {
        let names = names.join(", ");
        format!(
            "the agent expects the client to run its tool calls ({names}): it must run them itself"
        )
    })
}

/// What a reply says beside the texts of its answer.
#[derive(Default)]
struct Said {
    /// What can stand for an answer where there is none.
    text: Option<String>,
    /// Why there is nothing more.
    cut_off: Option<String>,
    is_refusal: bool,
    /// Parts of the answer that are not texts: how many of each kind.
    left_out: BTreeMap<String, usize>,
    n_other_choices: usize,
    /// Why a reply can have no answer, if it says so by what it lacks.
    lacks: Option<&'static str>,
}

impl Said {
    fn of_completion(choices: &[Value]) -> Said {
        let Some(choice) = choices.first() else {
            return Said { lacks: Some("`choices` is empty"), ..Said::default() };
        };
        let message = &choice["message"];
        let refusal = message["refusal"].as_str().filter(|text| !text.is_empty());
        let transcript = message["audio"]["transcript"].as_str();
        let mut said = Said {
            // Beside calls, a text is no answer by itself, but it is all there is.
            text: refusal.or(message["content"].as_str()).or(transcript).map(str::to_owned),
            cut_off: choice["finish_reason"].as_str().and_then(ended_by),
            is_refusal: refusal.is_some(),
            n_other_choices: choices.len() - 1,
            ..Said::default()
        };
        said.text = said.text.filter(|text| !text.trim().is_empty());
        said.look_at(&message["content"]);
        let is_heard_only = message["audio"].is_object() && transcript.is_none();
        said.leave_out("audio", usize::from(is_heard_only));
        said
    }

    fn of_response(reply: &Value, items: &[Value]) -> Said {
        let why = reply["incomplete_details"]["reason"].as_str();
        let is_cut = reply["status"] == "incomplete" || why.is_some();
        let lacks = items.is_empty().then_some("`output` is empty");
        let cut_off = is_cut.then(|| why.and_then(ended_by).unwrap_or_else(|| "cut off".into()));
        let mut said = Said { cut_off, lacks, ..Said::default() };
        let is_message = |item: &&Value| item["type"] == "message" && item["role"] == "assistant";
        if let Some(last) = items.iter().rev().find(is_message) {
            said.look_at(&last["content"]);
        }
        said
    }

    /// Counts the parts of a message that are not texts.
    fn look_at(&mut self, content: &Value) {
        for part in content.as_array().into_iter().flatten() {
            match part["type"].as_str() {
                // Texts are kept, and what a model thinks is no part of its answer.
                None
                | Some(
                    "text" | "output_text" | "input_text" | "reasoning" | "thinking"
                    | "redacted_thinking",
                ) => {}
                Some("refusal") => self.is_refusal = true,
                Some(kind) => self.leave_out(&noun(kind), 1),
            }
        }
    }

    fn leave_out(&mut self, what: &str, n: usize) {
        if n > 0 {
            *self.left_out.entry(what.to_owned()).or_default() += n;
        }
    }

    fn remarks(&self) -> Vec<String> {
        let refused = self.is_refusal.then(|| "the agent refused, and says so".to_owned());
        let left_out: Vec<String> =
            self.left_out.iter().map(|(what, n)| format!("{n} × {what}")).collect();
        let left_out = (!left_out.is_empty())
            .then(|| format!("parts that are not text were left out: {}", left_out.join(", ")));
        let others = (self.n_other_choices > 0)
            .then(|| format!("the first of {} choices was taken", self.n_other_choices + 1));
        let cut_off = self.cut_off.as_ref().map(|how| format!("the answer was {how}"));
        [refused, cut_off, left_out, others].into_iter().flatten().collect()
    }

    /// Says why there is no answer.
    fn no_answer(&self) -> String {
        let left_out = || {
            let names: Vec<&str> = self.left_out.keys().map(String::as_str).collect();
            (!names.is_empty()).then(|| format!("it has only {}", names.join(", ")))
        };
        let cut_off = self.cut_off.as_ref().map(|how| format!("it was {how}"));
        let why = cut_off.or_else(left_out).or_else(|| self.lacks.map(str::to_owned));
        match why {
            Some(why) => format!("the agent's reply has no answer: {why}"),
            None => "the agent's reply has no answer".to_owned(),
        }
    }
}

/// Says how an answer was cut off; `None` if it came to its end.
fn ended_by(reason: &str) -> Option<String> {
    match reason {
        "length" | "max_output_tokens" | "max_tokens" => {
            Some(format!("cut off at the limit of tokens (`{reason}`)"))
        }
        "content_filter" => Some(format!("cut off by a filter (`{reason}`)")),
        _ => None,
    }
}

/// Returns the word for a kind of part.
fn noun(kind: &str) -> String {
    let words = ["image", "audio", "video", "file"];
    let word = words.into_iter().find(|word| kind.contains(word));
    word.map_or_else(|| format!("part of type `{kind}`"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
        let why =
            "the agent expects the client to run its tool calls (lookup): it must run them itself";
        assert_eq!(waiting.error.as_deref(), Some(why));
        let empty = read(&json!({"choices": []}));
        let nothing = "the agent's reply has no answer: `choices` is empty";
        assert_eq!(empty.error.as_deref(), Some(nothing));
        let failed = read(&json!({"output": [], "error": {"message": "no model"}}));
        assert_eq!(failed.error.as_deref(), Some("no model"));
        let declined = json!({"role": "assistant", "content": null, "refusal": "I will not."});
        let declined = read(&json!({"choices": [{"message": declined}]}));
        assert_eq!(declined.final_answer.as_deref(), Some("I will not."));
        for (text, why) in [
            ("{}", "the agent's reply has neither `choices` nor `output`; it begins with `{}`"),
            (r#"{"error": {"message": "no quota"}}"#, "the agent answers with an error: no quota"),
            (" ", "the agent's reply is empty"),
        ] {
            assert_eq!(read_reply(text).err().as_deref(), Some(why));
        }
        let page = read_reply("<html>\n  <p>Sign in</p>").expect_err("no JSON");
        assert!(page.ends_with("it begins with `<html> <p>Sign in</p>`"), "{page}");
    }

    #[test]
    fn what_is_left_out_of_an_answer_is_told() {
        let choice = |content: Value, finish: &str| {
            let message = json!({"role": "assistant", "content": content});
            read(&json!({"choices": [{"message": message, "finish_reason": finish}]}))
        };
        let text = json!({"type": "text", "text": "See:"});
        let image = json!({"type": "image_url", "image_url": {"url": "data:"}});
        let mixed = choice(json!([text, image, image, {"type": "chart"}]), "stop");
        assert_eq!(mixed.final_answer.as_deref(), Some("See:"));
        let told = "parts that are not text were left out: 2 × image, 1 × part of type `chart`";
        assert_eq!(mixed.remarks, [told]);
        let cut = choice(json!("It is"), "length");
        assert_eq!(cut.final_answer.as_deref(), Some("It is"));
        assert_eq!(cut.remarks, ["the answer was cut off at the limit of tokens (`length`)"]);
        assert_eq!(choice(json!("Oslo."), "stop").remarks, [""; 0]);
        let mute = choice(json!(null), "length").error.expect("an error");
        assert!(mute.ends_with("it was cut off at the limit of tokens (`length`)"), "{mute}");
        let shown = choice(json!([image]), "stop").error.expect("an error");
        assert!(shown.ends_with("has no answer: it has only image"), "{shown}");
        let spoken =
            json!({"role": "assistant", "content": null, "audio": {"transcript": "Oslo."}});
        let both = read(&json!({"choices": [{"message": spoken}, {"message": spoken}]}));
        assert_eq!(both.final_answer.as_deref(), Some("Oslo."));
        assert_eq!(both.remarks, ["the first of 2 choices was taken"]);
    }

    #[test]
    fn a_refusal_and_a_cut_of_a_response_are_told() {
        let parts = json!([{"type": "refusal", "refusal": "I will not."}]);
        let item = json!({"type": "message", "role": "assistant", "content": parts});
        let refused = read(&json!({"output": [item]}));
        assert_eq!(refused.final_answer.as_deref(), Some("I will not."));
        assert_eq!(refused.remarks, ["the agent refused, and says so"]);
        let text = json!([{"type": "output_text", "text": "It is"}]);
        let item = json!({"type": "message", "role": "assistant", "content": text});
        let cut = read(&json!({"output": [item], "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"}}));
        let told = "the answer was cut off at the limit of tokens (`max_output_tokens`)";
        assert_eq!(cut.remarks, [told]);
    }

    #[test]
    fn what_is_said_beside_calls_is_kept_with_the_error() {
        let mut message = call("c");
        message["content"] = json!("Let me look.");
        let waiting = read(&json!({"choices": [{"message": message}]}));
        assert_eq!(waiting.final_answer.as_deref(), Some("Let me look."));
        assert!(waiting.error.expect("an error").contains("run its tool calls (lookup)"));
        let done = json!([{"type": "function_call", "call_id": "c", "name": "lookup", "arguments": "{}"},
            {"type": "message", "role": "assistant",
                "content": [{"type": "output_text", "text": "Oslo."}]}]);
        assert_eq!(read(&json!({"output": done})).error, None, "its results are not told");
    }
}
