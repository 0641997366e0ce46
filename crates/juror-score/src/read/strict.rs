//! Finds expected steps that can never score, whatever the answer. Done only on request, since every
//! expected output has to be parsed.

use juror_document::{Document, Problem, Problems, Quoted, UnplacedProblem};
use juror_sparql::{NotAResult, SparqlResult};
use serde_json::value::RawValue;

use super::reference::Dataset;
use crate::compare::{CompareBy, NotDocuments, View};
use crate::limits::Excess;
use crate::profile::Profile;
use crate::question::ExpectedStep;

impl Dataset<'_> {
    /// Returns every expected step that no actual step can match completely by the rules of a
    /// profile.
    pub fn unscorable(&self, document: &Document, profile: &Profile) -> Problems {
        let mut found = Vec::new();
        for (at, question) in self.questions.iter().enumerate() {
            for (group, steps) in question.groups.iter().flatten().enumerate() {
                for (index, step) in steps.iter().enumerate() {
                    if let Some(problem) = trouble_with(step, profile) {
                        let output = step.fields.get("output").map_or("", RawValue::get);
                        let steps = self.path_of(at).key("reference_steps");
                        let path = steps.index(group).index(index).key("output");
                        let offset = document.offset_of(output);
                        found.push(UnplacedProblem { offset, path, problem });
                    }
                }
            }
        }
        document.locate(found.into_iter().collect())
    }
}

/// Returns why an expected output, or a part of it, cannot be compared by the rules of its step.
fn trouble_with(step: &ExpectedStep<'_>, profile: &Profile) -> Option<Problem> {
    let output = step.output.filter(|_| !step.matches_by_args(profile))?;
    let name = || step.name.to_string();
    let trouble = |why: &str| Some(Problem::BadOutput { step: name(), why: why.to_owned() });
    let too_large = |excess: Excess| trouble(&format!("is {}", excess.describe(&profile.limits)));
    let view = View::of_expected(step).under(profile);
    let read = |text: &str, format| {
        SparqlResult::parse_reference_within(text, format, profile.limits.of_tables()).map(|_| ())
    };
    match CompareBy::by_output(&view, true, profile) {
        CompareBy::Retrieval => match view.documents() {
            Err(NotDocuments::Other) => trouble("is not a list of documents"),
            Err(NotDocuments::TooMany) => too_large(Excess::Documents),
            Ok([]) => trouble("has no documents"),
            Ok(documents) => match documents.iter().filter(|one| one.id.is_none()).count() {
                0 => None,
                n if n == documents.len() => trouble("has no ids, by which documents are compared"),
                n => Some(Problem::UncountedDocuments { step: name(), n }),
            },
        },
        CompareBy::Sparql(format) => match read(&output.text(), format) {
            Ok(()) => None,
            Err(NotAResult::TooLarge) => too_large(Excess::TableCells),
            Err(NotAResult::TooWide) => too_large(Excess::TableColumns),
            Err(NotAResult::Other(_)) => {
                let media_type = step.media_type.as_deref().unwrap_or_default();
                trouble(&format!("is not a SPARQL result of the media type `{media_type}`"))
            }
        },
        CompareBy::Json => {
            let text = output.text();
            // Python writes words for numbers that are none, and reads them again.
            let reads = |text: &str| serde_json::from_str::<&RawValue>(text).is_ok();
            let is_json =
                reads(&text) || Quoted::of(&text, false).is_some_and(|quoted| reads(&quoted.text));
            if is_json { None } else { trouble("is not JSON, although its media type says so") }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind_names::{KindNames, StepKind};
    use crate::read::read_reference;
    use juror_document::Format;

    fn told(step: &str, profile: &Profile) -> Vec<String> {
        let text = format!(
            r#"[{{"template_id": "t", "questions": [{{"id": "q", "question_text": "Q",
                "reference_steps": [[{step}]]}}]}}]"#
        );
        let document = Document::new("r.json", text.into(), Format::Json).expect("JSON");
        let dataset = read_reference(&document).expect("a reference");
        let told = dataset.unscorable(&document, profile);
        let level = |problem: &Problem| if problem.is_warning() { "warning" } else { "problem" };
        let told = told.errors.iter().map(|error| &error.problem);
        told.map(|problem| format!("{}: {problem}", level(problem))).collect()
    }

    #[test]
    fn what_scores_in_part_is_a_warning() {
        let some = r#"{"name": "retrieval", "output": [{"id": 1}, {"text": "x"}]}"#;
        assert_eq!(
            told(some, &Profile::V5),
            ["warning: the output of the expected step `retrieval` has a document without `id`, \
              which is not counted among the relevant ones"]
        );
        let none = r#"{"name": "retrieval", "output": [{"text": "x"}]}"#;
        assert!(told(none, &Profile::V5)[0].starts_with("problem: "));
    }

    #[test]
    fn an_output_is_looked_at_as_its_rule_reads_it() {
        let table = r#"{"name": "retrieval", "output_media_type":
            "application/sparql-results+json", "output": "{\"head\": {}, \"boolean\": true}"}"#;
        assert_eq!(told(table, &Profile::V5), [""; 0]);
        assert_eq!(told(table, &Profile::V6).len(), 1, "there it is a retrieval");
        let search = r#"{"name": "search", "output": "x"}"#;
        let kind_names = KindNames::new([("search".to_owned(), StepKind::Retrieval)]);
        assert_eq!(told(search, &Profile::V5), [""; 0]);
        assert_eq!(told(search, &Profile { kind_names, ..Profile::V5 }).len(), 1);
    }
}
