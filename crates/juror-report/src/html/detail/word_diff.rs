//! Word by word, how an answer differs from the reference.

use std::time::Duration;

use similar::{Algorithm, ChangeTag, TextDiff};

/// Longer texts are compared as a whole: nobody reads the difference.
const MOST_BYTES: usize = 20_000;

/// The longest a comparison may take; what is left then counts as replaced.
const DEADLINE: Duration = Duration::from_millis(100);

/// Returns the pieces of both texts: those only in the reference (-1), in both (0), and only in the
/// answer (1), in reading order.
pub(super) fn word_diff(reference: &str, answer: &str) -> Vec<(i8, String)> {
    if reference.len() + answer.len() > MOST_BYTES {
        return vec![(-1, reference.to_owned()), (1, answer.to_owned())];
    }
    let mut config = TextDiff::configure();
    config.algorithm(Algorithm::Patience).timeout(DEADLINE);
    let diff = config.diff_words(reference, answer);
    let mut pieces: Vec<(i8, String)> = Vec::new();
    for change in diff.iter_all_changes() {
        let sign = match change.tag() {
            ChangeTag::Delete => -1,
            ChangeTag::Equal => 0,
            ChangeTag::Insert => 1,
        };
        match pieces.last_mut() {
            Some((last, text)) if *last == sign => text.push_str(change.value()),
            _ => pieces.push((sign, change.value().to_owned())),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn side(pieces: &[(i8, String)], left_out: i8) -> String {
        let own = pieces.iter().filter(|(sign, _)| *sign != left_out);
        own.map(|(_, text)| text.as_str()).collect()
    }

    #[test]
    fn words_are_kept_whole() {
        let pieces = word_diff("the ladder fern", "the cellar fern");
        let expected = [(0, "the "), (-1, "ladder"), (1, "cellar"), (0, " fern")]
            .map(|(sign, text)| (sign, text.to_owned()));
        assert_eq!(pieces, expected);
    }

    proptest! {
        #[test]
        fn both_texts_can_be_read_from_the_pieces(
            reference in "[a-c \n]{0,40}", answer in "[a-c \n]{0,40}",
        ) {
            let pieces = word_diff(&reference, &answer);
            prop_assert_eq!(side(&pieces, 1), reference);
            prop_assert_eq!(side(&pieces, -1), answer);
        }
    }
}
