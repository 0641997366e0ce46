//! What a file is, told from its first record.

use juror_document::Document;
use juror_json::Object;
use juror_run::settings_schema;
use serde_json::value::RawValue;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Questions with expected answers and steps.
    Reference,
    /// What a system answered.
    Responses,
    /// Judged answers.
    Results,
    /// Settings.
    Settings,
    /// Queries for agents.
    Queries,
    /// Judged attempts of agents, of `juror bench` or `MASBench`.
    AgentResults,
    /// Ids of queries to take.
    Ids,
}

impl FileKind {
    /// The names of all kinds.
    pub const NAMES: [&'static str; 7] =
        ["reference", "responses", "results", "settings", "queries", "agent-results", "ids"];

    /// Returns the kind of a name; responses for any other.
    pub fn named(name: &str) -> FileKind {
        match name {
            "reference" => FileKind::Reference,
            "results" => FileKind::Results,
            "settings" => FileKind::Settings,
            "queries" => FileKind::Queries,
            "agent-results" => FileKind::AgentResults,
            "ids" => FileKind::Ids,
            _ => FileKind::Responses,
        }
    }

    /// Treats a file of unknown kind as responses if their reader has a helpful message for it: if it
    /// is not JSON, an empty list, or an object of strings.
    pub fn guess(document: &Document) -> Option<FileKind> {
        let Ok(whole) = serde_json::from_str::<&RawValue>(document.json()) else {
            return Some(FileKind::Responses);
        };
        let list: Option<Vec<&RawValue>> = serde_json::from_str(whole.get()).ok();
        let fields: Option<Object> = serde_json::from_str(whole.get()).ok();
        let is_text =
            |(_, value): (std::borrow::Cow<'_, str>, &RawValue)| value.get().starts_with('"');
        let has_texts =
            fields.is_some_and(|own| own.iter().next().is_some() && own.iter().all(is_text));
        (has_texts || list.is_some_and(|list| list.is_empty())).then_some(FileKind::Responses)
    }

    /// Determines the kind of a file from the keys of its first record.
    pub fn of(document: &Document) -> Option<FileKind> {
        let text = document.json();
        if text.trim() == "null" {
            return Some(FileKind::Settings);
        }
        let first_line = || text.lines().find(|line| !line.trim().is_empty());
        let whole: Option<&RawValue> =
            document.parse(text).ok().or_else(|| document.parse(first_line()?).ok());
        let list: Option<Vec<&RawValue>> = serde_json::from_str(whole?.get()).ok();
        let record = match &list {
            Some(records) => records.first()?,
            None => whole?,
        };
        let is_scalar = |value: &&RawValue| !value.get().starts_with(['{', '[', 'n']);
        if list.as_ref().is_some_and(|records| records.iter().all(is_scalar)) {
            return Some(FileKind::Ids);
        }
        let fields: Object = serde_json::from_str(record.get()).ok()?;
        let has = |key: &str| fields.get(key).is_some();
        // Public filters map each id to a number.
        let is_id = |(key, value): (std::borrow::Cow<'_, str>, &RawValue)| {
            key.bytes().all(|byte| byte.is_ascii_digit()) && value.get().parse::<f64>().is_ok()
        };
        if list.is_none() && fields.iter().next().is_some() && fields.iter().all(is_id) {
            return Some(FileKind::Ids);
        }
        let of_agent = has("query_id") && (has("system_answer") || has("evaluation_metrics"));
        if of_agent || (has("results") && has("metadata")) {
            return Some(FileKind::AgentResults);
        }
        if has("api_list") || (has("query") && has("query_id")) {
            return Some(FileKind::Queries);
        }
        if has("template_id") && has("question_id") {
            return Some(FileKind::Results);
        } else if has("question_id") {
            return Some(FileKind::Responses);
        } else if has("template_id") || has("questions") {
            return Some(FileKind::Reference);
        }
        let schema = settings_schema();
        let is_setting = |key: &str| schema["properties"].get(key).is_some();
        if fields.iter().any(|(key, _)| is_setting(&key)) {
            return Some(FileKind::Settings);
        }
        let is_response = |value: &RawValue| {
            let fields: Option<Object> = serde_json::from_str(value.get()).ok();
            let keys = ["question_id", "status", "error", "actual_answer", "actual_steps"];
            fields.is_some_and(|fields| keys.iter().any(|key| fields.get(key).is_some()))
        };
        let by_id = list.is_none() && fields.iter().any(|(_, value)| is_response(value));
        if by_id {
            return Some(FileKind::Responses);
        }
        // Their reader says what is missing.
        (list.is_some() && has("query_id")).then_some(FileKind::Queries)
    }
}
