//! Masks anything like a key in commands, addresses and settings, so that it is never stored or
//! shown.

use juror_models::{is_secret_name, is_secret_parameter};
use serde_json::Value;

pub use crate::address::without_credentials;
use crate::address::{has_password, without_user};
use crate::fingerprint::short_hash;

/// What replaces a hidden value.
#[derive(Clone, Copy, Debug)]
pub enum Mask {
    /// Stars, which reveal nothing, for people.
    Stars,
    /// A short hash, so that different values make different runs.
    Hash,
}

impl Mask {
    fn over(self, value: &str) -> String {
        match self {
            Mask::Stars => "***".to_owned(),
            Mask::Hash => format!("#{}", &short_hash(value)[..8]),
        }
    }
}

/// Masks anything like a key in an agent as the user names it: a command or an address.
pub fn in_agent(agent: &str, mask: Mask) -> String {
    let mut words = agent.split(' ');
    let mut shown = Vec::new();
    let mut follows_name = false;
    while let Some(word) = words.next() {
        if word.is_empty() {
            shown.push(String::new());
            continue;
        }
        let hides = follows_name && !word.starts_with('-');
        follows_name = word.starts_with('-') && !word.contains('=') && is_secret_name(word);
        shown.push(match word.split_once('=') {
            _ if hides => mask.over(&to_closing_quote(word, &mut words)),
            Some((name, value)) if !name.contains("://") && is_secret_name(name) => {
                format!("{name}={}", mask.over(&to_closing_quote(value, &mut words)))
            }
            _ => in_address(word, mask),
        });
    }
    shown.join(" ")
}

/// Masks anything like a key in the words of a command line: values of options that are named like
/// keys or that take headers, and anything that would be masked in an agent. `env:NAME`, which names
/// a variable, stays.
pub fn in_command(words: &[String]) -> Vec<String> {
    let mut is_secret = false;
    let mut shown = Vec::with_capacity(words.len());
    for word in words {
        let follows_name = std::mem::take(&mut is_secret);
        shown.push(match word.split_once('=').filter(|_| word.starts_with('-')) {
            _ if follows_name => in_value(word),
            Some((name, value)) if takes_secret(name) => format!("{name}={}", in_value(value)),
            Some((name, value)) => format!("{name}={}", in_agent(value, Mask::Stars)),
            None => {
                is_secret = word.starts_with('-') && takes_secret(word);
                in_agent(word, Mask::Stars)
            }
        });
    }
    shown
}

fn takes_secret(option: &str) -> bool {
    is_secret_name(option) || option.contains("header")
}

fn in_value(value: &str) -> String {
    if value.starts_with("env:") { value.to_owned() } else { Mask::Stars.over(value) }
}

/// Returns a value with all words up to its closing quote.
fn to_closing_quote<'w>(value: &str, words: &mut impl Iterator<Item = &'w str>) -> String {
    let mut whole = value.to_owned();
    let Some(quote) = value.chars().next().filter(|c| "'\"".contains(*c)) else { return whole };
    while whole.len() == 1 || !whole.ends_with(quote) {
        let Some(word) = words.next() else { break };
        whole = format!("{whole} {word}");
    }
    whole
}

/// Removes the user name and password from an address, and masks parameters that are named like
/// keys. Any other text is returned as it is.
pub fn in_address(address: &str, mask: Mask) -> String {
    in_parameters(&without_user(address), mask, is_secret_parameter)
}

/// Masks some parameters of an address.
fn in_parameters(address: &str, mask: Mask, is_secret: impl Fn(&str, &str) -> bool) -> String {
    let Some((path, query)) = address.split_once('?').filter(|(path, _)| path.contains("://"))
    else {
        return address.to_owned();
    };
    let parameters = query.split('&').map(|parameter| match parameter.split_once('=') {
        Some((name, value)) if is_secret(name, value) => format!("{name}={}", mask.over(value)),
        _ => parameter.to_owned(),
    });
    format!("{path}?{}", parameters.collect::<Vec<_>>().join("&"))
}

/// Removes the passwords from the value of a variable; returns `None` if there are none. Finds them
/// in an address (`postgres://me:hush@host/data`), in a connection string
/// (`Server=host;Password=hush`, `host=db password=hush`, `me:hush@tcp(db:3306)/data`) and in JSON
/// (`{"api_key": "hush"}`).
///
/// Here parameters count by name alone: one that is merely long may be something that an agent
/// needs.
pub fn without_passwords(value: &str) -> Option<String> {
    let named = |name: &str, _: &str| is_secret_parameter(name, "");
    let open = if has_password(value) { without_user(value) } else { value.to_owned() };
    let open = in_parameters(&open, Mask::Stars, named);
    let open = in_connection(&open, Mask::Stars);
    let open = without_driver_password(&open).unwrap_or(open);
    let open = in_json(&open).unwrap_or(open);
    (open != value).then_some(open)
}

