//! Makes JSON of a text that ends in the middle: what is complete stays, what is not goes.

use serde_json::Value;

/// Returns the value of a text that was cut off, without what the cut broke; `None` if nothing is
/// left, or if it is not JSON for another reason.
pub(crate) fn cut_off(text: &str) -> Option<Value> {
    let mut open: Vec<u8> = Vec::new();
    // Where the text is complete if the brackets that are open then are closed.
    let mut whole: Option<(usize, Vec<u8>)> = None;
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                let Some(end) = juror_json::end_of_string(text, at) else { break };
                at = end;
                continue;
            }
            b'{' => open.push(b'}'),
            b'[' => open.push(b']'),
            close @ (b'}' | b']') => {
                if open.pop() != Some(close) {
                    return None;
                }
                whole = Some((at + 1, open.clone()));
            }
            b',' => whole = Some((at, open.clone())),
            _ => {}
        }
        at += 1;
    }
    let (end, open) = whole?;
    let mut mended = text[..end].to_owned();
    mended.extend(open.iter().rev().map(|close| char::from(*close)));
    serde_json::from_str(&mended).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_complete_stays() {
        let check = |text: &str, wanted: Option<Value>| assert_eq!(cut_off(text), wanted, "{text}");
        check(r#"[{"a": 1}, {"a": 2}, {"a": "#, Some(json!([{"a": 1}, {"a": 2}])));
        check(
            r#"{"a": [1, 2], "b": {"c": "x, y", "d": "z"#,
            Some(json!({"a": [1, 2], "b": {"c": "x, y"}})),
        );
        check(r#"[{"a": "un"#, None);
        check("[1, 2}", None);
        check("", None);
    }
}
