//! Finds where queries are written, and mistakes in them.

use std::iter::Peekable;
use std::str::Chars;

use juror_document::{Document, Format, Path, ValueSpan};

/// A part of a file whose place is wanted.
#[derive(Clone, Debug)]
pub(crate) struct Wanted<'w> {
    pub(crate) path: Path,
    /// What contains it, if it has no place of its own, as what a merge key brings in.
    pub(crate) around: Path,
    /// The part as it is read, which is a slice of JSON.
    pub(crate) json: &'w str,
    /// The line and column of a mistake in its text.
    pub(crate) mistake: Option<(usize, usize)>,
}

/// Returns the line and column of each part, or of the mistake in it.
pub(crate) fn places(document: &Document, wanted: &[Wanted<'_>]) -> Vec<(usize, usize)> {
    if document.format() != Format::Yaml {
        let offsets = wanted.iter().map(|own| document.offset_of(own.json));
        let starts = document.lines_and_columns(offsets);
        let places = wanted.iter().zip(starts);
        return places.map(|(own, start)| inside(own.json, start, own.mistake)).collect();
    }
    let paths = wanted.iter().flat_map(|own| [own.path.clone(), own.around.clone()]);
    let spans = document.yaml_spans(&paths.collect::<Vec<_>>());
    let spans: Vec<Option<&ValueSpan>> =
        spans.chunks(2).map(|both| both.iter().flatten().next()).collect();
    // An alias is told where it stands, since what it names belongs to another question, too.
    let start = |span: &ValueSpan| span.through.unwrap_or(span.range.start);
    let starts = document.lines_and_columns(spans.iter().map(|span| span.map_or(0, start)));
    let places = wanted.iter().zip(&spans).zip(starts);
    places
        .map(|((own, span), start)| {
            let span = span.filter(|span| span.through.is_none());
            let written = span.map_or("", |span| &document.text()[span.range.clone()]);
            inside(written, start, own.mistake)
        })
        .collect()
}

/// Returns where a mistake in a text is, or where the text begins if that cannot be said.
pub(crate) fn inside(
    written: &str,
    (line, column): (usize, usize),
    mistake: Option<(usize, usize)>,
) -> (usize, usize) {
    let Some(mistake) = mistake else { return (line, column) };
    if written.starts_with('|') {
        let indent = indent_of_block(written);
        return indent.map_or((line, column), |indent| (line + mistake.0, mistake.1 + indent));
    }
    (line, column + along(written, mistake).unwrap_or_default())
}

fn indent_of_block(written: &str) -> Option<usize> {
    let mut lines = written.lines().skip(1).filter(|line| !line.trim().is_empty());
    lines.next().map(|line| line.len() - line.trim_start().len())
}

/// Returns how many characters before a place of a text are written, if all of it is on one line.
fn along(written: &str, place: (usize, usize)) -> Option<usize> {
    let mut chars = written.chars().peekable();
    let quote = chars.next_if(|c| matches!(c, '"' | '\''));
    let mut n_written = usize::from(quote.is_some());
    let (mut line, mut column) = (1, 1);
    while (line, column) != place {
        let c = chars.next().filter(|c| *c != '\n')?;
        n_written += 1;
        let is_end = match (quote, c) {
            (Some('"'), '\\') => {
                let escaped = *chars.peek()?;
                n_written += escape(&mut chars);
                escaped == 'n'
            }
            (Some('\''), '\'') => {
                n_written += usize::from(chars.next() == Some('\''));
                false
            }
            _ => false,
        };
        (line, column) = if is_end { (line + 1, 1) } else { (line, column + 1) };
    }
    Some(n_written)
}

/// Passes over what follows a backslash, and returns how long it is. A pair of escapes may be one character.
fn escape(chars: &mut Peekable<Chars<'_>>) -> usize {
    let n_digits = match chars.next() {
        Some('x') => 2,
        Some('u') => 4,
        Some('U') => 8,
        _ => 0,
    };
    let digits: String = chars.by_ref().take(n_digits).collect();
    let is_half = n_digits == 4 && matches!(u32::from_str_radix(&digits, 16), Ok(0xd800..=0xdbff));
    let n_pair = if is_half { chars.by_ref().take(6).count() } else { 0 };
    1 + n_digits + n_pair
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_is_where_it_is_written() {
        for (written, mistake, wanted) in [
            ("|-\n    one\n    two", (2, 3), (9, 7)),
            ("one two", (1, 5), (7, 14)),
            ("'it''s two'", (1, 6), (7, 17)),
            (r#""a\n\"b two""#, (2, 4), (7, 18)),
            (r#""\ud83d\ude00\u00e9 two""#, (1, 4), (7, 30)),
            ("one\n  two", (1, 5), (7, 10)),
            (">-\n  one\n  two", (2, 1), (7, 10)),
        ] {
            assert_eq!(inside(written, (7, 10), Some(mistake)), wanted, "{written}");
            assert_eq!(inside(written, (7, 10), None), (7, 10), "{written}");
        }
    }
}
