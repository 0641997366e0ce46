//! The records of a file: lines, items of a list, or one object.

use juror_document::{Document, Look, Path};
use juror_json::Object;
use serde_json::value::RawValue;

/// A record, with the text and the path by which problems with it are placed.
pub(super) struct Record<'d> {
    pub(super) fields: Object<'d>,
    pub(super) text: &'d str,
    pub(super) path: Path,
}

/// Returns the records of a file. What cannot be read becomes a problem.
pub(super) fn records<'d>(
    document: &'d Document,
    look: &mut Look<'d>,
    expected: &'static str,
) -> Vec<Record<'d>> {
    let top = Path::default();
    let is_one = document.json().trim_ascii_start().starts_with('{');
    if document.is_lines() || is_one {
        let lines = document.values();
        return lines.iter().filter_map(|line| record(document, line, look, expected)).collect();
    }
    let list: Vec<&RawValue> = match document.parse(document.json()) {
        Ok(list) => list,
        Err((text, error)) => {
            look.complain(text, &error);
            Vec::new()
        }
    };
    let at = |(index, value): (usize, &'d RawValue)| {
        let path = top.index(index);
        let fields = look.object(value, &path, expected)?;
        Some(Record { fields, text: value.get(), path })
    };
    list.into_iter().enumerate().filter_map(at).collect()
}

fn record<'d>(
    document: &'d Document,
    line: &'d str,
    look: &mut Look<'d>,
    expected: &'static str,
) -> Option<Record<'d>> {
    let path = Path::default();
    let value: &RawValue = match document.parse(line) {
        Ok(value) => value,
        Err((text, error)) => {
            look.complain(text, &error);
            return None;
        }
    };
    Some(Record { fields: look.object(value, &path, expected)?, text: value.get(), path })
}
