//! The events of the YAML parser, with its panics caught.

use std::cell::Cell;
use std::io::{BufRead, BufReader, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};

use libyaml_safer::{Encoding, Event, EventData, Mark, Parser, ScalarStyle};

use super::NotYaml;

/// The size of the parser's input buffer. It decodes a whole buffer at once, so a small one keeps
/// its memory small.
const PIECE: usize = 1 << 14;

/// Iterates over the events of a text, up to its end or its first error.
pub(super) fn events(yaml: &str) -> impl Iterator<Item = Result<Event, NotYaml>> {
    // If a text ends inside a line, the parser reads past its end and panics.
    let end: &[u8] = if ends_inside_a_line(yaml) { b"\n" } else { b"" };
    let mut parser = Parser::new();
    parser.set_input(BufReader::with_capacity(PIECE, yaml.as_bytes().chain(end)));
    parser.set_encoding(Encoding::Utf8);
    let mut has_failed = false;
    let mut last = Mark::default();
    std::iter::from_fn(move || {
        let event = if has_failed { None } else { next(&mut parser, last, yaml) };
        match &event {
            Some(Ok(event)) => last = event.end_mark,
            _ => has_failed = true,
        }
        event.map(|event| event.map(|event| without_end(event, yaml)))
    })
}

fn next(
    parser: &mut Parser<impl BufRead>,
    last: Mark,
    yaml: &str,
) -> Option<Result<Event, NotYaml>> {
    CAUGHT.set(true);
    let next = catch_unwind(AssertUnwindSafe(|| parser.next()));
    CAUGHT.set(false);
    match next {
        Ok(next) => next.map(|next| next.map_err(|error| NotYaml::from_parser(&error, yaml))),
        Err(_) => Some(Err(not_ready(last, yaml))),
    }
}

/// The error for a text on which the parser panics. The known cases contain a tag.
fn not_ready(last: Mark, yaml: &str) -> NotYaml {
    let error = NotYaml::new(last, "what follows cannot be read");
    let start = usize::try_from(last.index).unwrap_or_default();
    if yaml.get(start..).is_some_and(|rest| rest.contains('!')) {
        return error.hint("a tag, such as `!x`, needs a space before a comma");
    }
    error
}

thread_local! {
    static CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Whether a panic on this thread would be caught and become an error about a file, so that a panic
/// hook should not report it.
pub fn is_caught() -> bool {
    CAUGHT.get()
}

/// Whether the parser treats a character as the end of a line.
pub(super) fn ends_line(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether the last line has content but no line break.
fn ends_inside_a_line(yaml: &str) -> bool {
    yaml.rsplit(ends_line).next().is_some_and(|line| line.contains(|c| c != ' '))
}

/// Removes the line break that [`events`] appended from a block scalar at the end of the file.
fn without_end(mut event: Event, yaml: &str) -> Event {
    let is_behind = event.end_mark.index > yaml.len() as u64;
    if let EventData::Scalar { value, style: ScalarStyle::Literal | ScalarStyle::Folded, .. } =
        &mut event.data
        && is_behind
        && value.ends_with('\n')
    {
        value.pop();
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_where_a_tag_follows_are_tags_hinted_at() {
        let mut last = Mark::default();
        let has_hint = |last, yaml| not_ready(last, yaml).hint.is_some();
        assert!(has_hint(last, "[!x, a]"));
        assert!(!has_hint(last, "\"a\\"));
        last.index = 6;
        assert!(!has_hint(last, "- !x a\n- b"));
    }
}
