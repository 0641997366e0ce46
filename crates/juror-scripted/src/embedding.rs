//! Embeddings.

use crate::automatic::Chance;
use crate::script::Script;

const N_NUMBERS: usize = 8;

/// Returns a vector for each text: the script's, or one derived from the text.
pub(crate) fn vectors(script: &Script, texts: &[String]) -> Vec<Vec<f64>> {
    texts
        .iter()
        .map(|text| script.embeddings.get(text).cloned().unwrap_or_else(|| of_text(text)))
        .collect()
}

fn of_text(text: &str) -> Vec<f64> {
    let mut chance = Chance::of(text);
    (0..N_NUMBERS).map(|_| chance.below(2001) as f64 / 1000.0 - 1.0).collect()
}

/// Encodes a vector as base64.
pub(crate) fn base64(vector: &[f64]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    #[expect(clippy::cast_possible_truncation, reason = "the protocol has 32 bits a number")]
    let bytes: Vec<u8> = vector.iter().flat_map(|&number| (number as f32).to_le_bytes()).collect();
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let byte = |at: usize| u32::from(group.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at)) as usize & 63];
            text.push(if at <= group.len() { char::from(letter) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_holds_floats_of_four_bytes() {
        assert_eq!(base64(&[1.0]), "AACAPw==");
        assert_eq!(base64(&[1.0, -2.0]), "AACAPwAAAMA=");
    }

    #[test]
    fn the_same_text_has_the_same_vector() {
        assert_eq!(of_text("a"), of_text("a"));
        assert_ne!(of_text("a"), of_text("b"));
        assert_eq!(of_text("a").len(), 8);
    }
}
