//! What holds for every store of runs holds for a database.
#![cfg(target_os = "linux")]

use std::path::Path;

use juror_postgres::{Address, SharedRuns};
use juror_store::RunStore;
use juror_store::contract::RunSite;
use juror_testing::Postgres;
use tempfile::TempDir;

struct Schema(Address, TempDir);

impl RunSite for Schema {
    fn runs(&self) -> Box<dyn RunStore> {
        Box::new(SharedRuns::open(&self.0).expect("a store"))
    }

    fn folder(&self) -> &Path {
        self.1.path()
    }
}

fn schema() -> Option<Schema> {
    let address = Address::read(&Postgres::shared()?.address()).expect("an address");
    Some(Schema(address, tempfile::tempdir().expect("a folder")))
}

juror_store::run_contract!(schema());
