//! Replies of models, by the key of their call.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row, RowIndex, params};

use crate::database::{AddedColumn, Database, StoreError, StoreKind, Survives};
use crate::store::{Key, Pending, ReplyStore, Which};

const KIND: StoreKind = StoreKind {
    file: "replies.sqlite",
    schema: include_str!("schema/replies.sql"),
    version: 1,
    added: &[AddedColumn {
        table: "replies",
        name: "declined",
        // Older releases marked refusals by a prefix of the text.
        change: "ALTER TABLE replies ADD COLUMN declined INTEGER NOT NULL DEFAULT 0;
                 UPDATE replies SET declined = 1, reply = substr(reply, 12)
                 WHERE substr(reply, 1, 11) = char(1) || 'declined: ';",
    }],
    survives: Survives::Crash,
};

/// A kept reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredReply {
    /// The purpose of the call.
    pub purpose: String,
    /// The model, as `provider/model`.
    pub model: String,
    /// The text of the reply.
    pub text: String,
    /// Whether the model declined and the text is its reason.
    pub is_declined: bool,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens written by the model.
    pub output_tokens: u64,
    /// When the reply was kept, in seconds since 1970.
    pub kept_at: i64,
}

/// What is kept for a purpose and a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Total {
    /// The purpose of the calls.
    pub purpose: String,
    /// The model.
    pub model: String,
    /// The number of replies.
    pub count: u64,
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens written by the model.
    pub output_tokens: u64,
    /// The size of the texts in bytes.
    pub bytes: u64,
}

/// A store of replies in a file.
#[derive(Debug)]
pub struct Replies(Database);

impl Replies {
    /// Opens the store in a folder, creating it if necessary.
    pub fn open(folder: &Path) -> Result<Replies, StoreError> {
        Database::open(folder, &KIND).map(Replies)
    }

    /// Opens the store in a folder if there is one.
    pub fn open_existing(folder: &Path) -> Result<Option<Replies>, StoreError> {
        Ok(Database::open_existing(folder, &KIND)?.map(Replies))
    }

    /// Opens the store in a folder for reading only, if there is one.
    pub fn open_read_only(folder: &Path) -> Result<Option<Replies>, StoreError> {
        Ok(Database::open_read_only(folder, &KIND)?.map(Replies))
    }

    /// The file of the store.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    fn find(&self, key: &Key) -> Result<Option<StoredReply>, StoreError> {
        self.0.run(|connection| find_in(connection, key))
    }

    fn put(&self, key: &Key, reply: &StoredReply) -> Result<StoredReply, StoreError> {
        self.0.run(|connection| {
            if keep_in(connection, "IGNORE", key, reply)? {
                return Ok(reply.clone());
            }
            find_in(connection, key)?.ok_or(rusqlite::Error::QueryReturnedNoRows)
        })
    }

    fn find_judgements(&self, keys: &[Key]) -> Result<Vec<Option<String>>, StoreError> {
        self.0.run(|connection| {
            // A transaction shows all of them as of the same moment.
            let transaction = connection.transaction()?;
            let mut statement =
                transaction.prepare_cached("SELECT notes FROM judgements WHERE key = ?1")?;
            let mut one = |key| statement.query_row([key], |row| row.get(0)).optional();
            keys.iter().map(&mut one).collect()
        })
    }

    fn put_judgement(&self, key: &Key, notes: &str, kept_at: i64) -> Result<(), StoreError> {
        let insert = "INSERT OR REPLACE INTO judgements (key, notes, kept_at) VALUES (?1, ?2, ?3)";
        self.0.run(|connection| {
            connection.prepare_cached(insert)?.execute(params![key, notes, kept_at])?;
            Ok(())
        })
    }

    fn import_all(&self, replies: &[(Key, StoredReply)]) -> Result<usize, StoreError> {
        self.0.run(|connection| {
            let transaction = connection.transaction()?;
            let mut n_new = 0;
            for (key, reply) in replies {
                n_new += usize::from(keep_in(&transaction, "IGNORE", key, reply)?);
            }
            transaction.commit()?;
            Ok(n_new)
        })
    }

    fn read_page(
        &self,
        after: Option<Key>,
        most: usize,
    ) -> Result<Vec<(Key, StoredReply)>, StoreError> {
        self.0.run(|connection| {
            let mut statement = connection
                .prepare_cached("SELECT * FROM replies WHERE key > ?1 ORDER BY key LIMIT ?2")?;
            let after = after.map_or(Vec::new(), Vec::from);
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            let row = |row: &Row<'_>| Ok((row.get("key")?, read_reply(row)?));
            statement.query_map(params![after, most], row)?.collect()
        })
    }

    fn read_totals(&self) -> Result<Vec<Total>, StoreError> {
        self.0.run(|connection| {
            let mut statement = connection.prepare(
                "SELECT purpose, model, count(*), sum(input_tokens), sum(output_tokens),
                        sum(length(CAST(reply AS BLOB)))
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
        })
    }

    fn delete(&self, which: &Which) -> Result<usize, StoreError> {
        let Which { before, purpose, model } = which;
        self.0.run(|connection| {
            let gone = connection.execute(
                "DELETE FROM replies WHERE (?1 IS NULL OR kept_at < ?1)
                     AND (?2 IS NULL OR purpose = ?2) AND (?3 IS NULL OR model = ?3)",
                params![before, purpose, model],
            )?;
            // Judgements may rest on deleted replies, and it is not known which.
            connection.execute_batch("DELETE FROM judgements; VACUUM;")?;
            Ok(gone)
        })
    }
}

