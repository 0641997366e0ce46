//! Juror's verbs as a Python module.
//!
//! What Python users see is the package in `python/juror`; this crate is its engine, `juror._juror`.
//! You will not find rules of judgement here: Python's objects come in, Juror's other crates do the
//! work, and Python's objects go out.

mod bench;

use pyo3::prelude::*;

/// Python's objects live as long as Python wants; what Juror makes meanwhile comes and goes fast.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The engine of the package `juror`.
#[pymodule]
mod _juror {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::bench::{Ask, BenchRun};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
