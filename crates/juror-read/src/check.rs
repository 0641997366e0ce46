//! The slow pass over a reference dataset, which finds every problem with its place and path.

use std::collections::HashSet;

use juror_document::{Document, FoundProblems, Path, Problem, UnplacedProblem};
use juror_json::{self as json, Object};
use juror_score::MatchedBy;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::keys::{Of, misspelt};

type List<'d> = Vec<&'d RawValue>;

/// Collects problems, and the ids seen so far.
pub(super) struct Check<'d> {
    document: &'d Document,
    pub(super) found: FoundProblems,
    ids: HashSet<String>,
}

impl<'d> Check<'d> {
    pub(super) fn new(document: &'d Document) -> Check<'d> {
        Check { document, found: FoundProblems::default(), ids: HashSet::new() }
    }

    /// Checks a whole file: a list of templates.
    pub(super) fn templates(&mut self, value: &'d RawValue) {
        let top = Path::default();
        let Some(templates) = self.parse::<List>(value, &top, "a list of templates") else {
            return;
        };
        for (index, template) in templates.iter().enumerate() {
            self.template(template, &top.index(index));
        }
    }

    /// Checks one line: a template, or a question with its `template_id`.
    pub(super) fn line(&mut self, value: &'d RawValue) {
        let path = Path::default();
        let Some(fields) = self.parse::<Object>(value, &path, "a template or a question") else {
            return;
        };
        if fields.get("questions").is_some() {
            self.template(value, &path);
        } else {
            self.text(&fields, value, "template_id", "question", &path);
            self.question(value, &path);
        }
    }

    fn template(&mut self, value: &'d RawValue, path: &Path) {
        let Some(fields) = self.parse::<Object>(value, path, "a template") else { return };
        self.text(&fields, value, "template_id", "template", path);
        let Some(questions) = self.required(&fields, value, "questions", "template", path) else {
            return;
        };
        let path = path.key("questions");
        let Some(questions) = self.parse::<List>(questions, &path, "a list of questions") else {
            return;
        };
        for (index, question) in questions.iter().enumerate() {
            self.question(question, &path.index(index));
        }
    }

    fn question(&mut self, value: &'d RawValue, path: &Path) {
        let Some(fields) = self.parse::<Object>(value, path, "a question") else { return };
        if let Some((id, at)) = self.text(&fields, value, "id", "question", path)
            && !self.ids.insert(id.clone())
        {
            self.problem(at, path.key("id"), Problem::DuplicateQuestion(id));
        }
        self.required(&fields, value, "question_text", "question", path);
        let Some(groups) = fields.get_set("reference_steps") else { return };
        let path = path.key("reference_steps");
        let Some(groups) = self.parse::<List>(groups, &path, "a list of groups of steps") else {
            return;
        };
        for (index, group) in groups.iter().enumerate() {
            let path = path.index(index);
            let Some(steps) = self.parse::<List>(group, &path, "a group: a list of steps") else {
                continue;
            };
            for (index, step) in steps.iter().enumerate() {
                self.step(step, &path.index(index));
            }
        }
    }

    fn step(&mut self, value: &'d RawValue, path: &Path) {
        let Some(fields) = self.parse::<Object>(value, path, "a step") else { return };
        self.text(&fields, value, "name", "step", path);
        let is_text = |value: &RawValue| json::text_of(value).is_some();
        let is_truth = |value: &RawValue| matches!(value.get(), "true" | "false");
        let is_names = |value: &RawValue| {
            serde_json::from_str::<Vec<&RawValue>>(value.get())
                .is_ok_and(|names| names.into_iter().all(is_text))
        };
        self.optional(&fields, "output_media_type", "a text", is_text, path);
        self.optional(&fields, "ordered", "true or false", is_truth, path);
        self.optional(&fields, "ignore_duplicates", "true or false", is_truth, path);
        let is_match = |value: &RawValue| {
            json::text_of(value).and_then(|word| MatchedBy::from_word(&word)).is_some()
        };
        self.optional(&fields, "match", MatchedBy::WORDS, is_match, path);
        self.optional(&fields, "required_columns", "a list of column names", is_names, path);
    }

    /// Parses an object or a list. Reports a value of another type, and returns `None`.
    fn parse<T: Deserialize<'d>>(
        &mut self,
        value: &'d RawValue,
        path: &Path,
        expected: &'static str,
    ) -> Option<T> {
        let parsed = serde_json::from_str(value.get()).ok();
        if parsed.is_none() {
            self.wrong_type(value, path, expected);
        }
        parsed
    }

    fn required(
        &mut self,
        fields: &Object<'d>,
        value: &'d RawValue,
        field: &'static str,
        of: &'static str,
        path: &Path,
    ) -> Option<&'d RawValue> {
        let found = fields.get_set(field);
        if found.is_none() {
            let kind = match of {
                "template" => Of::Template,
                "step" => Of::ExpectedStep,
                _ => Of::Question,
            };
            let problem = match misspelt(kind, fields).find(|(_, near)| *near == field) {
                Some((found, _)) => Problem::MisspeltField { field, of, found },
                None => Problem::MissingField { field, of },
            };
            self.problem(value, path.clone(), problem);
        }
        found
    }

    /// Returns a required text and its value; accepts numbers and booleans.
    fn text(
        &mut self,
        fields: &Object<'d>,
        value: &'d RawValue,
        field: &'static str,
        of: &'static str,
        path: &Path,
    ) -> Option<(String, &'d RawValue)> {
        let raw = self.required(fields, value, field, of, path)?;
        let text = json::scalar_text(raw);
        if text.is_none() {
            self.wrong_type(raw, &path.key(field), "a text");
        }
        Some((text?.into_owned(), raw))
    }

    fn optional(
        &mut self,
        fields: &Object<'d>,
        field: &'static str,
        expected: &'static str,
        fits: impl Fn(&RawValue) -> bool,
        path: &Path,
    ) {
        if let Some(value) = fields.get_set(field).filter(|value| !fits(value)) {
            self.wrong_type(value, &path.key(field), expected);
        }
    }

    fn wrong_type(&mut self, value: &RawValue, path: &Path, expected: &'static str) {
        let found = json::kind_of(value);
        self.problem(value, path.clone(), Problem::WrongType { expected, found });
    }

    fn problem(&mut self, at: &RawValue, path: Path, problem: Problem) {
        self.found.push(UnplacedProblem {
            offset: self.document.offset_of(at.get()),
            path,
            problem,
        });
    }
}
