//! Steps of smolagents: what an agent remembers, and the result of a run.

use serde_json::Value;

use super::openai_chat;
use crate::args::Args;
use crate::call::{Call, CallResult};
use crate::look;
use crate::oddity::Oddity;
use crate::outcome::Outcome;
use crate::time::nanoseconds;
use crate::transcript::Transcript;

/// The tool by which agents answer.
pub(crate) const FINAL: &str = "final_answer";

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    let has = |key: &str| look::has(item, key);
    has("step_number")
        || (has("task") && has("task_images"))
        || (has("steps") && has("state") && has("output"))
}

/// Reads the result of a run: its steps and what it came to.
pub(crate) fn read_result(transcript: &mut Transcript, result: &Value, pointer: &str) {
    for (at, step) in look::items(result, "steps").iter().enumerate() {
        read_item(transcript, step, &format!("{pointer}/steps/{at}"));
    }
    if let Some(usage) = look::get(result, "token_usage").and_then(crate::transcript::usage_of) {
        transcript.usage = usage;
    }
    transcript.elapsed_sec = look::at(result, &["timing", "duration"]).and_then(Value::as_f64);
    transcript.say(look::get(result, "output").map(shown));
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Reads one step.
pub(crate) fn read_item(transcript: &mut Transcript, step: &Value, pointer: &str) {
    if let Some(task) = look::words(step, "task") {
        return transcript.ask(Some(task.to_owned()));
    }
    if step.get("step_number").is_none() && step.get("tool_calls").is_none() {
        return transcript.leave_out("step without calls");
    }
    transcript.add_usage(look::get(step, "token_usage"));
    let time = |key| look::at(step, &["timing", key]).and_then(nanoseconds);
    transcript.started = transcript.started.or_else(|| time("start_time"));
    transcript.ended = time("end_time").or(transcript.ended);
    let error = look::get(step, "error")
        .map(|error| look::text(error, "message").map_or_else(|| error.to_string(), str::to_owned));
    let calls = calls_of(transcript, step, error.as_deref(), pointer);
    let observations = look::words(step, "observations");
    for call in &calls {
        if call.name == FINAL {
            transcript.leave_out(format!("call of `{FINAL}`: the answer"));
            transcript.say(
                call.args
                    .value
                    .get("answer")
                    .map(shown)
                    .or_else(|| observations.map(str::to_owned)),
            );
        }
    }
    let calls: Vec<Call> = calls.into_iter().filter(|call| call.name != FINAL).collect();
    let outcomes = outcomes(transcript, &calls, observations, error, pointer);
    for (call, outcome) in calls.into_iter().zip(outcomes) {
        let id = call.id.clone();
        transcript.call(Call { at: time("start_time"), until: time("end_time"), ..call });
        if let Some(outcome) = outcome {
            transcript.result(CallResult::of(id, outcome));
        }
    }
}

/// Returns the calls of a step. A step whose tool failed has none: they are in the model's message,
/// or else in the text of the error.
fn calls_of(
    transcript: &Transcript,
    step: &Value,
    error: Option<&str>,
    pointer: &str,
) -> Vec<Call> {
    let own = look::items(step, "tool_calls");
    let asked = look::at(step, &["model_output_message"])
        .map_or(&[][..], |message| look::items(message, "tool_calls"));
    let (calls, key) = if own.is_empty() {
        (asked, "model_output_message/tool_calls")
    } else {
        (own, "tool_calls")
    };
    if calls.is_empty() {
        return error
            .and_then(|error| call_in_error(error, transcript.place(pointer)))
            .into_iter()
            .collect();
    }
    let read = |(at, call): (usize, &Value)| {
        let mut read =
            openai_chat::read_call(call, transcript.place(&format!("{pointer}/{key}/{at}")));
        // A text that is no object is the only argument, such as the code for the interpreter.
        let is_text = |raw: &String| !raw.trim_start().starts_with('{');
        if let Some(text) = read.args.raw.take_if(|raw| is_text(raw)) {
            read.args = Args::input(&Value::String(text));
        }
        read
    };
    calls.iter().enumerate().map(read).collect()
}

/// Reads `Error executing tool 'name' with arguments {…}: why`.
fn call_in_error(error: &str, source: String) -> Option<Call> {
    let (_, rest) = error.split_once("tool '")?;
    let (name, rest) = rest.split_once('\'')?;
    let (_, rest) = rest.split_once("arguments ")?;
    let end = rest.match_indices("}: ").map(|(at, _)| at + 1);
    let args = end.map(|end| &rest[..end]).find_map(look::python_structure);
    Some(Call::requested(None, name, Args::of(args.as_ref()), source))
}

/// Returns why a tool failed, without the words around it.
fn reason(error: &str) -> String {
    let end = error.find("\nPlease try again or use another tool").unwrap_or(error.len());
    let inner =
        error[..end].split_once("}: ").filter(|_| error.starts_with("Error executing tool"));
    inner.map_or(&error[..end], |(_, why)| why).trim().to_owned()
}

/// Returns what came of each call. One text tells of all calls of a step: a line each, if there are
/// as many.
fn outcomes(
    transcript: &mut Transcript,
    calls: &[Call],
    observations: Option<&str>,
    error: Option<String>,
    pointer: &str,
) -> Vec<Option<Outcome>> {
    let succeeded = |text: &str| Some(Outcome::flagged(&Value::String(text.to_owned()), false));
    if let Some(error) = error {
        return vec![Some(Outcome::failure(reason(&error))); calls.len()];
    }
    let Some(text) = observations else { return vec![None; calls.len()] };
    if calls.len() < 2 {
        return vec![succeeded(text); calls.len()];
    }
    transcript.odd(Oddity::SharedOutput, pointer);
    let lines: Vec<&str> = text.lines().collect();
    if lines.len() == calls.len() {
        return lines.into_iter().map(succeeded).collect();
    }
    vec![succeeded(text); calls.len()]
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rules::Rules;

    #[test]
    fn steps_of_an_agent_become_steps() {
        let call = |id: &str, name: &str, args: Value| json!({"id": id, "type": "function", "function": {"name": name, "arguments": args}});
        let result = json!({"output": "Grey.", "state": "success", "token_usage": {"input_tokens": 9, "output_tokens": 3}, "timing": {"duration": 0.5}, "steps": [
            {"task": "How is it?"},
            {"step_number": 1, "tool_calls": [call("a", "t", json!({"n": 1})), call("b", "t", json!({"n": 2}))], "observations": "{'sky': 'grey'}\n{'sky': 'blue'}", "token_usage": {"input_tokens": 4, "output_tokens": 1}},
            {"step_number": 2, "tool_calls": [], "error": {"message": "Error executing tool 'u' with arguments {'n': 3}: ValueError: no\nPlease try again or use another tool"}},
            {"step_number": 3, "tool_calls": [], "error": {"message": "Error executing tool 'u' with arguments {'n': 4}: no"}, "model_output_message": {"tool_calls": [call("c", "u", json!({"n": 4}))]}},
            {"step_number": 4, "tool_calls": [call("d", "python_interpreter", json!("print(1)"))], "observations": "1"},
            {"step_number": 5, "tool_calls": [call("e", "final_answer", json!({"answer": "Grey."}))], "observations": "Grey.", "is_final_answer": true}]});
        let mut transcript = Transcript::default();
        read_result(&mut transcript, &result, "");
        let conversation = transcript.settle(&Rules::default());
        let shown: Vec<_> = conversation
            .steps
            .iter()
            .map(|step| {
                (
                    step.id.as_str(),
                    Value::Object(step.args.clone()).to_string(),
                    step.output.as_deref().or(step.error.as_deref()).unwrap_or_default(),
                )
            })
            .collect();
        assert_eq!(
            shown,
            [
                ("a", "{\"n\":1}".into(), "{\"sky\":\"grey\"}"),
                ("b", "{\"n\":2}".into(), "{\"sky\":\"blue\"}"),
                ("call_3", "{\"n\":3}".into(), "ValueError: no"),
                ("c", "{\"n\":4}".into(), "no"),
                ("d", "{\"input\":\"print(1)\"}".into(), "1"),
            ]
        );
        assert_eq!(conversation.answer.as_deref(), Some("Grey."));
        assert_eq!(conversation.usage.input_tokens, Some(9));
        assert_eq!(conversation.oddities.count(Oddity::SharedOutput), 1);
    }
}
