//! The meaning of scalars by the rules of `PyYAML`'s safe loader, which are those of YAML 1.1,
//! except that `yes`, `no`, `on` and `off` stay strings.

use std::borrow::Cow;

use super::number::{self, whole};

/// The value of a scalar.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar<'a> {
    Null,
    Truth(bool),
    /// A number, as JSON.
    Number(Cow<'a, str>),
    /// `NaN` or an infinity, as Python writes it.
    NotFinite(&'static str),
    Text,
}

/// Why a scalar does not fit its tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadTag {
    /// The tag is unknown.
    Unknown,
    /// The text is not a value of the tagged type.
    Unfit,
}

/// Resolves a plain scalar without a tag.
pub(super) fn resolve(text: &str) -> Scalar<'_> {
    match text.as_bytes().first() {
        None => Scalar::Null,
        Some(b'~' | b'n' | b'N') if matches!(text, "~" | "null" | "Null" | "NULL") => Scalar::Null,
        Some(b't' | b'T') if matches!(text, "true" | "True" | "TRUE") => Scalar::Truth(true),
        Some(b'f' | b'F') if matches!(text, "false" | "False" | "FALSE") => Scalar::Truth(false),
        Some(b'0'..=b'9' | b'+' | b'-' | b'.') => number::resolve(text).unwrap_or(Scalar::Text),
        Some(_) => Scalar::Text,
    }
}

/// Returns the boolean that `PyYAML` would read, for a word that Juror reads as a string.
pub(super) fn truth_elsewhere(text: &str) -> Option<bool> {
    match text {
        "yes" | "Yes" | "YES" | "on" | "On" | "ON" => Some(true),
        "no" | "No" | "NO" | "off" | "Off" | "OFF" => Some(false),
        _ => None,
    }
}

/// Resolves a scalar with a tag, given the part after `tag:yaml.org,2002:`.
pub(super) fn resolve_tagged<'a>(text: &'a str, tag: &str) -> Result<Scalar<'a>, BadTag> {
    match tag {
        // Times are strings, as they are without the tag.
        "str" | "timestamp" | "value" | "merge" => Ok(Scalar::Text),
        "null" => Ok(Scalar::Null),
        "bool" => {
            let word = text.to_ascii_lowercase();
            let truth = match word.as_str() {
                "true" => Some(true),
                "false" => Some(false),
                _ => truth_elsewhere(&word),
            };
            truth.map(Scalar::Truth).ok_or(BadTag::Unfit)
        }
        "int" => whole(text).map(Scalar::Number).ok_or(BadTag::Unfit),
        "float" => number::real(text).ok_or(BadTag::Unfit),
        "binary" | "seq" | "map" | "set" | "omap" | "pairs" => Err(BadTag::Unfit),
        _ => Err(BadTag::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_words_say_what_they_say_to_pyyaml() {
        for text in ["", "~", "null", "Null", "NULL"] {
            assert_eq!(resolve(text), Scalar::Null, "{text}");
        }
        for (text, truth) in [("true", true), ("True", true), ("FALSE", false)] {
            assert_eq!(resolve(text), Scalar::Truth(truth), "{text}");
        }
        for text in ["nULL", "tRUE", "yes", "No", "ON", "y", "n", "=", "<<", "2025-04-22", "a"] {
            assert_eq!(resolve(text), Scalar::Text, "{text}");
        }
    }

    #[test]
    fn a_tag_says_what_its_scalar_is() {
        let number = |text: &'static str| Ok(Scalar::Number(text.into()));
        let rows = [
            ("12", "str", Ok(Scalar::Text)),
            ("0x1F", "int", number("31")),
            ("1e3", "float", number("1000.0")),
            ("5", "float", number("5.0")),
            (".inf", "float", Ok(Scalar::NotFinite("Infinity"))),
            ("yes", "bool", Ok(Scalar::Truth(true))),
            ("anything", "null", Ok(Scalar::Null)),
            ("abc", "int", Err(BadTag::Unfit)),
            ("abc", "float", Err(BadTag::Unfit)),
            ("maybe", "bool", Err(BadTag::Unfit)),
            ("aGk=", "binary", Err(BadTag::Unfit)),
            ("x", "python/name:os.system", Err(BadTag::Unknown)),
        ];
        for (text, tag, said) in rows {
            assert_eq!(resolve_tagged(text, tag), said, "!!{tag} {text}");
        }
    }
}
