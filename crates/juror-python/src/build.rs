//! Building results by recipes.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyList, PyString};

use crate::from_json::Builder;
use crate::known::Known;
use crate::recipe::{Home, Inputs, Recipe, Step};

/// The inputs of an evaluation, with the objects they were made of.
pub(crate) struct Pantry<'py> {
    pub(crate) inputs: Inputs,
    pub(crate) reference: Option<Known<'py>>,
    pub(crate) responses: Option<Known<'py>>,
}

impl<'py> Pantry<'py> {
    /// What is known of the objects that a text was made of.
    fn known(&self, home: Home) -> Option<&Known<'py>> {
        match home {
            Home::Reference => self.reference.as_ref(),
            Home::Responses => self.responses.as_ref(),
            Home::Recipe => None,
        }
    }
}

/// Follows steps of a recipe, and appends the results to a list.
pub(crate) fn build<'py>(
    builder: &mut Builder<'py>,
    steps: &[Step],
    recipe: &Recipe,
    pantry: &Pantry<'py>,
    results: &Bound<'py, PyList>,
) -> PyResult<()> {
    let open = vec![Open::List(results.clone())];
    let mut building = Building { builder, recipe, pantry, open };
    steps.iter().try_for_each(|step| building.step(*step))
}

/// Results on their way.
struct Building<'b, 'py> {
    builder: &'b mut Builder<'py>,
    recipe: &'b Recipe,
    pantry: &'b Pantry<'py>,
    /// The objects and lists that are not closed yet.
    open: Vec<Open<'py>>,
}

/// An object or list that is being built.
enum Open<'py> {
    /// With the key of the value to come.
    Dict(Bound<'py, PyDict>, Option<Bound<'py, PyString>>),
    List(Bound<'py, PyList>),
}

impl<'b, 'py> Building<'b, 'py> {
    fn step(&mut self, step: Step) -> PyResult<()> {
        let py = self.builder.py;
        match step {
            Step::OpenObject => self.open.push(Open::Dict(PyDict::new(py), None)),
            Step::OpenList => self.open.push(Open::List(PyList::empty(py))),
            Step::Close => match self.open.pop() {
                Some(Open::Dict(dict, _)) => self.put(dict.into_any())?,
                Some(Open::List(list)) => self.put(list.into_any())?,
                None => {}
            },
            Step::Key(home, length, start) => {
                let key = self.builder.own_key(piece(self.text(home), length, start));
                self.expect(key);
            }
            Step::KeyAsWritten(home, length, start) => {
                let key = self.builder.key(piece(self.text(home), length, start))?;
                self.expect(key);
            }
            Step::Text(home, length, start) => {
                let text = PyString::new(py, piece(self.text(home), length, start));
                self.put(text.into_any())?;
            }
            Step::Number(number) => self.put(PyFloat::new(py, number).into_any())?,
            Step::Json(home, start) => {
                let value = self.value(home, start)?;
                self.put(value)?;
            }
            Step::Fields(home, start) => {
                let fields = self.fields(home, start)?;
                if let Some(Open::Dict(dict, _)) = self.open.last_mut() {
                    *dict = fields;
                }
            }
        }
        Ok(())
    }

    /// Notes the key of the next value.
    fn expect(&mut self, key: Bound<'py, PyString>) {
        if let Some(Open::Dict(_, next)) = self.open.last_mut() {
            *next = Some(key);
        }
    }

    /// Puts a value where it belongs.
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

    /// The text that a piece stands in.
    fn text(&self, home: Home) -> &'b str {
        match home {
            Home::Reference => self.pantry.inputs.reference.json(),
            Home::Responses => self.pantry.inputs.responses.json(),
            Home::Recipe => &self.recipe.texts,
        }
    }

    /// The value that begins at a place.
    fn value(&mut self, home: Home, start: usize) -> PyResult<Bound<'py, PyAny>> {
        self.builder.part(self.text(home), start, self.pantry.known(home))
    }

    /// The object that begins at a place, to be added to.
    fn fields(&mut self, home: Home, start: usize) -> PyResult<Bound<'py, PyDict>> {
        self.builder.dict(self.text(home), start, self.pantry.known(home))
    }
}

fn piece(text: &str, length: u32, start: usize) -> &str {
    &text[start..][..length as usize]
}
