//! Recorded answers of ToolBench: a tree of `answer_details`.

use serde_json::Value;

use crate::args::Args;
use crate::call::Call;
use crate::look;
use crate::oddity::Oddity;
use crate::outcome::Outcome;
use crate::transcript::Transcript;

/// The call that ends an answer.
const FINISH: &str = "Finish";

/// The deepest tree that is followed.
const DEEPEST: usize = 2_000;

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    look::has(item, "answer_details")
        || look::has(item, "answer_generation")
        || item.get("answer").is_some_and(|answer| look::has(answer, "answer_details"))
}

/// Reads an answer: a query with its `answer`, or the answer alone.
pub(crate) fn read(transcript: &mut Transcript, record: &Value, pointer: &str) {
    transcript.ask(look::words(record, "query").map(str::to_owned));
    let inner =
        look::first(record, &["answer", "answer_generation"]).filter(|answer| answer.is_object());
    let (answer, pointer) = match inner {
        Some(answer) => (answer, format!("{pointer}/answer")),
        None => (record, pointer.to_owned()),
    };
    transcript.ask(look::words(answer, "query").map(str::to_owned));
    let mut walk = Walk::default();
    for (at, node) in look::items(answer, "answer_details").iter().enumerate() {
        walk.node(node, &format!("{pointer}/answer_details/{at}"), &mut Vec::new());
    }
    let n_calls = walk.n_calls;
    let path = walk.finished.unwrap_or(walk.deepest);
    for (call, pointer) in &path {
        read_call(transcript, call, pointer);
    }
    let n_left = n_calls.saturating_sub(path.len());
    if n_left > 0 {
        let what = "call of a branch that led nowhere".to_owned();
        *transcript.left_out.entry(what).or_default() += n_left;
        transcript.odd(Oddity::OtherBranches, &pointer);
    }
    transcript.say(look::words(answer, "final_answer").map(final_answer));
}

type Found = (Value, String);

#[derive(Default)]
struct Walk {
    n_calls: usize,
    /// The calls on the way to the last end.
    finished: Option<Vec<Found>>,
    /// The longest way, if nothing ended.
    deepest: Vec<Found>,
}

impl Walk {
    /// Follows a node; `way` has the calls above it.
    fn node(&mut self, node: &Value, pointer: &str, way: &mut Vec<Found>) {
        let before = way.len();
        let nodes_above = pointer.matches("/next/").count();
        if let Some(call) = call_of(node) {
            self.n_calls += 1;
            way.push((call.clone(), pointer.to_owned()));
            if look::text(&call, "name") == Some(FINISH) {
                self.finished = Some(way.clone());
            } else if way.len() > self.deepest.len() {
                self.deepest.clone_from(way);
            }
        }
        if nodes_above < DEEPEST {
            for (at, next) in look::items(node, "next").iter().enumerate() {
                self.node(next, &format!("{pointer}/next/{at}"), way);
            }
        }
        way.truncate(before);
    }
}

/// Returns the call of a node: its message is a text of JSON, or of Python in old answers.
fn call_of(node: &Value) -> Option<Value> {
    if look::text(node, "role") != Some("tool") {
        return None;
    }
    let message = node.get("message")?;
    let call = match message {
        Value::String(text) => look::structure(text).or_else(|| look::python_structure(text))?,
        value => value.clone(),
    };
    call.get("name").is_some().then_some(call)
}

fn read_call(transcript: &mut Transcript, call: &Value, pointer: &str) {
    let name = look::text(call, "name").unwrap_or_default();
    if name == FINISH {
        let args = Args::of(call.get("arguments"));
        transcript.say(args.value.get("final_answer").and_then(Value::as_str).map(str::to_owned));
        return transcript.leave_out(format!("call of `{FINISH}`: the end"));
    }
    let args = call.get("arguments").map_or_else(Args::default, |args| Args::of(Some(args)));
    let source = transcript.place(pointer);
    let requested = Call::requested(None, name, args, source);
    // A name is that of an API and, after it, that of its tool.
    let server = name.rsplit_once("_for_").map(|(_, tool)| tool.to_owned());
    let outcome = look::get(call, "response").map(outcome);
    transcript.call(Call { outcome, server, ..requested });
}

/// Replies are `{"error": "", "response": …}`, often as a text.
fn outcome(response: &Value) -> Outcome {
    let parsed = look::parsed(response).map(std::borrow::Cow::into_owned);
    let reply =
        parsed.filter(|reply| reply.get("error").is_some() && reply.get("response").is_some());
    let Some(reply) = reply else { return Outcome::unflagged(response) };
    match look::words(&reply, "error") {
        Some(error) => Outcome::failure(error.to_owned()),
        None => {
            Outcome { whole: Some(response.clone()), ..Outcome::flagged(&reply["response"], false) }
        }
    }
}

/// The final answer may be the arguments of the end, as a text.
fn final_answer(text: &str) -> String {
    let inner = look::structure(text)
        .and_then(|value| look::text(&value, "final_answer").map(str::to_owned));
    inner.unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rules::Rules;

    fn node(name: &str, response: &str, next: Value) -> Value {
        let message =
            json!({"name": name, "arguments": {"n": 1}, "response": response}).to_string();
        json!({"role": "tool", "message": message, "next": next})
    }

    #[test]
    fn the_way_to_the_last_end_is_kept() {
        let finish = json!({"role": "tool", "message": json!({"name": "Finish", "arguments": {"return_type": "give_answer", "final_answer": "4."}, "response": ""}).to_string(), "next": []});
        let record = json!({"query": "How warm?", "answer": {"method": "DFS", "final_answer": json!({"final_answer": "4."}).to_string(), "answer_details": [
            {"role": "system", "message": "", "next": [{"role": "user", "message": "How warm?", "next": [
                node("wrong_for_weather", "x", json!([])),
                node("now_for_weather", "{\"error\": \"\", \"response\": \"4\"}", json!([node("then_for_weather", "{\"error\": \"down\", \"response\": \"\"}", json!([finish]))]))]}]}]}});
        let mut transcript = Transcript::default();
        read(&mut transcript, &record, "");
        let conversation = transcript.settle(&Rules::default());
        let shown: Vec<_> = conversation
            .steps
            .iter()
            .map(|step| {
                (
                    step.name.as_str(),
                    step.server.as_deref(),
                    step.output.as_deref(),
                    step.error.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("now_for_weather", Some("weather"), Some("4"), None),
                ("then_for_weather", Some("weather"), None, Some("down")),
            ]
        );
        assert_eq!(conversation.answer.as_deref(), Some("4."));
        assert_eq!(conversation.left_out["call of a branch that led nowhere"], 1);
        assert_eq!(conversation.questions, ["How warm?"]);
    }
}
