//! Reads replies of agents: messages, and tasks in whatever state they are.

use serde_json::Value;

/// How far an agent came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It is done.
    Answered(String),
    /// It is at work on a task.
    Working {
        /// The id of the task.
        task: String,
    },
}

/// The longest reason of an agent to repeat, in characters.
const LONGEST_WHY: usize = 300;

/// Reads a reply; fails with the reason if there is no answer, and will be none.
pub(super) fn read_reply(text: &str) -> Result<Progress, String> {
    let reply: Value = serde_json::from_str(text)
        .map_err(|error| format!("the agent's reply is not JSON: {error}"))?;
    if let Some(error) = reply.get("error").filter(|error| !error.is_null()) {
        let why = error["message"].as_str().map_or_else(|| error.to_string(), str::to_owned);
        return Err(format!("the agent answers with an error: {}", shortened(&why)));
    }
    let result = &reply["result"];
    // From 1.0 on, a result says by its key what it is.
    let task = result.get("task").or(Some(result).filter(|own| own.get("status").is_some()));
    if let Some(task) = task {
        return of_task(task);
    }
    let message = result.get("message").unwrap_or(result);
    let text = text_of(&message["parts"]);
    text.map(Progress::Answered).ok_or_else(|| "the agent's reply has no text".to_owned())
}

fn of_task(task: &Value) -> Result<Progress, String> {
    let state = task["status"]["state"].as_str().unwrap_or_default().to_lowercase();
    let state = state.trim_start_matches("task_state_").replace('_', "-");
    let said = || text_of(&task["status"]["message"]["parts"]);
    let why = |what: &str| match said() {
        Some(said) => format!("the agent {what}: {}", shortened(&said)),
        None => format!("the agent {what}"),
    };
    match state.as_str() {
        "completed" => {
            let artifacts = task["artifacts"].as_array().into_iter().flatten();
            let texts: Vec<String> = artifacts.filter_map(|own| text_of(&own["parts"])).collect();
            let artifacts = Some(texts.join("\n")).filter(|text| !text.is_empty());
            let answer = artifacts.or_else(said).or_else(|| last_of(&task["history"]));
            answer.map(Progress::Answered).ok_or_else(|| "the agent's task has no text".to_owned())
        }
        "submitted" | "working" => match task["id"].as_str() {
            Some(id) => Ok(Progress::Working { task: id.to_owned() }),
            None => Err("the agent is at work on a task without an id".to_owned()),
        },
        "input-required" => Err(why("asks for more")),
        "auth-required" => Err(why("asks who is there")),
        "failed" => Err(why("failed")),
        "rejected" => Err(why("refuses the task")),
        "canceled" => Err(why("gave the task up")),
        other => Err(format!("the agent's task is in no known state: `{}`", shortened(other))),
    }
}

/// Returns the last thing the agent said.
fn last_of(history: &Value) -> Option<String> {
    let is_own = |message: &&Value| message["role"] == "agent" || message["role"] == "ROLE_AGENT";
    let mut own = history.as_array()?.iter().filter(is_own).rev();
    own.find_map(|message| text_of(&message["parts"]))
}

/// Joins the texts of parts, and data as JSON; `None` if there is nothing to read.
fn text_of(parts: &Value) -> Option<String> {
    let part = |part: &Value| match (part.get("text"), part.get("data")) {
        (Some(text), _) => text.as_str().map(str::to_owned),
        (None, Some(data)) => Some(data.to_string()),
        (None, None) => None,
    };
    let texts: Vec<String> = parts.as_array()?.iter().filter_map(part).collect();
    Some(texts.join("\n")).filter(|text| !text.trim().is_empty())
}

fn shortened(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(LONGEST_WHY).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(result: &Value) -> Result<Progress, String> {
        read_reply(&json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string())
    }

    fn check(result: &Value, answer: &str) {
        assert_eq!(read(result), Ok(Progress::Answered(answer.to_owned())), "{result}");
    }

    #[test]
    fn an_answer_is_a_message_or_what_a_task_made() {
        let parts = json!([{"kind": "text", "text": "Oslo"}, {"kind": "data", "data": {"n": 1}}]);
        let message = json!({"kind": "message", "role": "agent", "parts": parts});
        check(&message, "Oslo\n{\"n\":1}");
        check(&json!({"message": {"parts": [{"text": "Oslo"}]}}), "Oslo");
        let done = |status: Value, more: Value| {
            let mut task = json!({"kind": "task", "id": "t", "status": status});
            task.as_object_mut().expect("a task").extend(more.as_object().expect("more").clone());
            task
        };
        let artifacts =
            json!({"artifacts": [{"parts": [{"text": "a"}]}, {"parts": [{"text": "b"}]}]});
        check(&done(json!({"state": "completed"}), artifacts.clone()), "a\nb");
        let later = done(json!({"state": "TASK_STATE_COMPLETED"}), artifacts);
        check(&json!({"task": later}), "a\nb");
        let said = json!({"state": "completed", "message": {"parts": [{"text": "c"}]}});
        check(&done(said, json!({})), "c");
        let history = json!({"history": [{"role": "agent", "parts": [{"text": "d"}]},
            {"role": "user", "parts": [{"text": "?"}]}]});
        check(&done(json!({"state": "completed"}), history), "d");
    }

    #[test]
    fn a_task_is_at_work_or_has_ended_without_an_answer() {
        let task = |state: &str| {
            let message = json!({"parts": [{"text": "because"}]});
            read(&json!({"id": "t", "status": {"state": state, "message": message}}))
        };
        for state in ["submitted", "working", "TASK_STATE_WORKING"] {
            assert_eq!(task(state), Ok(Progress::Working { task: "t".into() }), "{state}");
        }
        for (state, why) in [
            ("failed", "the agent failed: because"),
            ("input-required", "the agent asks for more: because"),
            ("TASK_STATE_AUTH_REQUIRED", "the agent asks who is there: because"),
            ("rejected", "the agent refuses the task: because"),
            ("canceled", "the agent gave the task up: because"),
            ("odd", "the agent's task is in no known state: `odd`"),
        ] {
            assert_eq!(task(state), Err(why.to_owned()), "{state}");
        }
    }

    #[test]
    fn what_is_no_reply_is_an_error() {
        let refused = r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}"#;
        assert_eq!(read_reply(refused), Err("the agent answers with an error: no".into()));
        assert!(read_reply("<html>").expect_err("no JSON").starts_with("the agent's reply is not"));
        for none in [json!({}), json!(null), json!({"parts": []}), json!({"status": {}})] {
            assert!(read(&none).is_err(), "{none}");
        }
    }
}
