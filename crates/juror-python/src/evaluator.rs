//! `Evaluator`: batches of rows in, results as rows out.
//!
//! Engines such as Ray and Spark hold answers as tables and call this on their workers, batch
//! after batch. A row has a response and its question as JSON texts; with a reference, the id of the
//! question is enough. Nothing becomes Python's objects on the way.

use std::ops::Range;
use std::sync::{Arc, OnceLock};
use std::thread;

use arrow_array::RecordBatch;
use arrow_array::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Schema as ArrowSchema, SchemaRef};
use juror_run::{Asked, Judges, Plan, ReadRow, ReferenceIndex, Reread, Row, Settings};
use juror_score::{Aggregator, Judgement, Record};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyTuple};

use crate::aggregates::tell;
use crate::arrow_in::{Batches, TextColumn, failed};
use crate::ask_rows::{ask, judges_of};
use crate::evaluation::profile_number;
use crate::input::{Input, settings};
use crate::partial::Partial;
use crate::problem::Refusal;
use crate::rows::{RowBatches, RowShape};
use crate::table::Table;

/// With fewer rows than this, another thread does not pay off.
const LEAST: usize = 32;

/// Evaluates responses that are rows of tables: a response and its question, each as JSON text.
///
/// It can be pickled, and is made anew from its arguments where it arrives.
#[pyclass(frozen, module = "juror")]
pub(crate) struct Evaluator {
    arguments: Arguments,
    settings: Settings,
    plan: Plan,
    shape: RowShape,
    reference: Option<ReferenceIndex>,
    judges: OnceLock<Option<Judges>>,
}

/// The arguments it was made from.
struct Arguments {
    reference: Option<Py<PyAny>>,
    config: Option<Py<PyAny>>,
    profile: Option<String>,
    names: Names,
    ask_models: bool,
    threads: usize,
}

/// The names of columns.
struct Names {
    response: String,
    question: String,
    question_id: String,
    template_id: String,
}

#[pymethods]
impl Evaluator {
    #[new]
    #[pyo3(signature = (reference=None, config=None, profile=None, *, response="response", question="question", question_id="question_id", template_id="template_id", ask_models=false, threads=1))]
    #[expect(clippy::too_many_arguments, reason = "Python's callers name them")]
    fn new(
        py: Python<'_>,
        reference: Option<&Bound<'_, PyAny>>,
        config: Option<&Bound<'_, PyAny>>,
        profile: Option<&Bound<'_, PyAny>>,
        response: &str,
        question: &str,
        question_id: &str,
        template_id: &str,
        ask_models: bool,
        threads: usize,
    ) -> PyResult<Evaluator> {
        let mut settings = settings(config)?;
        let profile = profile.map(PyAnyMethods::str).transpose()?;
        let profile = profile.map(|given| given.to_string_lossy().into_owned());
        let chosen = profile.as_deref().map(profile_number).transpose()?;
        settings.profile = chosen.or(settings.profile);
        let mut plan = settings.plan();
        plan.threads = threads.max(1);
        let shape = RowShape::of(&plan);
        let index = reference.map(read_reference).transpose()?;
        let names = Names {
            response: response.into(),
            question: question.into(),
            question_id: question_id.into(),
            template_id: template_id.into(),
        };
        let arguments = Arguments {
            reference: reference.map(|given| given.clone().unbind()),
            config: config.map(|given| given.clone().unbind()),
            profile,
            names,
            ask_models,
            threads: plan.threads,
        };
        let evaluator = Evaluator {
            arguments,
            settings,
            plan,
            shape,
            reference: index,
            judges: OnceLock::new(),
        };
        if ask_models {
            evaluator.judges(py)?;
        }
        Ok(evaluator)
    }

