//! What a user says about their traces: the names of steps, what an error looks like, where the
//! question's id is.

use std::collections::BTreeMap;

use juror_document::{Document, Path, Problem, Problems};
use regex_lite::Regex;
use serde_json::Value;

/// The word that stands for [`ERROR_PREFIX`].
const PRESET: &str = "langgraph";

/// How LangGraph writes the failure of a tool into its message.
const ERROR_PREFIX: &str = "^Error: ";

/// The most patterns a file may have.
const MOST_PATTERNS: usize = 100;

/// The rules of an import.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The names of steps, by tools.
    pub names: BTreeMap<String, String>,
    /// Tools whose calls are no steps.
    pub leave_out: Vec<String>,
    /// Outputs that are failures.
    pub error_patterns: Vec<Regex>,
    /// The attribute or key that has the question's id.
    pub question_id: Option<String>,
}

impl Rules {
    /// Reads a map: `tools`, `leave_out`, `error_patterns`, `question_id`. Reports all problems.
    pub fn read(document: &Document) -> Result<Rules, Problems> {
        document.refuse_repeated_keys()?;
        let value: Value = serde_json::from_str(document.json()).unwrap_or_default();
        let mut reader =
            MapReader { document, rules: Rules::default(), problems: Problems::default() };
        match &value {
            Value::Null => {}
            Value::Object(map) => map.iter().for_each(|(key, value)| reader.key(key, value)),
            _ => reader.refuse(
                Path::default(),
                "a map is keys with their values".into(),
                "for example `tools: {search_documents: retrieval}`",
            ),
        }
        reader.problems.sort();
        if reader.problems.is_empty() { Ok(reader.rules) } else { Err(reader.problems) }
    }

    /// Adds a pattern; the word `langgraph` stands for `^Error: `.
    pub fn add_error_pattern(&mut self, pattern: &str) -> Result<(), String> {
        let pattern = if pattern == PRESET { ERROR_PREFIX } else { pattern };
        let regex = Regex::new(pattern).map_err(|error| error.to_string())?;
        self.error_patterns.push(regex);
        Ok(())
    }

    /// Returns the name of a tool's step.
    pub(crate) fn name<'r>(&'r self, tool: &'r str) -> &'r str {
        self.names.get(tool).map_or(tool, String::as_str)
    }

    pub(crate) fn leaves_out(&self, tool: &str) -> bool {
        self.leave_out.iter().any(|left| left == tool)
    }

    /// Whether an output is a failure.
    pub(crate) fn is_error(&self, output: &str) -> bool {
        self.error_patterns.iter().any(|pattern| pattern.is_match(output))
    }
}

struct MapReader<'d> {
    document: &'d Document,
    rules: Rules,
    problems: Problems,
}

impl MapReader<'_> {
    fn key(&mut self, key: &str, value: &Value) {
        let path = || Path::default().key(key);
        match key {
            "tools" => self.tools(value, path()),
            "leave_out" => self.leave_out(value, &path()),
            "error_patterns" => self.error_patterns(value, &path()),
            "question_id" => match value.as_str() {
                Some(key) => self.rules.question_id = Some(key.to_owned()),
                None => self.wrong(path(), "a key, such as `metadata.question_id`"),
            },
            _ => self.refuse(
                path(),
                format!("unknown key `{key}`"),
                "known keys: tools, leave_out, error_patterns, question_id",
            ),
        }
    }

    fn tools(&mut self, value: &Value, path: Path) {
        let Value::Object(tools) = value else {
            return self.wrong(path, "tools with the names of their steps");
        };
        for (tool, name) in tools {
            match name.as_str() {
                Some(name) => drop(self.rules.names.insert(tool.clone(), name.to_owned())),
                None => self.wrong(Path::default().key("tools").key(tool), "the name of a step"),
            }
        }
    }

    fn leave_out(&mut self, value: &Value, path: &Path) {
        let tools = self.texts(value, path, "the names of tools");
        self.rules.leave_out.extend(tools);
    }

    fn error_patterns(&mut self, value: &Value, path: &Path) {
        let patterns = self.texts(value, path, "regular expressions");
        if patterns.len() > MOST_PATTERNS {
            let message = format!("{} patterns are too many", patterns.len());
            return self.refuse(path.clone(), message, "at most 100 are possible");
        }
        for (index, pattern) in patterns.iter().enumerate() {
            if let Err(why) = self.rules.add_error_pattern(pattern) {
                let message = format!("`{pattern}` is not a regular expression: {why}");
                let hint = "such as `^Error: `, which the word `langgraph` stands for";
                self.refuse(path.clone().index(index), message, hint);
            }
        }
    }

    fn texts(&mut self, value: &Value, path: &Path, expected: &'static str) -> Vec<String> {
        let items = match value {
            Value::Array(items) => items.as_slice(),
            Value::String(_) => std::slice::from_ref(value),
            _ => {
                self.wrong(path.clone(), expected);
                return Vec::new();
            }
        };
        let texts: Vec<String> =
            items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect();
        if texts.len() < items.len() {
            self.wrong(path.clone(), expected);
        }
        texts
    }

    fn wrong(&mut self, path: Path, expected: &'static str) {
        self.refuse(path, format!("expected {expected}"), "docs/traces.md describes the map");
    }

    fn refuse(&mut self, path: Path, message: String, hint: &'static str) {
        let problem = Problem::BadSetting { message, hint: Some(hint.into()) };
        self.problems.push(self.document.error_at(path, problem));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::Format;

    fn read(yaml: &str) -> Result<Rules, String> {
        let document = Document::new("map.yaml", yaml.into(), Format::Yaml).expect("YAML");
        Rules::read(&document).map_err(|problems| problems.to_string())
    }

    #[test]
    fn a_map_names_steps_and_errors() {
        let yaml = "tools: {search_documents: retrieval}\nleave_out: [think]\n\
                    error_patterns: [langgraph, '(?i)timed out']\nquestion_id: metadata.case\n";
        let rules = read(yaml).expect("a map");
        assert_eq!(rules.name("search_documents"), "retrieval");
        assert_eq!(rules.name("other"), "other");
        assert!(rules.leaves_out("think") && !rules.leaves_out("search_documents"));
        assert!(
            rules.is_error("Error: no")
                && rules.is_error("it Timed out")
                && !rules.is_error("fine")
        );
        assert!(!read("{}").expect("nothing").is_error("Error: no"), "off by default");
    }

    #[test]
    fn mistakes_are_told_with_their_places() {
        let told = read("tool: {}\nerror_patterns: ['(']\nleave_out: 7\n").expect_err("refused");
        assert!(told.contains("map.yaml:1:7: unknown key `tool`"), "{told}");
        assert!(told.contains("map.yaml:2:18: `(` is not a regular expression"), "{told}");
        assert!(told.contains("expected the names of tools"), "{told}");
    }
}
