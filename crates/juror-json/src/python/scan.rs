//! A scanner for the tokens of JSON, as Python reads them.

use super::text::hexadecimal;

/// The text is not JSON at the scanner's position.
pub(super) struct Stuck;

/// A scanned string, and what was noticed while scanning it.
pub(super) struct ScannedString<'a> {
    /// What is between the quotes.
    pub(super) body: &'a str,
    /// Whether it contains only printable ASCII and no escapes. It then has no double quote, which
    /// would have to be escaped.
    pub(super) is_plain: bool,
    /// Whether it contains an unescaped single quote.
    pub(super) has_single: bool,
}

pub(super) struct Scanner<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(json: &'a str) -> Scanner<'a> {
        Scanner { json, at: 0 }
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Returns the text from `start` up to the current position.
    pub(super) fn since(&self, start: usize) -> &'a str {
        &self.json[start..self.at]
    }

    pub(super) fn is_done(&self) -> bool {
        self.at == self.json.len()
    }

    /// Returns the text after the current position.
    pub(super) fn rest(&self) -> &'a str {
        &self.json[self.at..]
    }

    /// Advances by `n_bytes`, which must end at a character boundary.
    pub(super) fn pass(&mut self, n_bytes: usize) {
        self.at += n_bytes;
    }

    pub(super) fn string(&mut self) -> Result<ScannedString<'a>, Stuck> {
        self.take(b'"')?;
        let start = self.at;
        let (mut is_plain, mut has_single) = (true, false);
        loop {
            let rest = &self.json.as_bytes()[self.at..];
            let run = &rest[..end_of_run(rest).ok_or(Stuck)?];
            // Without an early exit, so that the compiler can vectorize the loop.
            let any =
                |is_wanted: fn(u8) -> bool| run.iter().fold(false, |any, b| any | is_wanted(*b));
            if any(|byte| byte < b' ') {
                return Err(Stuck);
            }
            is_plain &= !any(|byte| byte >= 0x7f);
            has_single |= any(|byte| byte == b'\'');
            self.at += run.len();
            match rest[run.len()] {
                b'"' => {
                    self.at += 1;
                    let body = &self.json[start..self.at - 1];
                    return Ok(ScannedString { body, is_plain, has_single });
                }
                _ => {
                    is_plain = false;
                    self.escape()?;
                }
            }
        }
    }

    fn escape(&mut self) -> Result<(), Stuck> {
        match self.json.as_bytes().get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u') if self.json.get(self.at + 2..).and_then(hexadecimal).is_some() => {
                self.at += 6;
            }
            _ => return Err(Stuck),
        }
        Ok(())
    }

    /// Takes a number, verbatim.
    pub(super) fn number(&mut self) -> Result<&'a str, Stuck> {
        let start = self.at;
        self.at += usize::from(self.peek() == Some(b'-'));
        match self.peek() {
            Some(b'0') => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            self.at += usize::from(matches!(self.peek(), Some(b'+' | b'-')));
            self.digits()?;
        }
        Ok(&self.json[start..self.at])
    }

    fn digits(&mut self) -> Result<(), Stuck> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at > start { Ok(()) } else { Err(Stuck) }
    }

    pub(super) fn word(&mut self, word: &str) -> Result<(), Stuck> {
        if !self.goes_on_with(word) {
            return Err(Stuck);
        }
        self.at += word.len();
        Ok(())
    }

    pub(super) fn goes_on_with(&self, word: &str) -> bool {
        self.json.as_bytes()[self.at..].starts_with(word.as_bytes())
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    pub(super) fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    pub(super) fn next_is(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_it = self.peek() == Some(byte);
        self.at += usize::from(is_it);
        is_it
    }

    pub(super) fn take(&mut self, byte: u8) -> Result<(), Stuck> {
        if self.next_is(byte) { Ok(()) } else { Err(Stuck) }
    }
}

/// Finds the next quote or backslash. Most strings are short, so the first bytes are checked before
/// `memchr` is called.
fn end_of_run(bytes: &[u8]) -> Option<usize> {
    const NEAR: usize = 16;
    let (near, far) = bytes.split_at(bytes.len().min(NEAR));
    let end = near.iter().position(|byte| matches!(byte, b'"' | b'\\'));
    end.or_else(|| memchr::memchr2(b'"', b'\\', far).map(|end| near.len() + end))
}
