//! A reference as an index: its text, and where in it each question stands.

use std::collections::HashMap;
use std::sync::Arc;

use juror_document::{Document, Problems};
use juror_json::{self as json, Object};
use juror_read::read_reference;
use serde_json::value::RawValue;

/// The questions of a reference by id, each as its text.
///
/// Questions that are read take several times the memory of their text, and borrow from it. This
/// holds the text alone, and can be kept for as long as there are responses to come.
pub struct ReferenceIndex {
    document: Document,
    places: HashMap<Box<str>, Place>,
    /// Oddities of the reference that do not prevent scoring.
    pub warnings: Problems,
}

struct Place {
    template: Arc<str>,
    /// Whether it is in the text whose `NaN` and infinities became strings.
    is_quoted: bool,
    start: usize,
    end: usize,
}

/// A question of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IndexedQuestion<'a> {
    /// The question as JSON.
    pub text: &'a str,
    /// The template it belongs to.
    pub template: &'a str,
}

impl ReferenceIndex {
    /// Reads a reference; fails with every problem found.
    pub fn new(document: Document) -> Result<ReferenceIndex, Problems> {
        let warnings = read_reference(&document)?.warnings;
        let places = places_in(&document);
        Ok(ReferenceIndex { document, places, warnings })
    }

    /// Returns the question of an id.
    pub fn get(&self, id: &str) -> Option<IndexedQuestion<'_>> {
        let Place { template, is_quoted, start, end } = self.places.get(id)?;
        let whole = if *is_quoted { self.document.json_as_read() } else { self.document.json() };
        Some(IndexedQuestion { text: whole.get(*start..*end)?, template })
    }

    /// Returns the number of questions.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no questions.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

/// Whether a value is a template or question rather than a list of templates.
fn is_line(document: &Document, value: &str) -> bool {
    document.is_lines() || value.trim_ascii_start().starts_with('{')
}

/// Finds the questions of a document that was read without problems.
fn places_in(document: &Document) -> HashMap<Box<str>, Place> {
    let mut places = HashMap::new();
    for value in document.values() {
        let lines: Vec<&RawValue> = if is_line(document, value) {
            document.parse(value).into_iter().collect()
        } else {
            document.parse(value).unwrap_or_default()
        };
        for line in lines {
            add_line(document, line, &mut places);
        }
    }
    places
}

/// Adds the questions of a template, or a question that names its template.
fn add_line(document: &Document, line: &RawValue, places: &mut HashMap<Box<str>, Place>) {
    let Ok(fields) = json::from_str::<Object<'_>>(line.get()) else { return };
    let template = fields.get("template_id").and_then(json::scalar_text).unwrap_or_default();
    let template: Arc<str> = template.into();
    let mut add = |question: &RawValue, id: Option<&RawValue>| {
        let place = place_of(document, question.get(), &template);
        if let (Some(id), Some(place)) = (id.and_then(json::scalar_text), place) {
            places.insert(id.into(), place);
        }
    };
    match fields.get_set("questions") {
        None => add(line, fields.get("id")),
        Some(list) => {
            let questions: Vec<&RawValue> = json::from_str(list.get()).unwrap_or_default();
            for question in questions {
                let id = json::from_str::<Object<'_>>(question.get()).ok();
                add(question, id.as_ref().and_then(|fields| fields.get("id")));
            }
        }
    }
}

fn place_of(document: &Document, part: &str, template: &Arc<str>) -> Option<Place> {
    let within = |whole: &str| {
        let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
        (start + part.len() <= whole.len()).then_some((start, start + part.len()))
    };
    let plain = within(document.json()).map(|range| (false, range));
    let quoted = || within(document.json_as_read()).map(|range| (true, range));
    let (is_quoted, (start, end)) = plain.or_else(quoted)?;
    Some(Place { template: Arc::clone(template), is_quoted, start, end })
}

#[cfg(test)]
mod tests {
    use super::*;
    use juror_document::Format;

    fn index(text: &str, format: Format) -> ReferenceIndex {
        let document = Document::new("r", text.into(), format).expect("a document");
        ReferenceIndex::new(document).expect("a reference")
    }

    #[test]
    fn questions_are_found_in_every_form_of_a_reference() {
        let a = r#"{"id": "a", "question_text": "A?"}"#;
        let b = r#"{"id": 7, "question_text": "B?", "reference_answer": NaN}"#;
        let of_lines = |line: &str, template: &str| {
            line.replacen('{', &format!("{{\"template_id\": \"{template}\", "), 1)
        };
        let templates = format!(
            r#"[{{"template_id": "t", "questions": [{a}]}}, {{"template_id": 1, "questions": [{b}]}}]"#
        );
        let lines = format!("{}\n\n{}\n", of_lines(a, "t"), of_lines(b, "1"));
        let yaml = "- template_id: t\n  questions:\n  - {id: a, question_text: A?}\n- template_id: 1\n  questions:\n  - {id: 7, question_text: B?}\n";
        for (text, format) in [
            (templates.as_str(), Format::Json),
            (lines.as_str(), Format::JsonLines),
            (yaml, Format::Yaml),
        ] {
            let index = index(text, format);
            assert_eq!(index.len(), 2, "{text}");
            for (id, template, said) in [("a", "t", "A?"), ("7", "1", "B?")] {
                let found = index.get(id).expect(text);
                assert_eq!(found.template, template);
                let fields: Object<'_> = json::from_str(found.text).expect("JSON");
                let text = fields.get("question_text").and_then(json::scalar_text);
                assert_eq!(text.as_deref(), Some(said));
            }
            assert_eq!(index.get("b"), None);
        }
    }

    #[test]
    fn a_reference_that_cannot_be_read_is_refused() {
        let document = Document::new("r.json", "[{}]".into(), Format::Json).expect("JSON");
        assert!(ReferenceIndex::new(document).is_err());
    }
}
