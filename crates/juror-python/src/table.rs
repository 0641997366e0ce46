//! Results as a table, exported to other libraries through Arrow's C interface.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, RecordBatch,
    RecordBatchIterator, RecordBatchOptions,
};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use juror_score::{Level, METRICS, MetricInfo};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyCapsule, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString};

use crate::pieces::json_of;
use crate::to_json::type_name;

/// A value of a table.
#[derive(Clone, Debug)]
enum Cell {
    Truth(bool),
    Whole(i64),
    Real(f64),
    Text(String),
    /// A list or object, as JSON.
    Nested(String),
}

/// A column, and its values by row.
struct Column {
    name: String,
    cells: Vec<(usize, Cell)>,
}

/// Results as columns: a row a question, a column a key. Lists and objects are JSON texts. Metrics of
/// steps have columns after these: one number for all steps of a question.
#[pyclass(frozen, module = "juror")]
pub(crate) struct Table {
    batch: RecordBatch,
}

#[pymethods]
impl Table {
    #[new]
    fn new(py: Python<'_>, results: &Bound<'_, PyAny>) -> PyResult<Table> {
        let (columns, n_rows) = columns_of(results)?;
        let batch = py.detach(|| batch_of(columns, n_rows)).map_err(failed)?;
        Ok(Table { batch })
    }

    /// The table as a stream of Arrow's C interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Requests for other types may be ignored: consumers convert as they like.
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema_ref().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batch.num_rows()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        let (n_rows, n_columns) = (self.batch.num_rows(), self.batch.num_columns());
        format!("<juror.Table of {n_rows} rows and {n_columns} columns>")
    }

    /// The columns as lists, by name.
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (field, array) in self.batch.schema_ref().fields().iter().zip(self.batch.columns()) {
            dict.set_item(field.name(), list_of(py, array)?)?;
        }
        Ok(dict)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "used where errors are mapped")]
fn failed(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn columns_of(results: &Bound<'_, PyAny>) -> PyResult<(Vec<Column>, usize)> {
    let mut columns: Vec<Column> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut of_steps = step_columns(results.py());
    let mut n_rows = 0;
    for result in results.try_iter()? {
        let result = result?;
        let fields = result.cast::<PyMapping>().map_err(|_| {
            let name = type_name(&result);
            PyTypeError::new_err(format!("result {n_rows} is `{name}`, and should be a mapping"))
        })?;
        for item in fields.items()?.iter() {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item.extract()?;
            let Some(cell) = cell_of(&value)? else { continue };
            let name = key.str()?.to_string_lossy().into_owned();
            let at = *places.entry(name).or_insert_with_key(|name| {
                columns.push(Column { name: name.clone(), cells: Vec::new() });
                columns.len() - 1
            });
            columns[at].cells.push((n_rows, cell));
        }
        if fields.contains("actual_steps")? {
            add_steps(&fields.get_item("actual_steps")?, n_rows, &mut of_steps)?;
        }
        n_rows += 1;
    }
    // A metric that results have themselves is not computed from their steps.
    let is_new = |column: &Column| !column.cells.is_empty() && !places.contains_key(&column.name);
    columns.extend(of_steps.into_iter().map(|of_steps| of_steps.column).filter(is_new));
    Ok((columns, n_rows))
}

/// The column of a step metric.
struct StepColumn<'py> {
    info: &'static MetricInfo,
    key: Bound<'py, PyString>,
    column: Column,
}

fn step_columns(py: Python<'_>) -> Vec<StepColumn<'_>> {
    let of_steps = METRICS.iter().filter(|info| info.level == Level::Step);
    let column = |info: &MetricInfo| Column { name: info.name.into(), cells: Vec::new() };
    of_steps
        .map(|info| StepColumn { info, key: PyString::new(py, info.name), column: column(info) })
        .collect()
}

/// Adds a row to the columns of the metrics that its steps have.
fn add_steps(steps: &Bound<'_, PyAny>, row: usize, columns: &mut [StepColumn<'_>]) -> PyResult<()> {
    let Ok(steps) = steps.cast::<PyList>() else { return Ok(()) };
    for StepColumn { info, key, column } in columns {
        let mut values = Vec::new();
        for step in steps.iter() {
            let Ok(step) = step.cast::<PyDict>() else { continue };
            let cell = step.get_item(&*key)?.map(|value| cell_of(&value)).transpose()?.flatten();
            values.extend(cell.and_then(Cell::real).filter(|number| number.is_finite()));
        }
        column.cells.extend(info.of_steps(values).map(|value| (row, Cell::Real(value))));
    }
    Ok(())
}

