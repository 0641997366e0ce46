//! A fast reader for the outer shape of JSON.
//!
//! Inputs are a few fields around long strings, and the strings are kept verbatim. Most of the time
//! goes into finding where each string ends, so [`JsonReader::skip_string`] looks at many bytes at once.
//!
//! The reader supports objects, lists, options and raw values. Anything else a type asks for, and
//! any syntax error, makes it return [`Undecided`]; then `serde_json` reads the text from the start
//! and reports the error. The invariant: whenever this reader returns a value, `serde_json` would
//! return the same.

use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

use crate::string::{find_special, special_bits};

/// Deserializes like `serde_json::from_str`, but faster for types that keep raw values.
pub fn from_str<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, serde_json::Error> {
    match read_with(text, PhantomData) {
        Some(value) => Ok(value),
        None => serde_json::from_str(text),
    }
}

/// Deserializes a value with the fast reader alone. Returns `None` if it cannot decide; the caller
/// then uses `serde_json`, and the seed may have seen a part of the text before.
pub fn read_with<'a, S: DeserializeSeed<'a>>(text: &'a str, seed: S) -> Option<S::Value> {
    let mut reader = JsonReader::new(text);
    let value = seed.deserialize(&mut reader).ok()?;
    reader.skip_space();
    (reader.at == text.len()).then_some(value)
}

/// Returns the offset just past the closing quote of the JSON string that starts at `at`, or `None`
/// if no valid string starts there.
pub fn end_of_string(text: &str, at: usize) -> Option<usize> {
    let mut reader = JsonReader { text, at };
    reader.skip_string().ok().map(|()| reader.at)
}

/// The deepest nesting this reader follows; `serde_json` handles anything deeper.
const DEEPEST: usize = 64;

/// How many bytes of a string are examined at once.
const BLOCK: usize = 32;

pub(crate) struct JsonReader<'a> {
    text: &'a str,
    at: usize,
}

/// The fast reader cannot decide; `serde_json` has to read the text.
#[derive(Debug)]
pub(crate) struct Undecided;

type Result<T, E = Undecided> = std::result::Result<T, E>;

impl<'a> JsonReader<'a> {
    pub(crate) fn new(text: &'a str) -> JsonReader<'a> {
        JsonReader { text, at: 0 }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// Advances by `n_bytes`, which must end at a character boundary.
    pub(crate) fn pass(&mut self, n_bytes: usize) {
        self.at += n_bytes;
    }

    pub(crate) fn peek(&self) -> Result<u8> {
        self.text.as_bytes().get(self.at).copied().ok_or(Undecided)
    }

    pub(crate) fn next_is(&mut self, byte: u8) -> bool {
        let is_it = self.text.as_bytes().get(self.at) == Some(&byte);
        self.at += usize::from(is_it);
        is_it
    }

    pub(crate) fn take(&mut self, byte: u8) -> Result<()> {
        self.skip_space();
        if self.next_is(byte) { Ok(()) } else { Err(Undecided) }
    }

    pub(crate) fn skip_space(&mut self) {
        let bytes = self.text.as_bytes();
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = bytes.get(self.at) {
            self.at += 1;
            // Indented files have long runs of spaces.
            while let Some(b"        ") = bytes.get(self.at..self.at + 8) {
                self.at += 8;
            }
        }
    }

    /// Takes a value of any kind, verbatim.
    fn value(&mut self) -> Result<&'a str> {
        self.skip_space();
        let start = self.at;
        self.skip_value(DEEPEST)?;
        Ok(&self.text[start..self.at])
    }

    pub(crate) fn skip_value(&mut self, depth: usize) -> Result<()> {
        self.skip_space();
        match self.peek()? {
            b'"' => self.skip_string(),
            b'{' => self.skip_items(b'}', depth, JsonReader::skip_key),
            b'[' => self.skip_items(b']', depth, |_| Ok(())),
            b't' => self.skip_word("true"),
            b'f' => self.skip_word("false"),
            b'n' => self.skip_word("null"),
            _ => self.skip_number(),
        }
    }

    /// Skips the items of an object or list; `begin` skips what comes before each value.
    fn skip_items(
        &mut self,
        close: u8,
        depth: usize,
        begin: fn(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let depth = depth.checked_sub(1).ok_or(Undecided)?;
        self.at += 1;
        self.skip_space();
        if self.next_is(close) {
            return Ok(());
        }
        loop {
            begin(self)?;
            self.skip_value(depth)?;
            self.skip_space();
            if !self.next_is(b',') {
                return self.take(close);
            }
        }
    }

    fn skip_key(&mut self) -> Result<()> {
        self.skip_space();
        self.skip_string()?;
        self.take(b':')
    }

    fn skip_word(&mut self, word: &str) -> Result<()> {
        let is_it = self.text.as_bytes()[self.at..].starts_with(word.as_bytes());
        self.at += word.len();
        if is_it { Ok(()) } else { Err(Undecided) }
    }

    fn skip_number(&mut self) -> Result<()> {
        self.next_is(b'-');
        if !self.next_is(b'0') {
            self.skip_digits()?;
        }
        if self.next_is(b'.') {
            self.skip_digits()?;
        }
        if self.next_is(b'e') || self.next_is(b'E') {
            let _sign = self.next_is(b'+') || self.next_is(b'-');
            self.skip_digits()?;
        }
        Ok(())
    }

    fn skip_digits(&mut self) -> Result<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.text.as_bytes().get(self.at) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(Undecided) }
    }

