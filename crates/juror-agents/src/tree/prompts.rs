//! The prompts of an agent's model, with placeholders for what differs between queries.

use juror_json::python;

/// The texts of an agent's prompts. A placeholder such as `{{query}}` occurs once in its text; if
/// it is missing, its value is appended.
#[derive(Clone, Debug, Default)]
pub struct Prompts {
    /// The model's role, with the placeholder `{{task}}`.
    pub system: String,
    /// The question, with the placeholder `{{query}}`.
    pub user: String,
    /// The question at a place visited before, with a placeholder for the `{{candidates}}` it chose
    /// there.
    pub again: String,
    /// Follows the candidates if something was observed before: `{{observation}}`.
    pub observed: String,
}

/// An earlier choice at the same place.
pub(super) struct Candidate<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: &'a str,
    pub(super) observation: &'a str,
}

impl Prompts {
    pub(super) fn system(&self, task: &str) -> String {
        fill(&self.system, "{{task}}", task)
    }

    pub(super) fn user(&self, query: &str) -> String {
        fill(&self.user, "{{query}}", query)
    }

    pub(super) fn again(&self, candidates: &[Candidate<'_>], observation: &str) -> String {
        let mut text = list(candidates) + "\n";
        if !observation.is_empty() {
            text += &fill(&self.observed, "{{observation}}", observation);
        }
        fill(&self.again, "{{candidates}}", &text)
    }
}

fn fill(template: &str, place: &str, text: &str) -> String {
    let (before, after) = template.split_once(place).unwrap_or((template, ""));
    [before, text, after].concat()
}

/// Writes the candidates as Python writes a list of objects over several lines.
fn list(candidates: &[Candidate<'_>]) -> String {
    let object = |candidate: &Candidate<'_>| {
        let text = python::dumps_text;
        let fields = [
            format!("\"name\": {}", text(candidate.name)),
            format!("\"arguments\": {}", text(candidate.arguments)),
            format!("\"function_output\": {}", text(candidate.observation)),
            // The public agents include this value, and none of them computes it.
            "\"mento-carlo-action-value\": 0.0".to_owned(),
        ];
        format!("  {{\n    {}\n  }}", fields.join(",\n    "))
    };
    let objects: Vec<String> = candidates.iter().map(object).collect();
    format!("[\n{}\n]", objects.join(",\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stand_in_their_places() {
        let prompts = Prompts {
            system: "Be good.\n{{task}}".into(),
            user: "> {{query}} <".into(),
            again: "Not {{candidates}}!".into(),
            observed: "You saw {{observation}}.".into(),
        };
        assert_eq!(prompts.user("a {{query}} b"), "> a {{query}} b <");
        assert_eq!(prompts.system("Do it."), "Be good.\nDo it.");
        let one = [Candidate { name: "f", arguments: "{}", observation: "é" }];
        let again = prompts.again(&one, "x");
        let wanted = "Not [\n  {\n    \"name\": \"f\",\n    \"arguments\": \"{}\",\n    \"function_output\": \"\\u00e9\",\n    \"mento-carlo-action-value\": 0.0\n  }\n]\nYou saw x.!";
        assert_eq!(again, wanted);
    }
}
