//! Addresses: parts of paths and fields of queries.

/// A part of an address with its escapes resolved; nothing if that gives no text.
pub(crate) fn decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digits = after.get(..2)?;
        let digit = |at: usize| char::from(digits[at]).to_digit(16);
        bytes.push(u8::try_from(digit(0)? * 16 + digit(1)?).ok()?);
        rest = &after[2..];
    }
    String::from_utf8(bytes).ok()
}

/// A field of a query; the first where it is repeated.
pub(crate) fn field(query: &str, name: &str) -> Option<String> {
    let mut pairs = query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let (_, value) = pairs.find(|(key, _)| *key == name)?;
    decoded(&value.replace('+', " "))
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
        for broken in ["q=%", "q=%4", "q=%zz", "q=%ff"] {
            assert_eq!(field(broken, "q"), None, "{broken}");
        }
    }
}
