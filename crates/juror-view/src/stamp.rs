//! What reveals that a file was changed.

use std::path::Path;
use std::time::SystemTime;

use juror_runs::RunFile;

/// When files were modified, and how long they are; `None` for those that there are not.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Stamp(Vec<Option<(SystemTime, u64)>>);

impl Stamp {
    /// Looks at files in a folder.
    pub(crate) fn of(folder: &Path, files: &[RunFile]) -> Stamp {
        let look = |file: &RunFile| {
            let known = std::fs::metadata(file.path_in(folder)).ok()?;
            Some((known.modified().ok()?, known.len()))
        };
        Stamp(files.iter().map(look).collect())
    }
}
