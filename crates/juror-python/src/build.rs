//! Builds results in Python, step by step.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PyString};

use crate::build_plan::{BuildPlan, BuildStep, Documents, Source};
use crate::from_json::Builder;
use crate::known::Known;

/// The inputs of an evaluation, with the objects they were made from.
pub(crate) struct Inputs<'py> {
    pub(crate) documents: Documents,
    pub(crate) reference: Option<Known<'py>>,
    pub(crate) responses: Option<Known<'py>>,
}

impl<'py> Inputs<'py> {
    /// Returns the objects that a text was made from.
    fn known(&self, source: Source) -> Option<&Known<'py>> {
        match source {
            Source::Reference => self.reference.as_ref(),
            Source::Responses => self.responses.as_ref(),
            Source::Plan => None,
        }
    }
}

/// Executes steps of a plan, and appends the results to a list.
pub(crate) fn build<'py>(
    builder: &mut Builder<'py>,
    steps: &[BuildStep],
    plan: &BuildPlan,
    inputs: &Inputs<'py>,
    results: &Bound<'py, PyList>,
) -> PyResult<()> {
    let open = vec![Open::List(results.clone())];
    let mut building = Building { builder, plan, inputs, open };
    steps.iter().try_for_each(|step| building.step(*step))
}

/// Results under construction.
struct Building<'b, 'py> {
    builder: &'b mut Builder<'py>,
    plan: &'b BuildPlan,
    inputs: &'b Inputs<'py>,
    /// The objects and lists that are still open.
    open: Vec<Open<'py>>,
}

/// An object or list under construction.
enum Open<'py> {
    /// A dict, with the key of the next value.
    Dict(Bound<'py, PyDict>, Option<Bound<'py, PyString>>),
    List(Bound<'py, PyList>),
}

impl<'b, 'py> Building<'b, 'py> {
    fn step(&mut self, step: BuildStep) -> PyResult<()> {
        let py = self.builder.py;
        match step {
            BuildStep::OpenObject => self.open.push(Open::Dict(PyDict::new(py), None)),
            BuildStep::OpenList => self.open.push(Open::List(PyList::empty(py))),
            BuildStep::Close => match self.open.pop() {
                Some(Open::Dict(dict, _)) => self.put(dict.into_any())?,
                Some(Open::List(list)) => self.put(list.into_any())?,
                None => {}
            },
            BuildStep::Key(source, length, start) => {
                let key = self.builder.own_key(piece(self.text(source), length, start));
                self.expect(key);
            }
            BuildStep::KeyAsWritten(source, length, start) => {
                let key = self.builder.key(piece(self.text(source), length, start))?;
                self.expect(key);
            }
            BuildStep::Text(source, length, start) => {
                let text = PyString::new(py, piece(self.text(source), length, start));
                self.put(text.into_any())?;
            }
            BuildStep::Number(number) => self.put(PyFloat::new(py, number).into_any())?,
            BuildStep::Json(source, start) => {
                let value = self.value(source, start)?;
                self.put(value)?;
            }
            BuildStep::Fields(source, start) => {
                let fields = self.fields(source, start)?;
                if let Some(Open::Dict(dict, _)) = self.open.last_mut() {
                    *dict = fields;
                }
            }
        }
        Ok(())
    }

    /// Remembers the key of the next value.
    fn expect(&mut self, key: Bound<'py, PyString>) {
        if let Some(Open::Dict(_, next)) = self.open.last_mut() {
            *next = Some(key);
        }
    }

    /// Adds a value to the innermost open object or list.
    fn put(&mut self, value: Bound<'py, PyAny>) -> PyResult<()> {
        match self.open.last_mut() {
            Some(Open::Dict(dict, key)) => match key.take() {
                Some(key) => dict.set_item(key, value),
                None => Ok(()),
            },
            Some(Open::List(list)) => list.append(value),
            None => Ok(()),
        }
    }

    /// Returns the text that a piece is part of.
    fn text(&self, source: Source) -> &'b str {
        match source {
            Source::Reference => self.inputs.documents.reference.json(),
            Source::Responses => self.inputs.documents.responses.json(),
            Source::Plan => &self.plan.texts,
        }
    }

    /// Returns the value that starts at a position.
    fn value(&mut self, source: Source, start: usize) -> PyResult<Bound<'py, PyAny>> {
        self.builder.part(self.text(source), start, self.inputs.known(source))
    }

    /// Returns the object that starts at a position, as a dict to be extended.
    fn fields(&mut self, source: Source, start: usize) -> PyResult<Bound<'py, PyDict>> {
        self.builder.dict(self.text(source), start, self.inputs.known(source))
    }
}

fn piece(text: &str, length: u32, start: usize) -> &str {
    &text[start..][..length as usize]
}
