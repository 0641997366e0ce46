//! Replies of tools, by API and arguments.

use std::collections::HashMap;
use std::sync::Arc;

use juror_store::{
    KeptReply, NewReply, Origin, Pending, StoreError, ToolReply, ToolStore, ToolTotal, Turn, wait,
};
use sha2::{Digest, Sha256};
use tokio_postgres::Row;

use crate::address::Address;
use crate::replies::{signed, text_of, whole};
use crate::session::{Session, Values};
use crate::trouble::trouble;
use crate::{schema, turns};

/// The lock under which replies are added, so that they are numbered in the order they appear.
const LOCK: &[u8] = b"tool replies";

/// A store of tools' replies that many machines share.
pub struct SharedToolReplies(Arc<Session>);

impl SharedToolReplies {
    /// Opens the store at an address, and makes its tables if there are none.
    pub fn open(address: Address) -> Result<SharedToolReplies, StoreError> {
        let session = Session::open(address)?;
        let own = session.clone();
        wait(session.there(async move { schema::prepare(&own.address).await }))?;
        Ok(SharedToolReplies(session))
    }

    /// Opens the store at an address if there is one.
    pub fn open_existing(address: Address) -> Result<Option<SharedToolReplies>, StoreError> {
        let session = Session::open(address)?;
        let own = session.clone();
        let is_there = wait(session.there(async move { schema::is_there(&own.address).await }))?;
        Ok(is_there.then(|| SharedToolReplies(session)))
    }

    fn query(&self, sql: &'static str, values: Values) -> Result<Vec<Row>, StoreError> {
        wait(self.0.query(sql, values))
    }

    fn text(&self, row: &Row, at: usize) -> Result<String, StoreError> {
        text_of(&self.0, row, at)
    }

    fn origin(&self, row: &Row, at: usize) -> Result<Origin, StoreError> {
        let name: &str = row.get(at);
        let unknown = || trouble(&self.0.address, format!("`{name}` is not an origin"), None);
        Origin::of(name).ok_or_else(unknown)
    }

