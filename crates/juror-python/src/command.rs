//! The `juror` program, as the command of the package.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command that arguments ask for; returns the exit code for the process.
///
/// `program` is how the same program is begun anew.
#[pyfunction]
#[expect(clippy::needless_pass_by_value, reason = "Python's texts become Rust's on the way in")]
pub(crate) fn run_command(py: Python<'_>, arguments: Vec<OsString>, program: Vec<OsString>) -> u8 {
    py.detach(|| juror::run(arguments, &program))
}
