//! Replies of models, by the key of their call.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, Row, params};

const SCHEMA: &str = include_str!("schema/replies.sql");

/// Raised when the schema changes.
const VERSION: i64 = 1;

/// How long a writer waits for another process.
const PATIENCE: Duration = Duration::from_secs(30);

/// The file in the folder of a cache.
const FILE: &str = "replies.sqlite";

/// A reply as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// What the call was for.
    pub purpose: String,
    /// The model that replied, with its provider.
    pub model: String,
    /// What it replied.
    pub text: String,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens written by the model.
    pub output_tokens: u64,
    /// When it was kept, in seconds since 1970.
    pub kept_at: i64,
}

/// How many replies are kept for a purpose and a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Total {
    /// What the calls were for.
    pub purpose: String,
    /// The model.
    pub model: String,
    /// How many replies.
    pub count: u64,
    /// Tokens sent for them.
    pub input_tokens: u64,
    /// Tokens the model wrote.
    pub output_tokens: u64,
    /// Bytes of their texts.
    pub bytes: u64,
}

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

/// A store of replies. What [`Replies::keep`] has returned for survives a crash of the process.
#[derive(Debug)]
pub struct Replies {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl Replies {
    /// Opens the store in a folder, or makes it.
    pub fn open(folder: &Path) -> Result<Replies, StoreError> {
        let path = folder.join(FILE);
        std::fs::create_dir_all(folder)
            .map_err(|error| StoreError::Open { path: path.clone(), reason: error.to_string() })?;
        Replies::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens the store in a folder if there is one.
    pub fn open_existing(folder: &Path) -> Result<Option<Replies>, StoreError> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        Replies::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE).map(Some)
    }

