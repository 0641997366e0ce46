//! Spans as Phoenix exports them: attributes flat or nested, times as ISO texts.

use std::borrow::Cow;

use serde_json::Value;

use super::attributes::Attributes;
use super::facts::SpanFacts;
use super::read::read_span;
use super::span::{Event, Span};
use crate::look;
use crate::rules::Rules;
use crate::time::nanoseconds;

/// Whether a record is such a span.
pub(crate) fn is_record(item: &Value) -> bool {
    let has_id =
        look::at(item, &["context", "span_id"]).is_some() || item.get("context.span_id").is_some();
    has_id
        && item.as_object().is_some_and(|item| item.keys().any(|key| key.starts_with("attributes")))
}

/// Reads a span.
pub(crate) fn read(item: &Value, place: String, rules: &Rules) -> SpanFacts {
    // Rows of a table have keys with dots.
    let context = |key: &str| {
        look::at(item, &["context", key])
            .or_else(|| item.get(format!("context.{key}")))
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let time = |key: &str| look::get(item, key).and_then(nanoseconds).unwrap_or(0);
    let attributes = match look::get(item, "attributes") {
        Some(attributes) => {
            Attributes::of_json(&look::parsed(attributes).map(Cow::into_owned).unwrap_or_default())
        }
        None => {
            let rows = item.as_object().into_iter().flatten();
            let rows = rows.filter_map(|(key, value)| {
                Some((key.strip_prefix("attributes.")?.to_owned(), value.clone()))
            });
            Attributes::of_json(&Value::Object(rows.collect()))
        }
    };
    let attributes = with_kind(attributes, item);
    let is_error = match look::text(item, "status_code") {
        Some("ERROR") => Some(true),
        Some("OK") => Some(false),
        _ => None,
    };
    let events = look::items(item, "events").iter().map(|event| Event {
        name: Cow::Owned(look::text(event, "name").unwrap_or_default().to_owned()),
        attributes: Attributes::of_json(event.get("attributes").unwrap_or(event)),
        body: None,
    });
    let span = Span {
        trace: Cow::Borrowed(context("trace_id")),
        id: Cow::Borrowed(context("span_id")),
        parent: look::words(item, "parent_id").map(Cow::Borrowed),
        name: Cow::Borrowed(look::text(item, "name").unwrap_or_default()),
        scope: Cow::Borrowed(""),
        start: time("start_time"),
        end: time("end_time"),
        is_error,
        message: look::words(item, "status_message").map(str::to_owned),
        attributes,
        events: events.collect(),
        place,
    };
    read_span(&span, rules)
}

/// The kind of a span stands beside its attributes, too.
fn with_kind(mut attributes: Attributes<'static>, item: &Value) -> Attributes<'static> {
    let kind =
        look::words(item, "span_kind").filter(|kind| !["UNKNOWN", "INTERNAL"].contains(kind));
    if let Some(kind) = kind.filter(|_| !attributes.has("openinference.span.kind")) {
        attributes.push("openinference.span.kind".to_owned(), Value::String(kind.to_owned()));
    }
    attributes
}
