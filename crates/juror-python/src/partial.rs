//! `Partial`: the numbers of a part of an evaluation, which merge to the same bytes for any split.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{BinaryArray, RecordBatch, RecordBatchIterator};
use arrow_schema::{DataType, Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict};

use crate::aggregates::to_python;
use crate::arrow_in::failed;
use crate::output::made;

/// The numbers of a part of an evaluation, reduced to what its aggregates and statistics need.
///
/// Partials of any split of the same answers merge to the same bytes, in any order.
#[pyclass(frozen, module = "juror")]
pub(crate) struct Partial(pub(crate) juror_partial::Partial);

#[pymethods]
impl Partial {
    /// Reads what `to_bytes` wrote.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Partial> {
        partial_of_bytes(py, bytes)
    }

    /// The partial as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &py.detach(|| self.0.to_bytes()))
    }

    /// Returns this partial and others together.
    #[pyo3(signature = (*others))]
    #[expect(clippy::needless_pass_by_value, reason = "PyO3 extracts a list of its own")]
    fn merge(&self, py: Python<'_>, others: Vec<Bound<'_, Partial>>) -> PyResult<Partial> {
        let others: Vec<&juror_partial::Partial> = others.iter().map(|one| &one.get().0).collect();
        let merged = py.detach(|| {
            let mut merged = self.0.clone();
            for (at, other) in others.into_iter().enumerate() {
                merged.merge(other).map_err(|why| (at, why))?;
            }
            Ok::<_, (usize, juror_partial::MergeError)>(merged)
        });
        let refuse = |(at, why)| {
            PyValueError::new_err(format!(
                "partial {at} of those to merge does not belong here: {why}"
            ))
        };
        merged.map(Partial).map_err(refuse)
    }

    /// Computes the aggregates and the statistics of everything that was merged.
    #[pyo3(signature = (confidence=0.95))]
    fn finish<'py>(&self, py: Python<'py>, confidence: f64) -> PyResult<Bound<'py, PyDict>> {
        if !(0.5..1.0).contains(&confidence) {
            let words = format!("confidence is {confidence}, and should be from 0.5 to below 1");
            return Err(PyValueError::new_err(words));
        }
        let finished = py.detach(|| self.0.finish(confidence));
        let dict = PyDict::new(py);
        dict.set_item("aggregates", to_python(py, &finished.aggregates, &HashMap::new())?)?;
        dict.set_item("statistics", made(py, &finished.statistics)?)?;
        Ok(dict)
    }

    /// The number of answers.
    #[getter]
    fn n_answers(&self) -> u64 {
        self.0.n_answers()
    }

    /// The partial as a table of one row, whose column `partial` has its bytes.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        drop(requested_schema);
        let schema = Arc::new(Schema::new(vec![Field::new("partial", DataType::Binary, false)]));
        let bytes = py.detach(|| self.0.to_bytes());
        let column = Arc::new(BinaryArray::from(vec![&bytes[..]]));
        let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column]).map_err(failed)?;
        let batches = RecordBatchIterator::new([Ok(batch)], schema);
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// What pickle makes it from.
    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let make = py.import("juror._juror")?.getattr("partial_of_bytes")?;
        Ok((make, (self.to_bytes(py),)))
    }

    fn __repr__(&self) -> String {
        format!("<juror.Partial of {} answers>", self.0.n_answers())
    }
}

/// Reads what `Partial.to_bytes` wrote.
#[pyfunction]
pub(crate) fn partial_of_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Partial> {
    let read = py.detach(|| juror_partial::Partial::from_bytes(bytes));
    read.map(Partial).map_err(|why| PyValueError::new_err(why.to_string()))
}
