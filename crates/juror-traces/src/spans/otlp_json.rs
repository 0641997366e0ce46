//! OTLP as JSON: spans and log records in envelopes, read front to back without building
//! values of what is not needed.

use std::borrow::Cow;

use juror_json::cursor::{Cursor, Lost, Taken};
use serde_json::Value;

use super::attributes::{Attributes, any_value, unquoted};
use super::facts::{Role, SpanFacts};
use super::histories::Histories;
use super::messages::Exchange;
use super::read::read_span;
use super::span::{Event, Span};
use crate::look;
use crate::question_key::id_in_attributes;
use crate::rules::Rules;
use crate::time::nanoseconds;

/// The attribute in which each prompt repeats the ones before.
const PROMPT: &str = "gen_ai.input.messages";

/// Whether a record is one of this dialect.
pub(crate) fn is_record(item: &Value) -> bool {
    ["resourceSpans", "resourceLogs", "resource_spans", "resource_logs", "scopeSpans"]
        .iter()
        .any(|key| look::has(item, key))
}

/// Reads an envelope: `resourceSpans` or `resourceLogs`. Calls `keep` with each span. Fails where
/// the text ends or is broken; what came before has been kept then.
pub(crate) fn read_envelope<'a>(
    text: &'a str,
    place: &str,
    rules: &Rules,
    histories: &mut Histories<'a>,
    keep: &mut dyn FnMut(SpanFacts),
) -> Taken<()> {
    let mut reader = EnvelopeReader { rules, keep, place, histories };
    let mut cursor = Cursor::new(text);
    reader.envelope(&mut cursor)?;
    cursor.end()
}

struct EnvelopeReader<'r, 'a> {
    rules: &'r Rules,
    keep: &'r mut dyn FnMut(SpanFacts),
    place: &'r str,
    histories: &'r mut Histories<'a>,
}

impl<'a> EnvelopeReader<'_, 'a> {
    fn envelope(&mut self, cursor: &mut Cursor<'a>) -> Taken<()> {
        if cursor.opens(b'[') {
            while cursor.next_item()? {
                self.envelope(cursor)?;
            }
            return Ok(());
        }
        cursor.enter(b'{')?;
        while let Some(key) = cursor.next_key()? {
            match key.as_ref() {
                "resourceSpans" | "resource_spans" => self.resources(cursor, "/resourceSpans")?,
                "resourceLogs" | "resource_logs" => self.resources(cursor, "/resourceLogs")?,
                // Some exporters wrap the envelope once more.
                "data" | "traces" | "batches" if cursor.begins(b'[') || cursor.begins(b'{') => {
                    self.envelope(cursor)?;
                }
                "scopeSpans" | "instrumentationLibrarySpans" | "scopeLogs" => {
                    self.scopes(cursor, "")?;
                }
                _ => drop(cursor.pass()?),
            }
        }
        Ok(())
    }

    fn resources(&mut self, cursor: &mut Cursor<'a>, pointer: &str) -> Taken<()> {
        cursor.enter(b'[')?;
        let mut at = 0;
        while cursor.next_item()? {
            cursor.enter(b'{')?;
            let pointer = format!("{pointer}/{at}");
            at += 1;
            while let Some(key) = cursor.next_key()? {
                match key.as_ref() {
                    "scopeSpans"
                    | "scope_spans"
                    | "instrumentationLibrarySpans"
                    | "scopeLogs"
                    | "scope_logs" => {
                        self.scopes(cursor, &format!("{pointer}/{key}"))?;
                    }
                    _ => drop(cursor.pass()?),
                }
            }
        }
        Ok(())
    }

    fn scopes(&mut self, cursor: &mut Cursor<'a>, pointer: &str) -> Taken<()> {
        cursor.enter(b'[')?;
        let mut at = 0;
        while cursor.next_item()? {
            cursor.enter(b'{')?;
            let pointer = format!("{pointer}/{at}");
            at += 1;
            let mut scope: Cow<'a, str> = Cow::Borrowed("");
            while let Some(key) = cursor.next_key()? {
                match key.as_ref() {
                    "scope" | "instrumentationLibrary" => {
                        let [name] = cursor.fields(["name"])?;
                        scope = name.and_then(unquoted).unwrap_or_default();
                    }
                    "spans" => self.spans(cursor, &scope, &format!("{pointer}/spans"))?,
                    "logRecords" | "log_records" => {
                        self.records(cursor, &format!("{pointer}/logRecords"))?;
                    }
                    _ => drop(cursor.pass()?),
                }
            }
        }
        Ok(())
    }

    fn spans(&mut self, cursor: &mut Cursor<'a>, scope: &str, pointer: &str) -> Taken<()> {
        cursor.enter(b'[')?;
        let mut at = 0;
        while cursor.next_item()? {
            let place = format!("{}{pointer}/{at}", self.place);
            at += 1;
            let mut span = span(cursor, scope, place)?;
            let prompt = span.attributes.raw_text(PROMPT);
            if let Some(news) = prompt.and_then(|prompt| self.histories.news(&span.trace, prompt)) {
                span.attributes.set(PROMPT, Value::String(news));
            }
            let facts = read_span(&span, self.rules);
            self.histories.note(&facts);
            (self.keep)(facts);
        }
        Ok(())
    }

    fn records(&mut self, cursor: &mut Cursor<'_>, pointer: &str) -> Taken<()> {
        cursor.enter(b'[')?;
        let mut at = 0;
        while cursor.next_item()? {
            let [trace, span, name, time, observed, attributes, body] = cursor.fields([
                "traceId",
                "spanId",
                "eventName",
                "timeUnixNano",
                "observedTimeUnixNano",
                "attributes",
                "body",
            ])?;
            let place = format!("{}{pointer}/{at}", self.place);
            at += 1;
            let attributes = attributes.map(Attributes::of_otlp).unwrap_or_default();
            let name = name.and_then(unquoted).filter(|name| !name.is_empty());
            let name =
                name.or_else(|| attributes.text("event.name").map(Cow::Owned)).unwrap_or_default();
            let time = time
                .and_then(number)
                .filter(|time| *time > 0)
                .or_else(|| observed.and_then(number));
            let event = Event { name, attributes, body: body.map(any_value) };
            let text =
                |json: Option<&str>| json.and_then(unquoted).unwrap_or_default().into_owned();
            (self.keep)(read_record(
                &event,
                text(trace),
                text(span),
                time.unwrap_or(0),
                &place,
                self.rules,
            ));
        }
        Ok(())
    }
}

