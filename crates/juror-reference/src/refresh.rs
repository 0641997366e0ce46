//! Writes fresh results into a reference, and leaves everything else as it was written.

use std::sync::Arc;

use hashbrown::HashMap;
use juror_document::{Document, Format, Path, Problems};
use juror_json as json;
use juror_read::{Dataset, read_reference};
use juror_score::{ExpectedStep, Question};
use juror_sparql::ResultFormat;
use serde_json::Value;
use serde_json::value::RawValue;
use similar::TextDiff;

use crate::asking::Asked;
use crate::check::{Checked, Standing};
use crate::edit::{self, NewOutput, YamlStep};
use crate::fresh_text::fresh_text;
use crate::steps::{QueryStep, result_format};

/// A reference with fresh results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refreshed {
    /// The text of the file.
    pub text: String,
    /// The steps whose output was replaced, by position.
    pub replaced: Vec<usize>,
    /// The steps that had no output.
    pub filled: Vec<usize>,
    /// The steps whose output should change and did not, with the reasons.
    pub left: Vec<(usize, String)>,
}

/// Why a reference cannot be refreshed.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// The changed text cannot be read.
    #[error("{0}")]
    Unreadable(Problems),
    /// The changed text would say something else, too.
    #[error(
        "{0}: its values cannot be replaced where they are written, because of how they refer to each other\n  hint: write the output of each step out, without aliases"
    )]
    Entangled(String),
}

/// Puts fresh results in place of those that have changed or are missing.
pub fn refresh(
    document: &Document,
    dataset: &Dataset<'_>,
    steps: &[QueryStep<'_>],
    found: &[(Arc<Asked>, Checked)],
) -> Result<Refreshed, RefreshError> {
    let mut refreshed = Refreshed {
        text: String::new(),
        replaced: Vec::new(),
        filled: Vec::new(),
        left: Vec::new(),
    };
    let mut outputs: Vec<(usize, NewOutput)> = Vec::new();
    for (at, (step, (asked, checked))) in steps.iter().zip(found).enumerate() {
        match new_output(document, step, asked, checked) {
            Ok(None) => {}
            Ok(Some(output)) => outputs.push((at, output)),
            Err(why) => refreshed.left.push((at, why)),
        }
    }
    let edits = edits_of(document, steps, &outputs);
    let mut all = Vec::new();
    let mut done = Vec::new();
    for ((at, output), edits) in outputs.into_iter().zip(edits) {
        let Some(edits) = edits else {
            let why = "it is not written here, but through an alias or a merge key".to_owned();
            refreshed.left.push((at, why));
            continue;
        };
        all.extend(edits);
        let is_new = steps[at].step.fields.get_set("output").is_none();
        if is_new {
            refreshed.filled.push(at);
        } else {
            refreshed.replaced.push(at);
        }
        done.push((at, output));
    }
    refreshed.left.sort_unstable();
    let entangled = || RefreshError::Entangled(document.name().to_owned());
    refreshed.text = edit::apply(document.text(), all).ok_or_else(entangled)?;
    let is_meant = says_what_is_meant(document, dataset, steps, &refreshed.text, &done)?;
    if is_meant { Ok(refreshed) } else { Err(entangled()) }
}

/// Returns the output that a step gets; `None` if its own stays. Fails if it should change and cannot.
fn new_output(
    document: &Document,
    step: &QueryStep<'_>,
    asked: &Asked,
    checked: &Checked,
) -> Result<Option<NewOutput>, String> {
    let answer = match (&checked.standing, asked.answer()) {
        (Standing::Same, _) => return Ok(None),
        (Standing::Fails { why, .. }, _) => return Err(why.clone()),
        (_, None) => return Ok(None),
        (_, Some(answer)) => answer,
    };
    if !checked.missing_columns.is_empty() {
        let names = checked.missing_columns.join("`, `");
        return Err(format!("its query does not give the required column `{names}`"));
    }
    let lines = document.format() == Format::Yaml;
    let recorded = step.recorded();
    let ordered = step.step.rules.ordered;
    let text = fresh_text(recorded.as_deref(), answer, step.format(), ordered, lines);
    let media_type = result_format(step.step).is_none().then(|| media_type_of(step.format()));
    Ok(Some(NewOutput { text, media_type }))
}

pub(crate) fn media_type_of(format: ResultFormat) -> &'static str {
    match format {
        ResultFormat::Json => "application/sparql-results+json",
        ResultFormat::Xml => "application/sparql-results+xml",
        ResultFormat::Csv => "text/csv",
        ResultFormat::Tsv => "text/tab-separated-values",
    }
}

