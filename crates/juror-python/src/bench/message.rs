//! Messages about a run to the Python side.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use juror_ask::AnswerLine;
use juror_document::Spelling;
use juror_report::QueryLine;
use juror_run::{Event, Listener, QueryDone};
use serde_json::{Value, json};

/// A message to Python.
pub(super) enum Message {
    /// Something happened in the run.
    Event(Event),
    /// A question of a reference was answered.
    Answered(Box<AnswerLine>),
    /// The agent did not answer in time, and its thread is no longer awaited.
    Late {
        /// The number of the ask.
        number: u64,
    },
    /// The run is over.
    Ended,
}

impl Message {
    /// Returns a listener that sends events to Python.
    pub(super) fn listener(messages: &Sender<Message>) -> Listener {
        let messages = messages.clone();
        // The receiver is gone if the run was abandoned.
        Arc::new(move |event| drop(messages.send(Message::Event(event))))
    }

    /// Returns the message as Python reads it, or `None` if it does not concern Python.
    pub(super) fn to_json(&self) -> Option<Value> {
        match self {
            Message::Event(Event::Attempted(done)) => Some(done_json(done)),
            Message::Event(Event::Note(notice) | Event::Warning(notice)) => {
                Some(json!({"kind": "warning", "text": notice.spelled(Spelling::Python)}))
            }
            Message::Event(_) => None,
            Message::Answered(line) => Some(answered_json(line)),
            Message::Late { number } => Some(json!({"kind": "late", "number": number})),
            Message::Ended => Some(json!({"kind": "ended"})),
        }
    }
}

/// Returns the fields of Python's `QueryDone`.
fn done_json(done: &QueryDone) -> Value {
    let QueryDone { set, line, is_known } = done;
    let QueryLine { n_done, n_all, id, trial, query, solved, api_call_score, .. } = line;
    let (status, sopr_score) = solved.as_ref().map(|(status, score)| (status, *score)).unzip();
    json!({
        "kind": "done",
        "n_done": n_done,
        "n_all": n_all,
        "set": set,
        "query_id": id,
        "trial": trial,
        "query": query,
        "is_known": is_known,
        "status": status,
        "sopr_score": sopr_score,
        "api_call_score": api_call_score,
        "n_calls": line.n_calls,
        "seconds": line.seconds,
        "error": line.error,
        "line": line.to_string(),
    })
}

/// Returns the fields of Python's `QuestionDone`.
fn answered_json(line: &AnswerLine) -> Value {
    json!({
        "kind": "answered",
        "n_done": line.n_done,
        "n_all": line.n_all,
        "question_id": line.id,
        "trial": line.trial,
        "question": line.question,
        "n_steps": line.n_steps,
        "seconds": line.seconds,
        "error": line.error,
        "remarks": line.remarks,
        "line": line.to_string(),
    })
}
