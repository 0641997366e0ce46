//! Reads files of variables: `.env`.
//!
//! Such a file comes with a folder, and folders come from anywhere. So values are built from the
//! file alone: `$NAME` refers to an earlier line, never to a variable of the process, whose keys
//! could otherwise be smuggled into an address.

use std::collections::HashMap;

/// The variables of a file, and the numbers of the lines that were skipped.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Variables {
    /// The values by name.
    pub values: HashMap<String, String>,
    /// The lines that were skipped. Only numbers are kept, because the lines may hold keys.
    pub unread: Vec<usize>,
}

/// How many bytes are read in vain before values must end where their lines do: else a file of open quotes
/// would be read to its end from each of its lines.
const MOST_IN_VAIN: usize = 4 << 20;

/// Parses lines such as `NAME=value`, `export NAME="value"` and `# a comment`.
pub fn read_variables(text: &str) -> Variables {
    let mut variables = Variables::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    let mut rest = text.as_str();
    let (mut number, mut n_in_vain) = (1, 0);
    while !rest.is_empty() {
        let end_of_line = || rest.find('\n').map_or(rest.len(), |end| end + 1);
        let reach = if n_in_vain < MOST_IN_VAIN { rest.len() } else { end_of_line() };
        let mut line = Line(&rest[..reach]);
        let after = match line.read(&variables.values) {
            Ok(variable) => {
                variables.values.extend(variable);
                &rest[reach - line.0.len()..]
            }
            Err(NotALine) => {
                n_in_vain += reach;
                variables.unread.push(number);
                // A line that cannot be parsed is skipped to its end.
                rest.split_once('\n').map_or("", |(_, after)| after)
            }
        };
        number += rest[..rest.len() - after.len()].matches('\n').count();
        rest = after;
    }
    variables
}

struct NotALine;

/// The rest of a file, starting within a line.
struct Line<'t>(&'t str);

impl Line<'_> {
    /// Parses a line including its end; a quoted value may span several lines.
    fn read(
        &mut self,
        above: &HashMap<String, String>,
    ) -> Result<Option<(String, String)>, NotALine> {
        self.skip_blanks();
        if self.ends() {
            return Ok(None);
        }
        let mut name = self.name();
        self.skip_blanks();
        if name == "export" && !self.0.starts_with('=') {
            name = self.name();
            self.skip_blanks();
        }
        let begins_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !begins_well || self.next() != Some('=') {
            return Err(NotALine);
        }
        self.skip_blanks();
        let is_empty = self.0.starts_with('#');
        let value = if is_empty { String::new() } else { self.value(above)? };
        self.skip_blanks();
        if self.ends() { Ok(Some((name, value))) } else { Err(NotALine) }
    }

    fn next(&mut self) -> Option<char> {
        let c = self.0.chars().next()?;
        self.0 = &self.0[c.len_utf8()..];
        Some(c)
    }

    fn next_if(&mut self, is_wanted: impl Fn(char) -> bool) -> Option<char> {
        if self.0.starts_with(is_wanted) { self.next() } else { None }
    }

    fn skip_blanks(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t']);
    }

    /// Returns whether only a comment is left of the line, and if so consumes it.
    fn ends(&mut self) -> bool {
        if self.0.starts_with('#') {
            self.0 = self.0.trim_start_matches(|c| c != '\n');
        }
        self.0.is_empty() || self.next_if(|c| c == '\n').is_some()
    }

    fn name(&mut self) -> String {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        std::iter::from_fn(|| self.next_if(is_part)).collect()
    }

    /// Parses a value up to a blank or the end of the line, outside quotes.
    fn value(&mut self, above: &HashMap<String, String>) -> Result<String, NotALine> {
        let mut value = String::new();
        let mut is_quoted = false;
        while let Some(c) = self.next_if(|c| is_quoted || !" \t\n".contains(c)) {
            match c {
                '"' => is_quoted = !is_quoted,
                '\'' if !is_quoted => {
                    let (literal, after) = self.0.split_once('\'').ok_or(NotALine)?;
                    value.push_str(literal);
                    self.0 = after;
                }
                '\\' => match self.next().ok_or(NotALine)? {
                    'n' => value.push('\n'),
                    c @ ('\\' | '\'' | '"' | '$' | ' ') => value.push(c),
                    _ => return Err(NotALine),
                },
                '$' => value.push_str(self.named(above)?),
                c => value.push(c),
            }
        }
        if is_quoted { Err(NotALine) } else { Ok(value) }
    }

    /// Resolves `NAME` or `{NAME}`.
    fn named<'a>(&mut self, above: &'a HashMap<String, String>) -> Result<&'a str, NotALine> {
        let is_braced = self.next_if(|c| c == '{').is_some();
        let value = above.get(&self.name()).ok_or(NotALine)?;
        if is_braced && self.next() != Some('}') {
            return Err(NotALine);
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_open_quotes_is_not_read_to_its_end_from_each_line() {
        let text = format!("{}A=b\n", "B=\"x\\'sk-a'\n".repeat(100_000));
        let variables = read_variables(&text);
        assert_eq!(variables.values.get("A").map(String::as_str), Some("b"));
        assert_eq!(variables.unread.len(), 100_000);
    }

    #[test]
    fn lines_are_read_as_shells_write_them() {
        for (text, name, value) in [
            ("A=b", "A", "b"),
            ("  export A = b  # why\n", "A", "b"),
            ("A=b#c", "A", "b#c"),
            ("A=\r\n", "A", ""),
            ("A= # nothing", "A", ""),
            ("A='b $c \\ \"d\"'", "A", "b $c \\ \"d\""),
            ("A=\"b\\n\\$c 'd' # e\"", "A", "b\n$c 'd' # e"),
            ("A=\"b\nc\"\nB=d", "A", "b\nc"),
            ("A=\"b\nc\"\nB=d", "B", "d"),
            ("# A=x\n\nexport=b", "export", "b"),
            ("A=b\nA=c", "A", "c"),
            ("HOST=h\nA=http://${HOST}/$HOST", "A", "http://h/h"),
        ] {
            let variables = read_variables(text);
            assert_eq!(variables.values.get(name).map(String::as_str), Some(value), "{text:?}");
            assert!(variables.unread.is_empty(), "{text:?}");
        }
    }

    #[test]
    fn a_line_that_cannot_be_read_costs_no_other() {
        for line in ["A", "=b", "1A=b", "A=b c", "A='b", "A=\"b", "A=\\x", "A=${B", "A=b\\"] {
            let variables = read_variables(&format!("X=1\n{line}\nY=2\n"));
            assert_eq!(variables.unread, [2], "{line:?}");
            assert_eq!(
                (variables.values["X"].as_str(), variables.values["Y"].as_str()),
                ("1", "2")
            );
        }
    }

    #[test]
    fn a_file_cannot_take_variables_of_the_process() {
        // `PATH` is set wherever tests run.
        for line in ["A=$PATH", "A=http://elsewhere/${PATH}", "A=\"$PATH\""] {
            assert_eq!(
                read_variables(line),
                Variables { unread: vec![1], ..Variables::default() },
                "{line}"
            );
        }
    }
}
