//! Metrics that users compute themselves and write into results.

use std::collections::HashSet;

use juror_document::Document;
use juror_json::Object;
use juror_score::{KeyPart, question_metric, split_key};

/// The names of the user's own metrics. A name, and each key that begins with it and `_`, is a
/// metric.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OwnMetrics {
    /// The names.
    pub names: Vec<String>,
}

impl OwnMetrics {
    /// Whether a key of results is one of these metrics. Errors are not.
    pub fn has(&self, key: &str) -> bool {
        let of = |name: &String| {
            let rest = key.strip_prefix(name.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        };
        self.names.iter().any(of) && split_key(key).1 != Some(KeyPart::Error)
    }

    /// Returns the metrics of settings, then those of these metrics that results have.
    pub fn add_to(
        &self,
        mut custom: Vec<String>,
        keys: impl IntoIterator<Item = String>,
    ) -> Vec<String> {
        for key in keys.into_iter().filter(|key| self.has(key)) {
            if !custom.contains(&key) && question_metric(&key).is_none() {
                custom.push(key);
            }
        }
        custom
    }

    /// The same, for results in a file. It is read only if there are names.
    pub fn add_from(&self, custom: Vec<String>, document: &Document) -> Vec<String> {
        if self.names.is_empty() { custom } else { self.add_to(custom, keys_in(document)) }
    }
}

/// The distinct keys of all results in a file, in order.
fn keys_in(document: &Document) -> Vec<String> {
    let text = document.json();
    let results: Vec<Object<'_>> = serde_json::from_str(text).unwrap_or_else(|_| {
        let lines = serde_json::Deserializer::from_str(text).into_iter();
        lines.map_while(Result::ok).collect()
    });
    let keys = results.iter().flat_map(|result| result.iter().map(|(key, _)| key.into_owned()));
    let mut seen = HashSet::new();
    keys.filter(|key| seen.insert(key.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::Format;

    fn own(names: &[&str]) -> OwnMetrics {
        OwnMetrics { names: names.iter().map(ToString::to_string).collect() }
    }

    #[test]
    fn a_name_stands_for_its_keys() {
        let own = own(&["taste"]);
        for (key, is_own) in [
            ("taste", true),
            ("taste_salt", true),
            ("tasteless", false),
            ("taste_error", false),
            ("steps_score", false),
        ] {
            assert_eq!(own.has(key), is_own, "{key}");
        }
    }

    #[test]
    fn the_keys_of_a_file_become_metrics_once() {
        let lines = "{\"question_id\": 1, \"taste_b\": 1}\n{\"taste_a\": 0, \"taste_b\": 1}\n";
        let file = Document::new("r.jsonl", lines.into(), Format::JsonLines).expect("UTF-8");
        let found = own(&["taste"]).add_from(vec!["taste_a".into()], &file);
        assert_eq!(found, ["taste_a", "taste_b"]);
        assert_eq!(own(&[]).add_from(Vec::new(), &file), Vec::<String>::new());
    }
}
