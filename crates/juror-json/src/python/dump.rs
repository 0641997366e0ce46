//! Rewrites JSON as Python would after `json.loads`.

use std::hash::Hash;

use hashbrown::HashMap;
use hashbrown::hash_map::Entry;

use super::number;
use super::scan::{Scanner, Stuck};
use super::text::{Codes, write_json_text};
use super::value::{DEEPEST, NotJson};

/// How JSON is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonStyle {
    /// Without whitespace; strings and numbers stay as they were written.
    Compact,
    /// Like `Compact`, but strict JSON: `NaN` and infinities become `null`.
    Wire,
    /// Like `json.dumps`: ASCII, with a space after commas and colons.
    Spaced,
    /// Like `json.dump(…, indent=4)`, the form of cache files.
    Indented,
}

impl JsonStyle {
    /// Whether strings and numbers use Python's spelling.
    fn is_pythons(self) -> bool {
        matches!(self, JsonStyle::Spaced | JsonStyle::Indented)
    }
}

/// Rewrites JSON in a style. A repeated key keeps its first position and its last value.
pub fn dump_json(text: &str, style: JsonStyle) -> Result<String, NotJson> {
    let mut out = String::with_capacity(text.len());
    let mut scan = Scanner::new(text);
    let written = write_document(&mut scan, style, &mut out);
    written.map_err(|Stuck| NotJson { offset: scan.at() })?;
    Ok(out)
}

/// Returns the entries of a JSON object in order, each key once: the key unescaped, the value as
/// JSON. A repeated key keeps its first position and its last value.
///
/// A lone surrogate in a key comes out as `\udXXX`.
pub fn entries_of_json(text: &str) -> Result<Vec<(String, &str)>, NotJson> {
    let mut scan = Scanner::new(text);
    let mut entries = Vec::new();
    let read = read_entries(&mut scan, &mut entries);
    read.map_err(|Stuck| NotJson { offset: scan.at() })?;
    Ok(once_each(entries, |(key, _)| key.clone()))
}

fn write_document(scan: &mut Scanner<'_>, style: JsonStyle, out: &mut String) -> Result<(), Stuck> {
    Dumper { scan, out, style }.value(0)?;
    scan.skip_space();
    if scan.is_done() { Ok(()) } else { Err(Stuck) }
}

fn read_entries<'a>(
    scan: &mut Scanner<'a>,
    entries: &mut Vec<(String, &'a str)>,
) -> Result<(), Stuck> {
    let mut skipped = String::new();
    scan.take(b'{')?;
    if !scan.next_is(b'}') {
        loop {
            scan.skip_space();
            let mut key = String::new();
            Codes(scan.string()?.body).for_each(|code| super::text::write_bare(&mut key, code));
            scan.take(b':')?;
            scan.skip_space();
            let start = scan.at();
            skipped.clear();
            Dumper { scan, out: &mut skipped, style: JsonStyle::Compact }.value(1)?;
            entries.push((key, scan.since(start)));
            if scan.next_is(b'}') {
                break;
            }
            scan.take(b',')?;
        }
    }
    scan.skip_space();
    if scan.is_done() { Ok(()) } else { Err(Stuck) }
}

/// Keeps each key once, at its first position and with its last value.
fn once_each<T, K: Eq + Hash>(entries: Vec<T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut places: HashMap<K, usize> = HashMap::with_capacity(entries.len());
    let mut once: Vec<T> = Vec::with_capacity(entries.len());
    for entry in entries {
        match places.entry(key(&entry)) {
            Entry::Occupied(place) => once[*place.get()] = entry,
            Entry::Vacant(place) => {
                place.insert(once.len());
                once.push(entry);
            }
        }
    }
    once
}

struct Dumper<'s, 'a> {
    scan: &'s mut Scanner<'a>,
    out: &'s mut String,
    style: JsonStyle,
}

