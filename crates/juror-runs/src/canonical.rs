//! Hashes values so that equal values have equal hashes, however they are written.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::value::RawValue;

/// How many levels of JSON are looked into; deeper ones count as written.
const MOST_LEVELS: usize = 64;

/// A hash of texts and JSON values, in order. Whitespace between JSON tokens, the order of keys and
/// the escapes of strings make no difference. Numbers count as written.
///
/// ```
/// use juror_runs::CanonicalHash;
///
/// let hash = |json: &str| CanonicalHash::default().json(json).finish();
/// assert_eq!(hash(r#"{"a": 1, "b": "é"}"#), hash(r#"{"b":"\u00e9","a":1}"#));
/// assert_ne!(hash("[1, 2]"), hash("[2, 1]"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct CanonicalHash(blake3::Hasher);

impl CanonicalHash {
    /// Adds a text.
    pub fn text(&mut self, text: &str) -> &mut CanonicalHash {
        self.bytes(b't', text)
    }

    /// Adds a JSON value.
    pub fn json(&mut self, json: &str) -> &mut CanonicalHash {
        self.value(json.trim(), MOST_LEVELS);
        self
    }

    /// Adds a JSON value, or that there is none.
    pub fn optional(&mut self, json: Option<&str>) -> &mut CanonicalHash {
        match json {
            Some(json) => self.json(json),
            None => self.bytes(b'-', ""),
        }
    }

    /// Adds how many values follow, so that lists do not run into each other.
    pub fn count(&mut self, n: usize) -> &mut CanonicalHash {
        self.0.update(b"#");
        self.0.update(&(n as u64).to_le_bytes());
        self
    }

    /// Returns the hash: 16 hexadecimal digits.
    pub fn finish(&self) -> String {
        self.0.finalize().to_hex()[..16].to_owned()
    }

    /// Adds a value; one that cannot be parsed counts as written.
    fn value(&mut self, json: &str, levels: usize) {
        let added = match json.as_bytes().first() {
            Some(b'{') if levels > 0 => self.object(json, levels - 1),
            Some(b'[') if levels > 0 => self.list(json, levels - 1),
            Some(b'"') => self.string(json),
            _ => None,
        };
        if added.is_none() {
            self.bytes(b'v', json);
        }
    }

    fn object(&mut self, json: &str, levels: usize) -> Option<()> {
        let fields: BTreeMap<Cow<'_, str>, &RawValue> = serde_json::from_str(json).ok()?;
        self.bytes(b'{', "").count(fields.len());
        for (key, value) in fields {
            self.bytes(b'k', &key).value(value.get(), levels);
        }
        Some(())
    }

    fn list(&mut self, json: &str, levels: usize) -> Option<()> {
        let items: Vec<&RawValue> = serde_json::from_str(json).ok()?;
        self.bytes(b'[', "").count(items.len());
        for item in items {
            self.value(item.get(), levels);
        }
        Some(())
    }

    fn string(&mut self, json: &str) -> Option<()> {
        let text: String = serde_json::from_str(json).ok()?;
        self.bytes(b's', &text);
        Some(())
    }

    /// Adds bytes with their kind and length, so that no two sequences of values are confused.
    fn bytes(&mut self, kind: u8, text: &str) -> &mut CanonicalHash {
        self.0.update(&[kind]);
        self.0.update(&(text.len() as u64).to_le_bytes());
        self.0.update(text.as_bytes());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::Value;

    fn hash(json: &str) -> String {
        CanonicalHash::default().json(json).finish()
    }

    #[test]
    fn only_what_a_value_means_counts() {
        for (one, other) in [
            (r#"{"a": [1, {"c": null, "b": 2}]}"#, "{\"a\":[1,{\"b\":2,\n\"c\":null}]}"),
            (r#""caf\u00e9\/""#, r#""café/""#),
            (" 7 ", "7"),
        ] {
            assert_eq!(hash(one), hash(other), "{one}");
        }
        for (one, other) in [
            ("1", "1.0"),
            ("1", "\"1\""),
            ("[1, 2]", "[2, 1]"),
            ("[[1], 2]", "[[1, 2]]"),
            ("12345678901234567890123", "12345678901234567890124"),
            (r#"{"a": "b"}"#, r#"{"a": {"b": null}}"#),
            (r#"["a", "b"]"#, r#"["ab", ""]"#),
            ("null", "{}"),
        ] {
            assert_ne!(hash(one), hash(other), "{one}");
        }
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let of = |parts: &[&str]| {
            let mut hash = CanonicalHash::default();
            for part in parts {
                hash.text(part);
            }
            hash.finish()
        };
        assert_ne!(of(&["ab", "c"]), of(&["a", "bc"]));
        let optional = |json| CanonicalHash::default().optional(json).finish();
        assert_ne!(optional(None), optional(Some("null")));
    }

    #[test]
    fn json_that_is_deep_or_broken_counts_as_written() {
        let deep = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert_ne!(hash(&deep(100_000)), hash(&deep(100_001)));
        assert_ne!(hash("{\"a\" :"), hash("{\"a\":"));
        assert_ne!(hash("\"\\ud800\""), hash("\"\\ud801\""));
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(".{0,4}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_value_has_one_hash_however_it_is_laid_out(value in values()) {
            prop_assert_eq!(hash(&format!("{value:#}")), hash(&value.to_string()));
        }

        #[test]
        fn values_that_differ_have_other_hashes(one in values(), other in values()) {
            prop_assert_eq!(one == other, hash(&one.to_string()) == hash(&other.to_string()));
        }
    }
}
