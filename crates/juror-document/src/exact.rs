//! Compares JSON by value, with numbers of any size ([`ExactNumber`]).

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::fmt::Write;

use juror_json::{self as json, ExactNumber, Object, is_exact, same_value, small_value};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::not_numbers::Quoted;

thread_local! {
    static BYTES_READ: Cell<usize> = const { Cell::new(0) };
}

/// Returns how much JSON this thread has read to compare it, so that tests of speed need no clock.
pub fn bytes_compared() -> usize {
    BYTES_READ.get()
}

fn count_reading(json: &str) {
    BYTES_READ.set(BYTES_READ.get() + json.len());
}

/// Whether two JSON texts have the same value: `1` equals `1.0`, `true` does not equal `1`, and the
/// order of keys does not matter. Texts that are not JSON are equal if identical.
pub fn same_json(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    [a, b].into_iter().for_each(count_reading);
    match (small_value(a), small_value(b)) {
        (Some(a), Some(b)) if is_exact(&a) && is_exact(&b) => same_value(&a, &b),
        // The text may be unreadable only because of numbers that are too large for a double, or
        // because of `NaN` and infinities.
        _ => {
            let (quoted_a, quoted_b) = (Quoted::of(a, false), Quoted::of(b, false));
            let a = quoted_a.as_ref().map_or(a, |quoted| &quoted.text);
            let b = quoted_b.as_ref().map_or(b, |quoted| &quoted.text);
            match (raw(a), raw(b)) {
                (Some(a), Some(b)) => same_raw(a, b, DEEPEST),
                _ => false,
            }
        }
    }
}

/// The state of a JSON text that is compared with many others. After a few comparisons its normal
/// form is computed and used from then on, so that comparing many texts with many does not parse
/// each of them every time.
#[derive(Debug, Default)]
pub struct ComparedJson {
    n_times: Cell<usize>,
    normal: OnceCell<Option<String>>,
}

impl ComparedJson {
    /// How often a text is parsed before its normal form is computed.
    const FEW: usize = 4;

    /// Like [`same_json`], for two texts with the state of their earlier comparisons.
    pub fn same_json(&self, a: &str, other: &ComparedJson, b: &str) -> bool {
        if a == b {
            return true;
        }
        for compared in [self, other] {
            compared.n_times.set(compared.n_times.get().saturating_add(1));
        }
        if self.n_times.get().max(other.n_times.get()) <= ComparedJson::FEW {
            return same_json(a, b);
        }
        let normal_of_a = self.normal.get_or_init(|| normal_form(a));
        normal_of_a.is_some() && normal_of_a == other.normal.get_or_init(|| normal_form(b))
    }
}

/// Returns a normal form that is equal for two JSON texts exactly if they have the same value, or
/// `None` for a text that is not JSON or too deep to be compared. Every part ends with a comma, since
/// the length of a string could otherwise run into the digits of a number.
fn normal_form(json: &str) -> Option<String> {
    count_reading(json);
    let mut normal = String::new();
    if let Some(value) = small_value(json).filter(is_exact) {
        push_value(&value, &mut normal);
        return Some(normal);
    }
    let quoted = Quoted::of(json, false);
    let json = quoted.as_ref().map_or(json, |quoted| &quoted.text);
    push_raw(raw(json)?, DEEPEST, &mut normal)?;
    Some(normal)
}

