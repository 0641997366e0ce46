//! Results as a table, exported to other libraries through Arrow's C interface.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeStringArray, RecordBatch,
    RecordBatchIterator, RecordBatchOptions, StringArray, StructArray, make_array,
};
use arrow_buffer::Buffer;
use arrow_data::ArrayData;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use juror_score::{Level, METRICS, MetricInfo};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyCapsule, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString,
};

use crate::arrow_in::failed;
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
    schema: SchemaRef,
    /// Nearly always one.
    batches: Vec<RecordBatch>,
}

impl Table {
    pub(crate) fn of(schema: SchemaRef, batches: Vec<RecordBatch>) -> Table {
        Table { schema, batches }
    }
}

#[pymethods]
impl Table {
    #[new]
    fn new(py: Python<'_>, results: &Bound<'_, PyAny>) -> PyResult<Table> {
        let (columns, n_rows) = columns_of(results)?;
        let batch = py.detach(|| batch_of(columns, n_rows)).map_err(failed)?;
        Ok(Table::of(batch.schema(), vec![batch]))
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
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let batches = RecordBatchIterator::new(batches, Arc::clone(&self.schema));
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// The table as one batch of Arrow's C interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        drop(requested_schema);
        let batch = match &self.batches[..] {
            [] => RecordBatch::new_empty(Arc::clone(&self.schema)),
            [batch] => batch.clone(),
            batches => {
                let words = format!(
                    "the table is too large for one batch: it has {}\n  hint: read it as a stream",
                    batches.len()
                );
                return Err(PyValueError::new_err(words));
            }
        };
        let schema = FFI_ArrowSchema::try_from(&*self.schema).map_err(failed)?;
        let array = FFI_ArrowArray::new(&StructArray::from(batch).to_data());
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }

    /// What pickle makes it from.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Parts<'py>)> {
        let make = py.import("juror._juror")?.getattr("table_of_parts")?;
        let column = |field: &Arc<Field>| (field.name().clone(), type_word(field.data_type()));
        let columns = self.schema.fields().iter().map(column).collect();
        let batches = self.batches.iter().map(|batch| parts_of(py, batch)).collect();
        Ok((make, (columns, batches)))
    }

    /// The names of the columns.
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The number of rows.
    #[getter]
    fn num_rows(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __len__(&self) -> usize {
        self.num_rows()
    }

    fn __repr__(&self) -> String {
        let (n_rows, n_columns) = (self.num_rows(), self.schema.fields().len());
        format!("<juror.Table of {n_rows} rows and {n_columns} columns>")
    }

    /// The columns as lists, by name.
    fn to_pydict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (at, field) in self.schema.fields().iter().enumerate() {
            let list = PyList::empty(py);
            for batch in &self.batches {
                add_values(&list, batch.column(at))?;
            }
            dict.set_item(field.name(), list)?;
        }
        Ok(dict)
    }
}

/// A table in pickles: its columns, each with its name and type, and its batches.
type Parts<'py> = (Vec<(String, &'static str)>, Vec<Batch<'py>>);

/// A batch of a table in pickles: its number of rows; for each column which values are set, unless
/// all are, and the values as Arrow has them in memory.
type Batch<'py> = (usize, Vec<(Option<Bound<'py, PyBytes>>, Vec<Bound<'py, PyBytes>>)>);

/// The types that columns have, and their names in pickles.
const TYPES: [(DataType, &str); 5] = [
    (DataType::Boolean, "bool"),
    (DataType::Int64, "int64"),
    (DataType::Float64, "float64"),
    (DataType::Utf8, "string"),
    (DataType::LargeUtf8, "large_string"),
];

fn type_word(of: &DataType) -> &'static str {
    TYPES.iter().find(|(known, _)| known == of).map_or("string", |(_, word)| word)
}

fn parts_of<'py>(py: Python<'py>, batch: &RecordBatch) -> Batch<'py> {
    let column = |array: &ArrayRef| {
        let data = array.to_data();
        let nulls = data.nulls().map(|nulls| PyBytes::new(py, nulls.buffer().as_slice()));
        let values = data.buffers().iter().map(|buffer| PyBytes::new(py, buffer.as_slice()));
        (nulls, values.collect())
    };
    (batch.num_rows(), batch.columns().iter().map(column).collect())
}

/// Makes a table from what pickle kept of it.
#[pyfunction]
pub(crate) fn table_of_parts(
    columns: Vec<(String, String)>,
    batches: Vec<Batch<'_>>,
) -> PyResult<Table> {
    let field = |(name, word): (String, String)| {
        let of = TYPES.into_iter().find(|(_, known)| *known == word);
        let (of, _) = of.ok_or_else(|| PyValueError::new_err(format!("no type `{word}`")))?;
        Ok(Field::new(name, of, true))
    };
    let fields = columns.into_iter().map(field).collect::<PyResult<Vec<_>>>()?;
    let schema: SchemaRef = Arc::new(Schema::new(fields));
    let batches = batches.into_iter().map(|batch| batch_of_parts(&schema, batch).map_err(failed));
    Ok(Table::of(Arc::clone(&schema), batches.collect::<PyResult<_>>()?))
}

fn batch_of_parts(
    schema: &SchemaRef,
    (n_rows, columns): Batch<'_>,
) -> Result<RecordBatch, ArrowError> {
    // Copied, because Arrow wants values aligned.
    let buffer = |bytes: &Bound<'_, PyBytes>| Buffer::from(bytes.as_bytes());
    let mut arrays = Vec::with_capacity(columns.len());
    for (field, (nulls, values)) in schema.fields().iter().zip(columns) {
        let (nulls, values) = (nulls.as_ref().map(buffer), values.iter().map(buffer).collect());
        let of = field.data_type().clone();
        arrays.push(make_array(ArrayData::try_new(of, n_rows, nulls, 0, values, Vec::new())?));
    }
    let options = RecordBatchOptions::new().with_row_count(Some(n_rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)
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

/// Adds the values of a column as Python's objects to a list.
fn add_values(list: &Bound<'_, PyList>, array: &ArrayRef) -> PyResult<()> {
    macro_rules! add {
        ($kind:ty) => {
            for value in array.as_any().downcast_ref::<$kind>().into_iter().flatten() {
                list.append(value)?;
            }
        };
    }
    match array.data_type() {
        DataType::Boolean => add!(BooleanArray),
        DataType::Int64 => add!(Int64Array),
        DataType::Float64 => add!(Float64Array),
        DataType::Utf8 => add!(StringArray),
        _ => add!(LargeStringArray),
    }
    Ok(())
}
