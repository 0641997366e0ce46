//! Reference datasets: templates of questions with what is expected of their answers.

use std::borrow::Cow;

use hashbrown::HashSet;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::check::Check;
use super::document::{Document, Found};
use super::problem::{Path, Problem, Problems};
use crate::json;
use crate::object::{MapOnly, Object};
use crate::output::Output;
use crate::question::{ExpectedStep, Question, Rules};
use crate::skim;

/// The questions of a reference file.
#[derive(Debug, Default)]
pub struct Dataset<'a> {
    /// In the order of the file.
    pub questions: Vec<Question<'a>>,
    /// What a reader should know, though nothing is wrong enough to stop.
    pub warnings: Problems,
}

/// Reads a reference dataset: a list of templates in JSON or YAML, or a template or question a
/// line. Fails with every problem found.
pub fn read_reference(document: &Document) -> Result<Dataset<'_>, Problems> {
    if !document.bad_lines().is_empty() {
        let mut problems = Problems::default();
        document.bad_lines().iter().for_each(|problem| problems.push(problem.clone()));
        return Err(problems);
    }
    let dataset = match read_fast(document) {
        Ok(dataset) => dataset,
        Err(first) => return Err(all_problems(document, first)),
    };
    let mut check = StepCheck::default();
    for (question, origin) in dataset.questions.iter().zip(&dataset.origins) {
        check.question(document, question, || path_of(*origin));
    }
    if !check.problems.is_empty() {
        return Err(document.locate(check.problems));
    }
    let warnings = document.locate(check.warnings);
    Ok(Dataset { questions: dataset.questions, warnings })
}

/// Why fast reading stopped.
struct FirstProblem<'d> {
    value: &'d str,
    error: Option<serde_json::Error>,
}

/// Questions, and for each where it stands in the file.
#[derive(Default)]
struct Read<'a> {
    questions: Vec<Question<'a>>,
    origins: Vec<Origin>,
}

/// The positions of a template in the file and of a question in its template.
type Origin = (Option<usize>, Option<usize>);

fn path_of((template, index): Origin) -> Path {
    let path = template.map_or(Path::default(), |at| Path::default().index(at));
    index.map_or(path.clone(), |at| path.key("questions").index(at))
}

impl<'a> Read<'a> {
    fn push(&mut self, question: Question<'a>, template: Option<usize>, index: Option<usize>) {
        self.questions.push(question);
        self.origins.push((template, index));
    }
}

fn read_fast(document: &Document) -> Result<Read<'_>, FirstProblem<'_>> {
    let mut read = Read::default();
    for value in document.values() {
        let first = |error| FirstProblem { value, error };
        if is_line(document, value) {
            let MapOnly(line): MapOnly<LineForm> =
                skim::from_str(value).map_err(|error| first(Some(error)))?;
            line.read_into(&mut read).ok_or_else(|| first(None))?;
        } else {
            let templates: Vec<MapOnly<TemplateForm>> =
                skim::from_str(value).map_err(|error| first(Some(error)))?;
            // Lists that grow leave gaps in memory behind them, as large as they are.
            let n_questions =
                templates.iter().map(|MapOnly(template)| template.questions.len()).sum();
            read.questions.reserve_exact(n_questions);
            read.origins.reserve_exact(n_questions);
            for (index, MapOnly(template)) in templates.into_iter().enumerate() {
                template.read_into(&mut read, Some(index)).ok_or_else(|| first(None))?;
            }
        }
    }
    if have_distinct_ids(&read.questions) {
        Ok(read)
    } else {
        Err(FirstProblem { value: document.json(), error: None })
    }
}

/// Whether a value is a template or question rather than a list of templates.
fn is_line(document: &Document, value: &str) -> bool {
    document.is_lines() || value.trim_ascii_start().starts_with('{')
}

fn have_distinct_ids(questions: &[Question<'_>]) -> bool {
    let mut ids = HashSet::with_capacity(questions.len());
    questions.iter().all(|question| ids.insert(question.id.as_ref()))
}

#[derive(Deserialize)]
struct TemplateForm<'a> {
    #[serde(borrow)]
    template_id: &'a RawValue,
    #[serde(borrow)]
    questions: Vec<MapOnly<QuestionForm<'a>>>,
}

#[derive(Deserialize)]
struct QuestionForm<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    question_text: Option<&'a RawValue>,
    #[serde(borrow)]
    reference_answer: Option<&'a RawValue>,
    #[serde(borrow)]
    reference_steps: Option<Vec<Vec<Object<'a>>>>,
}

/// A template, or a question that names its template.
#[derive(Deserialize)]
struct LineForm<'a> {
    #[serde(borrow)]
    template_id: &'a RawValue,
    #[serde(borrow)]
    questions: Option<Vec<MapOnly<QuestionForm<'a>>>>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    question_text: Option<&'a RawValue>,
    #[serde(borrow)]
    reference_answer: Option<&'a RawValue>,
    #[serde(borrow)]
    reference_steps: Option<Vec<Vec<Object<'a>>>>,
}

impl<'a> TemplateForm<'a> {
    fn read_into(self, read: &mut Read<'a>, index: Option<usize>) -> Option<()> {
        let template = json::scalar_text(self.template_id)?;
        for (at, MapOnly(question)) in self.questions.into_iter().enumerate() {
            read.push(question.read(template.clone())?, index, Some(at));
        }
        Some(())
    }
}

