//! `SQLite` files: opened, checked to be ours, and left alone if they are not.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

/// How long a writer waits for another process.
const PATIENCE: Duration = Duration::from_secs(30);

/// Why a store cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The folder or the file cannot be created or opened.
    #[error("{}: cannot open: {reason}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The file is not a store, or damaged; it is left alone.
    #[error("{}\n  hint: {MOVE_AWAY}", damaged(path, reason))]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The file was created by a newer release.
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
    /// The disk is full or broken.
    #[error("{}: {reason}", path.display())]
    Disk {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The address of a server is not one that can be used.
    #[error("{problem}{}", as_hint(*hint))]
    Address {
        /// What is wrong, with the address as people may see it.
        problem: String,
        /// What to do about it.
        hint: Option<&'static str>,
    },
    /// A server cannot be used.
    #[error("{place}: {problem}{}", as_hint(*hint))]
    Server {
        /// The address as people may see it.
        place: String,
        /// What is wrong.
        problem: String,
        /// What to do about it.
        hint: Option<&'static str>,
    },
}

fn as_hint(hint: Option<&'static str>) -> String {
    hint.map(|hint| format!("\n  hint: {hint}")).unwrap_or_default()
}

const MOVE_AWAY: &str = "it was left as it is; move it away to begin a new one";

fn damaged(path: &Path, reason: &str) -> String {
    format!("{}: not a store of replies, or damaged: {reason}", path.display())
}

impl StoreError {
    /// What is wrong, without a hint.
    pub fn problem(&self) -> String {
        match self {
            StoreError::Damaged { path, reason } => damaged(path, reason),
            StoreError::Address { problem, .. } => problem.clone(),
            StoreError::Server { place, problem, .. } => format!("{place}: {problem}"),
            other => other.to_string(),
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            StoreError::Damaged { .. } => Some(MOVE_AWAY),
            StoreError::Address { hint, .. } | StoreError::Server { hint, .. } => *hint,
            _ => None,
        }
    }

    /// Whether something outside failed, rather than the request being wrong.
    pub fn is_outside(&self) -> bool {
        matches!(self, StoreError::Server { .. } | StoreError::Disk { .. })
    }

    /// The error of a file or folder that cannot be created or opened.
    pub fn opening(path: &Path, error: &io::Error) -> StoreError {
        let (path, reason) = (path.to_owned(), error.to_string());
        if is_disk_failure(error) {
            StoreError::Disk { path, reason: format!("cannot open: {reason}") }
        } else {
            StoreError::Open { path, reason }
        }
    }

    /// The error of a file that cannot be read or written.
    pub fn failing(path: &Path, error: &io::Error) -> StoreError {
        let (path, reason) = (path.to_owned(), error.to_string());
        if is_disk_failure(error) {
            StoreError::Disk { path, reason }
        } else {
            StoreError::Failed { path, reason }
        }
    }
}

/// Whether a disk is full or broken. `EIO` has no kind of its own, and errors of temporary files have no
/// number.
fn is_disk_failure(error: &io::Error) -> bool {
    const EIO: i32 = 5;
    let is_broken = cfg!(unix) && error.kind() == io::Error::from_raw_os_error(EIO).kind();
    is_broken || matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

/// A kind of store.
pub(crate) struct StoreKind {
    /// The name of the file.
    pub(crate) file: &'static str,
    /// The tables.
    pub(crate) schema: &'static str,
    /// Incremented if the schema changes so that other releases cannot use it.
    pub(crate) version: i64,
    /// Columns that older files of the same version lack.
    pub(crate) added: &'static [AddedColumn],
    /// What a completed write survives.
    pub(crate) survives: Survives,
}

/// A column added in a later release. Earlier releases ignore it.
pub(crate) struct AddedColumn {
    pub(crate) table: &'static str,
    pub(crate) name: &'static str,
    /// Adds and fills the column.
    pub(crate) change: &'static str,
}

/// What a completed write survives. The file is never damaged either way.
#[derive(Clone, Copy)]
pub(crate) enum Survives {
    /// A crash of the process; a power cut may lose the last writes.
    Crash,
    /// A power cut too.
    PowerCut,
}

/// An open store.
pub(crate) struct Database {
    path: PathBuf,
    connection: Mutex<Connection>,
    kind: &'static StoreKind,
    use_of: Use,
    /// The identity of the connected file.
    file: Mutex<Option<FileId>>,
    /// What happened to the file since it was opened, until it is reported.
    news: Mutex<Option<News>>,
}

/// What happened to a file in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    /// It was deleted and created again.
    Remade,
    /// It was replaced by another.
    Replaced,
}

