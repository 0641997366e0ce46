//! Why JSON was not read, in words that are short however long the text is.

/// The most characters of a value that are quoted.
const MOST_QUOTED: usize = 60;

/// The most characters of a reason. No list of known keys is longer.
const MOST_IN_ALL: usize = 2_000;

/// What `serde` says before it quotes text that it read, up to the quote.
const BEFORE_QUOTE: [&str; 4] =
    ["invalid type: string \"", "invalid value: string \"", "unknown variant `", "unknown field `"];

/// What it says after the quote, behind the mark that ends it.
const AFTER_QUOTE: [&str; 2] = [", expected ", ", there are no "];

/// Says why JSON was not read, without the place. A text that does not fit is quoted by its beginning: it
/// may be a whole file.
///
/// ```
/// let text = format!("\"{}\"", "root:x:0 ".repeat(1_000));
/// let error = serde_json::from_str::<Vec<u8>>(&text).unwrap_err();
/// let quoted = format!("{}root:x…", "root:x:0 ".repeat(6));
/// assert_eq!(
///     juror_json::reason(&error),
///     format!("invalid type: string \"{quoted}\", expected a sequence")
/// );
/// ```
pub fn reason(error: &serde_json::Error) -> String {
    in_parts(error).0
}

/// Says why JSON was not read, and where, if that is known: as the error itself does, but short.
pub fn reason_and_place(error: &serde_json::Error) -> String {
    let (reason, place) = in_parts(error);
    reason + &place
}

fn in_parts(error: &serde_json::Error) -> (String, String) {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let (message, place) = match message.strip_suffix(&place) {
        Some(message) => (message, place),
        None => (&*message, String::new()),
    };
    (cut(&with_short_quote(message), MOST_IN_ALL), place)
}

/// Shortens the text that a message quotes.
fn with_short_quote(message: &str) -> String {
    let Some(before) = BEFORE_QUOTE.iter().find(|before| message.starts_with(**before)) else {
        return message.to_owned();
    };
    let (mark, rest) = (&before[before.len() - 1..], &message[before.len()..]);
    // The quote may have these words, too: what `serde` says comes last.
    let ends = AFTER_QUOTE.iter().filter_map(|after| rest.rfind(&format!("{mark}{after}")));
    let (quoted, after) = rest.split_at(ends.max().unwrap_or(rest.len()));
    format!("{before}{}{after}", cut(quoted, MOST_QUOTED))
}

/// Returns the beginning of a text.
fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Form {
        #[serde(rename = "kind")]
        _kind: Option<Kind>,
        #[serde(rename = "at")]
        _at: Option<std::net::IpAddr>,
    }

    #[derive(Debug, Deserialize)]
    enum Kind {
        A,
        B,
    }

    fn said(json: &str) -> String {
        reason(&serde_json::from_str::<Form>(json).expect_err("a reason"))
    }

    #[test]
    fn what_is_short_is_said_in_full_but_for_its_place() {
        for (json, wanted) in [
            ("{", "EOF while parsing an object"),
            ("{\"kind\": \"at line 1\"}", "unknown variant `at line 1`, expected `A` or `B`"),
            (
                "\"a \\\"quote\\\"\"",
                "invalid type: string \"a \\\"quote\\\"\", expected struct Form",
            ),
            ("{\"x\": 1}", "unknown field `x`, expected `kind` or `at`"),
            ("{\"at\": \"x\"}", "invalid IP address syntax"),
        ] {
            assert_eq!(said(json), wanted, "{json}");
        }
    }

    #[test]
    fn of_a_long_text_the_beginning_is_quoted() {
        let long = "é`, expected x ".repeat(100_000);
        let quoted: String = long.chars().take(MOST_QUOTED).chain(['…']).collect();
        for (json, wanted) in [
            (
                format!("\"{long}\""),
                format!("invalid type: string \"{quoted}\", expected struct Form"),
            ),
            (
                format!("{{\"kind\": \"{long}\"}}"),
                format!("unknown variant `{quoted}`, expected `A` or `B`"),
            ),
            (
                format!("{{\"{long}\": 1}}"),
                format!("unknown field `{quoted}`, expected `kind` or `at`"),
            ),
        ] {
            assert_eq!(said(&json), wanted);
        }
        let error = serde_json::from_str::<Form>(&format!("\"{long}\"")).expect_err("a reason");
        let end = format!("…\", expected struct Form at line 1 column {}", error.column());
        assert!(reason_and_place(&error).ends_with(&end), "{error}");
        let own: serde_json::Error = serde::de::Error::custom(&long);
        assert_eq!(reason(&own).chars().count(), MOST_IN_ALL + 1);
    }
}
