//! `NaN`, `Infinity` and `-Infinity`: numbers for Python, which writes them as if they were JSON.
//!
//! They are read as texts of these names, so that what Juror writes is JSON and no metric takes them
//! for numbers. Only texts that could not be read are looked through for them.

use juror_json::end_of_string;

/// The words, and those that contain others first.
const WORDS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// What quotes add to a word.
const QUOTES: usize = 2;

/// A text with quotes around every such word.
pub struct Quoted {
    /// The text.
    pub text: String,
    /// Where each word stood in the text as it was.
    starts: Vec<usize>,
    /// The first word.
    pub first: &'static str,
}

impl Quoted {
    /// The text with quotes; nothing where there is no such word. In a file of lines, what is wrong
    /// with one line is no matter of the next.
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

    /// Where the first word stood.
    pub fn first_start(&self) -> usize {
        self.starts[0]
    }

    /// The part that stood between two places of the text as it was; nothing if no word is in it.
    pub fn part(&self, start: usize, end: usize) -> Option<&str> {
        let n_before = |at: usize| self.starts.partition_point(|start| *start < at);
        let (before, within) = (n_before(start), n_before(end));
        let part = start + QUOTES * before..end + QUOTES * within;
        (within > before).then(|| self.text.get(part)).flatten()
    }

    /// Where a place of this text was in the text as it was.
    pub fn place_before(&self, at: usize) -> usize {
        let mut n_before = 0;
        while self.starts.get(n_before).is_some_and(|start| start + QUOTES * n_before < at) {
            n_before += 1;
        }
        at.saturating_sub(QUOTES * n_before)
    }
}

/// The next word that stands where a value may, and no text is.
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

/// Whether a value may begin after this byte, and end before it.
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