impl Dumper<'_, '_> {
    fn value(&mut self, depth: usize) -> Result<(), Stuck> {
        if depth > DEEPEST {
            return Err(Stuck);
        }
        self.scan.skip_space();
        match self.scan.peek().ok_or(Stuck)? {
            b'{' => self.object(depth),
            b'[' => self.list(depth),
            b'"' => self.string(),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            b'N' => self.odd_number("NaN"),
            b'I' => self.odd_number("Infinity"),
            b'-' if self.scan.goes_on_with("-I") => self.odd_number("-Infinity"),
            _ => self.number(),
        }
    }

    fn list(&mut self, depth: usize) -> Result<(), Stuck> {
        self.scan.take(b'[')?;
        self.out.push('[');
        if !self.scan.next_is(b']') {
            loop {
                self.new_line(depth + 1);
                self.value(depth + 1)?;
                if self.scan.next_is(b']') {
                    break;
                }
                self.scan.take(b',')?;
                self.comma();
            }
            self.new_line(depth);
        }
        self.out.push(']');
        Ok(())
    }

    fn object(&mut self, depth: usize) -> Result<(), Stuck> {
        self.scan.take(b'{')?;
        let start = self.out.len();
        // Offsets of each entry in the output: start of key, end of key, end of value.
        let mut entries: Vec<(usize, usize, usize)> = Vec::new();
        self.out.push('{');
        if !self.scan.next_is(b'}') {
            loop {
                self.new_line(depth + 1);
                entries.push(self.entry(depth)?);
                if self.scan.next_is(b'}') {
                    break;
                }
                self.scan.take(b',')?;
                self.comma();
            }
            self.new_line(depth);
        }
        self.out.push('}');
        self.merge(start, entries, depth);
        Ok(())
    }

    fn entry(&mut self, depth: usize) -> Result<(usize, usize, usize), Stuck> {
        self.scan.skip_space();
        let key = self.out.len();
        self.string()?;
        let key_end = self.out.len();
        self.scan.take(b':')?;
        self.out.push_str(if self.style.is_pythons() { ": " } else { ":" });
        self.value(depth + 1)?;
        Ok((key, key_end, self.out.len()))
    }

    /// Rewrites an object that has a repeated key. Keys are compared unescaped.
    fn merge(&mut self, start: usize, entries: Vec<(usize, usize, usize)>, depth: usize) {
        let text = |&(key, end, _): &(usize, usize, usize)| -> Vec<u32> {
            Codes(&self.out[key + 1..end - 1]).collect()
        };
        let is_repeated = |at: usize| entries[..at].iter().any(|e| text(e) == text(&entries[at]));
        if entries.len() < 2 || (entries.len() <= 8 && !(1..entries.len()).any(is_repeated)) {
            return;
        }
        let n_entries = entries.len();
        let once = once_each(entries, text);
        if once.len() == n_entries {
            return;
        }
        let written: Vec<String> =
            once.iter().map(|&(key, _, end)| self.out[key..end].to_owned()).collect();
        self.out.truncate(start + 1);
        for (n, entry) in written.iter().enumerate() {
            if n > 0 {
                self.comma();
            }
            self.new_line(depth + 1);
            self.out.push_str(entry);
        }
        self.new_line(depth);
        self.out.push('}');
    }

    fn string(&mut self) -> Result<(), Stuck> {
        let text = self.scan.string()?;
        if self.style.is_pythons() && !text.is_plain {
            write_json_text(self.out, Codes(text.body));
            return Ok(());
        }
        self.out.push('"');
        self.out.push_str(text.body);
        self.out.push('"');
        Ok(())
    }

    fn number(&mut self) -> Result<(), Stuck> {
        let number = self.scan.number()?;
        if !self.style.is_pythons() {
            self.out.push_str(number);
            return Ok(());
        }
        let start = self.out.len();
        number::write_number(number, self.out);
        let json = match &self.out[start..] {
            "inf" => "Infinity",
            "-inf" => "-Infinity",
            _ => return Ok(()),
        };
        self.out.replace_range(start.., json);
        Ok(())
    }

