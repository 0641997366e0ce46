//! What an agent made of a question, as a documented response.

use std::borrow::Cow;

use juror_bench::{Attempt, ServedCall};
use juror_toolbench::answer::{Details, FINISH, Finish, Node, read_finish};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

/// The beginning of every line of responses.
pub(crate) const LINE_START: &str = "{\"question_id\":";

/// A response to a question: one line.
#[derive(Debug, Serialize)]
pub(crate) struct Response<'a> {
    question_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    trial: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    actual_answer: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    remarks: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    actual_steps: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    elapsed_sec: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usd: Option<f64>,
}

/// A step of a response.
#[derive(Debug, Serialize)]
struct Step {
    name: String,
    args: Box<RawValue>,
    id: String,
    status: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// The reply of a virtual tool.
#[derive(Deserialize)]
struct ToolReply {
    #[serde(default)]
    error: serde_json::Value,
    #[serde(default)]
    response: Option<Box<RawValue>>,
}

impl<'a> Response<'a> {
    /// Converts an attempt to a response. `sees_calls` says that Juror saw every call of the agent:
    /// an attempt without calls then has no steps, instead of unknown ones.
    pub(crate) fn of(attempt: &'a Attempt, sees_calls: bool) -> Response<'a> {
        let actual_steps = steps_of(attempt, sees_calls);
        // The built-in agent's answer is what it gave to `Finish`.
        let finish = attempt.final_answer.as_deref().map(read_finish);
        let (actual_answer, gave_up) = match finish {
            Some(Finish::Answered(text)) => (Some(text), false),
            Some(Finish::GaveUp) => (None, true),
            None => (None, false),
        };
        let gave_up = gave_up.then(|| "the agent gave up".to_owned());
        let is_nothing = actual_answer.is_none() && actual_steps.as_deref().is_none_or(is_empty);
        let silent = || is_nothing.then(|| without_answer(attempt));
        let error = attempt.error.clone().or(gave_up).or_else(silent);
        Response {
            question_id: &attempt.query_id,
            trial: attempt.trial,
            status: error.is_some().then_some("error"),
            error,
            actual_answer,
            remarks: &attempt.remarks,
            actual_steps,
            input_tokens: attempt.input_tokens,
            output_tokens: attempt.output_tokens,
            total_tokens: total_tokens(attempt),
            elapsed_sec: attempt.elapsed_sec.or(attempt.seconds),
            usd: attempt.usd,
        }
    }

    /// Returns what went wrong.
    pub(crate) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Returns the number of steps, if they are known.
    pub(crate) fn n_steps(&self) -> Option<usize> {
        let steps: Vec<&RawValue> = serde_json::from_str(self.actual_steps.as_ref()?.get()).ok()?;
        Some(steps.len())
    }
}

/// All tokens of an attempt, if they are known. An attempt without a count has a 0, which is one only
/// if the agent counted both parts.
fn total_tokens(attempt: &Attempt) -> Option<u64> {
    let both = || Some(attempt.input_tokens?.saturating_add(attempt.output_tokens?));
    Some(attempt.tokens).filter(|tokens| *tokens > 0).or_else(both)
}

fn is_empty(steps: &RawValue) -> bool {
    steps.get() == "[]"
}

/// Says why there is nothing to judge.
fn without_answer(attempt: &Attempt) -> String {
    attempt.stopped.clone().unwrap_or_else(|| "the agent gave no answer".to_owned())
}

/// Returns the steps that the agent reports, or else the calls that Juror saw, or else those that
/// the agent's details tell; `None` if nothing is known.
fn steps_of(attempt: &Attempt, sees_calls: bool) -> Option<Box<RawValue>> {
    if attempt.steps.is_some() {
        return attempt.steps.clone();
    }
    let steps: Vec<Step> = if sees_calls || !attempt.calls.is_empty() {
        attempt.calls.iter().enumerate().map(|(at, call)| served(at, call)).collect()
    } else {
        told(attempt.answer_details.as_ref()?)
    };
    let is_known = sees_calls || !steps.is_empty();
    // Strings and JSON always serialize.
    is_known.then(|| to_raw_value(&steps).ok()).flatten()
}

fn served(at: usize, call: &ServedCall) -> Step {
    let (name, id) = (call.function_name(), format!("call_{}", at + 1));
    let args = call.tool_input.clone();
    let reply = serde_json::from_str::<ToolReply>(call.reply.get()).ok();
    let (output, error) = match reply {
        Some(reply) => (reply.response.clone(), error_of(&reply)),
        None => (Some(call.reply.clone()), None),
    };
    match error {
        Some(error) => Step { name, args, id, status: "error", output: None, error: Some(error) },
        None => Step { name, args, id, status: "success", output, error: None },
    }
}

fn error_of(reply: &ToolReply) -> Option<String> {
    match &reply.error {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        other => Some(other.to_string()),
    }
}

/// Returns the calls in what an agent reports, except the one that ends it.
fn told(details: &Details) -> Vec<Step> {
    let calls = details.nodes().unwrap_or_default().iter().filter_map(Node::call);
    let json = |text: &str| RawValue::from_string(text.to_owned()).ok();
    let step = |(at, call): (usize, juror_toolbench::answer::Call<'_>)| Step {
        name: call.name.into_owned(),
        args: call.arguments.and_then(|own| json(own.get())).unwrap_or_default(),
        id: format!("call_{}", at + 1),
        status: "success",
        output: call.response.and_then(|own| json(own.get())),
        error: None,
    };
    calls.filter(|call| call.name != FINISH).enumerate().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn response(attempt: &Value, sees_calls: bool) -> Value {
        let mut whole = json!({"set": "t", "query_id": "q", "final_answer": null});
        let fields = whole.as_object_mut().expect("an attempt");
        fields.extend(attempt.as_object().expect("fields").clone());
        let attempt: Attempt = serde_json::from_value(whole).expect("an attempt");
        let line = serde_json::to_string(&Response::of(&attempt, sees_calls)).expect("JSON");
        assert!(line.starts_with(LINE_START), "{line}");
        serde_json::from_str(&line).expect("JSON")
    }

    #[test]
    fn what_an_agent_reports_is_its_response() {
        let attempt = json!({"final_answer": "Oslo", "trial": 2, "tokens": 7, "input_tokens": 3,
            "output_tokens": 4, "seconds": 1.5, "usd": 0.5, "steps": [{"name": "lookup"}]});
        let wanted = json!({"question_id": "q", "trial": 2, "actual_answer": "Oslo",
            "actual_steps": [{"name": "lookup"}], "input_tokens": 3, "output_tokens": 4,
            "total_tokens": 7, "elapsed_sec": 1.5, "usd": 0.5});
        assert_eq!(response(&attempt, false), wanted);
        let plain = json!({"question_id": "q", "actual_answer": "Oslo"});
        assert_eq!(response(&json!({"final_answer": "Oslo"}), false), plain);
        let free = json!({"final_answer": "a", "tokens": 0, "input_tokens": 0, "output_tokens": 0});
        assert_eq!(response(&free, false)["total_tokens"], 0, "0 is a count like any other");
        let half = json!({"final_answer": "a", "tokens": 0, "input_tokens": 0});
        assert_eq!(response(&half, false).get("total_tokens"), None);
        let timed = json!({"final_answer": "a", "seconds": 2.0, "elapsed_sec": 1.0});
        assert_eq!(response(&timed, false)["elapsed_sec"], 1.0, "its own clock knows better");
    }

    #[test]
    fn calls_that_were_served_are_steps_unless_the_agent_tells_its_own() {
        let call = |api: &str, reply: Value| {
            json!({"category": "Weather", "tool_name": "garden_weather", "api_name": api,
                "tool_input": {"garden": "x"}, "reply": reply, "source": "cache"})
        };
        let calls = json!([
            call("current", json!({"error": "", "response": {"c": 1}})),
            call("past", json!({"error": "no such day", "response": ""}))
        ]);
        let steps =
            response(&json!({"final_answer": "a", "calls": calls}), true)["actual_steps"].take();
        assert_eq!(steps[0]["name"], "current_for_garden_weather");
        assert_eq!(
            (&steps[0]["output"], &steps[0]["status"]),
            (&json!({"c": 1}), &json!("success"))
        );
        assert_eq!(
            (&steps[1]["error"], &steps[1]["status"]),
            (&json!("no such day"), &json!("error"))
        );
        assert_eq!(steps[1].get("output"), None);
        let own = json!({"final_answer": "a", "calls": calls, "steps": []});
        assert_eq!(response(&own, true)["actual_steps"], json!([]));
        assert_eq!(response(&json!({"final_answer": "a"}), true)["actual_steps"], json!([]));
        assert_eq!(response(&json!({"final_answer": "a"}), false).get("actual_steps"), None);
    }

    #[test]
    fn nothing_to_judge_is_an_error_with_its_reason() {
        let error = |attempt: &Value| response(attempt, true)["error"].take();
        assert_eq!(error(&json!({})), "the agent gave no answer");
        assert_eq!(
            error(&json!({"stopped": "3 replies in a row called nothing"})),
            "3 replies in a row called nothing"
        );
        let failed = response(&json!({"final_answer": "a", "error": "boom"}), false);
        assert_eq!((&failed["status"], &failed["error"]), (&json!("error"), &json!("boom")));
        assert_eq!(failed["actual_answer"], "a");
        assert_eq!(error(&json!({"steps": [{"name": "lookup"}]})), Value::Null);
        let given_up = json!({"final_answer": "{\"return_type\": \"give_up_and_restart\"}"});
        assert_eq!(error(&given_up), "the agent gave up");
        let finished =
            json!({"final_answer": "{\"return_type\": \"give_answer\", \"final_answer\": \"x\"}"});
        assert_eq!(response(&finished, true)["actual_answer"], "x");
    }
}
