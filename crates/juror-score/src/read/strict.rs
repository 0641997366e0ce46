//! What in a reference can never score, whatever is answered: looked for when somebody asks, since
//! every expected output has to be read for it.

use serde_json::value::RawValue;

use super::document::{Document, Found};
use super::not_numbers::Quoted;
use super::problem::{Problem, Problems};
use super::reference::Dataset;
use crate::compare::View;
use crate::media_type::MediaType;
use crate::question::{ExpectedStep, MatchedBy};
use crate::solutions::{ResultFormat, SparqlResult};

impl Dataset<'_> {
    /// Every expected step that no actual step can match, with its place.
    pub fn unscorable(&self, document: &Document) -> Problems {
        let mut found = Vec::new();
        for (at, question) in self.questions.iter().enumerate() {
            for (group, steps) in question.groups.iter().flatten().enumerate() {
                for (index, step) in steps.iter().enumerate() {
                    if let Some(problem) = trouble_with(step) {
                        let output = step.fields.get("output").map_or("", RawValue::get);
                        let steps = self.path_of(at).key("reference_steps");
                        let path = steps.index(group).index(index).key("output");
                        let offset = document.offset_of(output);
                        found.push(Found { offset, path, problem });
                    }
                }
            }
        }
        document.locate(found)
    }
}

/// Why an expected output cannot be compared as its step asks for.
fn trouble_with(step: &ExpectedStep<'_>) -> Option<Problem> {
    let output = step.output.filter(|_| step.matched_by != Some(MatchedBy::Args))?;
    let media_type = step.media_type.as_deref().unwrap_or_default();
    let trouble =
        |why: &str| Some(Problem::BadOutput { step: step.name.to_string(), why: why.to_owned() });
    if step.name == "retrieval" {
        let view = View::of_expected(step);
        return match view.documents() {
            None => trouble("is not a list of documents"),
            Some([]) => trouble("has no documents"),
            Some(documents) => match documents.iter().filter(|one| one.id.is_none()).count() {
                0 => None,
                n if n == documents.len() => trouble("has no ids, by which documents are compared"),
                1 => trouble("has a document without `id`, which no document equals"),
                _ => trouble("has documents without `id`, which no document equals"),
            },
        };
    }
    if let Some(format) = ResultFormat::from_media_type(media_type) {
        return match SparqlResult::parse_reference(&output.text(), format) {
            Ok(_) => None,
            Err(_) => trouble(&format!("is no SPARQL result of the media type `{media_type}`")),
        };
    }
    if MediaType::of(media_type) == MediaType::Json {
        let text = output.text();
        // Python writes words for numbers that are none, and reads them again.
        let reads = |text: &str| serde_json::from_str::<&RawValue>(text).is_ok();
        let is_json =
            reads(&text) || Quoted::of(&text, false).is_some_and(|quoted| reads(&quoted.text));
        return if is_json { None } else { trouble("is no JSON, as its media type says") };
    }
    None
}
