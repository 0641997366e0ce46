//! Writes fresh results into a reference, and leaves everything else as it was written.

use std::sync::Arc;

use hashbrown::HashMap;
use juror_document::{Document, Format, Path, Problems};
use juror_graph::Answer;
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
    /// The steps whose new output has no rows.
    pub emptied: Vec<usize>,
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
    let mut left = Vec::new();
    let mut outputs: Vec<Option<NewOutput>> = vec![None; steps.len()];
    for (at, (step, (asked, checked))) in steps.iter().zip(found).enumerate() {
        match new_output(document, step, asked, checked) {
            Ok(output) => outputs[at] = output,
            Err(why) => left.push((at, why)),
        }
    }
    let sites = Sites::of(document, dataset, steps);
    let mut changes = Vec::new();
    for (at, output) in outputs.iter().enumerate() {
        let Some(new) = output else { continue };
        match sites.edits(at, &outputs) {
            Ok(edits) => changes.push(Change { at, new, edits }),
            Err(why) => left.push((at, why)),
        }
    }
    let mut text = sites.changed_text(&changes);
    if !matches!(text, Ok(Some(_))) {
        // Whatever else refers to a value by its name would change with it.
        let (named, others) = changes.into_iter().partition(|own| sites.has_names(own.at));
        let named: Vec<Change<'_>> = named;
        left.extend(named.iter().map(|own| (own.at, NAMED.to_owned())));
        changes = others;
        text = sites.changed_text(&changes);
    }
    left.sort_unstable();
    let text = text?.ok_or_else(|| RefreshError::Entangled(document.name().to_owned()))?;
    let done = || changes.iter().map(|own| own.at);
    let had_output = |at: &usize| steps[*at].step.fields.get_set("output").is_some();
    let is_empty = |at: &usize| found[*at].0.answer().is_some_and(Answer::is_empty);
    Ok(Refreshed {
        text,
        replaced: done().filter(had_output).collect(),
        filled: done().filter(|at| !had_output(at)).collect(),
        emptied: done().filter(is_empty).collect(),
        left,
    })
}

const NAMED: &str = "another part of the file refers to it by an alias, and would change too";

/// The new output of a step, and what has to change in the file for it.
struct Change<'o> {
    at: usize,
    new: &'o NewOutput,
    edits: Vec<edit::Edit>,
}

/// Where outputs are written.
struct Sites<'s> {
    document: &'s Document,
    dataset: &'s Dataset<'s>,
    steps: &'s [QueryStep<'s>],
    /// The places of each step; none in JSON, whose values are where they are read.
    yaml: Vec<YamlStep>,
    /// The steps whose output is the same text, by its place.
    sharing: HashMap<usize, Vec<usize>>,
}

impl<'s> Sites<'s> {
    fn of(
        document: &'s Document,
        dataset: &'s Dataset<'_>,
        steps: &'s [QueryStep<'_>],
    ) -> Sites<'s> {
        let mut sites =
            Sites { document, dataset, steps, yaml: Vec::new(), sharing: HashMap::new() };
        if document.format() != Format::Yaml {
            return sites;
        }
        let paths: Vec<Path> = steps
            .iter()
            .flat_map(|step| ["output", "args"].map(|key| step.path.key(key)))
            .collect();
        let mut spans = document.yaml_spans(&paths).into_iter();
        while let (Some(output), Some(args)) = (spans.next(), spans.next()) {
            sites.yaml.push(YamlStep { output, args, target: None });
        }
        sites.follow_aliases();
        for (at, step) in sites.yaml.iter().enumerate() {
            if let Some(place) = step.place() {
                sites.sharing.entry(place).or_default().push(at);
            }
        }
        sites
    }

    /// Finds what outputs name that are aliases.
    fn follow_aliases(&mut self) {
        let target = |step: &YamlStep| step.output.as_ref()?.target.clone();
        let targets: Vec<Path> = self.yaml.iter().filter_map(target).collect();
        let mut spans = self.document.yaml_spans(&targets).into_iter();
        for step in self.yaml.iter_mut().filter(|step| target(step).is_some()) {
            step.target = spans.next().flatten();
        }
    }

    fn has_names(&self, at: usize) -> bool {
        self.yaml.get(at).is_some_and(YamlStep::has_names)
    }

    /// Returns the edits that give a step its output. Fails with the reason if that is not possible.
    fn edits(&self, at: usize, outputs: &[Option<NewOutput>]) -> Result<Vec<edit::Edit>, String> {
        let Some(new) = &outputs[at] else { return Ok(Vec::new()) };
        let fields = &self.steps[at].step.fields;
        let Some(step) = self.yaml.get(at) else {
            let edits = edit::json_edits(self.document, fields, new);
            return edits.ok_or_else(|| "its place in the file is not known".to_owned());
        };
        let sharing = step.place().and_then(|place| self.sharing.get(&place));
        if let Some(other) = sharing.into_iter().flatten().find(|own| outputs[**own] != outputs[at])
        {
            let id = &self.dataset.questions[self.steps[*other].question].id;
            return Err(format!(
                "by an alias, it is also the output of question `{id}`, whose result is another"
            ));
        }
        let has_output = fields.get_set("output").is_some();
        step.edits(self.document.text(), new, has_output).map_err(str::to_owned)
    }

    /// Returns the text with changes; `None` if it would say something else, too.
    fn changed_text(&self, changes: &[Change<'_>]) -> Result<Option<String>, RefreshError> {
        let edits = changes.iter().flat_map(|own| own.edits.clone()).collect();
        let Some(text) = edit::apply(self.document.text(), edits) else { return Ok(None) };
        let is_meant = self.says_what_is_meant(&text, changes)?;
        Ok(is_meant.then_some(text))
    }

    /// Whether a changed text says what the old one does, but for the outputs that were to change.
    fn says_what_is_meant(&self, text: &str, changes: &[Change<'_>]) -> Result<bool, RefreshError> {
        let (document, steps) = (self.document, self.steps);
        let new = Document::new(document.name(), text.into(), document.format());
        let new = new.map_err(RefreshError::Unreadable)?;
        let now = read_reference(&new).map_err(RefreshError::Unreadable)?;
        let new_outputs: HashMap<(usize, usize, usize), &NewOutput> = changes
            .iter()
            .map(|own| (&steps[own.at], own.new))
            .map(|(step, new)| ((step.question, step.group, step.index), new))
            .collect();
        let old = &self.dataset.questions;
        let questions = old.iter().zip(&now.questions).enumerate();
        Ok(old.len() == now.questions.len()
            && questions.into_iter().all(|(at, (old, new))| {
                is_same_question(old, new)
                    && steps_of(old).zip(steps_of(new)).all(|((group, index, old), (_, _, new))| {
                        is_same_step(old, new, new_outputs.get(&(at, group, index)).copied())
                    })
            }))
    }
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
    let ordered = step.step.rules.ordered || asked.is_ordered();
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
