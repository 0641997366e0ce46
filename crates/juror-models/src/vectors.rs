//! The text form of vectors in kept replies.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

/// Precedes the reason why vectors are not usable.
const UNUSABLE: char = '!';

/// Encodes vectors as their number and their bytes in base64, or the reason why they are not usable.
pub(crate) fn encode(vectors: &[Vec<f64>], n_texts: usize) -> String {
    match check(vectors, n_texts) {
        Err(why) => format!("{UNUSABLE}{why}"),
        Ok(()) => {
            let numbers = vectors.iter().flatten();
            let bytes: Vec<u8> = numbers.flat_map(|number| number.to_le_bytes()).collect();
            format!("{}:{}", vectors.len(), BASE64.encode(bytes))
        }
    }
}

/// Checks that there is one vector per text, all of the same size and none of them zero.
fn check(vectors: &[Vec<f64>], n_texts: usize) -> Result<(), String> {
    if vectors.len() != n_texts {
        return Err(format!("{} vectors for {n_texts} texts", vectors.len()));
    }
    let size = vectors.first().map_or(0, Vec::len);
    if let Some(other) = vectors.iter().find(|vector| vector.len() != size) {
        return Err(format!("vectors of different sizes: {size} and {}", other.len()));
    }
    if vectors.iter().any(|vector| vector.iter().all(|number| *number == 0.0)) {
        return Err("a vector is zero".into());
    }
    Ok(())
}

/// Decodes vectors.
pub(crate) fn decode(text: &str) -> Result<Vec<Vec<f64>>, String> {
    if let Some(why) = text.strip_prefix(UNUSABLE) {
        return Err(why.to_owned());
    }
    read(text).ok_or_else(|| "the kept vectors are damaged".into())
}

fn read(text: &str) -> Option<Vec<Vec<f64>>> {
    let (count, base64) = text.split_once(':')?;
    let count: usize = count.parse().ok()?;
    let bytes = BASE64.decode(base64).ok()?;
    let numbers: Vec<f64> = bytes
        .chunks_exact(8)
        .map(|bytes| f64::from_le_bytes(bytes.try_into().unwrap_or_default()))
        .collect();
    let size = numbers.len().checked_div(count)?;
    let is_whole = size > 0 && size * count == numbers.len() && bytes.len() == numbers.len() * 8;
    is_whole.then(|| numbers.chunks_exact(size).map(<[f64]>::to_vec).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_back_as_they_were() {
        let vectors = vec![vec![0.1, -2.5e-300], vec![1.0, 0.0]];
        assert_eq!(decode(&encode(&vectors, 2)), Ok(vectors));
    }

    #[test]
    fn what_cannot_be_used_says_why() {
        let why = |vectors: &[Vec<f64>], n| decode(&encode(vectors, n)).expect_err("unusable");
        assert_eq!(why(&[vec![1.0]], 2), "1 vectors for 2 texts");
        assert_eq!(why(&[vec![1.0], vec![1.0, 2.0]], 2), "vectors of different sizes: 1 and 2");
        assert_eq!(why(&[vec![0.0, 0.0]], 1), "a vector is zero");
        assert!(decode("2:AAAA").is_err() && decode("").is_err() && decode("9:!").is_err());
    }
}
