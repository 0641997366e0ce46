//! Keys of model providers.

use std::fmt;

/// The shortest key that is looked for in texts.
const SHORTEST: usize = 6;

/// A key. It prints as `***`; only a request's header ever holds it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Takes a key, without the line end that files often add.
    pub fn new(key: &str) -> Secret {
        Secret(key.trim().to_owned())
    }

    /// The key itself, for a request and nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// A text without the key. One so short that it may be part of any word is no secret.
    pub fn redact(&self, text: &str) -> String {
        if self.0.len() < SHORTEST { text.to_owned() } else { text.replace(&self.0, "***") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_printed() {
        let key = Secret::new("sk-very-secret\n");
        assert_eq!(format!("{key:?}"), "***");
        assert_eq!(key.redact("Incorrect key: sk-very-secret."), "Incorrect key: ***.");
        assert_eq!(Secret::new("").redact("abc"), "abc");
    }
}
