//! Folders of runs: what a run is, how far it came, and what came of it.
//!
//! A [`Manifest`] (`run.json`) holds the identity of a run, everything that affects its outcome, and
//! where it comes from. A [`RunLog`] gets a line for every finished item, so that a run that was cut
//! off resumes where it stopped; the identity decides which log a run may resume. Results appear
//! beside it before the run is marked as complete ([`RunFile`]), so that a folder needs nothing else
//! to be compared, reported or judged again.
//!
//! [`Home`] chooses the folder of a run. [`StoredRun`], [`stored_runs`] and [`find_run`] read what is
//! stored, and [`Keep`] chooses what may be removed.
//!
//! [`hidden`] masks anything like a key before it is stored or shown. [`fingerprint`],
//! [`short_hash`] and [`CanonicalHash`] tell whether data has changed.
//!
//! A run may be in a database that many machines share. A process then works on it in a temporary
//! folder, its desk ([`RunFolder`]), and the database has each line before it counts. [`RunFolders`]
//! makes folders of runs a store like that, so that runs are copied from one to the other.
//!
//! You will not find judges or printing here.

mod address;
mod canonical;
mod copy;
mod damage;
mod differences;
mod find;
mod fingerprint;
mod folders;
mod headline;
pub mod hidden;
mod home;
mod identity;
mod manifest;
mod protected;
mod prune;
mod read_error;
mod run_file;
mod run_folder;
mod run_log;
mod shard;
mod stored;
mod work_tree;

pub use canonical::CanonicalHash;
pub use copy::{Copied, copy_run};
pub use differences::differing_parts;
pub use find::{FindError, find_run};
pub use fingerprint::{file_hash, fingerprint, short_hash};
pub use folders::RunFolders;
pub use headline::{Headline, HeadlineMean};
pub use home::{DEFAULT_RUNS, Home, RunPlace};
pub use identity::{BenchIdentity, EvalIdentity, InputIdentity, ReferenceIdentity, run_schema};
pub use manifest::{Manifest, Resume, RunKind, Unjudged, WrittenResults};
pub use protected::is_in_run;
pub use prune::{Keep, Removal};
pub use read_error::RunReadError;
pub use run_file::RunFile;
pub use run_folder::{RunFolder, is_shared, open_run_store, shown};
pub use run_log::{Entry, Journal, RunLog, RunLogError, check_run, plain, read_manifest};
pub use shard::{NotAShard, Shard, ShardIdentity};
pub use stored::{StoredRun, is_locked, stored_runs};
pub use work_tree::WorkTree;
