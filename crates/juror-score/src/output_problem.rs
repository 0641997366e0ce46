//! Expected outputs that no actual output can equal.

use juror_document::{Problem, Quoted};
use juror_sparql::{NotAResult, SparqlResult};
use serde_json::value::RawValue;

use crate::compare::{CompareBy, NotDocuments, View};
use crate::limits::Excess;
use crate::profile::Profile;
use crate::question::ExpectedStep;

impl ExpectedStep<'_> {
    /// Returns why the expected output, or a part of it, cannot be compared by the rules of the step.
    pub fn output_problem(&self, profile: &Profile) -> Option<Problem> {
        let output = self.output.filter(|_| !self.matches_by_args(profile))?;
        let name = || self.name.to_string();
        let trouble = |why: &str| Some(Problem::BadOutput { step: name(), why: why.to_owned() });
        let too_large =
            |excess: Excess| trouble(&format!("is {}", excess.describe(&profile.limits)));
        let view = View::of_expected(self).under(profile);
        let read = |text: &str, format| {
            SparqlResult::parse_reference_within(text, format, profile.limits.of_tables())
                .map(|_| ())
        };
        match CompareBy::by_output(&view, true, profile) {
            CompareBy::Retrieval => match view.documents() {
                Err(NotDocuments::Other) => trouble("is not a list of documents"),
                Err(NotDocuments::TooMany) => too_large(Excess::Documents),
                Ok([]) => trouble("has no documents"),
                Ok(documents) => match documents.iter().filter(|one| one.id.is_none()).count() {
                    0 => None,
                    n if n == documents.len() => {
                        trouble("has no ids, by which documents are compared")
                    }
                    n => Some(Problem::UncountedDocuments { step: name(), n }),
                },
            },
            CompareBy::Sparql(format) => match read(&output.text(), format) {
                Ok(()) => None,
                Err(NotAResult::TooLarge) => too_large(Excess::TableCells),
                Err(NotAResult::TooWide) => too_large(Excess::TableColumns),
                Err(NotAResult::Other(_)) => {
                    let media_type = self.media_type.as_deref().unwrap_or_default();
                    trouble(&format!("is not a SPARQL result of the media type `{media_type}`"))
                }
            },
            CompareBy::Json => {
                let text = output.text();
                // Python writes words for numbers that are none, and reads them again.
                let reads = |text: &str| serde_json::from_str::<&RawValue>(text).is_ok();
                let is_json = reads(&text)
                    || Quoted::of(&text, false).is_some_and(|quoted| reads(&quoted.text));
                if is_json { None } else { trouble("is not JSON, although its media type says so") }
            }
            _ => None,
        }
    }
}
