//! Questions and what is expected of their answers.

use std::borrow::Cow;

use hashbrown::HashSet;
use juror_json::Object;
use juror_sparql::{ResultFormat, Rules, SparqlResult};
use serde_json::value::RawValue;

use crate::output::Output;
use crate::profile::{Profile, WithoutOutput};

/// A question of a reference dataset, with its reference. Read from a file, or built with a
/// [`QuestionBuilder`](crate::QuestionBuilder).
#[derive(Clone, Debug)]
pub struct Question<'a> {
    /// Unique in its dataset.
    pub id: Cow<'a, str>,
    /// The template it was made from.
    pub template: Cow<'a, str>,
    /// The question, as JSON.
    pub text: &'a RawValue,
    /// The expected answer, as JSON.
    pub answer: Option<&'a RawValue>,
    /// Expected steps: groups in order, the steps of a group in any order.
    pub groups: Option<Vec<Vec<ExpectedStep<'a>>>>,
}

/// A step the subject is expected to take.
#[derive(Clone, Debug)]
pub struct ExpectedStep<'a> {
    /// All fields, verbatim.
    pub fields: Object<'a>,
    /// The kind of step, such as `sparql_query`.
    pub name: Cow<'a, str>,
    /// The expected output; without it the step can only match by its arguments.
    pub output: Option<Output<'a>>,
    /// The media type of the output, which decides how it is read.
    pub media_type: Option<Cow<'a, str>>,
    /// How SPARQL results are compared.
    pub rules: Rules<'a>,
    /// What the step is matched by; if `None`, the profile decides.
    pub matched_by: Option<MatchedBy>,
}

/// The key of an expected step that says how its result has moved with the graph. Results repeat it.
pub const MOVED: &str = "moved";

impl Question<'_> {
    /// Says how its expected results have moved with the graph; empty if none has.
    pub fn moved_in_words(&self) -> String {
        let steps = self.groups.iter().flatten().flatten();
        let moved = steps.filter_map(|step| step.fields.get_set(MOVED));
        moved.map(juror_json::text_or_json).collect::<Vec<_>>().join("; ")
    }
}

impl ExpectedStep<'_> {
    /// Whether a key says what became of the step in some run, and not what is expected.
    pub fn is_finding(key: &str) -> bool {
        matches!(key, "matches" | "missed" | MOVED)
    }
}

/// What an expected step is matched by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchedBy {
    /// Its output, compared by the rules of its kind.
    Output,
    /// Its name and arguments.
    Args,
}

impl MatchedBy {
    /// The words for it in a reference.
    pub const WORDS: &str = "`output` or `args`";

    /// Reads a word of a reference.
    pub fn from_word(word: &str) -> Option<MatchedBy> {
        [MatchedBy::Output, MatchedBy::Args].into_iter().find(|by| by.word() == word)
    }

    /// Returns the word for it in a reference.
    pub fn word(self) -> &'static str {
        match self {
            MatchedBy::Output => "output",
            MatchedBy::Args => "args",
        }
    }
}

impl ExpectedStep<'_> {
    /// Whether the step is matched by its name and arguments only.
    #[inline]
    pub fn matches_by_args(&self, profile: &Profile) -> bool {
        match self.matched_by {
            Some(by) => by == MatchedBy::Args,
            None => self.output.is_none() && profile.without_output == WithoutOutput::Args,
        }
    }

    /// Whether no step can match this one because it has no output. Some kinds compare arguments
    /// and need none.
    #[inline]
    pub fn lacks_output(&self, profile: &Profile) -> bool {
        let needs_none = || {
            let kind = profile.kind_names.meant_by(&self.name);
            matches!(kind, "retrieve_time_series" | "retrieve_data_points")
        };
        self.output.is_none() && !needs_none() && !self.matches_by_args(profile)
    }

    /// Returns the columns of the output if it is the result of a SELECT query: those it lists, or
    /// else those of its rows.
    fn columns(&self) -> Option<Vec<String>> {
        let format = ResultFormat::from_media_type(self.media_type.as_deref()?)?;
        let output = self.output?;
        // The head nearly always comes first, so most outputs need not be unescaped for this.
        let served = || output.served_names().filter(|names| !names.is_empty());
        let listed = (format == ResultFormat::Json)
            .then(served)
            .flatten()
            .or_else(|| SparqlResult::parse_names(&output.text(), format));
        if listed.as_ref().is_some_and(|names| !names.is_empty()) {
            return listed;
        }
        match SparqlResult::parse_reference(&output.text(), format) {
            Ok(SparqlResult::Truth(_)) => None,
            Ok(SparqlResult::Table(table)) if !table.names.is_empty() => {
                Some(table.names.into_iter().map(Cow::into_owned).collect())
            }
            _ => listed,
        }
    }

    /// Returns the positions of required columns that the output lacks, and the columns it has.
    /// `None` if it has all of them or is not a table.
    #[inline]
    pub fn missing_columns(&self) -> Option<(Vec<usize>, Vec<String>)> {
        let required = self.rules.required_columns.as_deref().filter(|names| !names.is_empty())?;
        let known = self.columns()?;
        let missing = absent(required, &known);
        (!missing.is_empty()).then_some((missing, known))
    }

    /// Whether the output has every required column, or is not a table.
    pub fn has_required_columns(&self) -> bool {
        self.missing_columns().is_none()
    }
}

/// Returns the positions of the names that are not known.
fn absent(names: &[Cow<'_, str>], known: &[String]) -> Vec<usize> {
    const FEW: usize = 32;
    let among = |is_known: &dyn Fn(&str) -> bool| {
        (0..names.len()).filter(|index| !is_known(&names[*index])).collect()
    };
    if known.len() <= FEW {
        return among(&|name| known.iter().any(|known| known == name));
    }
    let known: HashSet<&str> = known.iter().map(String::as_str).collect();
    among(&|name| known.contains(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_columns_are_looked_for_in_rows_where_no_head_lists_them() {
        let row = r#"{"a": {"value": "1"}}"#;
        let bindings = |rows: &str| format!(r#""results": {{"bindings": [{rows}]}}"#);
        let head = |vars: &str| format!(r#""head": {{"vars": [{vars}]}}"#);
        for (output, media_type, missing) in [
            (format!("{{{}}}", bindings(row)), "json", Some(vec!["a"])),
            (format!("{{{}}}", bindings("")), "json", None),
            (format!("{{{}, {}}}", head(""), bindings("")), "json", Some(vec![])),
            (format!("{{{}, {}}}", head("\"b\""), bindings(row)), "json", None),
            (r#"{"head": {}, "boolean": true}"#.into(), "json", None),
            ("no result".into(), "json", None),
            ("<sparql><results/></sparql>".into(), "xml", None),
            (
                "<sparql><result><binding name='a'/></result></sparql>".into(),
                "xml",
                Some(vec!["a"]),
            ),
        ] {
            let step = ExpectedStep {
                fields: Object::default(),
                name: "s".into(),
                output: Some(Output::Text(&output)),
                media_type: Some(format!("application/sparql-results+{media_type}").into()),
                rules: Rules { required_columns: Some(vec!["b".into()]), ..Rules::default() },
                matched_by: None,
            };
            let known = step.missing_columns().map(|(_, known)| known);
            assert_eq!(
                known,
                missing.map(|m| m.into_iter().map(str::to_owned).collect()),
                "{output}"
            );
        }
    }
}
