//! Fills in what agents' queries return, where responses have the query and not its output.

use juror_document::{Document, Format};
use juror_graph::LoadError;
use juror_json as json;
use juror_read::{Dataset, Responses};
use juror_score::{Status, Step, StepKind};
use juror_sparql::ResultFormat;

use crate::asked_graph::AskedGraph;
use crate::asking::{AskOptions, Asking, ask_all};
use crate::edit::{self, NewOutput};
use crate::steps::query_of;

/// Responses whose queries were run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rerun {
    /// The text of the file.
    pub text: String,
    /// How many steps have an output now.
    pub n_filled: usize,
    /// Why others have none, after the question.
    pub failures: Vec<String>,
    /// Whether something outside is at fault for one of them.
    pub is_outside: bool,
}

/// Runs the queries of steps that have no output and did not fail. Returns `None` if the responses are in
/// YAML, whose places are not known.
pub fn rerun(
    document: &Document,
    (dataset, responses): (&Dataset<'_>, &Responses<'_>),
    graph: &mut AskedGraph,
    options: &AskOptions,
    progress: &mut dyn FnMut(Asking),
) -> Result<Option<Rerun>, LoadError> {
    if document.format() == Format::Yaml {
        return Ok(None);
    }
    let lacks_output = |step: &Step<'_>| {
        let is_query = options.names.meant_by(&step.name) == StepKind::SparqlQuery.name();
        let has_failed = step.status == Status::Error || step.fields.get_set("error").is_some();
        is_query && !has_failed && step.fields.get_set("output").is_none()
    };
    let trajectories = dataset.questions.iter().flat_map(|question| {
        let others =
            responses.further_trials(&question.id).map(|at| responses.of_trial(question, at));
        let all = std::iter::once(responses.of(question)).chain(others.collect::<Vec<_>>());
        all.map(move |trajectory| (&*question.id, trajectory))
    });
    let steps = trajectories
        .flat_map(|(id, trajectory)| trajectory.steps.iter().flatten().map(move |step| (id, step)));
    let steps: Vec<_> = steps
        .filter(|(_, step)| lacks_output(step))
        .filter_map(|(id, step)| Some((id, step, json::text_of(query_of(&step.fields)?)?)))
        .collect();
    let asked = ask_all(graph, steps.iter().map(|(.., query)| &**query), options, progress)?;
    let (mut edits, mut failures, mut is_outside, mut n_filled) =
        (Vec::new(), Vec::new(), false, 0);
    for ((id, step, _), asked) in steps.iter().zip(&asked) {
        let Some(answer) = asked.answer() else {
            is_outside |= asked.is_outside();
            failures.extend(asked.problem().map(|(why, _)| format!("{id}: {why}")));
            continue;
        };
        let output = NewOutput { text: answer.write(ResultFormat::Json), media_type: None };
        if let Some(own) = edit::json_edits(document, &step.fields, &output) {
            edits.extend(own);
            n_filled += 1;
        }
    }
    let text = edit::apply(document.text(), edits);
    Ok(text.map(|text| Rerun { text, n_filled, failures, is_outside }))
}