    /// Skips a string: byte by byte around anything unusual, a block at a time in between.
    ///
    /// Outputs are mostly JSON inside JSON strings, where every quote is written `\"`. A scan that
    /// stopped at each of them would be slow, so [`is_plain`] accepts whole blocks that contain the
    /// usual escapes. It decides each byte from its predecessor alone, so it would misread a byte
    /// after an escaped backslash. Two rules exclude that: a block never starts right after a
    /// backslash, and a block that contains an escaped backslash is not accepted.
    pub(crate) fn skip_string(&mut self) -> Result<()> {
        let bytes = self.text.as_bytes();
        if !self.next_is(b'"') {
            return Err(Undecided);
        }
        loop {
            // Short strings end in this loop. It also carries long ones past whatever stopped the
            // block loop. It does not hand over right after a backslash.
            let stop = self.at + BLOCK;
            while self.at < stop || bytes[self.at - 1] == b'\\' {
                self.at += plain_run(&bytes[self.at..]);
                match self.peek()? {
                    b'"' => {
                        self.at += 1;
                        return Ok(());
                    }
                    b'\\' => self.skip_escape()?,
                    0..b' ' => return Err(Undecided),
                    _ => {}
                }
            }
            while let Some((before, block)) = blocks_at(bytes, self.at)
                && is_plain(before, block)
            {
                // Keep a trailing backslash together with the character it escapes.
                self.at += BLOCK - usize::from(block[BLOCK - 1] == b'\\');
            }
        }
    }

    fn skip_escape(&mut self) -> Result<()> {
        let rest = &self.text.as_bytes()[self.at + 1..];
        match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => self.at += 2,
            [b'u', digits @ ..] => {
                let digits = digits.get(..4).ok_or(Undecided)?;
                if !digits.iter().all(u8::is_ascii_hexdigit) {
                    return Err(Undecided);
                }
                self.at += 6;
            }
            _ => return Err(Undecided),
        }
        Ok(())
    }
}

/// Counts how many of the next eight bytes need no escaping in a string.
fn plain_run(bytes: &[u8]) -> usize {
    match bytes.first_chunk() {
        Some(word) => special_bits(u64::from_le_bytes(*word)).trailing_zeros() as usize / 8,
        None => find_special(bytes).unwrap_or(bytes.len()),
    }
}