/// What is done at once, as a future.
fn done<'a, T: Send + 'a>(outcome: T) -> Pending<'a, T> {
    Box::pin(std::future::ready(outcome))
}

impl ReplyStore for Replies {
    fn place(&self) -> String {
        self.path().display().to_string()
    }

    fn news(&self) -> Option<String> {
        self.0.news()
    }

    fn get<'a>(&'a self, key: &'a Key) -> Pending<'a, Result<Option<StoredReply>, StoreError>> {
        done(self.find(key))
    }

    fn keep<'a>(
        &'a self,
        key: &'a Key,
        reply: &'a StoredReply,
    ) -> Pending<'a, Result<StoredReply, StoreError>> {
        done(self.put(key, reply))
    }

    fn replace<'a>(
        &'a self,
        key: &'a Key,
        reply: &'a StoredReply,
    ) -> Pending<'a, Result<(), StoreError>> {
        done(self.0.run(|connection| keep_in(connection, "REPLACE", key, reply).map(drop)))
    }

    fn judgements<'a>(
        &'a self,
        keys: &'a [Key],
    ) -> Pending<'a, Result<Vec<Option<String>>, StoreError>> {
        done(self.find_judgements(keys))
    }

    fn keep_judgement<'a>(
        &'a self,
        key: &'a Key,
        notes: &'a str,
        kept_at: i64,
    ) -> Pending<'a, Result<(), StoreError>> {
        done(self.put_judgement(key, notes, kept_at))
    }

    fn import<'a>(
        &'a self,
        replies: &'a [(Key, StoredReply)],
    ) -> Pending<'a, Result<usize, StoreError>> {
        done(self.import_all(replies))
    }

    fn page(
        &self,
        after: Option<Key>,
        most: usize,
    ) -> Pending<'_, Result<Vec<(Key, StoredReply)>, StoreError>> {
        done(self.read_page(after, most))
    }

    fn totals(&self) -> Pending<'_, Result<Vec<Total>, StoreError>> {
        done(self.read_totals())
    }

    fn prune<'a>(&'a self, which: &'a Which) -> Pending<'a, Result<usize, StoreError>> {
        done(self.delete(which))
    }
}

fn find_in(connection: &Connection, key: &Key) -> rusqlite::Result<Option<StoredReply>> {
    let mut statement = connection.prepare_cached("SELECT * FROM replies WHERE key = ?1")?;
    statement.query_row([key], read_reply).optional()
}

