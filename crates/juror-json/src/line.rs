//! JSON for formats in which a line is a message.

use std::borrow::Cow;

/// Returns JSON text on one line. Line breaks stand only between its tokens, never in a string, and a
/// blank does as well there.
///
/// ```
/// assert_eq!(juror_json::on_one_line("{\n  \"a\": 1\n}"), "{   \"a\": 1 }");
/// ```
pub fn on_one_line(json: &str) -> Cow<'_, str> {
    match memchr::memchr2(b'\n', b'\r', json.as_bytes()) {
        None => Cow::Borrowed(json),
        Some(_) => Cow::Owned(json.replace(['\n', '\r'], " ")),
    }
}