/// Returns the block at `at`, preceded by the same block shifted back by one byte.
fn blocks_at(bytes: &[u8], at: usize) -> Option<(&[u8; BLOCK], &[u8; BLOCK])> {
    let (before, _) = bytes.get(at - 1..)?.split_first_chunk()?;
    let (block, _) = bytes.get(at..)?.split_first_chunk()?;
    Some((before, block))
}

/// Whether a block lies entirely inside a string and its only escapes are `\"` and `\n`, the usual
/// ones of JSON inside a string. The byte before the block must not be a backslash.
///
/// Each byte is checked against its predecessor only, without branches, so that the compiler can
/// vectorize the loop.
#[expect(clippy::needless_bitwise_bool, reason = "branches would prevent vectorization")]
fn is_plain(before: &[u8; BLOCK], block: &[u8; BLOCK]) -> bool {
    let mut is_plain = true;
    for (&before, &byte) in before.iter().zip(block) {
        let (is_escaped, is_quote) = (before == b'\\', byte == b'"');
        let is_usual = (is_escaped == is_quote) | (is_escaped & (byte == b'n'));
        is_plain &= is_usual & (byte >= b' ');
    }
    is_plain
}

impl<'de> Deserializer<'de> for &mut JsonReader<'de> {
    type Error = Undecided;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value> {
        Err(Undecided)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.take(b'{')?;
        visitor.visit_map(ItemAccess { reader: self, close: b'}', any: false, ended: false })
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.take(b'[')?;
        visitor.visit_seq(ItemAccess { reader: self, close: b']', any: false, ended: false })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.skip_space();
        if self.peek()? == b'n' {
            self.skip_word("null")?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    /// Returns a raw value. `RawValue` asks for a newtype struct with a magic name and expects a
    /// map with that name as its only key.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_map(RawAccess { name, text: self.value()? })
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        let key = self.value()?.strip_prefix('"').and_then(|key| key.strip_suffix('"'));
        match key.filter(|key| !key.contains('\\')) {
            Some(key) => visitor.visit_borrowed_str(key),
            None => Err(Undecided),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        self.skip_value(DEEPEST)?;
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct tuple tuple_struct struct enum
    }
}

/// Serde's access to the items of an object or list.
struct ItemAccess<'s, 'a> {
    reader: &'s mut JsonReader<'a>,
    close: u8,
    any: bool,
    ended: bool,
}

impl ItemAccess<'_, '_> {
    fn has_next(&mut self) -> Result<bool> {
        self.reader.skip_space();
        if self.ended || self.reader.next_is(self.close) {
            self.ended = true;
            return Ok(false);
        }
        if std::mem::replace(&mut self.any, true) {
            self.reader.take(b',')?;
            self.reader.skip_space();
        }
        Ok(true)
    }
}

impl<'de> MapAccess<'de> for ItemAccess<'_, 'de> {
    type Error = Undecided;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        if !self.has_next()? {
            return Ok(None);
        }
        if self.reader.peek()? != b'"' {
            return Err(Undecided);
        }
        seed.deserialize(&mut *self.reader).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        self.reader.take(b':')?;
        seed.deserialize(&mut *self.reader)
    }
}

impl<'de> SeqAccess<'de> for ItemAccess<'_, 'de> {
    type Error = Undecided;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        if self.has_next()? { seed.deserialize(&mut *self.reader).map(Some) } else { Ok(None) }
    }
}

/// A map of one entry, the form in which `RawValue` receives its text.
struct RawAccess<'a> {
    name: &'static str,
    text: &'a str,
}

impl<'de> MapAccess<'de> for RawAccess<'de> {
    type Error = Undecided;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        seed.deserialize(self.name.into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        seed.deserialize(BorrowedStrDeserializer::new(self.text))
    }
}

impl fmt::Display for Undecided {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the fast reader cannot decide")
    }
}

impl std::error::Error for Undecided {}

