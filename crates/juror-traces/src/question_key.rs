//! Where a trace says which question it is about.

use serde_json::Value;

use crate::look;
use crate::spans::Attributes;

/// The key that is looked for if none is named.
const QUESTION_ID: &str = "question_id";

/// Keys of records that hold what users attach.
const METADATA: [&str; 10] = [
    "metadata",
    "extra",
    "additional_metadata",
    "additionalMetadata",
    "attributes",
    "tags",
    "context",
    "config",
    "properties",
    "_meta",
];

/// Returns the question's id in the attributes of a span: under the key itself, at the end of a
/// longer key, or in the JSON of an attribute.
pub(crate) fn id_in_attributes(attributes: &Attributes<'_>, key: Option<&str>) -> Option<String> {
    if let Some(key) = key {
        return attributes
            .text(key)
            .or_else(|| id_at_end(attributes, key))
            .or_else(|| id_in_json(attributes, key));
    }
    id_at_end(attributes, QUESTION_ID).or_else(|| {
        let is_metadata = |known: &&str| known.ends_with("metadata") || *known == "logfire.baggage";
        attributes.keys().filter(is_metadata).find_map(|known| {
            let value = attributes.get(known)?;
            id_in(&*look::parsed(&value)?, None)
        })
    })
}

fn id_at_end(attributes: &Attributes<'_>, key: &str) -> Option<String> {
    let ends = |known: &&str| {
        known.strip_suffix(key).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    let known = attributes.keys().find(ends)?;
    attributes.text(known)
}

/// Follows a key with dots into the JSON of an attribute: `metadata.case` is `case` in `metadata`.
fn id_in_json(attributes: &Attributes<'_>, key: &str) -> Option<String> {
    key.match_indices('.').find_map(|(at, _)| {
        let value = attributes.get(&key[..at])?;
        follow(&*look::parsed(&value)?, &key[at + 1..])
    })
}

/// Returns the question's id in a record: under the key itself, or in what users attach.
pub(crate) fn id_in(record: &Value, key: Option<&str>) -> Option<String> {
    if let Some(id) = follow(record, key.unwrap_or(QUESTION_ID)) {
        return Some(id);
    }
    METADATA.iter().find_map(|around| {
        let inner = record.get(around)?;
        let inner = look::parsed(inner)?;
        follow(&inner, key.unwrap_or(QUESTION_ID)).or_else(|| {
            let deeper = inner.get("metadata")?;
            follow(deeper, key.unwrap_or(QUESTION_ID))
        })
    })
}

fn follow(value: &Value, key: &str) -> Option<String> {
    if let Some(found) = value.get(key) {
        return look::scalar(found);
    }
    let (part, rest) = key.split_once('.')?;
    follow(&*look::parsed(value.get(part)?)?, rest)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn ids_are_found_where_people_put_them() {
        let check = |attributes: Value, key: Option<&str>, wanted: Option<&str>| {
            assert_eq!(
                id_in_attributes(&Attributes::of_json(&attributes), key).as_deref(),
                wanted,
                "{attributes}"
            );
        };
        check(json!({"question_id": "q1"}), None, Some("q1"));
        check(json!({"metadata": "{\"question_id\": \"q1\"}"}), None, Some("q1"));
        check(json!({"langfuse.trace.metadata.question_id": 7}), None, Some("7"));
        check(json!({"traceloop.association.properties.question_id": "q1"}), None, Some("q1"));
        check(json!({"metadata": {"question_id": "q1"}}), None, Some("q1"));
        check(json!({"metadata": "{\"case\": \"q1\"}"}), Some("metadata.case"), Some("q1"));
        check(json!({"app.case": "q1", "question_id": "no"}), Some("case"), Some("q1"));
        check(json!({"my_question_id": "no"}), None, None);
        let check = |record: Value, key: Option<&str>, wanted: Option<&str>| {
            assert_eq!(id_in(&record, key).as_deref(), wanted, "{record}");
        };
        check(json!({"question_id": "q1"}), None, Some("q1"));
        check(json!({"extra": {"metadata": {"question_id": "q1"}}}), None, Some("q1"));
        check(json!({"a": {"b": "q1"}}), Some("a.b"), Some("q1"));
    }
}