    /// Adds replies, and returns the ids of those that were added or replaced, by call.
    fn add(
        &self,
        sql: &'static str,
        replies: &[&NewReply],
    ) -> Result<HashMap<Vec<u8>, i64>, StoreError> {
        let each = || replies.iter();
        let name = |at: usize| each().map(|new| new.names[at].clone()).collect::<Vec<String>>();
        let values: Values = vec![
            Box::new(self.0.address.lock_number(LOCK)),
            Box::new(each().map(|new| call_hash(&new.names, &new.key)).collect::<Vec<_>>()),
            Box::new(each().map(|new| api_hash(&new.names)).collect::<Vec<_>>()),
            Box::new(name(0)),
            Box::new(name(1)),
            Box::new(name(2)),
            Box::new(each().map(|new| new.key.clone().into_bytes()).collect::<Vec<_>>()),
            Box::new(each().map(|new| new.reply.clone().into_bytes()).collect::<Vec<_>>()),
            Box::new(each().map(|new| new.origin.as_str()).collect::<Vec<_>>()),
            Box::new(each().map(|new| new.model.clone()).collect::<Vec<_>>()),
            Box::new(each().map(|new| new.kept_at).collect::<Vec<_>>()),
        ];
        let added = self.query(sql, values)?;
        Ok(added.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    fn find(&self, calls: Vec<Vec<u8>>) -> Result<HashMap<Vec<u8>, KeptReply>, StoreError> {
        let sql = "SELECT call, id, reply, origin FROM tool_replies WHERE call = ANY($1)";
        let rows = self.query(sql, vec![Box::new(calls)])?;
        let read = |row: &Row| {
            let (id, reply, origin) = (row.get(1), self.text(row, 2)?, self.origin(row, 3)?);
            Ok((row.get(0), KeptReply { id, reply, origin, was_known: true }))
        };
        rows.iter().map(read).collect()
    }
}

/// Inserts replies in their order, one process at a time.
macro_rules! insert {
    ($on_conflict:literal) => {
        concat!(
            "WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock($1))
             INSERT INTO tool_replies
                 (call, api_hash, category, tool, api, key, reply, origin, model, kept_at)
             SELECT new.call, new.api_hash, new.category, new.tool, new.api, new.key, new.reply,
                    new.origin, new.model, new.kept_at
             FROM turn, unnest($2::bytea[], $3::bytea[], $4::text[], $5::text[], $6::text[],
                         $7::bytea[], $8::bytea[], $9::text[], $10::text[], $11::bigint[])
                  WITH ORDINALITY AS new (call, api_hash, category, tool, api, key, reply, origin,
                                          model, kept_at, place)
             ORDER BY new.place ON CONFLICT (call) ",
            $on_conflict,
            " RETURNING call, id"
        )
    };
}

impl ToolStore for SharedToolReplies {
    fn place(&self) -> String {
        self.0.address.to_string()
    }

    fn news(&self) -> Option<String> {
        self.0.news()
    }

    fn get(&self, names: &[String; 3], key: &str) -> Result<Option<KeptReply>, StoreError> {
        Ok(self.find(vec![call_hash(names, key)])?.into_values().next())
    }

    fn keep(&self, replies: &[NewReply]) -> Result<Vec<KeptReply>, StoreError> {
        let all: Vec<&NewReply> = replies.iter().collect();
        let mut added = self.add(insert!("DO NOTHING"), &all)?;
        let calls: Vec<Vec<u8>> =
            replies.iter().map(|new| call_hash(&new.names, &new.key)).collect();
        let known = self.find(calls.clone())?;
        let gone = || trouble(&self.0.address, "a reply was deleted while it was kept", None);
        let kept = calls.iter().map(|call| {
            let known = known.get(call).cloned().ok_or_else(gone)?;
            // Of equal calls in a batch, the first was added.
            Ok(KeptReply { was_known: added.remove(call).is_none(), ..known })
        });
        kept.collect()
    }

    fn replace(&self, replies: &[NewReply]) -> Result<Vec<KeptReply>, StoreError> {
        // A statement changes a row once: of equal calls, the last counts.
        let mut last: HashMap<Vec<u8>, usize> = HashMap::new();
        let calls: Vec<Vec<u8>> =
            replies.iter().map(|new| call_hash(&new.names, &new.key)).collect();
        for (at, call) in calls.iter().enumerate() {
            last.insert(call.clone(), at);
        }
        let counts = |at: &usize| last.get(&calls[*at]) == Some(at);
        let all: Vec<&NewReply> =
            (0..replies.len()).filter(counts).map(|at| &replies[at]).collect();
        let sql = insert!(
            "DO UPDATE SET reply = excluded.reply, origin = excluded.origin,
                 model = excluded.model, kept_at = excluded.kept_at, hits = 0"
        );
        let ids = self.add(sql, &all)?;
        let kept = calls.iter().zip(replies).filter_map(|(call, new)| {
            let (reply, origin) = (new.reply.clone(), new.origin);
            Some(KeptReply { id: *ids.get(call)?, reply, origin, was_known: false })
        });
        Ok(kept.collect())
    }

    fn turn<'a>(
        &'a self,
        names: &'a [String; 3],
        key: &'a str,
    ) -> Pending<'a, Result<Option<Turn<'a>>, StoreError>> {
        turns::turn(&self.0, self.0.address.lock_number(&call_hash(names, key)))
    }

    fn first(&self, names: &[String; 3], most: usize) -> Result<Vec<(String, String)>, StoreError> {
        let sql = "SELECT key, reply FROM tool_replies WHERE api_hash = $1 ORDER BY id LIMIT $2";
        let values: Values = vec![Box::new(api_hash(names)), Box::new(signed(most as u64))];
        let rows = self.query(sql, values)?;
        rows.iter().map(|row| Ok((self.text(row, 0)?, self.text(row, 1)?))).collect()
    }

    fn keys_after(&self, names: &[String; 3], id: i64) -> Result<Vec<(i64, String)>, StoreError> {
        let sql = "SELECT id, key FROM tool_replies WHERE api_hash = $1 AND id > $2 ORDER BY id";
        let rows = self.query(sql, vec![Box::new(api_hash(names)), Box::new(id)])?;
        rows.iter().map(|row| Ok((row.get(0), self.text(row, 1)?))).collect()
    }

    fn tools(&self) -> Result<Vec<(String, String)>, StoreError> {
        let rows = self.query("SELECT DISTINCT category, tool FROM tool_replies", Values::new())?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    fn count_hits(&self, hits: &[(i64, u64)]) -> Result<(), StoreError> {
        let sql = "UPDATE tool_replies SET hits = hits + more
             FROM (SELECT id, sum(more)::bigint AS more
                   FROM unnest($1::bigint[], $2::bigint[]) AS new (id, more) GROUP BY id) AS new
             WHERE tool_replies.id = new.id";
        let ids: Vec<i64> = hits.iter().map(|(id, _)| *id).collect();
        let more: Vec<i64> = hits.iter().map(|(_, more)| signed(*more)).collect();
        self.query(sql, vec![Box::new(ids), Box::new(more)]).map(drop)
    }

    fn page(&self, after: i64, most: usize) -> Result<Vec<(i64, ToolReply)>, StoreError> {
        let sql = "SELECT id, category, tool, api, key, reply, origin, model, kept_at, hits
             FROM tool_replies WHERE id > $1 ORDER BY id LIMIT $2";
        let rows = self.query(sql, vec![Box::new(after), Box::new(signed(most as u64))])?;
        let read = |row: &Row| {
            let reply = ToolReply {
                category: row.get(1),
                tool: row.get(2),
                api: row.get(3),
                key: self.text(row, 4)?,
                reply: self.text(row, 5)?,
                origin: self.origin(row, 6)?,
                model: row.get(7),
                kept_at: row.get(8),
                hits: whole(row, 9),
            };
            Ok((row.get(0), reply))
        };
        rows.iter().map(read).collect()
    }

    fn totals(&self) -> Result<Vec<ToolTotal>, StoreError> {
        let sql = "SELECT origin, model, count(*), count(DISTINCT api_hash), sum(hits)::bigint,
                    sum(length(reply))::bigint, min(kept_at), max(kept_at)
             FROM tool_replies GROUP BY origin, model
             ORDER BY origin COLLATE \"C\", model COLLATE \"C\" NULLS FIRST";
        let rows = self.query(sql, Values::new())?;
        let total = |row: &Row| {
            Ok(ToolTotal {
                origin: self.origin(row, 0)?,
                model: row.get(1),
                count: whole(row, 2),
                apis: whole(row, 3),
                hits: whole(row, 4),
                bytes: whole(row, 5),
                first_kept_at: row.get(6),
                last_kept_at: row.get(7),
            })
        };
        rows.iter().map(total).collect()
    }

    fn count(&self) -> Result<u64, StoreError> {
        let rows = self.query("SELECT count(*) FROM tool_replies", Values::new())?;
        Ok(rows.first().map_or(0, |row| whole(row, 0)))
    }
}

fn api_hash(names: &[String; 3]) -> Vec<u8> {
    hash(names.iter().map(String::as_str))
}

fn call_hash(names: &[String; 3], key: &str) -> Vec<u8> {
    hash(names.iter().map(String::as_str).chain([key]))
}

/// Hashes texts with their lengths, so that where one ends matters.
fn hash<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<u8> {
    let mut all = Sha256::new();
    for text in texts {
        all.update((text.len() as u64).to_be_bytes());
        all.update(text);
    }
    all.finalize().to_vec()
}