fn push_value(value: &Value, normal: &mut String) {
    match value {
        Value::Null => normal.push_str("null"),
        Value::Bool(truth) => normal.push_str(if *truth { "true" } else { "false" }),
        Value::Number(number) => ExactNumber::of(&number.to_string()).push_normal(normal),
        Value::String(text) => push_text(text, normal),
        Value::Array(items) => {
            normal.push('[');
            for item in items {
                push_value(item, normal);
                normal.push(',');
            }
            normal.push(']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            normal.push('{');
            for (key, value) in fields {
                push_text(key, normal);
                push_value(value, normal);
                normal.push(',');
            }
            normal.push('}');
        }
    }
}

/// Appends the normal form of a raw value.
fn push_raw(value: &RawValue, depth: usize, normal: &mut String) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    match json::kind_of(value) {
        "a number" => ExactNumber::of(value.get()).push_normal(normal),
        "a text" => push_text(&json::text_of(value)?, normal),
        "a list" => {
            normal.push('[');
            for item in items_of(value)? {
                push_raw(item, depth, normal)?;
                normal.push(',');
            }
            normal.push(']');
        }
        "an object" => {
            let mut fields: Vec<_> = fields_of(value)?.into_iter().collect();
            fields.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
            normal.push('{');
            for (key, value) in fields {
                push_text(&key, normal);
                push_raw(value, depth, normal)?;
                normal.push(',');
            }
            normal.push('}');
        }
        _ => normal.push_str(value.get()),
    }
    Some(())
}

/// Appends a string preceded by its length, so that its content cannot be mistaken for its end.
fn push_text(text: &str, normal: &mut String) {
    let _ = write!(normal, "{}\"{text}", text.len());
}

/// Returns JSON on one line for messages; verbatim if parsing would change its numbers.
pub fn shown(json: &str) -> String {
    let value = small_value(json).filter(is_exact);
    value.map_or_else(|| json.to_owned(), |value| value.to_string())
}

/// The deepest nesting that is compared, the same as in `serde_json`.
const DEEPEST: usize = 128;

fn raw(text: &str) -> Option<&RawValue> {
    serde_json::from_str(text).ok()
}

/// Compares raw values, with numbers as they are written.
fn same_raw(a: &RawValue, b: &RawValue, depth: usize) -> bool {
    let Some(depth) = depth.checked_sub(1) else { return false };
    match (json::kind_of(a), json::kind_of(b)) {
        ("a number", "a number") => ExactNumber::of(a.get()) == ExactNumber::of(b.get()),
        ("a text", "a text") => json::text_of(a) == json::text_of(b),
        ("a list", "a list") => {
            let (Some(a), Some(b)) = (items_of(a), items_of(b)) else { return false };
            a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| same_raw(a, b, depth))
        }
        ("an object", "an object") => {
            let (Some(a), Some(b)) = (fields_of(a), fields_of(b)) else { return false };
            a.len() == b.len()
                && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same_raw(a, b, depth)))
        }
        _ => a.get() == b.get(),
    }
}

fn items_of(list: &RawValue) -> Option<Vec<&RawValue>> {
    serde_json::from_str(list.get()).ok()
}

