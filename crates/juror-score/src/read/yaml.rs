//! YAML, turned into JSON text so that everything after it reads one format.

use saphyr::{LoadableYamlNode, MarkedYaml, YamlData};

use super::problem::{Path, Segment};

/// Why a text is not YAML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct NotYaml {
    /// What is wrong.
    pub message: String,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1.
    pub column: usize,
}

/// The JSON text of a YAML document.
pub fn yaml_to_json(yaml: &str) -> Result<String, NotYaml> {
    let mut json = Vec::with_capacity(yaml.len() + yaml.len() / 8);
    let mut serializer = serde_json::Serializer::new(&mut json);
    if yaml.contains("<<:") {
        let mut value: serde_norway::Value =
            serde_norway::from_str(yaml).map_err(|error| not_yaml(&error))?;
        value.apply_merge().map_err(|error| not_yaml(&error))?;
        serde::Serialize::serialize(&value, &mut serializer).map_err(unplaced)?;
    } else {
        let transcoder =
            serde_transcode::Transcoder::new(serde_norway::Deserializer::from_str(yaml));
        if let Err(error) = serde::Serialize::serialize(&transcoder, &mut serializer) {
            // The error has passed through the serializer and lost its place: read once more.
            let placed = serde_norway::from_str::<serde_norway::Value>(yaml).err();
            return Err(placed.as_ref().map_or_else(|| unplaced(error), not_yaml));
        }
    }
    String::from_utf8(json).map_err(unplaced)
}

fn unplaced(error: impl std::fmt::Display) -> NotYaml {
    NotYaml { message: error.to_string(), line: 1, column: 1 }
}

fn not_yaml(error: &serde_norway::Error) -> NotYaml {
    let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default().to_owned();
    NotYaml { message, line, column }
}

/// The line and column of the value at each path; of a path that leads nowhere, of the last value
/// on the way.
pub(super) fn locate<'p>(yaml: &str, paths: impl Iterator<Item = &'p Path>) -> Vec<(usize, usize)> {
    let documents = MarkedYaml::load_from_str(yaml).unwrap_or_default();
    let Some(top) = documents.first() else { return Vec::new() };
    paths.map(|path| place_of(top, path)).collect()
}

fn place_of(top: &MarkedYaml<'_>, path: &Path) -> (usize, usize) {
    let mut at = top;
    for segment in &path.0 {
        let next = match (segment, &at.data) {
            (Segment::Key(key), YamlData::Mapping(fields)) => fields
                .iter()
                .find(|(name, _)| name.data.as_str() == Some(key))
                .map(|(_, value)| value),
            (Segment::Index(index), YamlData::Sequence(items)) => items.get(*index),
            _ => None,
        };
        let Some(next) = next else { break };
        at = next;
    }
    (at.span.start.line(), at.span.start.col() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yaml_becomes_json() {
        let yaml = "- id: 1\n  text: |-\n    two\n    lines\n  at: 2025-12-15T15:06:14Z\n  on: [~, 1.5, yes]\n";
        let json = yaml_to_json(yaml).expect("YAML");
        assert_eq!(
            json,
            r#"[{"id":1,"text":"two\nlines","at":"2025-12-15T15:06:14Z","on":[null,1.5,"yes"]}]"#
        );
    }

    #[test]
    fn merge_keys_are_merged() {
        let yaml = "base: &b {a: 1}\nmore:\n  <<: *b\n  c: 2\n";
        let json: serde_json::Value =
            serde_json::from_str(&yaml_to_json(yaml).expect("YAML")).expect("JSON");
        assert_eq!(json["more"], serde_json::json!({"a": 1, "c": 2}));
    }

    #[test]
    fn errors_have_their_place() {
        let error = yaml_to_json("a: 1\nb: [1, 2\nc: 3\n").expect_err("not YAML");
        assert_eq!(error.line, 3, "{error}");
    }

    #[test]
    fn a_path_leads_to_its_value() {
        let path = Path::default().index(0).key("b").index(1);
        let places = locate("- a: 1\n  b:\n  - x\n  - y\n", std::iter::once(&path));
        assert_eq!(places, [(4, 5)]);
    }
}
