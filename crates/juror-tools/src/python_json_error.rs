//! Python's error message for invalid JSON, which is part of the published servers' replies.

/// Returns where and why Python's parser fails, or `None` for valid JSON. The position counts
/// characters.
pub(crate) fn python_json_error(text: &str) -> Option<(usize, &'static str)> {
    let characters: Vec<char> = text.chars().collect();
    let mut reader = Scanner { text: &characters, at: 0 };
    reader.document().err()
}

type Scanned = Result<(), (usize, &'static str)>;

/// Values nested deeper than this are not checked.
const DEEPEST: usize = 500;

const VALUE: &str = "Expecting value";
const NAME: &str = "Expecting property name enclosed in double quotes";
const COMMA: &str = "Expecting ',' delimiter";

struct Scanner<'a> {
    text: &'a [char],
    at: usize,
}

impl Scanner<'_> {
    fn document(&mut self) -> Scanned {
        self.value(DEEPEST)?;
        self.skip_space();
        if self.at == self.text.len() { Ok(()) } else { Err((self.at, "Extra data")) }
    }

    fn value(&mut self, depth: usize) -> Scanned {
        self.skip_space();
        let words = ["null", "true", "false", "NaN", "Infinity", "-Infinity"];
        match self.peek() {
            Some('{') if depth > 0 => self.object(depth - 1),
            Some('[') if depth > 0 => self.list(depth - 1),
            Some('"') => self.string(),
            _ => match words.iter().find(|word| self.goes_on_with(word)) {
                Some(word) => {
                    self.at += word.len();
                    Ok(())
                }
                None => self.number(),
            },
        }
    }

    fn object(&mut self, depth: usize) -> Scanned {
        self.at += 1;
        if self.next_is('}') {
            return Ok(());
        }
        loop {
            self.skip_space();
            if self.peek() != Some('"') {
                return Err((self.at, NAME));
            }
            self.string()?;
            if !self.next_is(':') {
                return Err((self.at, "Expecting ':' delimiter"));
            }
            self.value(depth)?;
            if self.next_is('}') {
                return Ok(());
            }
            if !self.next_is(',') {
                return Err((self.at, COMMA));
            }
        }
    }

    fn list(&mut self, depth: usize) -> Scanned {
        self.at += 1;
        if self.next_is(']') {
            return Ok(());
        }
        loop {
            self.value(depth)?;
            if self.next_is(']') {
                return Ok(());
            }
            if !self.next_is(',') {
                return Err((self.at, COMMA));
            }
        }
    }

    fn string(&mut self) -> Scanned {
        let start = self.at;
        self.at += 1;
        loop {
            let unterminated = (start, "Unterminated string starting at");
            match self.peek().ok_or(unterminated)? {
                '"' => {
                    self.at += 1;
                    return Ok(());
                }
                '\\' => self.escape(unterminated)?,
                ..' ' => return Err((self.at, "Invalid control character at")),
                _ => self.at += 1,
            }
        }
    }

    fn escape(&mut self, unterminated: (usize, &'static str)) -> Scanned {
        match self.text.get(self.at + 1).ok_or(unterminated)? {
            '"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't' => self.at += 2,
            'u' => {
                let digits = self.text.get(self.at + 2..self.at + 6);
                let is_hex = |digits: &[char]| digits.iter().all(char::is_ascii_hexdigit);
                if !digits.is_some_and(is_hex) {
                    return Err((self.at + 1, "Invalid \\uXXXX escape"));
                }
                self.at += 6;
            }
            _ => return Err((self.at, "Invalid \\escape")),
        }
        Ok(())
    }

    fn number(&mut self) -> Scanned {
        let start = self.at;
        self.at += usize::from(self.peek() == Some('-'));
        match self.peek() {
            Some('0') => self.at += 1,
            Some('1'..='9') => self.skip_digits(),
            _ => {
                self.at = start;
                return Err((start, VALUE));
            }
        }
        self.skip_tail(|reader| usize::from(reader.peek() == Some('.')));
        self.skip_tail(|reader| match reader.peek() {
            Some('e' | 'E') => {
                1 + usize::from(matches!(reader.text.get(reader.at + 1), Some('+' | '-')))
            }
            _ => 0,
        });
        Ok(())
    }

    /// Skips a fraction or an exponent, unless it has no digits: the number then ends before it.
    fn skip_tail(&mut self, n_signs: impl Fn(&Self) -> usize) {
        let signs = n_signs(self);
        if signs > 0 && self.text.get(self.at + signs).is_some_and(char::is_ascii_digit) {
            self.at += signs;
            self.skip_digits();
        }
    }

    fn skip_digits(&mut self) {
        while self.peek().is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
    }

    fn goes_on_with(&self, word: &str) -> bool {
        let rest = self.text[self.at..].iter().copied();
        rest.take(word.len()).eq(word.chars())
    }

    fn peek(&self) -> Option<char> {
        self.text.get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while let Some(' ' | '\t' | '\n' | '\r') = self.peek() {
            self.at += 1;
        }
    }

    fn next_is(&mut self, wanted: char) -> bool {
        self.skip_space();
        let is_it = self.peek() == Some(wanted);
        self.at += usize::from(is_it);
        is_it
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_pythons() {
        let check = |text: &str, place: usize, problem: &str| {
            assert_eq!(python_json_error(text), Some((place, problem)), "{text}");
        };
        check("{bad", 1, NAME);
        check("  ", 2, VALUE);
        check("{\"a\" 1}", 5, "Expecting ':' delimiter");
        check("{\"a\": }", 6, VALUE);
        check("{\"a\": 1 \"b\"", 8, COMMA);
        check("{\"a\": 1, }", 9, NAME);
        check("[1, ]", 4, VALUE);
        check("[1 2]", 3, COMMA);
        check("\"é", 0, "Unterminated string starting at");
        check("\"é\n\"", 2, "Invalid control character at");
        check("\"\\x\"", 1, "Invalid \\escape");
        check("\"\\u12\"", 2, "Invalid \\uXXXX escape");
        check("{} {}", 3, "Extra data");
        check("1.", 1, "Extra data");
        check("-", 0, VALUE);
        check("nul", 0, VALUE);
        assert_eq!(python_json_error("{\"a\": [1, -2.5e3, null, \"\\u00e9\", NaN]}"), None);
    }
}
