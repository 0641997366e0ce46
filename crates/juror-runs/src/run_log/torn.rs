//! Recognizes lines torn by a crash or a power cut.

/// Splits off the lines that were written completely. The rest is a line that was cut off, and
/// bytes that never reached the disk, which read as NUL after a power cut.
pub(crate) fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let written = end_of(bytes, |byte| byte != 0);
    let mut whole = end_of(&bytes[..written], |byte| byte == b'\n');
    // JSON contains no NUL, so a last line with one is torn even though its end arrived.
    let last = end_of(&bytes[..whole.saturating_sub(1)], |byte| byte == b'\n');
    if bytes[last..whole].contains(&0) {
        whole = last;
    }
    bytes.split_at(whole)
}

/// Returns the position after the last byte that satisfies a condition.
fn end_of(bytes: &[u8], is_it: impl Fn(u8) -> bool) -> usize {
    bytes.iter().rposition(|byte| is_it(*byte)).map_or(0, |at| at + 1)
}

/// Returns whether the rest after the last complete line may be part of a line with this beginning.
pub(crate) fn is_rest_of(torn: &[u8], beginning: &[u8]) -> bool {
    let arrived = torn.split(|byte| *byte == 0).next().unwrap_or_default();
    arrived.starts_with(beginning) || beginning.starts_with(arrived)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_torn_stands_behind_the_last_whole_line() {
        for (bytes, n_whole) in [
            ("", 0),
            ("{}\n", 3),
            ("{}\n{\"a", 3),
            ("{}\n\0\0\0", 3),
            ("{}\n{\"a\0\0", 3),
            ("{}\n\0\0}\n", 3),
            ("\0\0", 0),
            ("{\"a\0\0}\n", 0),
            ("{\"a\0\0}\n{}\n", 10),
            ("\n\n", 2),
        ] {
            assert_eq!(split(bytes.as_bytes()).0.len(), n_whole, "{bytes:?}");
        }
    }

    #[test]
    fn only_what_may_be_ours_is_taken_for_torn() {
        let beginning = b"{\"id\":";
        for torn in ["", "{", "{\"id\"", "{\"id\":1", "\0\0", "{\"\0\0", "{\"id\":\"\0"] {
            assert!(is_rest_of(torn.as_bytes(), beginning), "{torn:?}");
        }
        for other in ["precious", "{\"is", "x\0", "{ \"id\":"] {
            assert!(!is_rest_of(other.as_bytes(), beginning), "{other:?}");
        }
    }
}
