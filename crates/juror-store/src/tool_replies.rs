//! Replies of tools, by API and arguments.

use std::path::Path;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::database::{Database, StoreError, StoreKind, Survives};
use crate::replies::whole;
use crate::store::ToolStore;

const KIND: StoreKind = StoreKind {
    file: "tools.sqlite",
    schema: include_str!("schema/tool_replies.sql"),
    added: &[],
    version: 1,
    survives: Survives::PowerCut,
};

/// Where a reply came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A cache folder.
    Imported,
    /// A model that simulates the tool.
    Simulated,
    /// The tool itself.
    Real,
}

/// A kept reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolReply {
    /// The API's category, in folder form.
    pub category: String,
    /// The API's tool, in folder form.
    pub tool: String,
    /// The API, in folder form.
    pub api: String,
    /// The arguments, as Python's `str` writes them.
    pub key: String,
    /// The reply of the tool, as JSON.
    pub reply: String,
    /// The origin of the reply.
    pub origin: Origin,
    /// The model, if the reply was simulated.
    pub model: Option<String>,
    /// When the reply was kept, in seconds since 1970.
    pub kept_at: i64,
    /// How often the reply was used since.
    pub hits: u64,
}

/// A reply to keep.
#[derive(Clone, Debug)]
pub struct NewReply {
    /// Category, tool and API, in folder form.
    pub names: [String; 3],
    /// The arguments, as Python's `str` writes them.
    pub key: String,
    /// The reply of the tool, as JSON.
    pub reply: String,
    /// The origin of the reply.
    pub origin: Origin,
    /// The model, if the reply was simulated.
    pub model: Option<String>,
    /// The time, in seconds since 1970.
    pub kept_at: i64,
}

/// The reply kept under a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptReply {
    /// The id of the reply, for counting hits.
    pub id: i64,
    /// The reply of the tool, as JSON.
    pub reply: String,
    /// The origin of the reply.
    pub origin: Origin,
    /// Whether it was kept before.
    pub was_known: bool,
}

/// How much is kept from one origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolTotal {
    /// The origin.
    pub origin: Origin,
    /// The model, if the replies were simulated.
    pub model: Option<String>,
    /// The number of replies.
    pub count: u64,
    /// The number of APIs.
    pub apis: u64,
    /// How often they were used.
    pub hits: u64,
    /// The size of the texts in bytes.
    pub bytes: u64,
    /// When the first was kept, in seconds since 1970.
    pub first_kept_at: i64,
    /// When the last was kept.
    pub last_kept_at: i64,
}

/// A store of tools' replies in a file.
#[derive(Debug)]
pub struct ToolReplies {
    /// A separate connection for look-ups, which therefore never wait for a writer. It is closed
    /// first: only a connection that may write can merge the journal into the file when it closes
    /// last.
    reader: Option<Database>,
    database: Database,
}

impl ToolReplies {
    /// Whether a folder contains such a store.
    pub fn is_in(folder: &Path) -> bool {
        folder.join(KIND.file).exists()
    }

    /// Opens the store in a folder, creating it if necessary.
    pub fn open(folder: &Path) -> Result<ToolReplies, StoreError> {
        let database = Database::open(folder, &KIND)?;
        Ok(ToolReplies { reader: Database::open_beside(folder, &KIND)?, database })
    }

    /// Opens the store in a folder for reading only, if there is one.
    pub fn open_read_only(folder: &Path) -> Result<Option<ToolReplies>, StoreError> {
        let database = Database::open_read_only(folder, &KIND)?;
        Ok(database.map(|database| ToolReplies { reader: None, database }))
    }

    fn reader(&self) -> &Database {
        self.reader.as_ref().unwrap_or(&self.database)
    }

    /// The file of the store.
    pub fn path(&self) -> &Path {
        self.database.path()
    }

    fn put(
        &self,
        replies: &[NewReply],
        one: fn(&Connection, &NewReply) -> rusqlite::Result<KeptReply>,
    ) -> Result<Vec<KeptReply>, StoreError> {
        self.database.run(|connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let put = |reply| one(&transaction, reply);
            let kept = replies.iter().map(put).collect::<rusqlite::Result<Vec<_>>>()?;
            transaction.commit()?;
            Ok(kept)
        })
    }
}

impl ToolStore for ToolReplies {
    fn place(&self) -> String {
        self.path().display().to_string()
    }

    fn news(&self) -> Option<String> {
        self.database.news()
    }

    fn get(&self, names: &[String; 3], key: &str) -> Result<Option<KeptReply>, StoreError> {
        self.reader().run(|connection| find(connection, names, key))
    }

