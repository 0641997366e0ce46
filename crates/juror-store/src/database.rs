//! A file of `SQLite`: opened, checked to be ours, and left alone when it is not.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

/// How long a writer waits for another process.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why a store cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The folder or the file cannot be made or opened.
    #[error("{}: cannot open: {reason}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The file is something else, or damaged; it is left alone.
    #[error("{}: not a store of replies, or damaged: {reason}\n  hint: it was left as it is; move it away to begin a new one", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The file was made by a newer release.
    #[error("{}: made by a newer release of juror", path.display())]
    TooNew {
        /// The file.
        path: PathBuf,
    },
    /// Reading or writing failed.
    #[error("{}: {reason}", path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// A kind of store.
pub(crate) struct Kind {
    /// The file in its folder.
    pub(crate) file: &'static str,
    /// The tables.
    pub(crate) schema: &'static str,
    /// Raised when the schema changes.
    pub(crate) version: i64,
    /// What has to survive: see [`Survives`].
    pub(crate) survives: Survives,
}

/// What a write that has returned survives. Nothing damages the file.
#[derive(Clone, Copy)]
pub(crate) enum Survives {
    /// A crash of the process; a power cut may cost the last writes.
    Crash,
    /// A power cut too.
    PowerCut,
}

/// An open store.
#[derive(Debug)]
pub(crate) struct Database {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl Database {
    /// Opens the store in a folder, or makes it.
    pub(crate) fn open(folder: &Path, kind: &Kind) -> Result<Database, StoreError> {
        let path = folder.join(kind.file);
        std::fs::create_dir_all(folder)
            .map_err(|error| StoreError::Open { path: path.clone(), reason: error.to_string() })?;
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        Database::connect(path, kind, flags)
    }

    /// Opens the store in a folder if there is one.
    pub(crate) fn open_existing(
        folder: &Path,
        kind: &Kind,
    ) -> Result<Option<Database>, StoreError> {
        let path = folder.join(kind.file);
        if !path.exists() {
            return Ok(None);
        }
        Database::connect(path, kind, OpenFlags::SQLITE_OPEN_READ_WRITE).map(Some)
    }

    /// Opens the store in a folder, if there is one, without ever writing to it.
    pub(crate) fn open_read_only(
        folder: &Path,
        kind: &Kind,
    ) -> Result<Option<Database>, StoreError> {
        let path = folder.join(kind.file);
        if !path.exists() {
            return Ok(None);
        }
        let open = |error: rusqlite::Error| opening_error(&path, &error);
        let plain = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY);
        let connection = match plain.and_then(|connection| {
            version_of(&connection)?;
            Ok(connection)
        }) {
            Ok(connection) => connection,
            // On a medium that cannot be written, SQLite has to be told that nobody else writes.
            Err(_) => {
                let escaped = path.to_string_lossy().replace('%', "%25").replace('?', "%3f");
                let uri = format!("file:{}?immutable=1", escaped.replace('#', "%23"));
                let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
                Connection::open_with_flags(uri, flags).map_err(open)?
            }
        };
        if version_of(&connection).map_err(open)? != kind.version {
            let reason = "it has no replies of a known form".into();
            return Err(StoreError::Damaged { path, reason });
        }
        Ok(Some(Database { connection: Mutex::new(connection), path }))
    }

    fn connect(path: PathBuf, kind: &Kind, flags: OpenFlags) -> Result<Database, StoreError> {
        let open = |error: rusqlite::Error| opening_error(&path, &error);
        let connection = Connection::open_with_flags(&path, flags).map_err(open)?;
        connection.busy_timeout(PATIENCE).map_err(open)?;
        // What is not ours is refused before anything is set in it.
        look(&connection, &path, kind)?;
        let pragmas = match kind.survives {
            Survives::Crash => "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;",
            Survives::PowerCut => "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;",
        };
        patiently(|| connection.execute_batch(pragmas)).map_err(open)?;
        prepare(&connection, &path, kind)?;
        Ok(Database { connection: Mutex::new(connection), path })
    }

    /// The file it is kept in.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Does something with the connection, one caller at a time.
    pub(crate) fn run<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        work(&mut self.connection()).map_err(|error| self.failed(&error))
    }

    pub(crate) fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic of another thread leaves the connection usable: SQLite rolls back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn failed(&self, error: &rusqlite::Error) -> StoreError {
        if is_damage(error) {
            return StoreError::Damaged { path: self.path.clone(), reason: error.to_string() };
        }
        StoreError::Failed { path: self.path.clone(), reason: error.to_string() }
    }
}

/// Tries again while another process is in the way. `SQLite` waits by itself, but not when two
/// change the kind of journal at once.
fn patiently<T>(mut work: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let until = Instant::now() + PATIENCE;
    loop {
        match work() {
            Err(error) if is_busy(&error) && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(5));
            }
            outcome => return outcome,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// What a file is.
enum Look {
    /// It has no tables yet.
    New,
    /// It is a store of the kind.
    Ours,
}

/// Looks at a file without changing it; refuses what is another's.
fn look(connection: &Connection, path: &Path, kind: &Kind) -> Result<Look, StoreError> {
    let failed = |error: rusqlite::Error| opening_error(path, &error);
    let other = |reason: &str| {
        Err(StoreError::Damaged { path: path.to_owned(), reason: reason.to_owned() })
    };
    // The tables and their version are made in one transaction, perhaps by another process at this
    // moment: a version that is read after the tables belongs to them.
    let count = "SELECT count(*) FROM sqlite_schema";
    let n_tables: i64 = connection.query_row(count, [], |row| row.get(0)).map_err(failed)?;
    let version = version_of(connection).map_err(failed)?;
    match version {
        version if version == kind.version => Ok(Look::Ours),
        0 if n_tables == 0 => Ok(Look::New),
        0 => other("it holds other tables"),
        version if version < kind.version => other("it was made by an older release"),
        _ => Err(StoreError::TooNew { path: path.to_owned() }),
    }
}

/// Makes the tables in a file that has none.
fn prepare(connection: &Connection, path: &Path, kind: &Kind) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| opening_error(path, &error);
    if let Look::Ours = look(connection, path, kind)? {
        return Ok(());
    }
    // Two processes may both find a new file: the second waits here and then finds the tables.
    connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
    if let Look::New = look(connection, path, kind)? {
        connection.execute_batch(kind.schema).map_err(failed)?;
        connection.pragma_update(None, "user_version", kind.version).map_err(failed)?;
    }
    connection.execute_batch("COMMIT").map_err(failed)
}

fn version_of(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn opening_error(path: &Path, error: &rusqlite::Error) -> StoreError {
    let (path, reason) = (path.to_owned(), error.to_string());
    if is_damage(error) {
        StoreError::Damaged { path, reason }
    } else {
        StoreError::Open { path, reason }
    }
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}