    fn odd_number(&mut self, word: &str) -> Result<(), Stuck> {
        self.scan.word(word)?;
        self.out.push_str(if self.style == JsonStyle::Wire { "null" } else { word });
        Ok(())
    }

    fn word(&mut self, word: &str) -> Result<(), Stuck> {
        self.scan.word(word)?;
        self.out.push_str(word);
        Ok(())
    }

    fn comma(&mut self) {
        self.out.push_str(if self.style == JsonStyle::Spaced { ", " } else { "," });
    }

    fn new_line(&mut self, depth: usize) {
        if self.style == JsonStyle::Indented {
            self.out.push('\n');
            self.out.extend((0..depth).map(|_| "    "));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(json: &str, style: JsonStyle, written: &str) {
        assert_eq!(dump_json(json, style).as_deref(), Ok(written), "{json}");
    }

    #[test]
    fn files_are_written_as_python_does() {
        check("{}", JsonStyle::Indented, "{}");
        check(
            "{\"a\":[],\"b\":[1, {}]}",
            JsonStyle::Indented,
            "{\n    \"a\": [],\n    \"b\": [\n        1,\n        {}\n    ]\n}",
        );
        check(
            r#"["é😀\u007f\/\ud800\b"]"#,
            JsonStyle::Indented,
            "[\n    \"\\u00e9\\ud83d\\ude00\\u007f/\\ud800\\b\"\n]",
        );
        check(
            "[1E16, 1.50, -0, 1e999, NaN]",
            JsonStyle::Indented,
            "[\n    1e+16,\n    1.5,\n    0,\n    Infinity,\n    NaN\n]",
        );
        check(
            r#"{"a":1,"b":2,"\u0061":3}"#,
            JsonStyle::Indented,
            "{\n    \"\\u0061\": 3,\n    \"b\": 2\n}".replace("\\u0061", "a").as_str(),
        );
    }

    #[test]
    fn compact_json_keeps_its_pieces() {
        check(" {\"a\" : [1.50, \"\\u00e9\"] } ", JsonStyle::Compact, r#"{"a":[1.50,"\u00e9"]}"#);
        check("[NaN, -Infinity]", JsonStyle::Compact, "[NaN,-Infinity]");
        check("[NaN, -Infinity]", JsonStyle::Wire, "[null,null]");
        check(r#"{"a":1,"b":2,"a":3}"#, JsonStyle::Compact, r#"{"a":3,"b":2}"#);
    }

    #[test]
    fn many_keys_are_told_apart() {
        let fields: Vec<String> = (0..40).map(|n| format!("\"k{}\":{n}", n % 39)).collect();
        let written = dump_json(&format!("{{{}}}", fields.join(",")), JsonStyle::Compact);
        let written = written.expect("JSON");
        assert!(written.starts_with("{\"k0\":39,\"k1\":1,"), "{written}");
        assert!(written.ends_with(",\"k38\":38}"), "{written}");
    }

    #[test]
    fn what_is_no_json_is_refused() {
        for text in ["", "{", "[1,]", "{\"a\" 1}", "[1] 2", "'a'"] {
            assert!(dump_json(text, JsonStyle::Compact).is_err(), "{text}");
            assert!(entries_of_json(text).is_err(), "{text}");
        }
        assert_eq!(entries_of_json("[1").map_err(|error| error.offset), Err(0));
    }

    #[test]
    fn entries_are_read_in_order() {
        let entries = entries_of_json(r#"{"{'a': 1}": {"x": 1 }, "b\u00e9": [2], "{'a': 1}": 3}"#);
        let entries = entries.expect("an object");
        assert_eq!(entries, [("{'a': 1}".to_owned(), "3"), ("bé".to_owned(), "[2]")]);
    }
}