fn cell_of(value: &Bound<'_, PyAny>) -> PyResult<Option<Cell>> {
    Ok(if value.is_none() {
        None
    } else if let Ok(text) = value.cast::<PyString>() {
        Some(Cell::Text(text.to_string_lossy().into_owned()))
    } else if let Ok(truth) = value.cast::<PyBool>() {
        Some(Cell::Truth(truth.is_true()))
    } else if let Ok(real) = value.cast::<PyFloat>() {
        Some(Cell::Real(real.value()))
    } else if value.is_instance_of::<PyInt>() {
        Some(value.extract().map_or_else(|_| Cell::Real(real_of(value)), Cell::Whole))
    } else {
        Some(Cell::Nested(json_of(value)?))
    })
}

/// Converts an integer to a float; infinite if out of range.
fn real_of(whole: &Bound<'_, PyAny>) -> f64 {
    let is_negative = whole.lt(0).unwrap_or(false);
    let infinite = if is_negative { f64::NEG_INFINITY } else { f64::INFINITY };
    whole.extract().unwrap_or(infinite)
}

fn batch_of(columns: Vec<Column>, n_rows: usize) -> Result<RecordBatch, ArrowError> {
    let (fields, arrays): (Vec<Field>, Vec<ArrayRef>) =
        columns.into_iter().map(|column| column.into_array(n_rows)).unzip();
    let options = RecordBatchOptions::new().with_row_count(Some(n_rows));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
}

impl Column {
    /// Converts to the narrowest type that holds all values; text if no other type does.
    fn into_array(self, n_rows: usize) -> (Field, ArrayRef) {
        let all = |is: fn(&Cell) -> bool| self.cells.iter().all(|(_, cell)| is(cell));
        let array: ArrayRef = if all(|cell| matches!(cell, Cell::Truth(_))) {
            Arc::new(BooleanArray::from(self.rows(n_rows, |cell| match cell {
                Cell::Truth(truth) => Some(truth),
                _ => None,
            })))
        } else if all(|cell| matches!(cell, Cell::Whole(_))) {
            Arc::new(Int64Array::from(self.rows(n_rows, |cell| match cell {
                Cell::Whole(whole) => Some(whole),
                _ => None,
            })))
        } else if all(|cell| matches!(cell, Cell::Whole(_) | Cell::Real(_))) {
            Arc::new(Float64Array::from(self.rows(n_rows, Cell::real)))
        } else {
            Arc::new(LargeStringArray::from(self.rows(n_rows, |cell| Some(cell.text()))))
        };
        (Field::new(self.name, array.data_type().clone(), true), array)
    }

    fn rows<T: Clone>(&self, n_rows: usize, make: impl Fn(Cell) -> Option<T>) -> Vec<Option<T>> {
        let mut rows = vec![None; n_rows];
        for (row, cell) in &self.cells {
            rows[*row] = make(cell.clone());
        }
        rows
    }
}

impl Cell {
    fn real(self) -> Option<f64> {
        match self {
            Cell::Whole(whole) => Some(whole as f64),
            Cell::Real(real) => Some(real),
            _ => None,
        }
    }

    fn text(self) -> String {
        match self {
            Cell::Truth(truth) => truth.to_string(),
            Cell::Whole(whole) => whole.to_string(),
            Cell::Real(real) => format!("{real:?}"),
            Cell::Text(text) | Cell::Nested(text) => text,
        }
    }
}

/// Returns the values of a column as Python's objects.
fn list_of<'py>(py: Python<'py>, array: &ArrayRef) -> PyResult<Bound<'py, PyList>> {
    macro_rules! list {
        ($kind:ty) => {
            match array.as_any().downcast_ref::<$kind>() {
                Some(array) => PyList::new(py, array.iter().collect::<Vec<_>>()),
                None => Ok(PyList::empty(py)),
            }
        };
    }
    match array.data_type() {
        DataType::Boolean => list!(BooleanArray),
        DataType::Int64 => list!(Int64Array),
        DataType::Float64 => list!(Float64Array),
        _ => list!(LargeStringArray),
    }
}