/// Inserts a reply, and returns whether it is kept now. `or` says what to do if there is one.
fn keep_in(
    connection: &Connection,
    or: &str,
    key: &Key,
    reply: &StoredReply,
) -> rusqlite::Result<bool> {
    let mut statement = connection.prepare_cached(&format!(
        "INSERT OR {or} INTO replies
             (key, purpose, model, reply, declined, input_tokens, output_tokens, kept_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    ))?;
    let tokens = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    let n_changed = statement.execute(params![
        key,
        reply.purpose,
        reply.model,
        reply.text,
        reply.is_declined,
        tokens(reply.input_tokens),
        tokens(reply.output_tokens),
        reply.kept_at,
    ])?;
    Ok(n_changed > 0)
}

/// Reads a row by the names of its columns. An older file, opened for reading only, does not mark
/// refusals.
fn read_reply(row: &Row<'_>) -> rusqlite::Result<StoredReply> {
    let declined = row.as_ref().column_index("declined");
    Ok(StoredReply {
        purpose: row.get("purpose")?,
        model: row.get("model")?,
        text: row.get("reply")?,
        is_declined: declined.map_or(Ok(false), |at| row.get(at))?,
        input_tokens: whole(row, "input_tokens")?,
        output_tokens: whole(row, "output_tokens")?,
        kept_at: row.get("kept_at")?,
    })
}

pub(crate) fn whole(row: &Row<'_>, at: impl RowIndex) -> rusqlite::Result<u64> {
    Ok(u64::try_from(row.get::<_, i64>(at)?).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::reply;

    #[test]
    fn a_reply_outlives_its_process() {
        let folder = tempfile::tempdir().expect("a folder");
        Replies::open(folder.path()).expect("new").put(&[1; 32], &reply("é", 5)).expect("kept");
        let again = Replies::open(folder.path()).expect("again");
        assert_eq!(again.find(&[1; 32]).expect("read"), Some(reply("é", 5)));
        assert_eq!(again.find(&[2; 32]).expect("read"), None);
    }

    #[test]
    fn a_store_of_an_earlier_release_is_used() {
        let folder = tempfile::tempdir().expect("a folder");
        let old = Connection::open(folder.path().join(KIND.file)).expect("a file");
        old.execute_batch(
            "CREATE TABLE replies (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE,
                 purpose TEXT NOT NULL, model TEXT NOT NULL, reply TEXT NOT NULL,
                 input_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL,
                 kept_at INTEGER NOT NULL);
             CREATE TABLE judgements (id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE,
                 notes TEXT NOT NULL, kept_at INTEGER NOT NULL);
             PRAGMA user_version = 1;",
        )
        .expect("tables");
        let texts = [(1, "'é'"), (2, "char(1) || 'declined: ' || 'declined'")];
        for (key, text) in texts {
            let values = format!("?1, 'answer_claims', 'openai/m', {text}, 10, 2, 5");
            let insert = format!("INSERT INTO replies VALUES (NULL, {values})");
            old.execute(&insert, [[key; 32]]).expect("kept");
        }
        drop(old);
        let read = Replies::open_read_only(folder.path()).expect("opened").expect("there");
        assert_eq!(read.find(&[1; 32]).expect("read"), Some(reply("é", 5)));
        drop(read);
        for _ in 0..2 {
            let store = Replies::open(folder.path()).expect("opened");
            assert_eq!(store.find(&[1; 32]).expect("read"), Some(reply("é", 5)));
            assert_eq!(store.find(&[2; 32]).expect("read"), Some(reply("declined", 5)));
        }
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
                        store.put(&key, &reply("x", 0)).expect("kept");
                    }
                });
            }
        });
        let totals = Replies::open(folder.path()).expect("open").read_totals().expect("totals");
        assert_eq!((totals.len(), totals[0].count, totals[0].input_tokens), (1, 200, 2000));
    }

    #[test]
    fn a_store_that_is_deleted_is_made_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Replies::open(&folder.path().join("cache")).expect("open");
        store.put(&[1; 32], &reply("lost", 1)).expect("kept");
        assert_eq!(store.news(), None);
        std::fs::remove_dir_all(folder.path().join("cache")).expect("deleted");
        assert_eq!(store.find(&[1; 32]).expect("read"), None);
        store.put(&[2; 32], &reply("kept", 2)).expect("kept");
        assert!(store.news().expect("a word").contains("deleted while in use"));
        assert_eq!(store.news(), None);
        drop(store);
        let again = Replies::open(&folder.path().join("cache")).expect("again");
        assert_eq!(again.find(&[2; 32]).expect("read"), Some(reply("kept", 2)));
    }

    #[test]
    fn another_file_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(KIND.file);
        let text = "this is no database, whatever its name says. ".repeat(50);
        std::fs::write(&path, &text).expect("written");
        let error = Replies::open(folder.path()).expect_err("refused");
        assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
        assert_eq!(std::fs::read_to_string(&path).expect("read"), text);
    }
}
