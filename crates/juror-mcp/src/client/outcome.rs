//! What came of calling a tool.

use juror_json::reason_and_place;
use juror_models::Secrets;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

/// The result of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What the tool says, as JSON: a text if it says nothing else, else the list of its content.
    pub response: String,
    /// Whether the tool says that it failed.
    pub is_error: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ToolResult {
    #[serde(default)]
    content: Option<Box<RawValue>>,
    #[serde(default)]
    structured_content: Option<Box<RawValue>>,
    #[serde(default)]
    is_error: Option<bool>,
    #[serde(default)]
    result_type: Option<String>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    text: Option<String>,
}

impl Outcome {
    /// Reads the result of `tools/call`.
    pub(crate) fn read(result: &str) -> Result<Outcome, String> {
        let read: ToolResult = serde_json::from_str(result).map_err(|error| {
            format!("the result of a tool cannot be read: {}", reason_and_place(&error))
        })?;
        if read.result_type.as_deref().is_some_and(|kind| kind != "complete") {
            return Err("the tool asks for more input, which Juror does not give".to_owned());
        }
        let is_error = read.is_error.unwrap_or_default();
        let content = read.content.as_deref().map_or("[]", RawValue::get);
        let blocks: Vec<Block> = serde_json::from_str(content).unwrap_or_default();
        let is_text = |block: &Block| block.kind == "text" && block.text.is_some();
        let response = if !blocks.is_empty() && blocks.iter().all(is_text) {
            let texts: Vec<&str> =
                blocks.iter().filter_map(|block| block.text.as_deref()).collect();
            Value::from(texts.join("\n")).to_string()
        } else if let (Some(structured), true) = (&read.structured_content, blocks.is_empty()) {
            structured.get().to_owned()
        } else {
            content.to_owned()
        };
        Ok(Outcome { response, is_error })
    }

    /// What the tool says, as a text.
    pub fn text(&self) -> String {
        serde_json::from_str(&self.response).unwrap_or_else(|_| self.response.clone())
    }

    /// Removes secrets from what the tool says.
    #[must_use]
    pub fn without(self, secrets: &Secrets) -> Outcome {
        Outcome { response: secrets.redact(self.response), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_joined_and_other_content_is_kept() {
        let check = |result: &str, response: &str, is_error: bool| {
            let outcome = Outcome::read(result).expect("an outcome");
            assert_eq!((&*outcome.response, outcome.is_error), (response, is_error), "{result}");
        };
        check(r#"{"content": [{"type": "text", "text": "a"}]}"#, "\"a\"", false);
        let two = r#"{"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "isError": true}"#;
        check(two, r#""a\nb""#, true);
        let image = r#"{"content": [{"type":"image","data":"x"}], "structuredContent": {"a":1}}"#;
        check(image, r#"[{"type":"image","data":"x"}]"#, false);
        check(r#"{"structuredContent": {"a":1}, "resultType": "complete"}"#, r#"{"a":1}"#, false);
        check("{}", "[]", false);
        assert!(Outcome::read(r#"{"resultType": "input_required"}"#).is_err());
        assert!(Outcome::read("5").is_err());
    }
}