fn fields_of(object: &RawValue) -> Option<HashMap<Cow<'_, str>, &RawValue>> {
    let object: Object<'_> = serde_json::from_str(object.get()).ok()?;
    Some(object.iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Compares directly and by normal forms, which must agree.
    fn same_json(a: &str, b: &str) -> bool {
        let same = super::same_json(a, b);
        let (one, other) = (normal_form(a), normal_form(b));
        assert_eq!(a == b || one.is_some() && one == other, same, "{a} and {b}");
        let (one, other) = (ComparedJson::default(), ComparedJson::default());
        let n_times = if a.len() < 1_000 { 2 * ComparedJson::FEW } else { 0 };
        for _ in 0..n_times {
            assert_eq!(one.same_json(a, &other, b), same);
        }
        same
    }

    #[test]
    fn large_values_compare_as_small_ones_do() {
        let many = |one: &str| format!("[{}{one}]", r#"{"a": 1, "b": [true]}, "#.repeat(20_000));
        let same = |a: &str, b: &str| same_json(&many(a), &many(b));
        assert!(small_value(&many("1")).is_none());
        assert!(same(r#"{"x": 1.0, "\u0079": "z"}"#, r#"{"y": "\u007a", "x": 1}"#));
        assert!(!same(r#"{"x": 1}"#, r#"{"x": 2}"#));
        assert!(!same(r#"{"x": 1}"#, r#"{"x": 1, "y": 2}"#));
        assert!(!same("true", "1"));
    }

    #[test]
    fn numbers_of_any_size_compare_exactly() {
        let equal = [
            ("1", "1.0"),
            ("100", "1e2"),
            ("100", "1.00E+2"),
            ("0", "-0.0"),
            ("0", "0e99999999999999999999"),
            ("123456789012345678901", "123456789012345678901.0"),
            ("10000000000000000000000", "1e22"),
            ("9007199254740993", "9007199254740993.0"),
            ("0.1", "0.10000000000000001"),
            ("1e999999999", "10e999999998"),
            ("1e-400", "0"),
            ("0.99999999999999999999", "1"),
        ];
        for (a, b) in equal {
            assert!(same_json(a, b), "{a} and {b}");
            assert!(same_json(&format!("[{{\"a\": {a}}}]"), &format!("[{{ \"a\":{b}}}]")), "{a}");
        }
        let different = [
            ("123456789012345678901", "123456789012345678902"),
            ("-123456789012345678901", "123456789012345678901"),
            ("9007199254740993", "9007199254740992.0"),
            ("1e999999999", "1e999999998"),
            ("1e400", "2e400"),
            ("1e99999999999999999999", "1e99999999999999999998"),
            ("1", "true"),
            ("123456789012345678901", "\"123456789012345678901\""),
        ];
        for (a, b) in different {
            assert!(!same_json(a, b), "{a} and {b}");
            assert!(!same_json(&format!("[{{\"a\": {a}}}]"), &format!("[{{\"a\": {b}}}]")), "{a}");
        }
    }

    #[test]
    fn values_around_large_numbers_compare_as_others_do() {
        let large = "123456789012345678901";
        let a = format!(r#"{{"a": [1, {large}], "b": "\u00e9", "c": null}}"#);
        let b = format!(r#"{{"c": null, "b": "é", "a": [1.0, {large}.0]}}"#);
        assert!(same_json(&a, &b));
        assert!(!same_json(&a, &b.replace("null", "false")));
        assert!(!same_json(&a, &b.replace("[1.0, ", "[1.0, 1, ")));
        let deep = |end: &str| format!("{}1e400{end}{}", "[".repeat(500), "]".repeat(500));
        assert!(!same_json(&deep(""), &deep(" ")));
    }

    #[test]
    fn words_for_numbers_that_are_none_equal_themselves() {
        assert!(same_json(r#"{"a": NaN, "b": [-Infinity]}"#, r#"{"b":[-Infinity],"a":NaN}"#));
        assert!(!same_json(r#"{"a": Infinity}"#, r#"{"a": -Infinity}"#));
        assert!(!same_json(r#"{"a": NaN}"#, r#"{"a": null}"#));
        assert!(same_json(r#"{"a": NaN}"#, r#"{"a": "NaN"}"#), "they are read as texts");
    }

    #[test]
    fn parts_of_values_are_told_apart() {
        let values = [
            "[]",
            "{}",
            "[[]]",
            "null",
            "[null]",
            "\"null\"",
            "\"\"",
            "[\"\"]",
            "[\"\", \"\"]",
            "[\",\"]",
            "1",
            "[1]",
            "[1, 1]",
            "[11]",
            "\"1\"",
            "[\"1\\\"1\"]",
            "[\"1\", \"1\"]",
            "{\"a\": 1}",
            "{\"a\": \"1\"}",
            "{\"a1\": 1}",
            "{\"a\": 1, \"b\": 1}",
            "[\"a\", 1]",
            "{\"a\": {\"b\": 1}}",
            "true",
            "false",
            "0.5",
            "[0.5, 1e400]",
            "1e400",
            "-1",
            "{\"A\": 10, \"XX12\\\"aaaaaaa\": \"abc\"}",
            "{\"A\": 1e11, \"XX\": \"aaaaaaa3\\\"abc\"}",
            "not JSON",
        ];
        for (at, a) in values.iter().enumerate() {
            for (other, b) in values.iter().enumerate() {
                assert_eq!(same_json(a, b), at == other, "{a} and {b}");
            }
        }
        assert!(same_json(r#"{"a": 1, "a": 2, "b": 3}"#, r#"{"b": 3.0, "a": 2}"#));
        assert!(same_json(r#"{"a": 1e400, "a": 2, "b": 3}"#, r#"{"b": 3.0, "a": 2}"#));
    }

    /// Nested values of a few strings that look like parts of normal forms.
    fn nested() -> impl Strategy<Value = String> {
        let number = prop::sample::select(vec!["0", "10", "1e11", "1.5", "12", "1e400", "-1"]);
        let quoted = |text: &str| Value::from(text).to_string();
        let text = "[1-3e,r]{0,2}(\"[a,]{0,3}){0,1}".prop_map(move |text| quoted(&text));
        let leaf = prop_oneof![number.prop_map(str::to_owned), text.clone()];
        leaf.prop_recursive(3, 12, 3, move |inner| {
            let field =
                (text.clone(), inner.clone()).prop_map(|(key, own)| format!("{key}: {own}"));
            let list = |open: char, close: char| {
                move |parts: Vec<String>| format!("{open}{}{close}", parts.join(", "))
            };
            prop_oneof![
                prop::collection::vec(inner, 0..3).prop_map(list('[', ']')),
                prop::collection::vec(field, 0..3).prop_map(list('{', '}')),
            ]
        })
    }

    /// Parses a normal form again and returns the rest of the text.
    fn skip_normal(normal: &str) -> Option<&str> {
        match normal.as_bytes().first()? {
            b'[' | b'{' => {
                let (is_object, mut rest) = (normal.starts_with('{'), &normal[1..]);
                while !rest.starts_with([']', '}']) {
                    rest = if is_object { skip_text(rest)? } else { rest };
                    rest = skip_normal(rest)?.strip_prefix(',')?;
                }
                Some(&rest[1..])
            }
            b'0'..=b'9' if skip_text(normal).is_some() => skip_text(normal),
            _ => Some(&normal[normal.find([',', ']', '}']).unwrap_or(normal.len())..]),
        }
    }

    fn skip_text(normal: &str) -> Option<&str> {
        let (length, rest) = normal.split_once('"')?;
        rest.get(length.parse().ok()?..)
    }

    proptest! {
        #[test]
        fn a_normal_form_is_read_in_one_way_alone(value in nested()) {
            let normal = normal_form(&value).expect("JSON");
            prop_assert_eq!(skip_normal(&normal), Some(""));
        }

        #[test]
        fn nested_values_compare_alike_in_both_ways(a in nested(), b in nested()) {
            let spaced = format!(" {a}");
            prop_assert!(same_json(&a, &spaced));
            same_json(&a, &b);
        }

        #[test]
        fn both_ways_of_comparing_agree(
            a in "-?(0|[1-9][0-9]{0,14})(\\.[0-9]{1,3})?(e-?[0-9])?",
            b in "-?(0|[1-9][0-9]{0,2})(\\.[0-9]{1,3})?(e-?[0-9])?",
        ) {
            for (a, b) in [(&a, &b), (&a, &a), (&b, &b)] {
                let value = |text: &str| serde_json::from_str::<Value>(text).expect("a number");
                let (a_value, b_value) = (value(a), value(b));
                if is_exact(&a_value) && is_exact(&b_value) {
                    let exactly = ExactNumber::of(a) == ExactNumber::of(b);
                    prop_assert_eq!(normal_form(a) == normal_form(b), exactly);
                    prop_assert_eq!(same_value(&a_value, &b_value), exactly);
                }
            }
        }
    }
}
