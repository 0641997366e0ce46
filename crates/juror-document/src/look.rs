//! Reads JSON without stopping at the first problem: each is recorded and its value skipped.

use std::borrow::Cow;

use juror_json::{self as json, Object};
use serde_json::value::RawValue;

use crate::document::{Document, UnplacedProblem};
use crate::found_problems::FoundProblems;
use crate::problem::{Path, Problem, Problems};

/// A pass over a document that collects problems.
pub struct Look<'d> {
    document: &'d Document,
    found: FoundProblems,
}

impl<'d> Look<'d> {
    /// Starts a pass.
    pub fn new(document: &'d Document) -> Look<'d> {
        Look { document, found: FoundProblems::default() }
    }

    /// Returns the fields of a file that should be one object.
    pub fn top_object(&mut self, expected: &'static str) -> Option<Object<'d>> {
        match juror_json::from_str(self.document.json()) {
            Ok(fields) => Some(fields),
            // Read again to distinguish bad JSON from a value of another type.
            Err(_) => self.value().and_then(|value| {
                let path = Path::default();
                self.object(value, &path, expected)
            }),
        }
    }

    /// Returns the value of the file, or records why it is not JSON.
    pub fn value(&mut self) -> Option<&'d RawValue> {
        let text = self.document.json();
        let value = juror_json::from_str(text);
        value.inspect_err(|error| self.complain(text, error)).ok()
    }

    /// Records why a part of the file is not JSON.
    pub fn complain(&mut self, part: &'d str, error: &serde_json::Error) {
        self.found.push(self.document.complaint(part, error));
    }

    /// Returns the fields of a value that should be an object.
    pub fn object(
        &mut self,
        value: &'d RawValue,
        path: &Path,
        expected: &'static str,
    ) -> Option<Object<'d>> {
        let object = juror_json::from_str(value.get()).ok();
        self.expect(object, value, path, expected)
    }

    /// Returns the elements of a value that should be a list.
    pub fn list(
        &mut self,
        value: &'d RawValue,
        path: &Path,
        expected: &'static str,
    ) -> Option<Vec<&'d RawValue>> {
        let list = juror_json::from_str(value.get()).ok();
        self.expect(list, value, path, expected)
    }

    /// Returns the elements of a field; none if it is missing or `null`.
    pub fn list_field(
        &mut self,
        fields: &Object<'d>,
        name: &str,
        path: &Path,
    ) -> Vec<&'d RawValue> {
        let Some(value) = fields.get_set(name) else { return Vec::new() };
        self.list(value, &path.key(name), "a list").unwrap_or_default()
    }

    /// Returns the text of a field, empty if it is missing or `null`. Accepts numbers and booleans.
    pub fn text(&mut self, fields: &Object<'d>, name: &str, path: &Path) -> Cow<'d, str> {
        let Some(value) = fields.get_set(name) else { return Cow::Borrowed("") };
        let text = json::scalar_text(value);
        if text.is_none() {
            let found = json::kind_of(value);
            self.note(
                value.get(),
                path.key(name),
                Problem::WrongType { expected: "a text", found },
            );
        }
        text.unwrap_or_default()
    }

    /// Returns the text of a field that must be there and not empty.
    pub fn required_text(
        &mut self,
        (fields, part): (&Object<'d>, &str),
        name: &'static str,
        of: &'static str,
        path: &Path,
    ) -> Option<String> {
        let n_found = self.found.len();
        let text = self.text(fields, name, path);
        if text.is_empty() && self.found.len() == n_found {
            self.note(part, path.clone(), Problem::MissingField { field: name, of });
        }
        (!text.is_empty()).then(|| text.into_owned())
    }

    /// Records a problem with a part of the file.
    pub fn note(&mut self, part: &str, path: Path, problem: Problem) {
        self.found.push(UnplacedProblem { offset: self.document.offset_of(part), path, problem });
    }

    /// Returns the problems in the order of the file, each once.
    pub fn problems(mut self) -> Problems {
        self.found.sort();
        self.found.kept.dedup_by(|a, b| a.offset == b.offset && a.path == b.path);
        self.document.locate(self.found)
    }

    fn expect<T>(
        &mut self,
        read: Option<T>,
        value: &'d RawValue,
        path: &Path,
        expected: &'static str,
    ) -> Option<T> {
        if read.is_none() {
            let found = json::kind_of(value);
            self.note(value.get(), path.clone(), Problem::WrongType { expected, found });
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;

    #[test]
    fn of_many_problems_few_are_remembered_and_all_are_counted() {
        let text = format!("[{}5]", "5,".repeat(20_000));
        let document = Document::new("list.json", text.into(), Format::Json).expect("UTF-8");
        let mut look = Look::new(&document);
        let value = look.value().expect("JSON");
        let top = Path::default();
        for (index, value) in look.list(value, &top, "a list").expect("a list").iter().enumerate() {
            assert!(look.object(value, &top.index(index), "an object").is_none());
        }
        assert_eq!((look.found.kept.len(), look.found.len()), (4096, 20_001));
        let problems = look.problems();
        assert_eq!(problems.errors.len() + problems.n_more, 20_001);
    }
}
