//! `NaN`, `Infinity` and `-Infinity`, which Python writes into JSON files though they are not JSON.
//!
//! They are read as strings, so that Juror's own output is valid JSON and no metric mistakes them
//! for numbers. Only texts that could not be read otherwise are searched for them.

use juror_json::end_of_string;

/// The words; one that contains another comes first.
const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// The number of bytes that quotes add to a word.
const QUOTES: usize = 2;

/// A text with quotes around every such word.
pub struct Quoted {
    /// The text.
    pub text: String,
    /// The offset of each word in the original text.
    starts: Vec<usize>,
    /// The first word.
    pub first: &'static str,
}

impl Quoted {
    /// Quotes the words of a text, or returns `None` if it has none. In a file of lines, each line
    /// is searched on its own, so that an unclosed string does not hide the words of later lines.
    pub fn of(text: &str, is_lines: bool) -> Option<Quoted> {
        let mut quoted =
            Quoted { text: String::with_capacity(text.len()), starts: Vec::new(), first: "" };
        let mut offset = 0;
        let lines = text.split_inclusive(|c| is_lines && c == '\n');
        for line in lines {
            let mut from = 0;
            while let Some((at, word)) = find(line, from) {
                if quoted.starts.is_empty() {
                    quoted.first = word;
                }
                quoted.starts.push(offset + at);
                quoted.text.push_str(&line[from..at]);
                quoted.text.push('"');
                quoted.text.push_str(word);
                quoted.text.push('"');
                from = at + word.len();
            }
            quoted.text.push_str(&line[from..]);
            offset += line.len();
        }
        (!quoted.starts.is_empty()).then_some(quoted)
    }

    /// The offset of the first word in the original text.
    pub fn first_start(&self) -> usize {
        self.starts[0]
    }

    /// Returns the quoted form of a range of the original text, or `None` if it has no such word.
    pub fn part(&self, start: usize, end: usize) -> Option<&str> {
        let n_before = |at: usize| self.starts.partition_point(|start| *start < at);
        let (before, within) = (n_before(start), n_before(end));
        let part = start + QUOTES * before..end + QUOTES * within;
        (within > before).then(|| self.text.get(part)).flatten()
    }

    /// Converts an offset in the quoted text to one in the original text.
    pub fn place_before(&self, at: usize) -> usize {
        let mut n_before = 0;
        while self.starts.get(n_before).is_some_and(|start| start + QUOTES * n_before < at) {
            n_before += 1;
        }
        at.saturating_sub(QUOTES * n_before)
    }
}

/// Finds the next word outside strings, where a value may be.
fn find(text: &str, from: usize) -> Option<(usize, &'static str)> {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        at += memchr::memchr3(b'"', b'N', b'I', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            at = end_of_string(text, at)?;
            continue;
        }
        let start = at - usize::from(at > from && bytes[at - 1] == b'-');
        let word = WORDS.into_iter().find(|word| bytes[start..].starts_with(word.as_bytes()));
        if let Some(word) = word
            && is_edge(start.checked_sub(1).map(|before| bytes[before]))
            && is_edge(bytes.get(start + word.len()).copied())
        {
            return Some((start, word));
        }
        at += 1;
    }
}

/// Whether a value may start after this byte, or end before it.
fn is_edge(byte: Option<u8>) -> bool {
    byte.is_none_or(|byte| byte.is_ascii_whitespace() || b",:[]{}".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &str) -> Option<String> {
        Quoted::of(text, false).map(|quoted| quoted.text)
    }

    #[test]
    fn words_for_numbers_that_are_none_become_texts() {
        assert_eq!(
            quoted(r#"{"a": NaN, "b":[Infinity,-Infinity], "c": "NaN, \" NaN"}"#).as_deref(),
            Some(r#"{"a": "NaN", "b":["Infinity","-Infinity"], "c": "NaN, \" NaN"}"#)
        );
        assert_eq!(quoted("NaN").as_deref(), Some("\"NaN\""));
        for text in [r#"{"a": "NaN"}"#, "[NaNs, xNaN, --Infinity, -NaN, nan]", "", "{\"a: NaN}"] {
            assert_eq!(quoted(text), None, "{text}");
        }
    }

    #[test]
    fn places_are_those_of_the_text_as_it_was() {
        let text = "[1, NaN, 2, -Infinity, 3]";
        let quoted = Quoted::of(text, false).expect("words");
        for (at, _) in text.match_indices(['1', '2', '3', ']']) {
            let now = quoted.text.find(&text[at..=at]).expect("the same");
            assert_eq!(quoted.place_before(now), at);
        }
        assert_eq!(quoted.part(4, 10), Some("\"NaN\", 2"));
        assert_eq!(quoted.part(0, text.len()), Some(quoted.text.as_str()));
        assert_eq!(quoted.part(0, 3), None);
    }

    #[test]
    fn a_broken_line_is_no_matter_of_the_next() {
        let quoted = Quoted::of("{\"a: NaN}\n{\"b\": NaN}\n", true).expect("words");
        assert_eq!(quoted.text, "{\"a: NaN}\n{\"b\": \"NaN\"}\n");
        assert_eq!(quoted.first_start(), 16);
    }
}
