//! Writes the result of a question in the documented format. Most of a result repeats the input,
//! whose bytes are copied.

use std::borrow::Cow;

use juror_json::{Object, text_of};
use juror_score::{
    ByStep, Ending, ErrorResponses, Finding, FlatValue, Judgement, Profile, Record, RecordedIn,
    Step,
};

/// Receives a result piece by piece, in order. It may write JSON, or build objects of another
/// language.
///
/// In an object, a key precedes each value.
pub trait ResultSink {
    /// Begins an object.
    fn open_object(&mut self);
    /// Begins a list.
    fn open_list(&mut self);
    /// Ends the current object.
    fn close_object(&mut self);
    /// Ends the current list.
    fn close_list(&mut self);
    /// Writes a key.
    fn key(&mut self, key: &str);
    /// Writes a key of the input, as raw JSON with its quotes.
    fn key_as_written(&mut self, key: &str);
    /// Writes a string, which may be part of the input.
    fn text(&mut self, text: &str);
    /// Writes a finite number.
    fn number(&mut self, number: f64);
    /// Writes raw JSON.
    fn json(&mut self, json: &str);

    /// Writes the fields of an input object to the current object, except those that `leave_out`
    /// selects.
    fn fields(&mut self, object: &Object<'_>, leave_out: impl Fn(&str) -> bool)
    where
        Self: Sized,
    {
        emit_fields(self, object, leave_out);
    }
}

/// Writes the fields of an object one by one, except those that `leave_out` selects.
pub fn emit_fields(
    sink: &mut impl ResultSink,
    object: &Object<'_>,
    leave_out: impl Fn(&str) -> bool,
) {
    for (key, value) in object.iter_raw() {
        if !leave_out(&text_of(key).unwrap_or_default()) {
            sink.key_as_written(key.get());
            sink.json(value.get());
        }
    }
}

/// Writes a result to a sink.
pub fn emit_result(record: &Record<'_>, profile: &Profile, sink: &mut impl ResultSink) {
    let question = record.case.question;
    let trajectory = record.case.trajectory;
    sink.open_object();
    text(sink, "template_id", &question.template);
    text(sink, "question_id", &question.id);
    if let Some(trial) = trajectory.trial {
        json(sink, "trial", &trial.to_string());
    }
    let RecordedIn { trace_id, span_id } = trajectory.recorded;
    for (key, id) in [("trace_id", trace_id), ("span_id", span_id)] {
        if let Some(id) = id {
            json(sink, key, id.get());
        }
    }
    json(sink, "question_text", question.text.get());
    if let Some(answer) = question.answer {
        json(sink, "reference_answer", answer.get());
    }
    if question.groups.is_some() {
        sink.key("reference_steps");
        emit_reference_steps(record, sink);
    }
    match &trajectory.ending {
        Ending::Responded => text(sink, "status", "success"),
        Ending::Failed(message) => {
            text(sink, "status", "error");
            json(sink, "error", message);
        }
        Ending::Missing => {
            text(sink, "status", "error");
            text(sink, "error", "no response");
        }
    }
    let counted_in = profile.steps_of_errors == ErrorResponses::CountedIn;
    if !trajectory.ending.is_error() || counted_in {
        emit_response(record, counted_in, sink);
    }
    sink.close_object();
}

/// Writes the answer, the steps and the findings.
fn emit_response(record: &Record<'_>, counted_in: bool, sink: &mut impl ResultSink) {
    let trajectory = record.case.trajectory;
    if let Some(answer) = trajectory.answer {
        json(sink, "actual_answer", answer.get());
    }
    if trajectory.steps.is_some() || counted_in {
        sink.key("actual_steps");
        emit_actual_steps(record, sink);
    }
    for found in record.findings().filter(|finding| finding.step.is_none()) {
        finding(sink, found);
    }
    if let Some(by) = record.judgement.and_then(Judgement::judged_by_json) {
        json(sink, Judgement::JUDGED_BY, &by);
    }
    for (name, value) in trajectory.usage.iter() {
        json(sink, name, value.get());
    }
}

/// Returns the content of a JSON string, or any other JSON as it is.
pub fn text_of_json(json: &str) -> Cow<'_, str> {
    serde_json::from_str::<String>(json).map_or(Cow::Borrowed(json), Cow::Owned)
}