impl<'a> LineForm<'a> {
    fn read_into(self, read: &mut Read<'a>) -> Option<()> {
        if let Some(questions) = self.questions {
            let template = TemplateForm { template_id: self.template_id, questions };
            return template.read_into(read, None);
        }
        let question = QuestionForm {
            id: self.id?,
            question_text: self.question_text,
            reference_answer: self.reference_answer,
            reference_steps: self.reference_steps,
        };
        read.push(question.read(json::scalar_text(self.template_id)?)?, None, None);
        Some(())
    }
}

impl<'a> QuestionForm<'a> {
    fn read(self, template: Cow<'a, str>) -> Option<Question<'a>> {
        let group = |steps: Vec<Object<'a>>| make_all(steps, expected_step);
        let groups = match self.reference_steps {
            None => None,
            Some(groups) => Some(make_all(groups, group)?),
        };
        Some(Question {
            id: json::scalar_text(self.id)?,
            template,
            text: self.question_text?,
            answer: self.reference_answer,
            groups,
        })
    }
}

/// What is made of each item, if something can be made of all. Collecting would take room for
/// four items where most have one, and fresh memory is dear.
fn make_all<T, U>(items: Vec<T>, make: impl Fn(T) -> Option<U>) -> Option<Vec<U>> {
    let mut all = Vec::with_capacity(items.len());
    for item in items {
        all.push(make(item)?);
    }
    Some(all)
}

/// An expected step, if its fields are of the right types.
fn expected_step(fields: Object<'_>) -> Option<ExpectedStep<'_>> {
    let truth = |name, default| match fields.get_set(name).map(RawValue::get) {
        None => Some(default),
        Some("true") => Some(true),
        Some("false") => Some(false),
        Some(_) => None,
    };
    let media_type = match fields.get_set("output_media_type") {
        None => None,
        Some(raw) => Some(json::text_of(raw)?),
    };
    let required_columns = match fields.get_set("required_columns") {
        None => None,
        Some(raw) => {
            let names: Vec<&RawValue> = skim::from_str(raw.get()).ok()?;
            Some(make_all(names, json::text_of)?)
        }
    };
    let rules = Rules {
        required_columns,
        ordered: truth("ordered", false)?,
        ignore_duplicates: truth("ignore_duplicates", true)?,
    };
    let (name, output) = (json::scalar_text(fields.get("name")?)?, fields.get_set("output"));
    let output = output.map(Output::Json);
    Some(ExpectedStep { fields, name, output, media_type, rules })
}

/// Reads the whole file again for every problem; the first reader's complaint stands where the
/// second look sees nothing wrong.
fn all_problems(document: &Document, first: FirstProblem<'_>) -> Problems {
    let mut check = Check::new(document);
    for value in document.values() {
        match serde_json::from_str(value) {
            Ok(parsed) if is_line(document, value) => check.line(parsed),
            Ok(parsed) => check.templates(parsed),
            Err(error) => check.found.push(document.complaint(value, &error)),
        }
    }
    if let (true, Some(error)) = (check.found.is_empty(), first.error) {
        check.found.push(document.complaint(first.value, &error));
    }
    check.found.sort_by_key(|found| found.offset);
    document.locate(check.found)
}

/// Problems and warnings that only the values of the steps show.
#[derive(Default)]
struct StepCheck {
    problems: Vec<Found>,
    warnings: Vec<Found>,
}

impl StepCheck {
    fn question(&mut self, document: &Document, question: &Question<'_>, path: impl Fn() -> Path) {
        let groups = question.groups.as_deref().unwrap_or_default();
        for (group, steps) in groups.iter().enumerate() {
            for (index, step) in steps.iter().enumerate() {
                let path = || path().key("reference_steps").index(group).index(index);
                self.columns(document, step, path);
                self.output(document, step, path);
            }
        }
    }

    /// Every required column must be in the reference output.
    fn columns(&mut self, document: &Document, step: &ExpectedStep<'_>, path: impl Fn() -> Path) {
        let Some((missing, known)) = step.missing_columns() else { return };
        let required = step.rules.required_columns.as_deref().unwrap_or_default();
        for index in missing {
            let name = &required[index];
            let list = step.fields.get("required_columns").map_or("", RawValue::get);
            let at = serde_json::from_str::<Vec<&RawValue>>(list).unwrap_or_default();
            let problem = Problem::UnknownColumn { name: name.to_string(), known: known.clone() };
            self.problems.push(Found {
                offset: at.get(index).map_or(0, |at| document.offset_of(at.get())),
                path: path().key("required_columns").index(index),
                problem,
            });
        }
    }

    /// A step without output can match only if its kind compares arguments.
    fn output(&mut self, document: &Document, step: &ExpectedStep<'_>, path: impl Fn() -> Path) {
        let by_arguments =
            matches!(step.name.as_ref(), "retrieve_time_series" | "retrieve_data_points");
        if step.output.is_some() || by_arguments {
            return;
        }
        let name = step.fields.get("name").map_or("", RawValue::get);
        let problem = Problem::MissingOutput(step.name.to_string());
        self.warnings.push(Found { offset: document.offset_of(name), path: path(), problem });
    }
}