    /// What pickle makes it from.
    fn __getnewargs_ex__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyTuple>, Bound<'py, PyDict>)> {
        let Arguments { reference, config, profile, names, ask_models, threads } = &self.arguments;
        let given = (reference, config, profile).into_pyobject(py)?;
        let options = PyDict::new(py);
        options.set_item("response", &names.response)?;
        options.set_item("question", &names.question)?;
        options.set_item("question_id", &names.question_id)?;
        options.set_item("template_id", &names.template_id)?;
        options.set_item("ask_models", ask_models)?;
        options.set_item("threads", threads)?;
        Ok((given, options))
    }

    /// The columns of every table it returns.
    #[getter]
    fn schema(&self) -> Schema {
        Schema(Arc::clone(&self.shape.schema))
    }

    fn __repr__(&self) -> String {
        let Names { response, question, .. } = &self.arguments.names;
        match &self.reference {
            Some(index) => {
                format!("<juror.Evaluator of `{response}` by {} questions>", index.len())
            }
            None => format!("<juror.Evaluator of `{response}` and `{question}`>"),
        }
    }

    /// Evaluates the rows of a table: anything with `__arrow_c_stream__` or `__arrow_c_array__`.
    ///
    /// Returns a row for each of them, in order. What is wrong with a row is the error of its result.
    fn __call__(&self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<Table> {
        let mut rows = RowBatches::new(&self.shape);
        self.each_batch(py, batch, |work| {
            let before = std::mem::replace(&mut rows, RowBatches::new(&self.shape));
            let add =
                |rows: &mut RowBatches<'_>, record: &Record<'_>| rows.push(record, &self.plan);
            let mut parts = work.fold(before, || RowBatches::new(&self.shape), add).into_iter();
            rows = parts.next().unwrap_or_else(|| RowBatches::new(&self.shape));
            parts.for_each(|part| rows.append(part));
        })?;
        let batches = py.detach(|| rows.into_batches()).map_err(failed)?;
        Ok(Table::of(Arc::clone(&self.shape.schema), batches))
    }

    /// Evaluates the rows of a table, and returns their numbers alone.
    fn partial(&self, py: Python<'_>, batch: &Bound<'_, PyAny>) -> PyResult<Partial> {
        let mut all = self.plan.aggregator();
        self.each_batch(py, batch, |work| {
            let before = std::mem::replace(&mut all, self.plan.aggregator());
            let mut parts =
                work.fold(before, || self.plan.aggregator(), Aggregator::add).into_iter();
            all = parts.next().unwrap_or_else(|| self.plan.aggregator());
            parts.for_each(|part| all.merge(part));
        })?;
        Ok(Partial(py.detach(|| juror_partial::Partial::of(&all))))
    }
}

impl Evaluator {
    /// Hands on the batches of a table, with the judgements of their rows.
    fn each_batch(
        &self,
        py: Python<'_>,
        table: &Bound<'_, PyAny>,
        mut take: impl FnMut(&Work<'_>) + Send,
    ) -> PyResult<()> {
        let mut batches = Batches::of(table)?;
        let places = self.places_in(&batches.schema())?;
        while let Some(batch) = py.detach(|| batches.next()) {
            py.check_signals()?;
            let batch = batch.map_err(failed)?;
            let cells = Cells::of(&batch, &places);
            let mut work = Work { evaluator: self, cells, judgements: Vec::new() };
            if let Some(judges) = self.judges(py)? {
                work.judgements = work.ask(py, judges)?;
            }
            py.detach(|| take(&work));
        }
        Ok(())
    }

    /// Finds the columns in the schema of a table.
    fn places_in(&self, schema: &ArrowSchema) -> PyResult<Places> {
        let Names { response, question, question_id, template_id } = &self.arguments.names;
        let place = |name: &str| match schema.column_with_name(name) {
            Some((at, field)) if is_text(field.data_type()) => Ok(Some(at)),
            Some((_, field)) => Err(PyValueError::new_err(format!(
                "the column `{name}` is of type {}, and should be of texts\n  hint: cast it to string",
                field.data_type()
            ))),
            None => Ok(None),
        };
        let needed = |name: &str, what: &str| {
            place(name)?.ok_or_else(|| {
                let names: Vec<&str> =
                    schema.fields().iter().map(|field| field.name().as_str()).collect();
                let names = names.join(", ");
                PyValueError::new_err(format!(
                    "there is no column `{name}` for {what}\n  hint: the columns are {names}"
                ))
            })
        };
        Ok(Places {
            response: needed(response, "responses")?,
            question: match self.reference {
                Some(_) => None,
                None => Some(needed(question, "questions, and no reference")?),
            },
            question_id: place(question_id)?,
            template_id: if self.reference.is_some() { None } else { place(template_id)? },
        })
    }

    /// Returns the judges, if models are to be asked.
    fn judges(&self, py: Python<'_>) -> PyResult<Option<&Judges>> {
        if !self.arguments.ask_models {
            return Ok(None);
        }
        if let Some(judges) = self.judges.get() {
            return Ok(judges.as_ref());
        }
        let judges = judges_of(py, &self.settings, &self.plan)?;
        Ok(self.judges.get_or_init(|| judges).as_ref())
    }
}

fn is_text(of: &DataType) -> bool {
    matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null)
}