    fn keep(&self, replies: &[NewReply]) -> Result<Vec<KeptReply>, StoreError> {
        self.put(replies, keep_one)
    }

    fn replace(&self, replies: &[NewReply]) -> Result<Vec<KeptReply>, StoreError> {
        self.put(replies, replace_one)
    }

    fn first(&self, names: &[String; 3], most: usize) -> Result<Vec<(String, String)>, StoreError> {
        self.reader().run(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT key, reply FROM tool_replies JOIN apis ON apis.id = api_id
                 WHERE category = ?1 AND tool = ?2 AND api = ?3 ORDER BY tool_replies.id LIMIT ?4",
            )?;
            let [category, tool, api] = names;
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            let rows = statement.query_map(params![category, tool, api, most], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
            rows.collect()
        })
    }

    fn keys_after(&self, names: &[String; 3], id: i64) -> Result<Vec<(i64, String)>, StoreError> {
        self.reader().run(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT tool_replies.id, key FROM tool_replies JOIN apis ON apis.id = api_id
                 WHERE category = ?1 AND tool = ?2 AND api = ?3 AND tool_replies.id > ?4
                 ORDER BY tool_replies.id",
            )?;
            let [category, tool, api] = names;
            let rows = statement.query_map(params![category, tool, api, id], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
            rows.collect()
        })
    }

    fn tools(&self) -> Result<Vec<(String, String)>, StoreError> {
        self.reader().run(|connection| {
            let mut statement = connection.prepare("SELECT DISTINCT category, tool FROM apis")?;
            statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        })
    }

    fn count_hits(&self, hits: &[(i64, u64)]) -> Result<(), StoreError> {
        self.database.run(|connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let add = "UPDATE tool_replies SET hits = hits + ?2 WHERE id = ?1";
            for (id, more) in hits {
                let more = i64::try_from(*more).unwrap_or(i64::MAX);
                transaction.prepare_cached(add)?.execute(params![id, more])?;
            }
            transaction.commit()
        })
    }

    fn page(&self, after: i64, most: usize) -> Result<Vec<(i64, ToolReply)>, StoreError> {
        self.database.run(|connection| {
            let mut statement = connection.prepare_cached(
                "SELECT category, tool, api, key, reply, origin, model, kept_at, hits,
                        tool_replies.id
                 FROM tool_replies JOIN apis ON apis.id = api_id
                 WHERE tool_replies.id > ?1 ORDER BY tool_replies.id LIMIT ?2",
            )?;
            let most = i64::try_from(most).unwrap_or(i64::MAX);
            let row = |row: &Row<'_>| Ok((row.get(9)?, read_reply(row)?));
            statement.query_map(params![after, most], row)?.collect()
        })
    }

    fn totals(&self) -> Result<Vec<ToolTotal>, StoreError> {
        self.database.run(|connection| {
            let mut statement = connection.prepare(
                "SELECT origin, model, count(*), count(DISTINCT api_id), sum(hits),
                        sum(length(CAST(reply AS BLOB))), min(kept_at), max(kept_at)
                 FROM tool_replies GROUP BY origin, model ORDER BY origin, model",
            )?;
            statement.query_map([], read_total)?.collect()
        })
    }

    fn count(&self) -> Result<u64, StoreError> {
        self.database.run(|connection| {
            connection.query_row("SELECT count(*) FROM tool_replies", [], |row| whole(row, 0))
        })
    }
}

fn find(
    connection: &Connection,
    names: &[String; 3],
    key: &str,
) -> rusqlite::Result<Option<KeptReply>> {
    let mut statement = connection.prepare_cached(
        "SELECT tool_replies.id, reply, origin FROM tool_replies JOIN apis ON apis.id = api_id
         WHERE category = ?1 AND tool = ?2 AND api = ?3 AND key = ?4",
    )?;
    let [category, tool, api] = names;
    let kept = |row: &Row<'_>| {
        let (id, reply, origin) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(KeptReply { id, reply, origin, was_known: true })
    };
    statement.query_row(params![category, tool, api, key], kept).optional()
}

fn keep_one(connection: &Connection, new: &NewReply) -> rusqlite::Result<KeptReply> {
    let kept = put_one(connection, new, "ON CONFLICT DO NOTHING")?;
    match kept {
        Some(id) => Ok(new.kept(id)),
        None => find(connection, &new.names, &new.key)?.ok_or(rusqlite::Error::QueryReturnedNoRows),
    }
}

fn replace_one(connection: &Connection, new: &NewReply) -> rusqlite::Result<KeptReply> {
    let replacing = "ON CONFLICT (api_id, key) DO UPDATE SET reply = excluded.reply,
         origin = excluded.origin, model = excluded.model, kept_at = excluded.kept_at, hits = 0";
    let id = put_one(connection, new, replacing)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    Ok(new.kept(id))
}

