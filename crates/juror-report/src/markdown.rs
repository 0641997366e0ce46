//! Markdown that stays what it is meant to be, whatever texts it contains, and never grows too long.

use std::fmt::Write as _;

use juror_compare::thousands;

use crate::terminal::shorten;

/// GitHub refuses comments of more than 65,536 characters. Counted in bytes, so that it holds for
/// characters, too.
const MOST_BYTES: usize = 59_000;

/// Kept free for lines that say what is left out.
const RESERVE: usize = 500;

/// How many characters of a name are shown.
pub(crate) const NAME_WIDTH: usize = 80;

/// Writes a text from data as code: in code, GitHub links no mentions, issues, commits or addresses.
pub(crate) fn code(text: &str, most: usize) -> String {
    let flat = shorten(text, most);
    if flat.is_empty() {
        "–".into()
    } else if flat.contains(['\\', '|']) {
        // Parsers of tables differ in what they make of these in a code span.
        html_code(&flat, most)
    } else {
        code_span(&flat)
    }
}

/// Puts a text between more backticks than it has in a row.
fn code_span(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let ticks = "`".repeat(longest + 1);
    let gap = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{gap}{text}{gap}{ticks}")
}

/// Writes a text from data as code in HTML. No address in it is recognized, since all punctuation is
/// escaped.
pub(crate) fn html_code(text: &str, most: usize) -> String {
    format!("<code>{}</code>", escaped_except("-,", &shorten(text, most)))
}

/// Writes a name as code.
pub(crate) fn name(text: &str) -> String {
    code(text, NAME_WIDTH)
}

/// Writes words of this program on one line, so that none of their characters has a meaning.
pub(crate) fn escaped(text: &str) -> String {
    escaped_except(".,;:()%+-/'=", &shorten(text, usize::MAX))
}

fn escaped_except(harmless: &str, text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        let _ = match c {
            c if c.is_ascii_punctuation() && !harmless.contains(c) => {
                write!(escaped, "&#{};", u32::from(c))
            }
            c => write!(escaped, "{c}"),
        };
    }
    escaped
}

/// A name inside an HTML comment, which must not contain two hyphens in a row.
pub(crate) fn comment(what: &str, name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || " ._/:+,".contains(c);
    let plain: String =
        shorten(name, NAME_WIDTH).chars().map(|c| if is_plain(c) { c } else { '-' }).collect();
    let words: Vec<&str> = plain.split('-').filter(|word| !word.is_empty()).collect();
    format!("<!-- {what}: {} -->", words.join("-").trim())
}

/// The head of a table.
pub(crate) struct Titles {
    titles: Vec<String>,
    /// How many columns are aligned to the left; the others are to the right.
    n_left: usize,
}

impl Titles {
    pub(crate) fn new(titles: &[&str], n_left: usize) -> Titles {
        let titles = titles.iter().map(|title| (*title).to_owned()).collect();
        Titles { titles, n_left }
    }

    fn head(&self) -> String {
        let rule = |at| if at < self.n_left { ":--" } else { "--:" };
        let rules: Vec<String> = (0..self.titles.len()).map(|at| rule(at).to_owned()).collect();
        format!("\n{}{}", line(&self.titles), line(&rules))
    }
}

/// The rows of a table, made when they are written: of many, most are left out.
pub(crate) trait Rows: ExactSizeIterator<Item = Vec<String>> {}

impl<T: ExactSizeIterator<Item = Vec<String>>> Rows for T {}

fn line(cells: &[String]) -> String {
    format!("| {} |\n", cells.join(" | "))
}

/// A page that is written part by part, and leaves out what would make it too long.
pub(crate) struct Page {
    text: String,
    /// How long it may be at the end of the current part.
    end: usize,
}

impl Page {
    pub(crate) fn new() -> Page {
        Page { text: String::new(), end: MOST_BYTES - 2 * RESERVE }
    }

    /// Begins one of `n_left` parts that are still to come: each gets the same share of the room.
    pub(crate) fn begin_part(&mut self, n_left: usize) {
        let room = (MOST_BYTES - RESERVE).saturating_sub(self.text.len());
        self.end = (self.text.len() + room / n_left.max(1)).saturating_sub(RESERVE);
    }

    /// Adds a block, if there is room for it.
    pub(crate) fn push(&mut self, block: &str) -> bool {
        self.push_until(block, self.end)
    }

    /// Adds a table with as many rows as there is room for; their cells are Markdown. `what` they are
    /// is told if some are left out.
    pub(crate) fn table(&mut self, titles: &Titles, rows: impl Rows, what: &str) {
        let n_left_out = self.rows(&titles.head(), rows, self.end);
        self.say_left_out(n_left_out, what);
    }

    /// Adds a table that is folded until the reader opens it. `summary` is HTML.
    pub(crate) fn fold(&mut self, summary: &str, titles: &Titles, rows: impl Rows, what: &str) {
        const END: &str = "\n</details>\n";
        let start = format!("\n<details>\n<summary>{summary}</summary>\n{}", titles.head());
        let n_before = self.text.len();
        let n_left_out = self.rows(&start, rows, self.end.saturating_sub(END.len()));
        if self.text.len() > n_before {
            self.text.push_str(END);
        }
        self.say_left_out(n_left_out, what);
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    /// Adds rows below what comes before them, and returns how many are left out. If there is not
    /// even room for one, nothing is added.
    fn rows(&mut self, before: &str, rows: impl Rows, end: usize) -> usize {
        let n_rows = rows.len();
        let mut lines = rows.map(|row| line(&row));
        let Some(first) = lines.next() else { return 0 };
        if !self.push_until(&format!("{before}{first}"), end) {
            return n_rows;
        }
        n_rows - 1 - lines.take_while(|line| self.push_until(line, end)).count()
    }

    /// Says how many of something are left out, in the room that is kept free for that.
    pub(crate) fn say_left_out(&mut self, n: usize, what: &str) {
        if n > 0 {
            let n = thousands(n as f64);
            let said = format!("\n… {what}: {n} left out for lack of room\n");
            self.push_until(&said, (self.end + RESERVE).min(MOST_BYTES));
        }
    }

    fn push_until(&mut self, block: &str, end: usize) -> bool {
        let has_room = self.text.len() + block.len() <= end;
        if has_room {
            self.text.push_str(block);
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_cannot_be_ended_by_a_name() {
        for (name, shown) in [
            ("main and pr-412", "main and pr-412"),
            ("a --> <b>", "a - -b"),
            ("--", ""),
            ("runs/a.jsonl", "runs/a.jsonl"),
        ] {
            assert_eq!(comment("juror", name), format!("<!-- juror: {shown} -->"));
        }
    }

    #[test]
    fn names_are_code() {
        assert_eq!(name("@me #1 <b>"), "`@me #1 <b>`");
        assert_eq!(name("a|b"), "<code>a&#124;b</code>");
        assert_eq!(name("1 row missing (`x`)"), "``1 row missing (`x`)``");
        assert_eq!(name("``x`"), "``` ``x` ```");
        assert_eq!(name(" \n"), "–");
    }
}
