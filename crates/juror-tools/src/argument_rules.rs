//! Rules for arguments: which are secrets, and which do not identify a call.

use juror_json::python::entries_of_json;
use juror_models::{Secrets, is_secret_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

/// What takes the place of a secret.
const MASK: &str = "\"***\"";

/// How deeply arguments are looked through.
const DEEPEST: usize = 32;

/// Which arguments are masked, and which are ignored when calls are compared.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ArgumentRules {
    /// Arguments whose values are secrets: `NAME` or `API/NAME`, where `*` stands for anything. In
    /// a cassette, those that are named like keys when left out.
    pub mask: Option<Vec<ArgumentPattern>>,
    /// Arguments whose values differ from call to call, such as times.
    pub ignore: Vec<ArgumentPattern>,
    /// Whether arguments that are named like keys are masked.
    #[serde(skip)]
    masks_keys: bool,
}

/// Names arguments: `NAME`, or `API/NAME`; `*` stands for any characters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct ArgumentPattern {
    api: Option<String>,
    name: String,
}

impl TryFrom<String> for ArgumentPattern {
    type Error = String;

    fn try_from(text: String) -> Result<ArgumentPattern, String> {
        ArgumentPattern::read(&text)
    }
}

impl From<ArgumentPattern> for String {
    fn from(ArgumentPattern { api, name }: ArgumentPattern) -> String {
        api.map(|api| format!("{api}/{name}")).unwrap_or(name)
    }
}

/// Arguments after the rules.
#[derive(Debug)]
pub(crate) struct RuledArguments {
    /// What identifies the call, as JSON.
    pub(crate) key: String,
    /// What may be shown, as JSON.
    pub(crate) shown: String,
    /// The values that were masked.
    pub(crate) secrets: Secrets,
}

impl ArgumentPattern {
    /// Reads a pattern.
    pub fn read(text: &str) -> Result<ArgumentPattern, String> {
        let (api, name) = match text.rsplit_once('/') {
            Some((api, name)) => (Some(api.trim().to_owned()), name.trim()),
            None => (None, text.trim()),
        };
        if name.is_empty() || api.as_ref().is_some_and(String::is_empty) {
            return Err(format!("`{text}` names no argument: write NAME or API/NAME"));
        }
        Ok(ArgumentPattern { api, name: name.to_owned() })
    }

    fn matches(&self, api: &str, name: &str) -> bool {
        let is_of_api = self.api.as_ref().is_none_or(|own| fits(own, api));
        is_of_api && fits(&self.name, name)
    }
}