/// Reads a reference: a path, or templates. Tells what is odd about it in the log.
fn read_reference(given: &Bound<'_, PyAny>) -> PyResult<ReferenceIndex> {
    let py = given.py();
    let Input { source, problems, .. } = Input::reference(given)?;
    if !problems.is_empty() {
        return Err(Refusal::Dataset(problems, 0).into_error(py));
    }
    let is_file = source.is_file();
    let read = py.detach(|| {
        let (document, lent) = source.document().map_err(Refusal::File)?;
        let document = match lent {
            // The file may change as long as there are batches to come.
            Some(lent) => lent.keep(|| false).map_err(Refusal::File)?,
            None => document,
        };
        ReferenceIndex::new(document).map_err(|problems| Refusal::dataset(&problems, is_file))
    });
    let index = read.map_err(|refusal| refusal.into_error(py))?;
    tell(py, &index.warnings, is_file)?;
    Ok(index)
}

/// The positions of columns in tables.
struct Places {
    response: usize,
    question: Option<usize>,
    question_id: Option<usize>,
    template_id: Option<usize>,
}

/// The columns of a batch.
struct Cells<'b> {
    n_rows: usize,
    response: TextColumn<'b>,
    question: Option<TextColumn<'b>>,
    question_id: Option<TextColumn<'b>>,
    template_id: Option<TextColumn<'b>>,
}

impl<'b> Cells<'b> {
    fn of(batch: &'b RecordBatch, places: &Places) -> Cells<'b> {
        // The schema says that they are of texts.
        let texts = |at: usize| TextColumn::of(batch.column(at)).unwrap_or(TextColumn::Null);
        Cells {
            n_rows: batch.num_rows(),
            response: texts(places.response),
            question: places.question.map(texts),
            question_id: places.question_id.map(texts),
            template_id: places.template_id.map(texts),
        }
    }

    fn row<'a>(&'a self, at: usize, reference: Option<&'a ReferenceIndex>) -> Row<'a> {
        let cell = |column: Option<TextColumn<'b>>| column.and_then(|column| column.get(at));
        Row {
            asked: reference.map_or_else(|| Asked::Here(cell(self.question)), Asked::In),
            id: cell(self.question_id),
            template: cell(self.template_id),
            response: self.response.get(at),
        }
    }
}

/// A batch to be evaluated.
struct Work<'w> {
    evaluator: &'w Evaluator,
    cells: Cells<'w>,
    /// By row; empty if no model was asked.
    judgements: Vec<Judgement>,
}

impl Work<'_> {
    fn row(&self, at: usize) -> Row<'_> {
        self.cells.row(at, self.evaluator.reference.as_ref())
    }

    /// Asks models about all rows.
    fn ask(&self, py: Python<'_>, judges: &Judges) -> PyResult<Vec<Judgement>> {
        let rereads: Vec<Reread> = (0..self.cells.n_rows).map(|_| Reread::default()).collect();
        let rows: Vec<ReadRow<'_>> =
            rereads.iter().enumerate().map(|(at, reread)| self.row(at).read(reread)).collect();
        ask(py, &rows, judges, &self.evaluator.plan)
    }

    /// Scores all rows, on several threads if there are. Each thread adds the records of its rows to
    /// a value of its own, the first of them to `first`; returns these in the order of the rows.
    fn fold<T: Send>(
        &self,
        first: T,
        make: impl Fn() -> T,
        add: impl Fn(&mut T, &Record<'_>) + Sync,
    ) -> Vec<T> {
        let n_rows = self.cells.n_rows;
        let n_threads = self.evaluator.plan.threads.clamp(1, n_rows.div_ceil(LEAST).max(1));
        let end_of = |part: usize| n_rows * part / n_threads;
        let work = |part: usize, mut into: T| {
            self.score(end_of(part)..end_of(part + 1), |record| add(&mut into, record));
            into
        };
        thread::scope(|scope| {
            let work = &work;
            let others: Vec<_> = (1..n_threads)
                .map(|part| {
                    let own = make();
                    scope.spawn(move || work(part, own))
                })
                .collect();
            let mut all = vec![work(0, first)];
            for other in others {
                all.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
            }
            all
        })
    }

    fn score(&self, rows: Range<usize>, mut take: impl FnMut(&Record<'_>)) {
        for at in rows {
            let reread = Reread::default();
            let read = self.row(at).read(&reread);
            take(&self.evaluator.plan.score(&read.case()).with(self.judgements.get(at)));
        }
    }
}

/// The columns of a table: their names and types.
#[pyclass(frozen, module = "juror")]
pub(crate) struct Schema(SchemaRef);

#[pymethods]
impl Schema {
    /// The names of the columns.
    #[getter]
    fn names(&self) -> Vec<String> {
        self.0.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The schema in Arrow's C interface.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(&*self.0).map_err(failed)?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    fn __repr__(&self) -> String {
        format!("<juror.Schema of {} columns>", self.0.fields().len())
    }
}
