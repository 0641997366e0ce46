//! Decodes parts of URLs: path segments and query parameters.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

/// Decodes a part of a URL. Returns `None` if an escape is malformed or the result is not UTF-8.
pub fn decoded(part: &str) -> Option<String> {
    // The decoder would leave malformed escapes as they are.
    if !part.split('%').skip(1).all(begins_with_two_digits) {
        return None;
    }
    percent_decode_str(part).decode_utf8().ok().map(Cow::into_owned)
}

fn begins_with_two_digits(text: &str) -> bool {
    text.as_bytes().get(..2).is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
}

/// Returns a query parameter; the first if it is repeated.
pub fn field(query: &str, name: &str) -> Option<String> {
    values(query, name).next()?
}

/// Returns all values of a query parameter that can be decoded, in order.
pub fn fields(query: &str, name: &str) -> Vec<String> {
    values(query, name).flatten().collect()
}

fn values<'q>(query: &'q str, name: &'q str) -> impl Iterator<Item = Option<String>> + 'q {
    let pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    pairs.filter(move |(key, _)| *key == name).map(|(_, value)| decoded(&value.replace('+', " ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_decoded() {
        let query = "q=caf%C3%A9+au%20lait&k=5&k=6&empty";
        assert_eq!(field(query, "q").as_deref(), Some("café au lait"));
        assert_eq!(field(query, "k").as_deref(), Some("5"));
        assert_eq!(field(query, "empty").as_deref(), Some(""));
        assert_eq!(field(query, "other"), None);
        assert_eq!(fields("k=5&j=1&k=%&k=6", "k"), ["5", "6"]);
        for broken in ["q=%", "q=%4", "q=%zz", "q=%ff", "q=%%41", "q=%4%31"] {
            assert_eq!(field(broken, "q"), None, "{broken}");
        }
    }
}