    /// Opens the store in a folder, if there is one, without ever writing to it.
    pub fn open_read_only(folder: &Path) -> Result<Option<Replies>, StoreError> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let open = |error: rusqlite::Error| opening_error(&path, &error);
        let usable = |connection: &Connection| version_of(connection);
        let plain = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY);
        let connection = match plain.and_then(|connection| {
            usable(&connection)?;
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
        if version_of(&connection).map_err(open)? != VERSION {
            let reason = "it has no replies of a known form".into();
            return Err(StoreError::Damaged { path, reason });
        }
        Ok(Some(Replies { connection: Mutex::new(connection), path }))
    }

    fn connect(path: PathBuf, flags: OpenFlags) -> Result<Replies, StoreError> {
        let open = |error: rusqlite::Error| opening_error(&path, &error);
        let connection = Connection::open_with_flags(&path, flags).map_err(open)?;
        connection.busy_timeout(PATIENCE).map_err(open)?;
        // The log survives a crash of the process; a power cut may cost the last replies, and
        // never damages the file.
        let pragmas = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;";
        connection.execute_batch(pragmas).map_err(open)?;
        prepare(&connection, &path)?;
        Ok(Replies { connection: Mutex::new(connection), path })
    }

    /// The file it is kept in.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The reply to a call.
    pub fn get(&self, key: &[u8; 32]) -> Result<Option<Reply>, StoreError> {
        let connection = self.connection();
        let mut statement = connection
            .prepare_cached(
                "SELECT purpose, model, reply, input_tokens, output_tokens, kept_at
                 FROM replies WHERE key = ?1",
            )
            .map_err(|error| self.failed(&error))?;
        let found = statement.query_row([key], |row| read_reply(row, 0)).optional();
        found.map_err(|error| self.failed(&error))
    }

    /// Keeps a reply; one that is kept already for the key is replaced.
    pub fn keep(&self, key: &[u8; 32], reply: &Reply) -> Result<(), StoreError> {
        let connection = self.connection();
        keep_in(&connection, key, reply).map_err(|error| self.failed(&error))
    }

    /// What was made of the replies for whole questions, all as of one moment.
    pub fn judgements<'k>(
        &self,
        keys: impl IntoIterator<Item = &'k [u8; 32]>,
    ) -> Result<Vec<Option<String>>, StoreError> {
        let mut connection = self.connection();
        let read = || -> rusqlite::Result<Vec<Option<String>>> {
            let transaction = connection.transaction()?;
            let mut statement =
                transaction.prepare_cached("SELECT notes FROM judgements WHERE key = ?1")?;
            let mut one = |key| statement.query_row([key], |row| row.get(0)).optional();
            keys.into_iter().map(&mut one).collect()
        };
        read().map_err(|error| self.failed(&error))
    }

    /// Keeps what was made of the replies for a whole question.
    pub fn keep_judgement(
        &self,
        key: &[u8; 32],
        notes: &str,
        kept_at: i64,
    ) -> Result<(), StoreError> {
        let connection = self.connection();
        let insert = "INSERT OR REPLACE INTO judgements (key, notes, kept_at) VALUES (?1, ?2, ?3)";
        let kept = connection
            .prepare_cached(insert)
            .and_then(|mut statement| statement.execute(params![key, notes, kept_at]));
        kept.map(|_| ()).map_err(|error| self.failed(&error))
    }

    /// Keeps many replies, all or none; returns how many were new. Replies that are there already
    /// stay.
    pub fn import(&self, replies: &[([u8; 32], Reply)]) -> Result<usize, StoreError> {
        let mut connection = self.connection();
        let mut import = || -> rusqlite::Result<usize> {
            let transaction = connection.transaction()?;
            let mut new = 0;
            for (key, reply) in replies {
                let known = "SELECT 1 FROM replies WHERE key = ?1";
                let is_known = transaction.prepare_cached(known)?.exists([key])?;
                if !is_known {
                    keep_in(&transaction, key, reply)?;
                    new += 1;
                }
            }
            transaction.commit()?;
            Ok(new)
        };
        import().map_err(|error| self.failed(&error))
    }

    /// Hands every reply to `each`, in the order of keys, so that exports of equal stores are equal.
    pub fn each<E>(
        &self,
        mut each: impl FnMut([u8; 32], Reply) -> Result<(), E>,
    ) -> Result<Result<(), E>, StoreError> {
        let connection = self.connection();
        let failed = |error: rusqlite::Error| self.failed(&error);
        let mut statement = connection
            .prepare(
                "SELECT key, purpose, model, reply, input_tokens, output_tokens, kept_at
                 FROM replies ORDER BY key",
            )
            .map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let (key, reply) = (row.get(0).map_err(failed)?, read_reply(row, 1).map_err(failed)?);
            if let Err(stopped) = each(key, reply) {
                return Ok(Err(stopped));
            }
        }
        Ok(Ok(()))
    }

    /// How much is kept, by purpose and model.
    pub fn totals(&self) -> Result<Vec<Total>, StoreError> {
        let connection = self.connection();
        let read = || -> rusqlite::Result<Vec<Total>> {
            let mut statement = connection.prepare(
                "SELECT purpose, model, count(*), sum(input_tokens), sum(output_tokens),
                        sum(length(reply))
                 FROM replies GROUP BY purpose, model ORDER BY purpose, model",
            )?;
            let total = |row: &Row<'_>| {
                Ok(Total {
                    purpose: row.get(0)?,
                    model: row.get(1)?,
                    count: whole(row, 2)?,
                    input_tokens: whole(row, 3)?,
                    output_tokens: whole(row, 4)?,
                    bytes: whole(row, 5)?,
                })
            };
            statement.query_map([], total)?.collect()
        };
        read().map_err(|error| self.failed(&error))
    }

    /// Forgets replies kept before a moment, of one purpose or model if given; returns how many.
    pub fn prune(
        &self,
        before: Option<i64>,
        purpose: Option<&str>,
        model: Option<&str>,
    ) -> Result<usize, StoreError> {
        let connection = self.connection();
        let prune = || -> rusqlite::Result<usize> {
            let gone = connection.execute(
                "DELETE FROM replies WHERE (?1 IS NULL OR kept_at < ?1)
                     AND (?2 IS NULL OR purpose = ?2) AND (?3 IS NULL OR model = ?3)",
                params![before, purpose, model],
            )?;
            // A judgement rests on replies, and which ones is not known any more.
            connection.execute_batch("DELETE FROM judgements; VACUUM;")?;
            Ok(gone)
        };
        prune().map_err(|error| self.failed(&error))
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        // A panic of another thread leaves the connection usable: SQLite rolls back.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self, error: &rusqlite::Error) -> StoreError {
        if is_damage(error) {
            return StoreError::Damaged { path: self.path.clone(), reason: error.to_string() };
        }
        StoreError::Failed { path: self.path.clone(), reason: error.to_string() }
    }
}

