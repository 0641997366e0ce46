//! Finds expected steps that can never score, whatever the answer. Done only on request, since every
//! expected output has to be parsed.

use juror_document::{Document, Problems, UnplacedProblem};
use juror_score::Profile;
use serde_json::value::RawValue;

use crate::reference::Dataset;

impl Dataset<'_> {
    /// Returns every expected step that no actual step can match completely by the rules of a
    /// profile.
    pub fn unscorable(&self, document: &Document, profile: &Profile) -> Problems {
        let mut found = Vec::new();
        for (at, question) in self.questions.iter().enumerate() {
            for (group, steps) in question.groups.iter().flatten().enumerate() {
                for (index, step) in steps.iter().enumerate() {
                    if let Some(problem) = step.output_problem(profile) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_reference;
    use juror_document::{Format, Problem};
    use juror_score::{KindNames, StepKind};

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