/// Writes the reference steps. A step that was found gets the id of its match, a missed one the
/// reason if it is to be explained.
fn emit_reference_steps(record: &Record<'_>, sink: &mut impl ResultSink) {
    let groups = record.case.question.groups.as_deref().unwrap_or_default();
    let steps = record.case.trajectory.steps.as_deref().unwrap_or_default();
    let match_of = |group, expected| {
        let pair = record.matching.as_ref()?.pair_of(group, expected)?;
        Some(steps[pair.actual].id(pair.actual))
    };
    sink.open_list();
    for (group, expected_steps) in groups.iter().enumerate() {
        sink.open_list();
        for (index, step) in expected_steps.iter().enumerate() {
            let found: Option<Cow<str>> = match_of(group, index);
            sink.open_object();
            // A reference that was read from results may contain findings of another run.
            sink.fields(&step.fields, |key| matches!(key, "matches" | "missed"));
            if let Some(id) = found {
                json(sink, "matches", &id);
            }
            if let Some(miss) = record.miss_of(group, index) {
                text(sink, "missed", &miss.why);
            }
            sink.close_object();
        }
        sink.close_list();
    }
    sink.close_list();
}

fn emit_actual_steps(record: &Record<'_>, sink: &mut impl ResultSink) {
    let steps: &[Step] = record.case.trajectory.steps.as_deref().unwrap_or_default();
    let findings = ByStep::new(record.findings(), |finding| finding.step);
    sink.open_list();
    for (index, step) in steps.iter().enumerate() {
        // Responses that were read from results may contain findings of another run.
        let judged_again =
            |key: &str| findings.of(index).any(|finding| finding.aspect.part(key).is_some());
        sink.open_object();
        sink.fields(&step.fields, judged_again);
        for found in findings.of(index) {
            finding(sink, found);
        }
        sink.close_object();
    }
    sink.close_list();
}

fn text(sink: &mut impl ResultSink, key: &str, text: &str) {
    sink.key(key);
    sink.text(text);
}

fn json(sink: &mut impl ResultSink, key: &str, json: &str) {
    sink.key(key);
    sink.json(json);
}

/// Writes the keys of a finding; none if it does not apply.
fn finding(sink: &mut impl ResultSink, finding: &Finding) {
    finding.each_pair(|key, value| {
        sink.key(&key);
        match value {
            FlatValue::Number(number) => sink.number(number),
            FlatValue::Text(text) => sink.text(text),
            FlatValue::Count(_) | FlatValue::Json(_) => sink.json(&value.to_json()),
        }
    });
}

/// Appends a result as a JSON object on one line.
pub(crate) fn write_json(record: &Record<'_>, profile: &Profile, out: &mut Vec<u8>) {
    emit_result(record, profile, &mut OneLine { out, is_first: true });
}

/// Writes JSON on one line.
struct OneLine<'o> {
    out: &'o mut Vec<u8>,
    /// Whether the next value is the first in its object or list, or follows a key.
    is_first: bool,
}

impl OneLine<'_> {
    fn separate(&mut self) {
        if !self.is_first {
            self.out.push(b',');
        }
        self.is_first = false;
    }

    fn open(&mut self, bracket: u8) {
        self.separate();
        self.out.push(bracket);
        self.is_first = true;
    }

    fn close(&mut self, bracket: u8) {
        self.out.push(bracket);
        self.is_first = false;
    }

    fn end_key(&mut self) {
        self.out.extend_from_slice(b": ");
        self.is_first = true;
    }
}

impl ResultSink for OneLine<'_> {
    fn open_object(&mut self) {
        self.open(b'{');
    }

    fn open_list(&mut self) {
        self.open(b'[');
    }

    fn close_object(&mut self) {
        self.close(b'}');
    }

    fn close_list(&mut self) {
        self.close(b']');
    }

    fn key(&mut self, key: &str) {
        self.separate();
        let is_plain = |byte| byte >= b' ' && byte != b'"' && byte != b'\\';
        if key.bytes().all(is_plain) {
            self.out.push(b'"');
            self.out.extend_from_slice(key.as_bytes());
            self.out.push(b'"');
        } else {
            write_text(key, self.out);
        }
        self.end_key();
    }

    fn key_as_written(&mut self, key: &str) {
        self.separate();
        self.out.extend_from_slice(key.as_bytes());
        self.end_key();
    }

    fn text(&mut self, text: &str) {
        self.separate();
        write_text(text, self.out);
    }

    fn number(&mut self, number: f64) {
        self.separate();
        self.out.extend_from_slice(serde_json::Value::from(number).to_string().as_bytes());
    }

    fn json(&mut self, json: &str) {
        self.separate();
        copy_on_one_line(json, self.out);
    }
}

/// Copies JSON without newlines. All of them are outside of strings, where they do not matter.
fn copy_on_one_line(json: &str, out: &mut Vec<u8>) {
    let mut rest = json.as_bytes();
    while let Some(at) = memchr::memchr2(b'\n', b'\r', rest) {
        out.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(serde_json::Value::from(text).to_string().as_bytes());
}
