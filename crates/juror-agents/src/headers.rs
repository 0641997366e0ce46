//! Secrets sent along with requests: tokens and headers.

use std::fmt;

use juror_models::{Secret, says_who_asks};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// Marks the name of an environment variable that holds a secret.
const FROM_ENVIRONMENT: &str = "env:";

/// Reads a secret as users write it: the secret itself, or with words such as `env:NAME` for the
/// values of variables, which `variable` looks up.
pub fn read_secret(
    text: &str,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<Secret, String> {
    let word = |word: &str| match word.strip_prefix(FROM_ENVIRONMENT) {
        None => Ok(word.to_owned()),
        Some(name) => variable(name)
            .map(|value| value.trim().to_owned())
            .filter(|value| !value.is_empty())
            .ok_or_else(|| format!("the variable `{name}` is not set")),
    };
    let words: Result<Vec<String>, String> = text.trim().split(' ').map(word).collect();
    Ok(Secret::new(&words?.join(" ")))
}

/// Headers sent with each request to an agent. Their values are never shown.
#[derive(Clone, Default)]
pub struct Headers(HeaderMap);

impl Headers {
    /// Reads lines such as `Authorization: Bearer env:TOKEN`; `variable` looks a variable up.
    pub fn read(
        lines: &[String],
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Headers, String> {
        let mut headers = HeaderMap::new();
        for line in lines {
            // The text after the colon may be a key, so do not repeat it.
            let (name, value) =
                line.split_once(':').ok_or("a header has no colon between name and value")?;
            let name = name.trim();
            let wrong = |what: &str| format!("the header `{name}` has {what}");
            let key = name.parse::<HeaderName>();
            let key = key.map_err(|_| format!("`{name}` cannot be the name of a header"))?;
            let value =
                read_secret(value, &variable).map_err(|why| wrong(&format!("no value: {why}")))?;
            let mut value = HeaderValue::from_str(value.expose())
                .map_err(|_| wrong("characters that a header cannot hold"))?;
            value.set_sensitive(true);
            headers.append(key, value);
        }
        Ok(Headers(headers))
    }

    /// Adds a key to send as a bearer token, unless another header says who asks.
    pub fn add_key(&mut self, key: &Secret) -> Result<(), String> {
        if self.0.keys().any(|name| says_who_asks(name.as_str())) {
            return Ok(());
        }
        let value = HeaderValue::from_str(&format!("Bearer {}", key.expose()));
        let mut value = value.map_err(|_| "the key has characters that a header cannot hold")?;
        value.set_sensitive(true);
        self.0.insert(AUTHORIZATION, value);
        Ok(())
    }

    /// Returns names and values, for uses that never show them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_bytes()))
    }

    /// Returns the headers as requests take them; values that are secret are marked as such.
    pub fn to_map(&self) -> HeaderMap {
        self.0.clone()
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.keys()).finish()
    }
}

/// The headers that an agent must send with tool calls if the tool server requires a token.
#[derive(Clone, Copy, Debug)]
pub struct Bearer<'t>(pub &'t Secret);

impl Serialize for Bearer<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut headers = serializer.serialize_map(Some(1))?;
        headers.serialize_entry("Authorization", &format!("Bearer {}", self.0.expose()))?;
        headers.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str) -> Option<String> {
        (name == "TOKEN").then(|| "t0ken\n".to_owned())
    }

    #[test]
    fn values_come_from_variables_and_are_never_shown() {
        let lines = ["Authorization: Bearer env:TOKEN".to_owned(), "X-Tenant: a b:c".to_owned()];
        let headers = Headers::read(&lines, variable).expect("headers");
        let map = headers.to_map();
        assert_eq!(map["authorization"], "Bearer t0ken");
        assert_eq!(map["x-tenant"], "a b:c");
        assert!(!format!("{headers:?} {map:?}").contains("t0ken"));
    }

    #[test]
    fn a_key_is_added_unless_another_header_says_who_asks() {
        let added = |lines: &[&str]| {
            let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
            let mut headers = Headers::read(&lines, variable).expect("headers");
            headers.add_key(&Secret::new("sk-1")).expect("a key");
            headers.to_map().get("authorization").map(|value| value.as_bytes().to_vec())
        };
        assert_eq!(added(&["X-Tenant: a"]), Some(b"Bearer sk-1".to_vec()));
        assert_eq!(added(&["Authorization: Basic x"]), Some(b"Basic x".to_vec()));
        assert_eq!(added(&["X-Api-Key: x"]), None);
    }

    #[test]
    fn what_is_no_header_is_told_without_its_value() {
        for (line, wanted) in [
            ("s3cret", "a header has no colon between name and value"),
            ("a b: s3cret", "`a b` cannot be the name of a header"),
            ("X: s3cret\u{1}", "the header `X` has characters that a header cannot hold"),
            ("X: env:GONE", "the header `X` has no value: the variable `GONE` is not set"),
        ] {
            let why = Headers::read(&[line.to_owned()], variable).expect_err("no header");
            assert_eq!(why, wanted);
        }
    }
}