impl News {
    fn words(self) -> &'static str {
        match self {
            News::Remade => {
                "deleted while in use, with its contents; created again, and new replies are kept"
            }
            News::Replaced => "replaced by another while in use, which is used from now on",
        }
    }
}

/// What a store is opened for, which decides what happens if its file is deleted meanwhile.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// To keep replies; the file is created again.
    Keep,
    /// To look up what another connection of the process keeps; follows to the new file.
    Follow,
    /// To read what it contains now, whatever happens to its name.
    Once,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Database {
    /// Opens the store in a folder, creating it if necessary.
    pub(crate) fn open(folder: &Path, kind: &'static StoreKind) -> Result<Database, StoreError> {
        let path = folder.join(kind.file);
        let connection = make(&path, kind)?;
        Ok(Database::new(path, connection, kind, Use::Keep))
    }

    /// Opens the store in a folder if there is one.
    pub(crate) fn open_existing(
        folder: &Path,
        kind: &'static StoreKind,
    ) -> Result<Option<Database>, StoreError> {
        let path = folder.join(kind.file);
        if !path.exists() {
            return Ok(None);
        }
        let connection = connect(&path, kind, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
        Ok(Some(Database::new(path, connection, kind, Use::Once)))
    }

    /// Opens the store in a folder for reading only, if there is one.
    pub(crate) fn open_read_only(
        folder: &Path,
        kind: &'static StoreKind,
    ) -> Result<Option<Database>, StoreError> {
        Database::read(folder, kind, Use::Once)
    }

    /// Opens the store in a folder to look up what another connection keeps there.
    pub(crate) fn open_beside(
        folder: &Path,
        kind: &'static StoreKind,
    ) -> Result<Option<Database>, StoreError> {
        Database::read(folder, kind, Use::Follow)
    }

    fn read(
        folder: &Path,
        kind: &'static StoreKind,
        use_of: Use,
    ) -> Result<Option<Database>, StoreError> {
        let path = folder.join(kind.file);
        let connection = connect_read_only(&path, kind)?;
        Ok(connection.map(|connection| Database::new(path, connection, kind, use_of)))
    }

    fn new(
        path: PathBuf,
        connection: Connection,
        kind: &'static StoreKind,
        use_of: Use,
    ) -> Database {
        let (file, connection) = (Mutex::new(FileId::of(&path)), Mutex::new(connection));
        Database { path, connection, kind, use_of, file, news: Mutex::default() }
    }

    /// The file of the store.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs something with the connection, one caller at a time.
    pub(crate) fn run<T>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        work(&mut *self.connection()?).map_err(|error| self.failed(&error))
    }

    /// Returns the connection, reopened if the store's name now belongs to another file.
    pub(crate) fn connection(&self) -> Result<MutexGuard<'_, Connection>, StoreError> {
        // After a panic of another thread the connection is still usable, since SQLite rolls back.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if self.use_of == Use::Once {
            return Ok(connection);
        }
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let now = FileId::of(&self.path);
        if now.is_none() || now != *file {
            let other = match self.use_of {
                Use::Keep => Some(make(&self.path, self.kind)?),
                Use::Follow | Use::Once => connect_read_only(&self.path, self.kind)?,
            };
            if let Some(other) = other {
                *connection = other;
                *file = FileId::of(&self.path);
                let news = if now.is_none() { News::Remade } else { News::Replaced };
                *self.news.lock().unwrap_or_else(PoisonError::into_inner) = Some(news);
            }
        }
        drop(file);
        Ok(connection)
    }

    /// Returns a message for the user, once, if the file was deleted or replaced.
    pub(crate) fn news(&self) -> Option<String> {
        let news = self.news.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        Some(format!("{}: {}", self.path.display(), news.words()))
    }

    pub(crate) fn failed(&self, error: &rusqlite::Error) -> StoreError {
        let (path, reason) = (self.path.clone(), error.to_string());
        if is_damage(error) {
            StoreError::Damaged { path, reason }
        } else if is_of_disk(error) {
            StoreError::Disk { path, reason }
        } else {
            StoreError::Failed { path, reason }
        }
    }
}