/// Masks the parts of a connection string that are named like keys.
fn in_connection(words: &str, mask: Mask) -> String {
    let separator = if words.contains(';') { ';' } else { ' ' };
    let is_plain = |name: &str| name.chars().all(|c| c.is_alphanumeric() || " _-".contains(c));
    let shown = words.split(separator).map(|word| match word.split_once('=') {
        Some((name, value)) if is_plain(name) && is_secret_parameter(name, "") => {
            format!("{name}={}", mask.over(value))
        }
        _ => word.to_owned(),
    });
    shown.collect::<Vec<_>>().join(&separator.to_string())
}

/// Masks the password in a connection string of Go's drivers: `me:hush@tcp(db:3306)/data`.
fn without_driver_password(words: &str) -> Option<String> {
    let (user, server) = words.rsplit_once('@')?;
    let (protocol, _) = server.split_once('(')?;
    let (name, password) = user.split_once(':')?;
    let is_word = |word: &str| !word.is_empty() && word.chars().all(char::is_alphanumeric);
    (is_word(protocol) && !password.is_empty() && !name.contains('/'))
        .then(|| format!("{name}:***@{server}"))
}

/// Masks the strings of a JSON object that are named like keys; returns `None` if there are none.
fn in_json(text: &str) -> Option<String> {
    fn hide(value: &mut Value) {
        match value {
            Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| match value {
                Value::String(secret) if is_secret_name(name) => *secret = Mask::Stars.over(secret),
                other => hide(other),
            }),
            Value::Array(items) => items.iter_mut().for_each(hide),
            _ => {}
        }
    }
    let value: Value = text.trim_start().starts_with('{').then_some(text)?.parse().ok()?;
    let mut open = value.clone();
    hide(&mut open);
    (open != value).then(|| open.to_string())
}