/// Makes the table, in a file that has none, or checks that it is ours.
fn prepare(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let failed = |error: rusqlite::Error| opening_error(path, &error);
    if version_of(connection).map_err(failed)? == VERSION {
        return Ok(());
    }
    // Two processes may both find a new file: the second waits here and then finds the table.
    connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
    let version = version_of(connection).map_err(failed)?;
    let count = "SELECT count(*) FROM sqlite_schema";
    let n_tables: i64 = connection.query_row(count, [], |row| row.get(0)).map_err(failed)?;
    match (version, n_tables) {
        (0, 0) => {
            connection.execute_batch(SCHEMA).map_err(failed)?;
            connection.pragma_update(None, "user_version", VERSION).map_err(failed)?;
        }
        (VERSION, _) => {}
        (0, _) => {
            let reason = "it holds other tables".into();
            return Err(StoreError::Damaged { path: path.to_owned(), reason });
        }
        _ => return Err(StoreError::TooNew { path: path.to_owned() }),
    }
    connection.execute_batch("COMMIT").map_err(failed)
}

fn version_of(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

fn keep_in(connection: &Connection, key: &[u8; 32], reply: &Reply) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO replies
             (key, purpose, model, reply, input_tokens, output_tokens, kept_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    let tokens = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    statement.execute(params![
        key,
        reply.purpose,
        reply.model,
        reply.text,
        tokens(reply.input_tokens),
        tokens(reply.output_tokens),
        reply.kept_at,
    ])?;
    Ok(())
}

fn read_reply(row: &Row<'_>, first: usize) -> rusqlite::Result<Reply> {
    Ok(Reply {
        purpose: row.get(first)?,
        model: row.get(first + 1)?,
        text: row.get(first + 2)?,
        input_tokens: whole(row, first + 3)?,
        output_tokens: whole(row, first + 4)?,
        kept_at: row.get(first + 5)?,
    })
}

fn whole(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(at)?).unwrap_or_default())
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

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(text: &str, kept_at: i64) -> Reply {
        Reply {
            purpose: "answer_claims".into(),
            model: "openai/m".into(),
            text: text.into(),
            input_tokens: 10,
            output_tokens: 2,
            kept_at,
        }
    }

    #[test]
    fn a_reply_outlives_its_process() {
        let folder = tempfile::tempdir().expect("a folder");
        Replies::open(folder.path()).expect("new").keep(&[1; 32], &reply("é", 5)).expect("kept");
        let again = Replies::open(folder.path()).expect("again");
        assert_eq!(again.get(&[1; 32]).expect("read"), Some(reply("é", 5)));
        assert_eq!(again.get(&[2; 32]).expect("read"), None);
    }

    #[test]
    fn several_users_share_a_store() {
        let folder = tempfile::tempdir().expect("a folder");
        std::thread::scope(|scope| {
            for user in 0..4_u8 {
                let folder = folder.path();
                scope.spawn(move || {
                    let store = Replies::open(folder).expect("open");
                    for index in 0..50 {
                        let mut key = [user; 32];
                        key[0] = index;
                        store.keep(&key, &reply("x", 0)).expect("kept");
                    }
                });
            }
        });
        let totals = Replies::open(folder.path()).expect("open").totals().expect("totals");
        assert_eq!((totals.len(), totals[0].count, totals[0].input_tokens), (1, 200, 2000));
    }

    #[test]
    fn imports_keep_what_is_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Replies::open(folder.path()).expect("open");
        store.keep(&[1; 32], &reply("old", 1)).expect("kept");
        let both = [([1; 32], reply("new", 2)), ([2; 32], reply("two", 2))];
        assert_eq!(store.import(&both).expect("imported"), 1);
        let mut seen = Vec::new();
        let each = store.each(|key, reply| {
            seen.push((key[0], reply.text));
            Ok::<(), ()>(())
        });
        each.expect("read").expect("never stopped");
        assert_eq!(seen, [(1, "old".to_owned()), (2, "two".to_owned())]);
        assert_eq!(store.prune(Some(2), None, None).expect("pruned"), 1);
        assert_eq!(store.prune(None, Some("other"), None).expect("pruned"), 0);
    }

    #[test]
    fn another_file_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(FILE);
        let text = "this is no database, whatever its name says. ".repeat(50);
        std::fs::write(&path, &text).expect("written");
        let error = Replies::open(folder.path()).expect_err("refused");
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        assert_eq!(std::fs::read_to_string(&path).expect("read"), text);
    }
}