impl Drop for Database {
    /// Merges the journal into the file even if other processes have it open, since the last of them
    /// may be killed before it does.
    fn drop(&mut self) {
        if self.use_of == Use::Keep {
            let connection = self.connection.get_mut().unwrap_or_else(PoisonError::into_inner);
            let _ = connection.execute_batch("PRAGMA wal_checkpoint(PASSIVE)");
        }
    }
}

/// The identity of a file, to distinguish it from a later one of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileId(u64, u64);

impl FileId {
    #[cfg(unix)]
    fn of(path: &Path) -> Option<FileId> {
        use std::os::unix::fs::MetadataExt;
        let metadata = std::fs::metadata(path).ok()?;
        Some(FileId(metadata.dev(), metadata.ino()))
    }

    /// On other systems an open file cannot be deleted.
    #[cfg(not(unix))]
    fn of(path: &Path) -> Option<FileId> {
        path.exists().then_some(FileId(0, 0))
    }
}

/// Connects to a file, creating it if necessary.
fn make(path: &Path, kind: &StoreKind) -> Result<Connection, StoreError> {
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|error| StoreError::opening(path, &error))?;
    // Two processes that create the file at once must not delete what the other has just written.
    let _turn = turn_in(folder);
    if !path.exists() {
        // Journals left by a deleted file do not belong to the new one.
        for ending in ["-wal", "-shm"] {
            let mut beside = path.as_os_str().to_owned();
            beside.push(ending);
            let _ = std::fs::remove_file(beside);
        }
    }
    // SQLite does not say why a file cannot be made; the system does.
    if !path.exists() {
        let made = File::options().append(true).create(true).open(path);
        made.map_err(|error| StoreError::opening(path, &error))?;
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    connect(path, kind, flags)
}

/// Locks a folder against other processes that create a file in it, while the result is held. `None`
/// if folders cannot be locked: then open files cannot be deleted, or the file system has no locks.
fn turn_in(folder: &Path) -> Option<File> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let folder = File::open(folder).ok()?;
    let until = Instant::now() + PATIENCE;
    loop {
        match folder.try_lock() {
            Ok(()) => return Some(folder),
            Err(TryLockError::WouldBlock) if Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(_) => return None,
        }
    }
}

fn connect(path: &Path, kind: &StoreKind, flags: OpenFlags) -> Result<Connection, StoreError> {
    let open = |error: rusqlite::Error| opening_error(path, &error);
    let connection = Connection::open_with_flags(path, flags).map_err(open)?;
    connection.busy_timeout(PATIENCE).map_err(open)?;
    // Refuse a file that is not ours before changing anything in it.
    look(&connection, path, kind)?;
    let pragmas = match kind.survives {
        Survives::Crash => "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;",
        Survives::PowerCut => "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;",
    };
    patiently(|| connection.execute_batch(pragmas)).map_err(open)?;
    prepare(&connection, path, kind)?;
    Ok(connection)
}

/// Connects to a file for reading only, if there is one.
fn connect_read_only(path: &Path, kind: &StoreKind) -> Result<Option<Connection>, StoreError> {
    if !path.exists() {
        return Ok(None);
    }
    let open = |error: rusqlite::Error| opening_error(path, &error);
    let plain = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY);
    let connection = match plain.and_then(|connection| {
        connection.busy_timeout(PATIENCE)?;
        version_of(&connection)?;
        Ok(connection)
    }) {
        Ok(connection) => connection,
        Err(error) if !is_unwritable(&error) => return Err(open(error)),
        // On a read-only medium, SQLite must be told that nobody else writes.
        Err(_) => {
            let escaped = path.to_string_lossy().replace('%', "%25").replace('?', "%3f");
            let uri = format!("file:{}?immutable=1", escaped.replace('#', "%23"));
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(uri, flags).map_err(open)?
        }
    };
    let version = version_of(&connection).map_err(open)?;
    if version == 0 && n_tables_of(&connection).map_err(open)? == 0 {
        // Another process is about to create it.
        return Ok(None);
    }
    if version != kind.version {
        let reason = "it has no replies of a known form".into();
        return Err(StoreError::Damaged { path: path.to_owned(), reason });
    }
    Ok(Some(connection))
}