/// Inserts a reply and returns its id, or `None` if another one is kept already.
fn put_one(
    connection: &Connection,
    new: &NewReply,
    on_conflict: &str,
) -> rusqlite::Result<Option<i64>> {
    let [category, tool, api] = &new.names;
    connection
        .prepare_cached("INSERT OR IGNORE INTO apis (category, tool, api) VALUES (?1, ?2, ?3)")?
        .execute(params![category, tool, api])?;
    let insert = format!(
        "INSERT INTO tool_replies (api_id, key, reply, origin, model, kept_at)
         SELECT id, ?4, ?5, ?6, ?7, ?8 FROM apis
         WHERE category = ?1 AND tool = ?2 AND api = ?3 {on_conflict} RETURNING id"
    );
    let (key, reply, origin) = (&new.key, &new.reply, new.origin);
    let values = params![category, tool, api, key, reply, origin, new.model, new.kept_at];
    connection.prepare_cached(&insert)?.query_row(values, |row| row.get(0)).optional()
}

impl NewReply {
    /// Returns the reply as it is kept.
    fn kept(&self, id: i64) -> KeptReply {
        let (reply, origin) = (self.reply.clone(), self.origin);
        KeptReply { id, reply, origin, was_known: false }
    }
}

fn read_reply(row: &Row<'_>) -> rusqlite::Result<ToolReply> {
    Ok(ToolReply {
        category: row.get(0)?,
        tool: row.get(1)?,
        api: row.get(2)?,
        key: row.get(3)?,
        reply: row.get(4)?,
        origin: row.get(5)?,
        model: row.get(6)?,
        kept_at: row.get(7)?,
        hits: whole(row, 8)?,
    })
}

fn read_total(row: &Row<'_>) -> rusqlite::Result<ToolTotal> {
    Ok(ToolTotal {
        origin: row.get(0)?,
        model: row.get(1)?,
        count: whole(row, 2)?,
        apis: whole(row, 3)?,
        hits: whole(row, 4)?,
        bytes: whole(row, 5)?,
        first_kept_at: row.get(6)?,
        last_kept_at: row.get(7)?,
    })
}

impl Origin {
    /// The name in stores, logs and headers.
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::Imported => "imported",
            Origin::Simulated => "simulated",
            Origin::Real => "real",
        }
    }

    /// Returns the origin of a name.
    pub fn of(name: &str) -> Option<Origin> {
        let all = [Origin::Imported, Origin::Simulated, Origin::Real];
        all.into_iter().find(|origin| origin.as_str() == name)
    }
}

impl ToSql for Origin {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(self.as_str().into())
    }
}