fn edits_of(
    document: &Document,
    steps: &[QueryStep<'_>],
    outputs: &[(usize, NewOutput)],
) -> Vec<Option<Vec<edit::Edit>>> {
    if document.format() != Format::Yaml {
        let edits = |(at, new): &(usize, NewOutput)| {
            edit::json_edits(document, &steps[*at].step.fields, new)
        };
        return outputs.iter().map(edits).collect();
    }
    let paths: Vec<Path> = outputs
        .iter()
        .flat_map(|(at, _)| [steps[*at].path.key("output"), steps[*at].path.key("args")])
        .collect();
    let spans = document.yaml_spans(&paths);
    let edits = |((_, new), spans): (&(usize, NewOutput), &[Option<juror_document::ValueSpan>])| {
        let step = YamlStep { output: spans[0].clone(), args: spans[1].clone() };
        step.edits(document.text(), new)
    };
    outputs.iter().zip(spans.chunks(2)).map(edits).collect()
}

/// Whether a changed text says what the old one does, but for the outputs that were to change.
fn says_what_is_meant(
    document: &Document,
    dataset: &Dataset<'_>,
    steps: &[QueryStep<'_>],
    text: &str,
    done: &[(usize, NewOutput)],
) -> Result<bool, RefreshError> {
    let new = Document::new(document.name(), text.into(), document.format());
    let new = new.map_err(RefreshError::Unreadable)?;
    let now = read_reference(&new).map_err(RefreshError::Unreadable)?;
    let changed: HashMap<(usize, usize, usize), &NewOutput> = done
        .iter()
        .map(|(at, output)| ((steps[*at].question, steps[*at].group, steps[*at].index), output))
        .collect();
    let questions = dataset.questions.iter().zip(&now.questions).enumerate();
    Ok(dataset.questions.len() == now.questions.len()
        && questions.into_iter().all(|(at, (old, new))| {
            is_same_question(old, new)
                && steps_of(old).zip(steps_of(new)).all(|((group, index, old), (_, _, new))| {
                    is_same_step(old, new, changed.get(&(at, group, index)).copied())
                })
        }))
}

fn steps_of<'q>(
    question: &'q Question<'q>,
) -> impl Iterator<Item = (usize, usize, &'q ExpectedStep<'q>)> {
    question.groups.iter().flatten().enumerate().flat_map(|(group, steps)| {
        steps.iter().enumerate().map(move |(index, step)| (group, index, step))
    })
}

fn is_same_question(old: &Question<'_>, new: &Question<'_>) -> bool {
    let shape = |question: &Question<'_>| -> Option<Vec<usize>> {
        question.groups.as_ref().map(|groups| groups.iter().map(Vec::len).collect())
    };
    old.id == new.id
        && old.template == new.template
        && is_same_json(Some(old.text), Some(new.text))
        && is_same_json(old.answer, new.answer)
        && shape(old) == shape(new)
}

fn is_same_step(
    old: &ExpectedStep<'_>,
    new: &ExpectedStep<'_>,
    output: Option<&NewOutput>,
) -> bool {
    let others = |step: &ExpectedStep<'_>| -> Vec<(String, String)> {
        let fields = step.fields.iter().filter(|(key, _)| {
            output.is_none() || !matches!(&**key, "output" | "output_media_type")
        });
        fields.map(|(key, value)| (key.into_owned(), canonical(value))).collect()
    };
    let is_output = |output: &NewOutput| {
        let written = new.fields.get_set("output").map(json::text_or_json);
        let media_type = output.media_type.is_none_or(|own| new.media_type.as_deref() == Some(own));
        media_type && written.is_some_and(|text| text.trim_end() == output.text.trim_end())
    };
    others(old) == others(new) && output.is_none_or(is_output)
}

fn is_same_json(old: Option<&RawValue>, new: Option<&RawValue>) -> bool {
    old.map(canonical) == new.map(canonical)
}

/// Two values are equal if these texts are.
fn canonical(value: &RawValue) -> String {
    serde_json::from_str::<Value>(value.get())
        .map_or_else(|_| value.get().to_owned(), |own| own.to_string())
}

/// Shows what changes in a file, line by line.
pub fn diff(old: &str, new: &str, name: &str) -> String {
    let diff = TextDiff::from_lines(old, new);
    diff.unified_diff().header(name, name).to_string()
}
