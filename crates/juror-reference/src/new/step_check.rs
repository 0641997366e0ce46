//! Checks the steps of templates by the rules of references, so that what is made of them can be read.

use juror_document::{DatasetError, Document, Format, Path, Problem};
use juror_read::read_reference;
use serde_json::{Map, Value, json};

use super::template::{Template, TemplateStep};

/// Returns what a reference would be refused for, with its place in the file of templates, and misspelt keys.
pub(super) fn misfits(templates: &[Template]) -> Vec<(Path, Problem)> {
    let templates = templates.iter().enumerate().map(|(at, template)| as_reference(at, template));
    let text = Value::Array(templates.collect()).to_string();
    // A text of ours is JSON.
    let Ok(document) = Document::new("templates", text.into(), Format::Json) else {
        return Vec::new();
    };
    let found = match read_reference(&document) {
        Err(problems) => problems.errors,
        Ok(dataset) => dataset.warnings.errors.into_iter().filter_map(misspelt).collect(),
    };
    found.into_iter().map(|error| (in_templates(error.place.path), error.problem)).collect()
}

/// Keeps a warning about a misspelt key; the others are about outputs, which come from the graph.
fn misspelt(mut warning: DatasetError) -> Option<DatasetError> {
    let Problem::UnknownKey { key, near, .. } = warning.problem else { return None };
    let hint = format!("did you mean `{}`?", near?);
    warning.problem = Problem::UnknownTemplateKey { key, hint };
    Some(warning)
}

/// Returns a template as one of a reference, with a single question.
fn as_reference(at: usize, template: &Template) -> Value {
    let steps = |group: &Vec<TemplateStep>| group.iter().map(without_output).collect::<Vec<_>>();
    let steps: Vec<Vec<Value>> = template.reference_steps.iter().map(steps).collect();
    let question = json!({ "id": at, "question_text": "", "reference_steps": steps });
    json!({ "template_id": at, "questions": [question] })
}

/// An output may have names in it, and is replaced if the step has a query.
fn without_output(step: &TemplateStep) -> Value {
    let own = [("name", Value::from(&*step.name)), ("args", Value::from(step.args.clone()))];
    let own = own.map(|(key, value)| (key.to_owned(), value));
    let rest = step.rest.iter().filter(|(key, _)| *key != "output");
    let rest = rest.map(|(key, value)| (key.clone(), value.clone()));
    Value::Object(own.into_iter().chain(rest).collect::<Map<_, _>>())
}

/// Takes `questions[0]` out of a path, which templates do not have.
fn in_templates(path: Path) -> Path {
    let parts = path.0.into_iter().enumerate();
    Path(parts.filter(|(at, _)| !(1..3).contains(at)).map(|(_, part)| part).collect())
}
