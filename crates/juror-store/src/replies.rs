//! Replies of models, by the key of their call.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Row, RowIndex, params};

use crate::database::{AddedColumn, Database, StoreError, StoreKind, Survives};

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

/// A store of replies. Once [`Replies::keep`] returns, a reply survives a crash of the process.
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

    /// Returns a message for the user, once, if the file was deleted since it was opened.
    pub fn news(&self) -> Option<String> {
        self.0.news()
    }

    /// Returns the reply to a call.
    pub fn get(&self, key: &[u8; 32]) -> Result<Option<StoredReply>, StoreError> {
        let connection = self.0.connection()?;
        let mut statement = connection
            .prepare_cached("SELECT * FROM replies WHERE key = ?1")
            .map_err(|error| self.0.failed(&error))?;
        let found = statement.query_row([key], read_reply).optional();
        found.map_err(|error| self.0.failed(&error))
    }

    /// Keeps a reply, replacing one of the same key.
    pub fn keep(&self, key: &[u8; 32], reply: &StoredReply) -> Result<(), StoreError> {
        let connection = self.0.connection()?;
        keep_in(&connection, key, reply).map_err(|error| self.0.failed(&error))
    }

    /// Returns the judgements of whole questions, all as of the same moment.
    pub fn judgements<'k>(
        &self,
        keys: impl IntoIterator<Item = &'k [u8; 32]>,
    ) -> Result<Vec<Option<String>>, StoreError> {
        let mut connection = self.0.connection()?;
        let read = || -> rusqlite::Result<Vec<Option<String>>> {
            let transaction = connection.transaction()?;
            let mut statement =
                transaction.prepare_cached("SELECT notes FROM judgements WHERE key = ?1")?;
            let mut one = |key| statement.query_row([key], |row| row.get(0)).optional();
            keys.into_iter().map(&mut one).collect()
        };
        read().map_err(|error| self.0.failed(&error))
    }

    /// Keeps the judgement of a whole question.
    pub fn keep_judgement(
        &self,
        key: &[u8; 32],
        notes: &str,
        kept_at: i64,
    ) -> Result<(), StoreError> {
        let connection = self.0.connection()?;
        let insert = "INSERT OR REPLACE INTO judgements (key, notes, kept_at) VALUES (?1, ?2, ?3)";
        let kept = connection
            .prepare_cached(insert)
            .and_then(|mut statement| statement.execute(params![key, notes, kept_at]));
        kept.map(|_| ()).map_err(|error| self.0.failed(&error))
    }

    /// Keeps many replies, all or none, and returns how many are new. A reply that is kept already
    /// stays.
    pub fn import(&self, replies: &[([u8; 32], StoredReply)]) -> Result<usize, StoreError> {
        let mut connection = self.0.connection()?;
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
        import().map_err(|error| self.0.failed(&error))
    }

    /// Calls `each` for every reply, sorted by key, so that exports of equal stores are equal.
    pub fn each<E>(
        &self,
        mut each: impl FnMut([u8; 32], StoredReply) -> Result<(), E>,
    ) -> Result<Result<(), E>, StoreError> {
        let connection = self.0.connection()?;
        let failed = |error: rusqlite::Error| self.0.failed(&error);
        let mut statement =
            connection.prepare("SELECT * FROM replies ORDER BY key").map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let (key, reply) = (row.get("key").map_err(failed)?, read_reply(row).map_err(failed)?);
            if let Err(stopped) = each(key, reply) {
                return Ok(Err(stopped));
            }
        }
        Ok(Ok(()))
    }

    /// Returns what is kept, by purpose and model.
    pub fn totals(&self) -> Result<Vec<Total>, StoreError> {
        let connection = self.0.connection()?;
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
        read().map_err(|error| self.0.failed(&error))
    }

    /// Deletes replies kept before a time, optionally of one purpose or model, and returns their number.
    pub fn prune(
        &self,
        before: Option<i64>,
        purpose: Option<&str>,
        model: Option<&str>,
    ) -> Result<usize, StoreError> {
        let connection = self.0.connection()?;
        let prune = || -> rusqlite::Result<usize> {
            let gone = connection.execute(
                "DELETE FROM replies WHERE (?1 IS NULL OR kept_at < ?1)
                     AND (?2 IS NULL OR purpose = ?2) AND (?3 IS NULL OR model = ?3)",
                params![before, purpose, model],
            )?;
            // Judgements may rest on deleted replies, and it is not known which.
            connection.execute_batch("DELETE FROM judgements; VACUUM;")?;
            Ok(gone)
        };
        prune().map_err(|error| self.0.failed(&error))
    }
}

fn keep_in(connection: &Connection, key: &[u8; 32], reply: &StoredReply) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO replies
             (key, purpose, model, reply, declined, input_tokens, output_tokens, kept_at)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?;
    let tokens = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
    statement.execute(params![
        key,
        reply.purpose,
        reply.model,
        reply.text,
        reply.is_declined,
        tokens(reply.input_tokens),
        tokens(reply.output_tokens),
        reply.kept_at,
    ])?;
    Ok(())
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

    fn reply(text: &str, kept_at: i64) -> StoredReply {
        StoredReply {
            purpose: "answer_claims".into(),
            model: "openai/m".into(),
            text: text.into(),
            is_declined: text == "declined",
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
    fn a_refusal_is_kept_as_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Replies::open(folder.path()).expect("new");
        store.keep(&[1; 32], &reply("declined", 5)).expect("kept");
        assert_eq!(store.get(&[1; 32]).expect("read"), Some(reply("declined", 5)));
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
        assert_eq!(read.get(&[1; 32]).expect("read"), Some(reply("é", 5)));
        drop(read);
        for _ in 0..2 {
            let store = Replies::open(folder.path()).expect("opened");
            assert_eq!(store.get(&[1; 32]).expect("read"), Some(reply("é", 5)));
            assert_eq!(store.get(&[2; 32]).expect("read"), Some(reply("declined", 5)));
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
    fn a_store_that_is_deleted_is_made_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Replies::open(&folder.path().join("cache")).expect("open");
        store.keep(&[1; 32], &reply("lost", 1)).expect("kept");
        assert_eq!(store.news(), None);
        std::fs::remove_dir_all(folder.path().join("cache")).expect("deleted");
        assert_eq!(store.get(&[1; 32]).expect("read"), None);
        store.keep(&[2; 32], &reply("kept", 2)).expect("kept");
        assert!(store.news().expect("a word").contains("deleted while in use"));
        assert_eq!(store.news(), None);
        drop(store);
        let again = Replies::open(&folder.path().join("cache")).expect("again");
        assert_eq!(again.get(&[2; 32]).expect("read"), Some(reply("kept", 2)));
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