/// Whether a text fits a pattern in which `*` stands for any characters; case does not matter.
pub(crate) fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_lowercase(), text.to_lowercase());
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else { return rest.is_empty() };
    for part in parts {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

impl ArgumentRules {
    /// The rules for a cassette: without rules about secrets, arguments that are named like keys
    /// are masked.
    #[must_use]
    pub fn for_cassette(&self) -> ArgumentRules {
        ArgumentRules { masks_keys: self.mask.is_none(), ..self.clone() }
    }

    /// Whether there are no rules.
    pub fn is_empty(&self) -> bool {
        self.mask.as_ref().is_none_or(Vec::is_empty) && self.ignore.is_empty() && !self.masks_keys
    }

    /// Applies the rules to arguments, an object in JSON as Python reads it.
    pub(crate) fn apply(&self, api: &str, input: &str) -> RuledArguments {
        let mut secrets = Vec::new();
        let shown = self.rewritten(api, input, &mut Some(&mut secrets), false, 0);
        let key = self.rewritten(api, input, &mut None, true, 0);
        RuledArguments { key, shown, secrets: Secrets::new(secrets.iter().map(String::as_str)) }
    }

    fn masks(&self, api: &str, name: &str) -> bool {
        let is_named = self.masks_keys && is_secret_name(name);
        is_named || self.mask.iter().flatten().any(|pattern| pattern.matches(api, name))
    }

    /// Writes an object with masks; without what is ignored if `drops` is true.
    fn rewritten(
        &self,
        api: &str,
        input: &str,
        secrets: &mut Option<&mut Vec<String>>,
        drops: bool,
        depth: usize,
    ) -> String {
        let Some(entries) = Some(input)
            .filter(|input| input.trim_start().starts_with('{') && depth < DEEPEST)
            .and_then(|input| entries_of_json(input).ok())
        else {
            return self.rewritten_list(api, input, secrets, drops, depth);
        };
        let mut fields = Vec::with_capacity(entries.len());
        for (name, value) in entries {
            if drops && self.ignore.iter().any(|pattern| pattern.matches(api, &name)) {
                continue;
            }
            let value = if self.masks(api, &name) {
                if let Some(secrets) = secrets {
                    secrets.push(text_of(value));
                }
                MASK.to_owned()
            } else {
                self.rewritten(api, value, secrets, drops, depth + 1)
            };
            fields.push(format!("{}: {value}", json!(name)));
        }
        format!("{{{}}}", fields.join(", "))
    }

    fn rewritten_list(
        &self,
        api: &str,
        input: &str,
        secrets: &mut Option<&mut Vec<String>>,
        drops: bool,
        depth: usize,
    ) -> String {
        let list = Some(input).filter(|input| input.trim_start().starts_with('['));
        let list = list.filter(|list| list.contains('{') && depth < DEEPEST);
        let Some(values) = list.and_then(|list| serde_json::from_str::<Vec<&RawValue>>(list).ok())
        else {
            return input.to_owned();
        };
        let values =
            values.iter().map(|value| self.rewritten(api, value.get(), secrets, drops, depth + 1));
        format!("[{}]", values.collect::<Vec<_>>().join(", "))
    }
}

fn text_of(json: &str) -> String {
    serde_json::from_str::<String>(json).unwrap_or_else(|_| json.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(mask: &[&str], ignore: &[&str]) -> ArgumentRules {
        let read = |texts: &[&str]| {
            texts.iter().map(|text| ArgumentPattern::read(text).expect("a pattern")).collect()
        };
        ArgumentRules { mask: Some(read(mask)), ignore: read(ignore), masks_keys: false }
    }

    #[test]
    fn secrets_are_masked_and_what_changes_is_left_out_of_the_key() {
        let rules = rules(&["*key*", "login/who"], &["now", "other/city"]);
        let input = r#"{"city": "Oslo", "apiKey": "s3cret-s3cret", "now": 5.0,
            "deep": {"KEY": 7, "list": [{"now": 1, "who": "me"}]}}"#;
        let applied = rules.apply("weather", input);
        let key =
            r#"{"city": "Oslo", "apiKey": "***", "deep": {"KEY": "***", "list": [{"who": "me"}]}}"#;
        assert_eq!(applied.key, key);
        let shown = r#"{"city": "Oslo", "apiKey": "***", "now": 5.0, "deep": {"KEY": "***", "list": [{"now": 1, "who": "***"}]}}"#;
        assert_eq!(rules.apply("login", input).shown, shown);
        assert_eq!(applied.secrets.redact("it was s3cret-s3cret".into()), "it was ***");
    }

    #[test]
    fn arguments_named_like_keys_can_be_masked_without_a_rule() {
        let rules = ArgumentRules::default().for_cassette();
        let input = r#"{"api_key": "a", "password": "b", "keyword": "c", "max_tokens": 5}"#;
        let shown = r#"{"api_key": "***", "password": "***", "keyword": "c", "max_tokens": 5}"#;
        assert_eq!(rules.apply("x", input).shown, shown);
    }

    #[test]
    fn patterns_fit_whole_names() {
        for (pattern, text, does) in [
            ("a", "A", true),
            ("a", "ab", false),
            ("a*", "ab", true),
            ("*b", "ab", true),
            ("*a*b*", "xaybz", true),
            ("a*a", "a", false),
            ("*", "", true),
            ("*ab", "aab", true),
        ] {
            assert_eq!(fits(pattern, text), does, "{pattern} {text}");
        }
        for bad in ["", "/", "a/", "/a"] {
            assert!(ArgumentPattern::read(bad).is_err(), "{bad}");
        }
    }
}
