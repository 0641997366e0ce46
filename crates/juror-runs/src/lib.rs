//! Folders of runs: what a run is, how far it came, and what came of it.
//!
//! A [`Manifest`] (`run.json`) holds the identity of a run, everything that affects its outcome. A
//! [`RunLog`] gets a line for every finished item, so that a run that was cut off resumes where it
//! stopped; the identity decides which log a run may resume.
//!
//! [`hidden`] masks anything like a key before it is stored or shown. [`fingerprint`] and
//! [`short_hash`] tell whether data has changed.
//!
//! You will not find async code, judges or printing here.

mod address;
mod fingerprint;
pub mod hidden;
mod manifest;
mod run_log;

pub use fingerprint::{file_hash, fingerprint, short_hash};
pub use manifest::{Manifest, Resume, RunKind};
pub use run_log::{
    Chosen, Entry, PassedOver, RunLog, RunLogError, check_run, choose_folder, plain, read_manifest,
};
