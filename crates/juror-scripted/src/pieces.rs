//! Splits replies as providers and networks do.

/// The number of pieces of a streamed text, if it is long enough.
const N_PIECES: usize = 4;

/// Splits a text at character boundaries into pieces of similar length.
pub(crate) fn of_text(text: &str) -> Vec<&str> {
    let mut pieces = Vec::with_capacity(N_PIECES);
    let mut rest = text;
    for n_left in (1..N_PIECES).rev() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(rest.len() / (n_left + 1)));
        if !piece.is_empty() {
            pieces.push(piece);
        }
        rest = after;
    }
    pieces.push(rest);
    pieces
}

/// Splits events where clients like it least: each once in its middle, inside a multi-byte
/// character if it has one. So no piece is an event, and some are not valid UTF-8.
pub(crate) fn of_events(events: &[String]) -> Vec<Vec<u8>> {
    let mut pieces = Vec::with_capacity(events.len() + 1);
    let mut piece = Vec::new();
    for event in events {
        let bytes = event.as_bytes();
        let letter = bytes.iter().position(|byte| !byte.is_ascii());
        let (head, tail) = bytes.split_at(letter.map_or(bytes.len() / 2, |at| at + 1));
        piece.extend_from_slice(head);
        pieces.push(std::mem::replace(&mut piece, tail.to_vec()));
    }
    pieces.push(piece);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_a_text_make_the_text() {
        for text in ["", "a", "ab", "automatic", "ééééé", "a😀b"] {
            assert_eq!(of_text(text).concat(), text);
        }
        assert_eq!(of_text("abcdefgh"), ["ab", "cd", "ef", "gh"]);
    }

    #[test]
    fn a_letter_is_cut_in_two() {
        let events = ["data: é\n\n".to_owned(), "data: a\n\n".to_owned()];
        let pieces = of_events(&events);
        assert_eq!(pieces.concat(), events.concat().as_bytes());
        assert_eq!(pieces.len(), 3);
        assert!(str::from_utf8(&pieces[0]).is_err());
    }
}
