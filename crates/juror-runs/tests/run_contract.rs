//! What holds for every store of runs holds for folders.

use std::path::Path;

use juror_runs::RunFolders;
use juror_store::RunStore;
use juror_store::contract::RunSite;
use tempfile::TempDir;

struct Folders(TempDir);

impl RunSite for Folders {
    fn runs(&self) -> Box<dyn RunStore> {
        Box::new(RunFolders::new(&self.0.path().join("runs")))
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }
}

fn folders() -> Folders {
    Folders(tempfile::tempdir().expect("a folder"))
}

juror_store::run_contract!(Some(folders()));
