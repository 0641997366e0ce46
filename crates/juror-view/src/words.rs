//! Texts that somebody else wrote.

use juror_report::visible;

/// Replaces characters that hide or reverse text, and keeps lines.
pub(crate) fn visible_lines(text: &str) -> String {
    text.split('\n').map(visible).collect::<Vec<String>>().join("\n")
}