/// Returns settings as a run stores them: every value that could be a key is replaced with stars.
pub fn without_keys(settings: &Value) -> Value {
    match settings {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| {
                let lower = name.to_ascii_lowercase();
                let is_secret =
                    ["key", "token", "secret", "password", "auth", "credential", "headers"]
                        .iter()
                        .any(|word| lower.contains(word))
                        && !lower.contains("max_tokens")
                        && !lower.contains("tokens_per_minute")
                        && !lower.ends_with("_keys")
                        && lower != "error_key"
                        && !value.is_number();
                let value = if is_secret { Value::from("***") } else { without_keys(value) };
                (name.clone(), value)
            })
            .collect(),
        Value::Array(items) => items.iter().map(without_keys).collect(),
        // An address may contain credentials.
        Value::String(text) if text.contains("://") && text.contains('@') => Value::from("***"),
        Value::String(text) if text.starts_with("http://") || text.starts_with("https://") => {
            Value::from(in_address(text, Mask::Stars))
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn passwords_are_found_in_the_values_of_variables() {
        for (value, open) in [
            ("postgres://me:hush@host/data", Some("postgres://host/data")),
            ("redis://:hush@host:6379/0", Some("redis://host:6379/0")),
            (
                "jdbc:postgresql://host/data?user=me&password=hush",
                Some("jdbc:postgresql://host/data?user=me&password=***"),
            ),
            (
                "jdbc:sqlserver://host;user=me;password=hush",
                Some("jdbc:sqlserver://host;user=me;password=***"),
            ),
            (
                "AccountName=a;AccountKey=aHVzaA==;EndpointSuffix=b",
                Some("AccountName=a;AccountKey=***;EndpointSuffix=b"),
            ),
            ("Server=host;Uid=me;Pwd=hush", Some("Server=host;Uid=me;Pwd=***")),
            ("host=db user=me password=hush", Some("host=db user=me password=***")),
            ("me:hush@tcp(db:3306)/data", Some("me:***@tcp(db:3306)/data")),
            ("https://ghp0123456789abcdefghijk@host/simple", Some("https://host/simple")),
            (
                r#"{"account": {"api_key": "hush"}, "top_k": 5}"#,
                Some(r#"{"account":{"api_key":"***"},"top_k":5}"#),
            ),
            (r#"{"top_k": 5}"#, None),
            ("https://host/s?dataset=wiki2023-embeddings-v2", None),
            ("https://me@host/simple", None),
            ("a@b(c)", None),
            ("ssh://git@host/place", None),
            ("https://host/v1?top_k=5", None),
            ("postgres://host/data", None),
            ("di=01;34:*.key=00;31", None),
            ("/bin:/usr/bin", None),
            ("", None),
        ] {
            assert_eq!(without_passwords(value).as_deref(), open, "{value}");
        }
    }

    #[test]
    fn only_what_is_called_as_keys_are_is_hidden() {
        for (agent, shown) in [
            ("command:python a.py --model m", "command:python a.py --model m"),
            ("command:a --max-tokens 256 --keywords x", "command:a --max-tokens 256 --keywords x"),
            (
                "command:env MAX_TOKENS=9 a --tokenizer t",
                "command:env MAX_TOKENS=9 a --tokenizer t",
            ),
            ("command:python a.py --api-key sk-1 -v", "command:python a.py --api-key *** -v"),
            ("command:a --apiKey  sk-1 --fast", "command:a --apiKey  *** --fast"),
            ("command:a --password 'x y' -v", "command:a --password *** -v"),
            (
                "command:env OPENAI_API_KEY=sk-1 a --token=\"x y\" z",
                "command:env OPENAI_API_KEY=*** a --token=*** z",
            ),
            ("command:a --token --fast", "command:a --token --fast"),
            ("command:a --proxy http://me:pw@host/", "command:a --proxy http://host/"),
        ] {
            assert_eq!(in_agent(agent, Mask::Stars), shown);
        }
    }

    #[test]
    fn a_command_line_is_kept_without_its_keys() {
        for (line, shown) in [
            ("juror eval a.yaml b.jsonl --run runs/x", "juror eval a.yaml b.jsonl --run runs/x"),
            ("juror bench --server-token hush -j 4", "juror bench --server-token *** -j 4"),
            ("juror bench --server-token=hush", "juror bench --server-token=***"),
            ("juror bench --server-token env:TOKEN", "juror bench --server-token env:TOKEN"),
            ("juror bench --agent-header X-Auth:hush", "juror bench --agent-header ***"),
            ("juror bench --agent-header=X:hush", "juror bench --agent-header=***"),
            ("juror bench --server http://me:hush@host", "juror bench --server http://host"),
            (
                "juror bench --model-url=http://h?key=hush",
                "juror bench --model-url=http://h?key=***",
            ),
            (
                "juror eval --max-cost 5 --fail-under f1=0.9",
                "juror eval --max-cost 5 --fail-under f1=0.9",
            ),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(in_command(&words).join(" "), shown);
        }
        let agent = "command:python a.py --api-key 'hush hush' -v".to_owned();
        for words in [vec!["--agent".to_owned(), agent.clone()], vec![format!("--agent={agent}")]] {
            let shown = in_command(&words).join(" ");
            assert!(shown.ends_with("command:python a.py --api-key *** -v"), "{shown}");
        }
    }

    #[test]
    fn a_hidden_value_still_tells_agents_apart() {
        let of = |agent: &str| in_agent(agent, Mask::Hash);
        assert_ne!(of("command:a --token x"), of("command:a --token y"));
        assert_eq!(of("command:a --token x"), of("command:a --token x"));
        assert!(!of("command:a --token hush").contains("hush"));
    }

    #[test]
    fn addresses_are_written_without_passwords_and_keys() {
        for (address, shown) in [
            (
                "http://me:p@w@host:9000/answer?x=1&token=abc&top_k=5",
                "http://host:9000/answer?x=1&token=***&top_k=5",
            ),
            ("https://host/mail/a@b.c", "https://host/mail/a@b.c"),
            ("https://me@host?apiKey=1", "https://host?apiKey=***"),
            (
                "https://host/v1?code=1&api-version=2024-10-21",
                "https://host/v1?code=***&api-version=2024-10-21",
            ),
            ("https://host/?x=sk-0123456789abcdefgh", "https://host/?x=***"),
            ("chat", "chat"),
        ] {
            assert_eq!(in_address(address, Mask::Stars), shown);
            assert_eq!(in_agent(address, Mask::Stars), shown);
        }
    }

    #[test]
    fn keys_do_not_reach_the_folder() {
        let settings = json!({"llm": {"generation": {"api_key": "sk", "max_tokens": 5,
            "headers": {"x": "y"}}, "tokens_per_minute": 3}});
        let expected = json!({"llm": {"generation": {"api_key": "***", "max_tokens": 5,
            "headers": "***"}, "tokens_per_minute": 3}});
        assert_eq!(without_keys(&settings), expected);
    }
}
