//! A file that grows by a line for every finished item.

use juror_files::read_plain;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind::{NotADirectory, NotFound};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{RunLogError, torn};
use crate::run_file::RunFile;
use crate::run_folder::RunFolder;

/// How often a file that is locked is tried again, and after how long.
const TRIES: usize = 5;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// A file with a line of JSON for every finished item, locked by this process. A line is written in a
/// single write as soon as its item is finished, so that whoever kills the process loses none.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
    /// The beginning of every line, by which a line that was cut off is recognized.
    line_start: &'static str,
    /// The run in a database that gets each line too, and which file of it.
    shared: Option<(RunFolder, RunFile)>,
}

impl Journal {
    /// Opens and locks a file whose lines all begin in the same way; creates it, and its folder, if
    /// needed.
    pub fn lock(path: &Path, line_start: &'static str) -> Result<Journal, RunLogError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(failed(folder))?;
        }
        let open = OpenOptions::new().read(true).append(true).create(true).open(path);
        let file = open.map_err(failed(path))?;
        match lock_soon(&file) {
            Ok(()) => Ok(Journal {
                path: path.to_owned(),
                file: Mutex::new(file),
                line_start,
                shared: None,
            }),
            Err(TryLockError::WouldBlock) => Err(RunLogError::Busy { folder: path.to_owned() }),
            Err(TryLockError::Error(error)) => Err(failed(path)(error)),
        }
    }

    /// Opens and locks a journal in the folder of a run. If the run is in a database, this process
    /// must hold it.
    pub fn of_run(
        folder: &RunFolder,
        file: RunFile,
        line_start: &'static str,
    ) -> Result<Journal, RunLogError> {
        let journal = Journal::lock(&file.path_in(folder.path()), line_start);
        let mut journal = journal.map_err(|error| match error {
            RunLogError::Busy { .. } => RunLogError::Busy { folder: folder.shown() },
            other => other,
        })?;
        journal.shared = folder.database().map(|_| (folder.clone(), file));
        Ok(journal)
    }

    /// Fails if the file has lines: without a manifest, they belong to no known run.
    pub fn refuse_lines(&mut self) -> Result<(), RunLogError> {
        let length = self.own().metadata().map(|metadata| metadata.len());
        if length.map_err(failed(&self.path))? == 0 {
            return Ok(());
        }
        Err(RunLogError::orphaned(self.path.clone()))
    }

    /// Removes all lines.
    pub fn clear(&mut self) -> Result<(), RunLogError> {
        self.own().set_len(0).map_err(failed(&self.path))?;
        self.publish()
    }

    /// Says that the file was written anew, so that a database gets all of it.
    pub fn publish(&self) -> Result<(), RunLogError> {
        match &self.shared {
            None => Ok(()),
            Some((folder, file)) => {
                let shared = folder.database().map_or(Ok(()), |run| run.publish(&[*file], &[]));
                shared.map_err(RunLogError::Store)
            }
        }
    }

    /// Reads the lines so far, and truncates a torn line at the end. Changes nothing if Juror
    /// cannot have written all of the file.
    pub fn resume<L: DeserializeOwned>(&mut self) -> Result<Vec<L>, RunLogError> {
        let bytes = read_all(self.own()).map_err(failed(&self.path))?;
        let (whole, torn) = torn::split(&bytes);
        let lines = parse_lines(&self.path, whole)?;
        if !torn::is_rest_of(torn, self.line_start.as_bytes()) {
            let line = whole.split(|byte| *byte == b'\n').count();
            let why = "it is cut off, and not the beginning of one".to_owned();
            let path = self.path.clone();
            return Err(RunLogError::Damaged { path, line, column: None, why });
        }
        self.own().set_len(whole.len() as u64).map_err(failed(&self.path))?;
        Ok(lines)
    }

    /// Appends a line. Once this returns, a crash of the process does not lose it.
    pub fn append(&self, line: &impl Serialize) -> Result<(), RunLogError> {
        juror_store::wait(self.append_async(line))
    }

    /// Appends a line, and does not block while a database is waited for.
    pub async fn append_async(&self, line: &impl Serialize) -> Result<(), RunLogError> {
        let mut bytes = match serde_json::to_vec(line) {
            Ok(bytes) => bytes,
            Err(error) => return Err(failed(&self.path)(error.into())),
        };
        bytes.push(b'\n');
        self.append_bytes(&bytes).map_err(failed(&self.path))?;
        if let Some((folder, file)) = &self.shared
            && let Some(run) = folder.database()
        {
            run.append(file.name(), &bytes).await.map_err(RunLogError::Store)?;
        }
        Ok(())
    }

    /// Appends a line, with its end, to the file. If the disk takes only a part of it, none of it stays, so
    /// that no later line follows a torn one.
    pub(crate) fn append_bytes(&self, line: &[u8]) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let length = file.metadata()?.len();
        file.write_all(line).inspect_err(|_| drop(file.set_len(length)))
    }

    /// Gives the file another content.
    pub(crate) fn replace(&self, content: &mut dyn Read) -> io::Result<()> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.set_len(0)?;
        io::copy(content, &mut *file).map(drop)
    }

    fn own(&mut self) -> &mut File {
        self.file.get_mut().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the lines of a folder's file without locking it; `None` if there is no such file.
pub(super) fn read_lines<L: DeserializeOwned>(
    folder: &Path,
    file: RunFile,
) -> Result<Option<Vec<L>>, RunLogError> {
    let path = file.path_in(folder);
    match read_plain(&path) {
        Ok(bytes) => parse_lines(&path, torn::split(&bytes).0).map(Some),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(None),
        Err(error) => Err(failed(&path)(error)),
    }
}

/// Locks a file. Whoever only looks whether a run is busy holds the lock for a moment, so one
/// refusal does not mean that somebody works on the run.
fn lock_soon(file: &File) -> Result<(), TryLockError> {
    for _ in 0..TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN_TRIES),
            other => return other,
        }
    }
    file.try_lock()
}

fn parse_lines<L: DeserializeOwned>(path: &Path, whole: &[u8]) -> Result<Vec<L>, RunLogError> {
    let lines = whole.split(|byte| *byte == b'\n').zip(1..);
    let parse = |(line, number): (&[u8], usize)| {
        serde_json::from_slice(line)
            .map_err(|error| RunLogError::not_ours(path.to_owned(), number, &error))
    };
    lines.filter(|(line, _)| !line.is_empty()).map(parse).collect()
}

fn read_all(file: &mut File) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> RunLogError + use<> {
    let path = path.to_owned();
    move |error| RunLogError::Io { path, error }
}
