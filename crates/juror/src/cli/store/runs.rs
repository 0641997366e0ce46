//! `juror store copy --runs`: runs from folders to databases and back.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use juror_postgres::Address;
use juror_run::{StoreUse, is_database};
use juror_runs::{Copied, RunFile, copy_run, open_run_store, shown};
use juror_store::{RunStore, StoreError};

use super::super::count as counted;
use super::outside;
use crate::exit::Exit;
use crate::output;

/// Returns how many runs a database has.
pub(super) fn count(address: &str) -> Result<usize, StoreError> {
    let store = open_run_store(Path::new(address), StoreUse::Read)?;
    store.map_or(Ok(0), |store| Ok(store.runs()?.len()))
}

pub(super) fn copy(from: &str, to: &str) -> anyhow::Result<Exit> {
    anyhow::ensure!(from != to, "a store cannot be copied to itself");
    let (source, names) = source(from)?;
    let target = Address::is_meant(to).then(|| Address::read(to)).transpose()?;
    anyhow::ensure!(
        target.is_none_or(|address| address.run().is_none()),
        "{}: this names one run\n  hint: runs keep their names; leave `run` out of the address",
        shown(Path::new(to)).display()
    );
    let target = open_run_store(Path::new(to), StoreUse::Keep)?;
    let Some(target) = target else { return Ok(Exit::Done) };
    let (mut n_new, mut n_known) = (0, 0);
    for name in &names {
        let copied = copy_run(&*source, &*target, name).map_err(outside)?;
        match copied {
            Copied::New | Copied::Completed => n_new += 1,
            Copied::Known => n_known += 1,
            _ => output::warn(&format!("{}: not copied: {}", source.place_of(name), why(copied))),
        }
    }
    let (new, all) = (counted(n_new, "run"), names.len());
    let place = target.place();
    output::print_note(&format!("copied {new} of {all} to {place}; {n_known} known already"));
    Ok(if n_new + n_known == all { Exit::Done } else { Exit::OutsideFailed })
}

fn why(copied: Copied) -> &'static str {
    match copied {
        Copied::OtherRun => "another run of this name is there",
        Copied::InUse => "a process is working on it",
        _ => "it has no run.json of this release",
    }
}

/// Opens the store to copy from, and returns the names of the runs that are meant.
fn source(from: &str) -> anyhow::Result<(Arc<dyn RunStore>, Vec<String>)> {
    let (root, one) = parts(from)?;
    let place = shown(Path::new(from)).display().to_string();
    let nothing = || anyhow::anyhow!("{place}: there are no runs here");
    let store = open_run_store(&root, StoreUse::Read)?.ok_or_else(nothing)?;
    let mut names = store.runs()?;
    names.retain(|name| one.as_ref().is_none_or(|one| one == name));
    anyhow::ensure!(!names.is_empty(), nothing());
    Ok((store, names))
}

/// Returns where runs are, and the name of the one that is meant if it is one.
fn parts(from: &str) -> anyhow::Result<(PathBuf, Option<String>)> {
    if is_database(from) {
        let run = Address::read(from)?.run().map(ToOwned::to_owned);
        return Ok((from.into(), run));
    }
    let path = Path::new(from);
    if !RunFile::Manifest.path_in(path).is_file() {
        return Ok((path.to_owned(), None));
    }
    // The name of `.` is known by its whole path.
    let path = path.canonicalize()?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok((path.parent().unwrap_or(&path).to_owned(), name))
}
