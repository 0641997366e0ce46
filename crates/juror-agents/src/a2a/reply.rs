//! Reads replies of agents: messages, and tasks in whatever state they are.

use serde_json::Value;

use crate::not_json;

/// How far an agent came.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// It is done.
    Answered(Said),
    /// It is at work on a task.
    Working {
        /// The id of the task.
        task: String,
    },
}

/// What an agent says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Said {
    pub(super) text: String,
    /// What is to be known about it, such as parts that could not be kept.
    pub(super) remarks: Vec<String>,
}

/// The longest reason of an agent to repeat, in characters.
const LONGEST_WHY: usize = 300;

/// Reads a reply; fails with the reason if there is no answer, and will be none.
pub(super) fn read_reply(text: &str) -> Result<Progress, String> {
    let reply: Value = serde_json::from_str(text).map_err(|error| not_json(text, &error))?;
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
    let said = said_in([&message["parts"]]);
    said.map(Progress::Answered).ok_or_else(|| "the agent's reply has no text".to_owned())
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
            let answer = said_in(artifacts.map(|own| &own["parts"]))
                .or_else(|| said_in([&task["status"]["message"]["parts"]]))
                .or_else(|| last_of(&task["history"]));
            answer.map(Progress::Answered).ok_or_else(|| "the agent's task has no text".to_owned())
        }
        "submitted" | "working" => match task["id"].as_str() {
            Some(id) => Ok(Progress::Working { task: id.to_owned() }),
            None => Err("the agent is at work on a task without an id".to_owned()),
        },
        "input-required" => Err(why("asks for more input")),
        "auth-required" => Err(why("requires authentication")),
        "failed" => Err(why("failed")),
        "rejected" => Err(why("refuses the task")),
        "canceled" => Err(why("gave the task up")),
        other => Err(format!("the agent's task is in an unknown state: `{}`", shortened(other))),
    }
}

/// Returns the last thing the agent said.
fn last_of(history: &Value) -> Option<Said> {
    let is_own = |message: &&Value| message["role"] == "agent" || message["role"] == "ROLE_AGENT";
    let mut own = history.as_array()?.iter().filter(is_own).rev();
    own.find_map(|message| said_in([&message["parts"]]))
}

/// Joins the texts of several lists of parts, and tells what was left out; `None` if there is nothing
/// to read.
fn said_in<'p>(lists: impl IntoIterator<Item = &'p Value>) -> Option<Said> {
    let (mut texts, mut n_left_out) = (Vec::new(), 0);
    for parts in lists {
        texts.extend(text_of(parts));
        n_left_out += parts.as_array().into_iter().flatten().filter(|part| is_file(part)).count();
    }
    let remark = match n_left_out {
        0 => None,
        1 => Some("a file was left out".to_owned()),
        n => Some(format!("{n} files were left out")),
    };
    let text = texts.join("\n");
    (!text.is_empty()).then(|| Said { text, remarks: remark.into_iter().collect() })
}

/// Whether a part holds a file or its address, which is no text to judge.
fn is_file(part: &Value) -> bool {
    part.get("text").is_none() && part.get("data").is_none()
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
        let said = Said { text: answer.to_owned(), ..Said::default() };
        assert_eq!(read(result), Ok(Progress::Answered(said)), "{result}");
    }

    #[test]
    fn files_beside_a_text_are_told() {
        let file = json!({"kind": "file", "file": {"uri": "http://h/a.png"}});
        let message =
            json!({"parts": [{"kind": "text", "text": "Oslo"}, file, {"url": "http://h"}]});
        let said = Said { text: "Oslo".into(), remarks: vec!["2 files were left out".into()] };
        assert_eq!(read(&message), Ok(Progress::Answered(said)));
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
            ("input-required", "the agent asks for more input: because"),
            ("TASK_STATE_AUTH_REQUIRED", "the agent requires authentication: because"),
            ("rejected", "the agent refuses the task: because"),
            ("canceled", "the agent gave the task up: because"),
            ("odd", "the agent's task is in an unknown state: `odd`"),
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
