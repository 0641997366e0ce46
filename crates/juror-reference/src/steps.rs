//! The steps of a reference that ask a graph.

use std::borrow::Cow;

use juror_document::Path;
use juror_json::{self as json, Object};
use juror_read::Dataset;
use juror_score::{ExpectedStep, KindNames, Question, StepKind};
use juror_sparql::ResultFormat;
use serde_json::value::RawValue;

use crate::place::Wanted;

/// An expected step with a query.
#[derive(Clone, Debug)]
pub struct QueryStep<'d> {
    /// The question, by its position in the dataset.
    pub question: usize,
    /// Its group, counted from 0.
    pub group: usize,
    /// Its position in the group.
    pub index: usize,
    /// The path to the step in its file.
    pub path: Path,
    /// The query.
    pub query: Cow<'d, str>,
    /// The query as it is written in the file, as JSON.
    pub written: &'d RawValue,
    /// The step.
    pub step: &'d ExpectedStep<'d>,
}

/// Returns the steps that have a query: an argument `query`, in a step that is called `sparql_query`, or by
/// another name for it, or whose output is a SPARQL result.
pub fn query_steps<'d>(dataset: &'d Dataset<'_>, names: &KindNames) -> Vec<QueryStep<'d>> {
    let questions = dataset.questions.iter().enumerate();
    questions
        .flat_map(|(question, of)| {
            let path = dataset.path_of(question).key("reference_steps");
            steps_of(of, names).map(move |(group, index, step, written)| {
                let path = path.index(group).index(index);
                let query = json::text_of(written).unwrap_or_default();
                QueryStep { question, group, index, path, query, written, step }
            })
        })
        .collect()
}

type Found<'d> = (usize, usize, &'d ExpectedStep<'d>, &'d RawValue);

fn steps_of<'d>(question: &'d Question<'_>, names: &KindNames) -> impl Iterator<Item = Found<'d>> {
    let groups = question.groups.iter().flatten().enumerate();
    let steps = groups.flat_map(|(group, steps)| {
        steps.iter().enumerate().map(move |(index, step)| (group, index, step))
    });
    steps.filter_map(move |(group, index, step)| {
        let is_query = names.meant_by(&step.name) == StepKind::SparqlQuery.name();
        let written = query_of(&step.fields)?;
        (is_query || result_format(step).is_some()).then_some((group, index, step, written))
    })
}

/// Returns the steps that are called `sparql_query`, or by another name for it, and have no query: the
/// position of the question, the path of the step, and the step.
pub(crate) fn steps_without_query<'d>(
    dataset: &'d Dataset<'_>,
    names: &KindNames,
) -> Vec<(usize, Path, &'d ExpectedStep<'d>)> {
    let mut found = Vec::new();
    for (question, of) in dataset.questions.iter().enumerate() {
        for (group, steps) in of.groups.iter().flatten().enumerate() {
            for (index, step) in steps.iter().enumerate() {
                let is_query = names.meant_by(&step.name) == StepKind::SparqlQuery.name();
                if is_query && query_of(&step.fields).is_none() {
                    let path = dataset.path_of(question).key("reference_steps");
                    found.push((question, path.index(group).index(index), step));
                }
            }
        }
    }
    found
}

/// Returns the argument `query` of a step, if it is a text.
pub(crate) fn query_of<'d>(fields: &Object<'d>) -> Option<&'d RawValue> {
    let args: Object<'d> = json::from_str(fields.get("args")?.get()).ok()?;
    args.get("query").filter(|query| query.get().starts_with('"'))
}

/// Returns the format that the media type of a step's output says.
pub(crate) fn result_format(step: &ExpectedStep<'_>) -> Option<ResultFormat> {
    ResultFormat::from_media_type(step.media_type.as_deref()?)
}

impl QueryStep<'_> {
    /// Asks for the place of the query, or of a mistake in it.
    pub(crate) fn wanted(&self, mistake: Option<(usize, usize)>) -> Wanted<'_> {
        let path = self.path.key("args").key("query");
        Wanted { path, around: self.path.clone(), json: self.written.get(), mistake }
    }

    /// Returns the recorded output as text; `None` if there is none.
    pub fn recorded(&self) -> Option<Cow<'_, str>> {
        self.step.fields.get_set("output").map(json::text_or_json)
    }

    /// Returns the format of the recorded output: what its media type says, or else how it looks.
    pub fn format(&self) -> ResultFormat {
        result_format(self.step).unwrap_or_else(|| match self.recorded() {
            Some(text) if text.trim_start().starts_with('<') => ResultFormat::Xml,
            _ => ResultFormat::Json,
        })
    }
}
