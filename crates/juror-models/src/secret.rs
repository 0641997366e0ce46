//! Keys of model providers.

use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::percent_decode_str;
use reqwest::Url;

/// The shortest key that is redacted in messages.
const SHORTEST: usize = 6;

/// The shortest key that is redacted in replies, which are kept. Shorter ones are placeholders for
/// servers that need no key, and may be ordinary words.
const SHORTEST_IN_REPLIES: usize = 12;

/// A key. It prints as `***`; only the headers of requests contain it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Creates a secret, without the line break that files often add.
    pub fn new(key: &str) -> Secret {
        Secret(key.trim().to_owned())
    }

    /// The key itself, only for use in a request.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Removes the key from a text. A very short key, which may be part of any word, is not removed.
    pub fn redact(&self, text: &str) -> String {
        if self.0.len() < SHORTEST { text.to_owned() } else { text.replace(&self.0, "***") }
    }
}

/// All secrets in requests to a model.
#[derive(Clone, Debug, Default)]
pub struct Secrets(Vec<Secret>);

impl Secrets {
    /// Collects secrets, and the words of those that consist of several: a server may repeat a token
    /// without the word before it.
    pub fn new<'s>(secrets: impl IntoIterator<Item = &'s str>) -> Secrets {
        let words = secrets
            .into_iter()
            .flat_map(|secret| std::iter::once(secret.trim()).chain(secret.split_whitespace()));
        let long = words.filter(|word| word.len() >= SHORTEST_IN_REPLIES);
        let mut all: Vec<Secret> = long.map(Secret::new).collect();
        // Longer ones first, since one may be part of another.
        all.sort_by_key(|secret| std::cmp::Reverse(secret.0.len()));
        all.dedup();
        Secrets(all)
    }

    /// Adds the secrets of an address. They are no placeholders, so that shorter ones count, too.
    #[must_use]
    pub fn and_of_address(mut self, address: &Url) -> Secrets {
        let own = secrets_of_address(address);
        self.0.extend(own.into_iter().filter(|secret| secret.0.len() >= SHORTEST));
        self.0.sort_by_key(|secret| std::cmp::Reverse(secret.0.len()));
        self.0.dedup();
        self
    }

    /// Removes the secrets from a reply.
    pub fn redact(&self, reply: String) -> String {
        let without = |reply: String, secret: &Secret| {
            if reply.contains(&secret.0) { secret.redact(&reply) } else { reply }
        };
        self.0.iter().fold(reply, without)
    }
}

/// Returns what an address holds that nobody else may see: its password, also as requests send it,
/// and the parameters that are keys.
pub fn secrets_of_address(address: &Url) -> Vec<Secret> {
    let mut found: Vec<String> = Vec::new();
    if let Some(password) = address.password() {
        let (user, open) = (decoded(address.username()), decoded(password));
        found.extend([password.to_owned(), BASE64_STANDARD.encode(format!("{user}:{open}")), open]);
    } else if looks_like_a_key(address.username()) {
        found.extend([address.username().to_owned(), decoded(address.username())]);
    }
    let parameters = address.query_pairs().filter(|(name, value)| is_secret_parameter(name, value));
    found.extend(parameters.map(|(_, value)| value.into_owned()));
    found.sort();
    found.dedup();
    found.iter().map(|secret| Secret::new(secret)).collect()
}