impl serde::de::Error for Undecided {
    fn custom<T: fmt::Display>(_: T) -> Undecided {
        Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    /// Checks that `serde_json` agrees if the fast reader returns a value; returns whether it did.
    fn check(text: &str) -> bool {
        let other: Option<&RawValue> = serde_json::from_str(text).ok();
        let fast: Option<&RawValue> = read_with(text, PhantomData);
        if let Some(fast) = fast {
            assert_eq!(other.map(RawValue::get), Some(fast.get()), "{text}");
        }
        let fast: Option<Vec<Option<&RawValue>>> = read_with(text, PhantomData);
        if let Some(fast) = &fast {
            let other: Vec<Option<&RawValue>> = serde_json::from_str(text).expect("a list");
            let texts = |list: &[Option<&RawValue>]| -> Vec<Option<String>> {
                list.iter().map(|value| value.map(|value| value.get().to_owned())).collect()
            };
            assert_eq!(texts(fast), texts(&other), "{text}");
        }
        read_with(text, PhantomData::<&RawValue>).is_some()
    }

    #[test]
    fn what_is_json_is_read() {
        let long = "long ".repeat(50);
        for text in [
            r#"{"a": [1, -0.5e+3, 0, 10E9, true, false, null, "x"], "b": {}, "c": []}"#,
            " [ { } , [ ] ,\n\t\"\" ]\r\n",
            r#""\" \\ \/ \b \f \n \r \t \u00e9 \ud800""#,
            &format!("\"{long}\""),
            &format!("[\"{long}\\\\\", \"{long}\\\"{long}\\n\"]"),
        ] {
            assert!(check(text), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_not_read() {
        for text in [
            "",
            "{",
            "[",
            "\"",
            "[1,]",
            "[,1]",
            "{\"a\"}",
            "{\"a\":}",
            "{a: 1}",
            "{1: 1}",
            "01",
            "-",
            "1.",
            ".5",
            "1e",
            "+1",
            "nul",
            "nullx",
            "[1 2]",
            "{\"a\": 1,}",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\\u12\"",
            "\"a\nb\"",
            "1 2",
            "[1]]",
            "NaN",
            "{\"a\": 1]",
            "[1}",
        ] {
            assert!(!check(text), "{text}");
        }
        assert!(!check(&format!("{}{}", "[".repeat(65), "]".repeat(65))));
    }

    #[test]
    fn strings_end_at_their_quote_wherever_it_stands() {
        for length in 0..140 {
            let plain = "x".repeat(length);
            for tail in
                ["", "\\\"", "\\\\", "\\\\\\\"", "\\n", "\\u0041", "\n", "\\", "\"", "\\\\\""]
            {
                for more in ["", "y", &"y".repeat(70)] {
                    let text = format!("\"{plain}{tail}{more}\"");
                    let is_json = serde_json::from_str::<&RawValue>(&text).is_ok();
                    assert_eq!(check(&text), is_json, "{text}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn both_readers_agree_on_strings(inside in "([a-z \"\\\\nu0é\n]|\\\\\"|\\\\\\\\|[a-z]{9}){0,40}") {
            let text = format!("\"{inside}\"");
            prop_assert_eq!(check(&text), serde_json::from_str::<&RawValue>(&text).is_ok());
        }

        #[test]
        fn a_string_ends_where_the_other_reader_says(text in any::<String>(), rest in any::<String>()) {
            let json = serde_json::Value::from(text).to_string();
            let whole = format!("[{json}{rest}");
            prop_assert_eq!(end_of_string(&whole, 1), Some(1 + json.len()));
            prop_assert_eq!(end_of_string(&whole, 0), None);
        }

        #[test]
        fn both_readers_agree_on_anything(text in "([\\[\\]{},:\"\\\\ ]|\"a\"|-?[0-9.e]{1,3}|true|null){0,12}") {
            prop_assert_eq!(check(&text), serde_json::from_str::<&RawValue>(&text).is_ok());
        }
    }
}