/// Returns what is worth keeping of a log record. It tells of the span that it belongs to.
pub(super) fn read_record(
    event: &Event<'_>,
    trace: String,
    span: String,
    time: u64,
    place: &str,
    rules: &Rules,
) -> SpanFacts {
    let mut facts = SpanFacts {
        trace,
        span,
        start: time,
        end: time,
        role: Role::Other,
        question_id: id_in_attributes(&event.attributes, rules.question_id.as_deref()),
        other_ids: event.attributes.text("gen_ai.conversation.id").into_iter().collect(),
        ..SpanFacts::default()
    };
    let mut exchange = Exchange {
        given: crate::transcript::Transcript::at(place),
        gave: crate::transcript::Transcript::at(place),
    };
    exchange.event(event);
    let said = exchange.gave.answer.is_some() || !exchange.gave.calls.is_empty();
    if said {
        facts.role = Role::Model;
    }
    exchange.given.answer = None;
    facts.take_messages(exchange.given, exchange.gave);
    facts
}

/// Reads a span in one go: its attributes are nearly all of it.
fn span<'a>(cursor: &mut Cursor<'a>, scope: &str, place: String) -> Taken<Span<'a>> {
    let scope = Cow::Owned(scope.to_owned());
    let mut span = Span { scope, place, ..Span::default() };
    cursor.enter(b'{')?;
    while let Some(key) = cursor.next_key()? {
        match key.as_ref() {
            "attributes" => span.attributes = Attributes::read(cursor)?,
            "traceId" | "trace_id" => span.trace = unquoted(cursor.value()?).unwrap_or_default(),
            "spanId" | "span_id" => span.id = unquoted(cursor.value()?).unwrap_or_default(),
            "parentSpanId" | "parent_span_id" => {
                span.parent = unquoted(cursor.value()?).filter(|parent| !parent.is_empty());
            }
            "name" => span.name = unquoted(cursor.value()?).unwrap_or_default(),
            "startTimeUnixNano" | "start_time_unix_nano" => {
                span.start = number(cursor.value()?).unwrap_or(0);
            }
            "endTimeUnixNano" | "end_time_unix_nano" => {
                span.end = number(cursor.value()?).unwrap_or(0);
            }
            "status" => (span.is_error, span.message) = status_of(cursor.value()?),
            "events" => span.events = events_of(cursor.value()?).unwrap_or_default(),
            _ => drop(cursor.pass()?),
        }
    }
    Ok(span)
}

fn events_of(text: &str) -> Taken<Vec<Event<'_>>> {
    let mut cursor = Cursor::new(text);
    if !cursor.opens(b'[') {
        return Ok(Vec::new());
    }
    let mut events = Vec::new();
    while cursor.next_item()? {
        let [name, attributes] = cursor.fields(["name", "attributes"])?;
        let name = name.and_then(unquoted).ok_or(Lost)?;
        events.push(Event {
            name,
            attributes: attributes.map(Attributes::of_otlp).unwrap_or_default(),
            body: None,
        });
    }
    Ok(events)
}

/// Reads a number, which OTLP writes as a text.
fn number(json: &str) -> Option<u64> {
    let digits = json.trim_matches('"');
    digits.parse().ok().or_else(|| nanoseconds(&Value::String(digits.to_owned())))
}

fn status_of(json: &str) -> (Option<bool>, Option<String>) {
    let Some([code, message]) = juror_json::cursor::fields_of(json, ["code", "message"]) else {
        return (None, None);
    };
    let is_error = match code.map(|code| code.trim_matches('"')) {
        Some("2" | "STATUS_CODE_ERROR") => Some(true),
        Some("1" | "STATUS_CODE_OK") => Some(false),
        _ => None,
    };
    (is_error, message.and_then(unquoted).map(Cow::into_owned))
}
