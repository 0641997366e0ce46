//! What reports become in Python: objects, texts and files.

use juror_run::{Output, OutputError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde::Serialize;

use crate::from_json::Builder;
use crate::problem::os_error;

/// Returns a value as Python's objects, as its JSON would be read.
pub(crate) fn made<'py>(py: Python<'py>, value: &impl Serialize) -> PyResult<Bound<'py, PyAny>> {
    let json = serde_json::to_string(value);
    let json = json.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Builder::new(py).value(&json)
}

/// Returns bytes that were written as text.
pub(crate) fn as_text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// Says that the ending of a file picks no format.
pub(crate) fn unknown_ending(path: &str, endings: &str) -> PyErr {
    PyValueError::new_err(format!("{path}: the ending names no format\n  hint: use {endings}"))
}

/// Writes a file, which appears whole or not at all.
pub(crate) fn write_file(py: Python<'_>, path: &str, bytes: &[u8]) -> PyResult<()> {
    let write = || {
        let mut file = Output::create_text(path)?;
        file.write(bytes)?;
        file.finish()
    };
    py.detach(write).map_err(|error| match error {
        OutputError::Io { name, error } => os_error(py, &name, &error),
        OutputError::UnknownFormat { name, endings } => unknown_ending(&name, &endings),
        OutputError::InRun(_) => PyValueError::new_err(error.to_string()),
    })
}