/// Retries while another process is in the way. `SQLite` waits by itself, except if two processes
/// change the journal mode at once.
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

/// Whether the cause may be a read-only medium or folder.
fn is_unwritable(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly))
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// The state of a file.
enum FileState {
    /// It has no tables yet.
    New,
    /// It is a store of the expected kind.
    Ours,
}

/// Inspects a file without changing it, and refuses one that is not ours.
fn look(connection: &Connection, path: &Path, kind: &StoreKind) -> Result<FileState, StoreError> {
    let failed = |error: rusqlite::Error| opening_error(path, &error);
    let other = |reason: &str| {
        Err(StoreError::Damaged { path: path.to_owned(), reason: reason.to_owned() })
    };
    // The tables and their version are created in one transaction, perhaps by another process right
    // now. Reading the version after the tables makes sure that it belongs to them.
    let n_tables = n_tables_of(connection).map_err(failed)?;
    let version = version_of(connection).map_err(failed)?;
    match version {
        version if version == kind.version => Ok(FileState::Ours),
        0 if n_tables == 0 => Ok(FileState::New),
        0 => other("it holds other tables"),
        version if version < kind.version => other("it was made by an older release"),
        _ => Err(StoreError::TooNew { path: path.to_owned() }),
    }
}

/// Creates the tables in a file that has none.
fn prepare(connection: &Connection, path: &Path, kind: &StoreKind) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| opening_error(path, &error);
    if let FileState::Ours = look(connection, path, kind)? {
        let add = |column| add_column(connection, column);
        return kind.added.iter().try_for_each(add).map_err(failed);
    }
    // If two processes find a new file, the second one waits here and then finds the tables.
    connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
    if let FileState::New = look(connection, path, kind)? {
        connection.execute_batch(kind.schema).map_err(failed)?;
        connection.pragma_update(None, "user_version", kind.version).map_err(failed)?;
    }
    connection.execute_batch("COMMIT").map_err(failed)
}

/// Adds a column to a file that lacks it.
fn add_column(connection: &Connection, column: &AddedColumn) -> rusqlite::Result<()> {
    let AddedColumn { table, name, change } = *column;
    if connection.column_exists(None, table, name)? {
        return Ok(());
    }
    // Another process may add it right now; the second one then finds it.
    connection.execute_batch("BEGIN IMMEDIATE")?;
    if !connection.column_exists(None, table, name)? {
        connection.execute_batch(change)?;
    }
    connection.execute_batch("COMMIT")
}

fn n_tables_of(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
}

fn version_of(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn opening_error(path: &Path, error: &rusqlite::Error) -> StoreError {
    let (path, reason) = (path.to_owned(), error.to_string());
    if is_damage(error) {
        StoreError::Damaged { path, reason }
    } else if is_of_disk(error) || is_passing(&path, error) {
        StoreError::Disk { path, reason: format!("cannot open: {reason}") }
    } else {
        StoreError::Open { path, reason }
    }
}

/// Whether `SQLite` could not make a file beside a store although its folder takes files: then the disk
/// failed, and not the user.
fn is_passing(path: &Path, error: &rusqlite::Error) -> bool {
    // A number of the process makes the name one that nobody has.
    let beside = path.with_extension(format!("try-{}", std::process::id()));
    let takes_files = || match File::create_new(&beside) {
        Ok(_) => std::fs::remove_file(&beside).is_ok(),
        Err(error) => is_disk_failure(&error),
    };
    error.sqlite_error_code() == Some(ErrorCode::CannotOpen) && path.is_file() && takes_files()
}

/// Whether the disk is full, or fails.
fn is_of_disk(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure))
}

fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn one_makes_a_store_at_a_time() {
        let folder = tempfile::tempdir().expect("a folder");
        let turn = turn_in(folder.path()).expect("a turn");
        let other = File::open(folder.path()).expect("a folder");
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        drop(turn);
        other.try_lock().expect("the other's turn");
    }
}
