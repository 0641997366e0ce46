//! Keys of model providers.

use std::fmt;

/// The shortest key that is looked for in texts.
const SHORTEST: usize = 6;

/// The shortest key that is looked for in replies, which are kept. Shorter ones are words that stand
/// for a key where none is asked for, and may well be said.
const SHORTEST_IN_REPLIES: usize = 12;

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

/// All that a model is asked with and nobody else may see.
#[derive(Clone, Debug, Default)]
pub struct Secrets(Vec<Secret>);

impl Secrets {
    /// Secrets, and the words of those that have more than one: a server may repeat a token without
    /// the word before it.
    pub fn new<'s>(secrets: impl IntoIterator<Item = &'s str>) -> Secrets {
        let words = secrets
            .into_iter()
            .flat_map(|secret| std::iter::once(secret.trim()).chain(secret.split_whitespace()));
        let long = words.filter(|word| word.len() >= SHORTEST_IN_REPLIES);
        let mut all: Vec<Secret> = long.map(Secret::new).collect();
        // What is part of another is looked for after it.
        all.sort_by_key(|secret| std::cmp::Reverse(secret.0.len()));
        all.dedup();
        Secrets(all)
    }

    /// A reply without secrets.
    pub fn redact(&self, reply: String) -> String {
        let without = |reply: String, secret: &Secret| {
            if reply.contains(&secret.0) { secret.redact(&reply) } else { reply }
        };
        self.0.iter().fold(reply, without)
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Words that names of keys are made of. `tokens` and `keywords` are none of them.
const SECRET_WORDS: [&str; 5] = ["key", "apikey", "token", "secret", "password"];

/// Whether an option, a variable or a parameter of an address is called as keys are: one of its
/// whole words says so.
pub fn is_secret_name(name: &str) -> bool {
    words_of(name).iter().any(|word| SECRET_WORDS.contains(&word.as_str()))
}

/// More words that stand for keys in addresses.
const SECRET_PARAMETERS: [&str; 8] =
    ["code", "sig", "signature", "auth", "pass", "pwd", "credential", "credentials"];

/// Whether a parameter of an address holds a key: it is called so, or looks like one.
pub fn is_secret_parameter(name: &str, value: &str) -> bool {
    let is_called_so =
        || words_of(name).iter().any(|word| SECRET_PARAMETERS.contains(&word.as_str()));
    let looks_like_one = value.len() >= 20
        && value.contains(|c: char| c.is_ascii_digit())
        && value.contains(|c: char| c.is_ascii_alphabetic());
    is_secret_name(name) || is_called_so() || looks_like_one
}

/// Whether a header says who asks, and nothing of what is asked.
pub fn says_who_asks(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    header.ends_with("authorization") || header == "cookie" || is_secret_name(&header)
}

/// The words of a name, in lower case: `OPENAI_API_KEY`, `--api-key` and `apiKey` end with `key`.
pub fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for c in name.chars() {
        if !c.is_alphanumeric() || (was_small && c.is_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_alphanumeric()) {
            word.extend(c.to_lowercase());
        }
        was_small = c.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
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

    #[test]
    fn replies_lose_keys_and_keep_words() {
        let secrets = Secrets::new(["Bearer sk-0123456789", "sk-0123456789-long", "ollama"]);
        let redacted = |text: &str| secrets.redact(text.to_owned());
        assert_eq!(redacted("You sent Bearer sk-0123456789."), "You sent ***.");
        assert_eq!(redacted("sk-0123456789-long sk-0123456789"), "*** ***");
        assert_eq!(redacted("ollama, Bearer"), "ollama, Bearer");
    }
}