impl FromSql for Origin {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Origin> {
        let text = value.as_str()?;
        Origin::of(text)
            .ok_or_else(|| FromSqlError::Other(format!("`{text}` is not an origin").into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::limits::Limit;

    fn names(api: &str) -> [String; 3] {
        ["Data", "a_for_Data", api].map(str::to_owned)
    }

    fn new(api: &str, key: &str, reply: &str) -> NewReply {
        let (key, reply) = (key.to_owned(), reply.to_owned());
        NewReply { names: names(api), key, reply, origin: Origin::Real, model: None, kept_at: 100 }
    }

    fn store() -> (tempfile::TempDir, ToolReplies) {
        let folder = tempfile::tempdir().expect("a folder");
        let replies = ToolReplies::open(folder.path()).expect("a store");
        (folder, replies)
    }

    #[test]
    fn a_batch_is_kept_whole_or_not_at_all() {
        let (_folder, replies) = store();
        let long = "x".repeat(2_000);
        replies
            .database
            .connection()
            .expect("open")
            .set_limit(Limit::SQLITE_LIMIT_LENGTH, 1_000)
            .expect("a limit");
        assert!(replies.keep(&[new("x", "a", "1"), new("x", "b", &long)]).is_err());
        assert_eq!(replies.count().expect("count"), 0);
        assert_eq!(replies.keep(&[new("x", "a", "1")]).expect("kept").len(), 1);
    }

    #[test]
    fn a_store_that_was_closed_is_one_file() {
        let (folder, store) = store();
        store.keep(&[new("now", "k", "1")]).expect("kept");
        assert!(store.get(&names("now"), "k").expect("read").is_some());
        drop(store);
        let entries = std::fs::read_dir(folder.path()).expect("a folder").flatten();
        let files: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        assert_eq!(files, [KIND.file]);
    }

    #[test]
    fn what_a_user_kept_is_in_the_file_though_others_have_it_open() {
        let (folder, store) = store();
        let other = ToolReplies::open(folder.path()).expect("the same store");
        store.keep(&[new("now", "k", "1")]).expect("kept");
        drop(store);
        // A copy of the file alone is complete.
        let copy = tempfile::tempdir().expect("a folder");
        let file = folder.path().join(KIND.file);
        std::fs::copy(file, copy.path().join(KIND.file)).expect("copied");
        let copied = ToolReplies::open(copy.path()).expect("a store");
        assert_eq!(copied.count().expect("read"), 1);
        drop(other);
    }

    #[test]
    fn a_store_that_is_deleted_is_made_again() {
        for is_all_deleted in [true, false] {
            let (folder, store) = store();
            store.keep(&[new("now", "k", "1")]).expect("kept");
            for entry in std::fs::read_dir(folder.path()).expect("a folder").flatten() {
                if is_all_deleted || entry.file_name() == KIND.file {
                    std::fs::remove_file(entry.path()).expect("deleted");
                }
            }
            store.keep(&[new("now", "l", "2")]).expect("kept");
            assert!(store.news().expect("a word").contains("deleted while in use"));
            let kept = |key| store.get(&names("now"), key).expect("read").map(|kept| kept.reply);
            assert_eq!((kept("k"), kept("l").as_deref()), (None, Some("2")));
            store.keep(&[new("now", "m", "3")]).expect("kept");
            assert_eq!(store.news(), None);
            let other = ToolReplies::open(folder.path()).expect("the same store");
            assert_eq!(other.count().expect("read"), 2);
        }
    }

    #[test]
    fn a_store_that_another_takes_the_place_of_is_told_as_that() {
        let (folder, store) = store();
        store.keep(&[new("now", "k", "1")]).expect("kept");
        let (backup, other) = self::store();
        other.keep(&[new("now", "k", "2")]).expect("kept");
        drop(other);
        let file = folder.path().join(KIND.file);
        for entry in std::fs::read_dir(folder.path()).expect("a folder").flatten() {
            std::fs::remove_file(entry.path()).expect("deleted");
        }
        std::fs::rename(backup.path().join(KIND.file), file).expect("put back");
        store.keep(&[new("now", "l", "3")]).expect("kept");
        let news = store.news().expect("a word");
        assert!(news.contains("replaced by another"), "{news}");
        assert_eq!(store.count().expect("read"), 2);
    }

    #[test]
    fn a_look_up_waits_for_a_store_that_is_being_made_again() {
        let (folder, store) = store();
        store.keep(&[new("now", "k", "1")]).expect("kept");
        assert!(store.get(&names("now"), "k").expect("read").is_some());
        for entry in std::fs::read_dir(folder.path()).expect("a folder").flatten() {
            std::fs::remove_file(entry.path()).expect("deleted");
        }
        // Another process has created the file but not yet its tables.
        std::fs::write(folder.path().join(KIND.file), "").expect("written");
        assert!(store.get(&names("now"), "k").expect("read").is_some());
        store.keep(&[new("now", "l", "2")]).expect("kept");
        let kept = |key| store.get(&names("now"), key).expect("read").map(|kept| kept.reply);
        assert_eq!((kept("k"), kept("l").as_deref()), (None, Some("2")));
    }

    #[test]
    fn look_ups_do_not_wait_for_a_writer() {
        let (folder, replies) = store();
        replies.keep(&[new("x", "a", "1")]).expect("kept");
        let other = ToolReplies::open(folder.path()).expect("the same store");
        let connection = other.database.connection().expect("open");
        connection.execute_batch("BEGIN IMMEDIATE").expect("a writer at work");
        assert!(replies.get(&names("x"), "a").expect("read").is_some());
        connection.execute_batch("ROLLBACK").expect("done");
    }

    #[test]
    fn a_database_of_others_is_not_touched() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("tools.sqlite");
        let foreign = Connection::open(&file).expect("a database");
        foreign.execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (1);").expect("a table");
        drop(foreign);
        let before = std::fs::read(&file).expect("bytes");
        assert!(matches!(ToolReplies::open(folder.path()), Err(StoreError::Damaged { .. })));
        assert_eq!(std::fs::read(&file).expect("bytes"), before);
    }

    #[test]
    fn what_is_no_store_is_left_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("tools.sqlite");
        std::fs::write(&file, "something else entirely, and long enough to be looked at")
            .expect("w");
        assert!(matches!(ToolReplies::open(folder.path()), Err(StoreError::Damaged { .. })));
        assert!(std::fs::read_to_string(&file).expect("read").starts_with("something"));
    }
}