/// Decodes `%40` and the like.
fn decoded(part: &str) -> String {
    percent_decode_str(part).decode_utf8_lossy().into_owned()
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Words in names of secrets, alone or at the end of a longer word such as `PGPASSWORD`. `tokens`
/// and `keywords` are not among them.
const SECRET_WORDS: [&str; 15] = [
    "apikey",
    "apikeys",
    "accesskey",
    "secretkey",
    "privatekey",
    "token",
    "secret",
    "secrets",
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "passcode",
    "credential",
    "credentials",
];

/// Words in names of secrets that only count alone, since other words end like them: `monkey`.
const SECRET_WHOLE_WORDS: [&str; 5] = ["key", "keys", "creds", "jwt", "bearer"];

/// Words that count only after others: `MYSQL_PWD` is a password, but `PWD` is a folder.
const SECRET_LAST_WORDS: [&str; 3] = ["pass", "pwd", "pat"];

/// Last words of names that are about a secret but do not contain it: `TOKEN_LIMIT`, `SSL_KEY_FILE`.
/// The values of `WEBHOOK_SECRET_URL` or `TOKEN_HEADER`, in contrast, often are the secret.
const TELLING_OF_SECRETS: [&str; 13] = [
    "limit", "limits", "count", "size", "length", "budget", "rate", "usage", "file", "path", "dir",
    "name", "type",
];

/// Whether the name of an option, variable, header or URL parameter is that of a secret. This is the
/// only rule for it, both for what agents receive and for what is shown. Numbers are ignored, as in
/// `OPENAI_API_KEY_2`.
pub fn is_secret_name(name: &str) -> bool {
    let mut words = words_of(name);
    for word in &mut words {
        word.truncate(word.trim_end_matches(|c: char| c.is_ascii_digit()).len());
    }
    words.retain(|word| !word.is_empty());
    let Some((last, others)) = words.split_last() else { return false };
    let says_so = |word: &String| {
        SECRET_WHOLE_WORDS.contains(&word.as_str())
            || SECRET_WORDS.iter().any(|secret| word.ends_with(secret))
    };
    let says_so_at_the_end = !others.is_empty() && SECRET_LAST_WORDS.contains(&last.as_str());
    let only_tells_of_it = TELLING_OF_SECRETS.contains(&last.as_str());
    !only_tells_of_it && (words.iter().any(says_so) || says_so_at_the_end)
}

/// More names of secrets in URLs.
const SECRET_PARAMETERS: [&str; 6] = ["code", "sig", "signature", "auth", "pass", "pwd"];

/// Whether a URL parameter is a secret, by its name or by its value.
pub fn is_secret_parameter(name: &str, value: &str) -> bool {
    let is_called_so =
        || words_of(name).iter().any(|word| SECRET_PARAMETERS.contains(&word.as_str()));
    is_secret_name(name) || is_called_so() || looks_like_a_key(value)
}

/// Whether a text is as long and mixed as keys are.
pub fn looks_like_a_key(text: &str) -> bool {
    text.len() >= 20
        && text.contains(|c: char| c.is_ascii_digit())
        && text.contains(|c: char| c.is_ascii_alphabetic())
}

/// Whether a header identifies the caller and does not affect the reply.
pub fn says_who_asks(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    header.ends_with("authorization") || header == "cookie" || is_secret_name(&header)
}

/// Returns the words of a name in lower case: `OPENAI_API_KEY`, `--api-key` and `apiKey` all end with
/// `key`.
fn words_of(name: &str) -> Vec<String> {
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
    fn keys_are_known_by_their_names() {
        for name in [
            "OPENAI_API_KEY",
            "OPENAI_API_KEY_2",
            "OPENAI_API_KEY2",
            "AZURE_API_KEY_EASTUS",
            "API_KEYS",
            "apiKey",
            "--api-key",
            "X-Api-Key",
            "OPENAI_APIKEY",
            "AWS_ACCESS_KEY_ID",
            "AWS_SECRET_ACCESS_KEY",
            "GITHUB_TOKEN",
            "SLACK_TOKEN_PROD",
            "STOP_TOKEN",
            "GITHUBTOKEN",
            "CLIENT_SECRET",
            "CLIENTSECRET",
            "DB_PASSWORD",
            "PGPASSWORD",
            "MYSQL_PWD",
            "SMTP_PASS",
            "SSH_PASSPHRASE",
            "GITHUB_PAT",
            "AZURE_DEVOPS_EXT_PAT_2",
            "GOOGLE_APPLICATION_CREDENTIALS",
            "DB_CREDS",
            "SESSION_JWT",
            "WEBHOOK_SECRET_URL",
            "--token-header",
        ] {
            assert!(is_secret_name(name), "{name}");
        }
        for name in [
            "",
            "_",
            "2",
            "PATH",
            "PWD",
            "OLDPWD",
            "PASS",
            "PASS_RATE",
            "MAX_TOKENS",
            "TOKEN_LIMIT",
            "TOKENIZERS_PARALLELISM",
            "PASSWORD_LENGTH",
            "KEYWORDS",
            "MONKEY",
            "KEYBOARD_LAYOUT",
            "SSL_KEY_FILE",
            "AWS_SECRET_NAME",
            "SSH_AUTH_SOCK",
            "COMPASS",
            "PATTERN",
            "DATABASE_URL",
        ] {
            assert!(!is_secret_name(name), "{name}");
        }
    }

    #[test]
    fn an_address_keeps_its_password_to_itself() {
        let of = |address: &str| {
            let address: Url = address.parse().expect("an address");
            let found = secrets_of_address(&address);
            found.iter().map(|secret| secret.expose().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(of("http://me:p%40ssword@h/v1"), ["bWU6cEBzc3dvcmQ=", "p%40ssword", "p@ssword"]);
        assert_eq!(of("http://sk0123456789abcdefgh@h"), ["sk0123456789abcdefgh"]);
        assert_eq!(of("http://h/v1?token=hush&top_k=5"), ["hush"]);
        assert_eq!(of("http://me@h/v1"), [""; 0]);
        let address = "http://me:hunter2@h".parse().expect("an address");
        let secrets = Secrets::new([]).and_of_address(&address);
        let said = "You are me:hunter2, Basic bWU6aHVudGVyMg==.".to_owned();
        assert_eq!(secrets.redact(said), "You are me:***, Basic ***.");
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
