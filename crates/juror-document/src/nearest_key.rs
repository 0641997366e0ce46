//! Which known key was probably meant by an unknown one.

/// The least similarity of a misspelt key to a known one.
const NEAR: f64 = 0.75;

/// Returns the most similar known key, if it is similar enough to be meant.
pub fn nearest_key(key: &str, known: &[&'static str]) -> Option<&'static str> {
    let similarity =
        |known: &str| rapidfuzz::distance::osa::normalized_similarity(known.chars(), key.chars());
    let known = known.iter().map(|known| (similarity(known), *known));
    let nearest = known.max_by(|(a, _), (b, _)| a.total_cmp(b));
    nearest.filter(|(similarity, _)| *similarity >= NEAR).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_similar_key_is_meant() {
        let known = &["query", "query_id"];
        for (key, meant) in [("qeury", Some("query")), ("queryid", Some("query_id")), ("api", None)]
        {
            assert_eq!(nearest_key(key, known), meant, "{key}");
        }
    }
}
