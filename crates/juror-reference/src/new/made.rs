//! A reference that was made, as it is written.

use hashbrown::HashSet;
use juror_document::{Document, Format, Path, Problem, Problems};
use juror_read::read_reference;
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};
use serde_json::Value;

use super::doubt::Doubt;

/// A reference that was made from templates.
#[derive(Clone, Debug, Default)]
pub struct Made {
    /// Its templates.
    pub templates: Vec<MadeTemplate>,
    /// What is doubtful, with the places in the file of templates.
    pub doubts: Vec<(Path, Doubt)>,
    /// Whether a query has no answer.
    pub has_failures: bool,
    /// Whether something outside is at fault for that.
    pub is_outside: bool,
}

/// The questions of a template.
#[derive(Clone, Debug, Serialize)]
pub struct MadeTemplate {
    /// Its id.
    pub template_id: String,
    /// Its questions.
    pub questions: Vec<MadeQuestion>,
}

/// A question with its expected answer and steps.
#[derive(Clone, Debug, Serialize)]
pub struct MadeQuestion {
    /// Its id.
    pub id: String,
    /// The question.
    pub question_text: String,
    /// The answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference_answer: Option<String>,
    /// The expected steps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reference_steps: Vec<Vec<MadeStep>>,
}

/// An expected step: its fields in the order in which they are written.
#[derive(Clone, Debug)]
pub struct MadeStep(pub(super) Vec<(String, Value)>);

impl Serialize for MadeStep {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl Made {
    /// Returns how many questions there are.
    pub fn n_questions(&self) -> usize {
        self.templates.iter().map(|template| template.questions.len()).sum()
    }

    /// Returns the reference as JSON.
    pub fn json(&self) -> String {
        // Texts and numbers always serialize.
        serde_json::to_string_pretty(&self.templates).unwrap_or_default()
    }

    /// Fails with what Juror would refuse the reference for.
    pub fn check(&self) -> Result<(), Problems> {
        let document = Document::new("the reference as JSON", self.json().into(), Format::Json)?;
        read_reference(&document).map(drop)
    }

    /// Returns doubts with their lines and columns in the file of templates.
    pub fn located_doubts(
        &self,
        document: &Document,
        is_wanted: impl Fn(&Doubt) -> bool,
    ) -> Problems {
        let doubts =
            self.doubts.iter().filter(|(_, doubt)| is_wanted(doubt)).map(|(path, doubt)| {
                let problem =
                    Problem::BadSetting { message: doubt.to_string(), hint: doubt.hint() };
                (path.clone(), problem)
            });
        document.errors_at(doubts.collect())
    }
}

/// The longest part of an id that comes from the values of a question, in characters.
const LONGEST_ID: usize = 60;

/// Gives ids to questions: the template's, and the values that the question names. Ids are unique over all
/// templates.
#[derive(Default)]
pub(super) struct Ids {
    taken: HashSet<String>,
}

impl Ids {
    pub(super) fn id(&mut self, template: &str, values: &[String]) -> String {
        let words = values.iter().flat_map(|text| text.split(|c: char| !c.is_alphanumeric()));
        let words = words.filter(|word| !word.is_empty()).map(str::to_lowercase);
        let own = words.collect::<Vec<_>>().join("-");
        let own: String = own.chars().take(LONGEST_ID).collect();
        let id = if own.is_empty() {
            template.to_owned()
        } else {
            format!("{template}-{}", own.trim_end_matches('-'))
        };
        let numbered = (2..).map(|n| format!("{id}-{n}"));
        let mut ids = std::iter::once(id.clone()).chain(numbered);
        let free = ids.find(|id| !self.taken.contains(id)).unwrap_or(id);
        self.taken.insert(free.clone());
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_made_of_words_and_differ() {
        let mut ids = Ids::default();
        let mut id_of = |template: &str, values: &[&str]| {
            ids.id(template, &values.iter().map(|value| (*value).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(id_of("t-a", &["b"]), "t-a-b");
        let mut id = |values: &[&str]| id_of("t", values);
        assert_eq!(id(&["a b"]), "t-a-b-2");
        assert_eq!(id(&["Palm Court", "Änne's"]), "t-palm-court-änne-s");
        assert_eq!(id(&["palm", "court", "änne s"]), "t-palm-court-änne-s-2");
        assert_eq!(id(&[]), "t");
        assert_eq!(id(&["?!"]), "t-2");
        assert_eq!(id(&["a".repeat(100).as_str()]).len(), 62);
    }
}
