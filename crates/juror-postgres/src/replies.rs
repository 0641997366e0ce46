//! Replies of models, by the key of their call.

use std::collections::HashMap;
use std::sync::Arc;

use juror_store::{Key, Pending, ReplyStore, StoreError, StoredReply, Total, Turn, Which, wait};
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::Row;

use crate::address::Address;
use crate::session::{Session, Values};
use crate::trouble::trouble;
use crate::{schema, turns};

/// How many keys are looked up in one statement.
const BATCH: usize = 500;

/// A look-up that waits for its turn in a statement.
type LookUp = (Key, oneshot::Sender<Result<Option<StoredReply>, StoreError>>);

/// A store of models' replies that many machines share.
pub struct SharedReplies {
    session: Arc<Session>,
    look_ups: mpsc::UnboundedSender<LookUp>,
}

impl SharedReplies {
    /// Opens the store at an address, and makes its tables if there are none.
    pub fn open(address: Address) -> Result<SharedReplies, StoreError> {
        let session = Session::open(address)?;
        let own = session.clone();
        wait(session.there(async move { schema::prepare(&own.address).await }))?;
        Ok(SharedReplies::of(session))
    }

    /// Opens the store at an address if there is one.
    pub fn open_existing(address: Address) -> Result<Option<SharedReplies>, StoreError> {
        let session = Session::open(address)?;
        let own = session.clone();
        let is_there = wait(session.there(async move { schema::is_there(&own.address).await }))?;
        Ok(is_there.then(|| SharedReplies::of(session)))
    }

    fn of(session: Arc<Session>) -> SharedReplies {
        let (look_ups, waiting) = mpsc::unbounded_channel();
        session.spawn(look_up_all(session.clone(), waiting));
        SharedReplies { session, look_ups }
    }

    async fn find(&self, key: Key) -> Result<Option<StoredReply>, StoreError> {
        let (answer, found) = oneshot::channel();
        let _ = self.look_ups.send((key, answer));
        found.await.unwrap_or_else(|_| Err(self.session.ended()))
    }

    async fn put(
        &self,
        sql: &'static str,
        key: Key,
        reply: &StoredReply,
    ) -> Result<bool, StoreError> {
        Ok(!self.session.query(sql, values_of(&key, reply)).await?.is_empty())
    }

    async fn find_judgements(&self, keys: &[Key]) -> Result<Vec<Option<String>>, StoreError> {
        let mut known: HashMap<Key, String> = HashMap::new();
        for keys in keys.chunks(BATCH) {
            let sql = "SELECT key, notes FROM judgements WHERE key = ANY($1)";
            for row in self.session.query(sql, vec![Box::new(bytes_of(keys))]).await? {
                known.insert(self.read_key(&row)?, self.text(&row, 1)?);
            }
        }
        Ok(keys.iter().map(|key| known.get(key).cloned()).collect())
    }

    fn read_key(&self, row: &Row) -> Result<Key, StoreError> {
        key_of(&self.session, row)
    }

    fn text(&self, row: &Row, at: usize) -> Result<String, StoreError> {
        text_of(&self.session, row, at)
    }

    async fn import_all(&self, replies: &[(Key, StoredReply)]) -> Result<usize, StoreError> {
        // One statement, so that all are kept or none.
        let sql = "INSERT INTO replies
             SELECT * FROM unnest($1::bytea[], $2::text[], $3::text[], $4::bytea[], $5::boolean[],
                                  $6::bigint[], $7::bigint[], $8::bigint[])
             ON CONFLICT (key) DO NOTHING RETURNING 1";
        if replies.is_empty() {
            return Ok(0);
        }
        let each = || replies.iter().map(|(_, reply)| reply);
        let keys: Vec<Vec<u8>> = replies.iter().map(|(key, _)| key.to_vec()).collect();
        let values: Values = vec![
            Box::new(keys),
            Box::new(each().map(|reply| reply.purpose.clone()).collect::<Vec<_>>()),
            Box::new(each().map(|reply| reply.model.clone()).collect::<Vec<_>>()),
            Box::new(each().map(|reply| reply.text.clone().into_bytes()).collect::<Vec<_>>()),
            Box::new(each().map(|reply| reply.is_declined).collect::<Vec<_>>()),
            Box::new(each().map(|reply| signed(reply.input_tokens)).collect::<Vec<_>>()),
            Box::new(each().map(|reply| signed(reply.output_tokens)).collect::<Vec<_>>()),
            Box::new(each().map(|reply| reply.kept_at).collect::<Vec<_>>()),
        ];
        Ok(self.session.query(sql, values).await?.len())
    }

    async fn read_page(
        &self,
        after: Option<Key>,
        most: usize,
    ) -> Result<Vec<(Key, StoredReply)>, StoreError> {
        let sql =
            "SELECT key, purpose, model, reply, declined, input_tokens, output_tokens, kept_at
             FROM replies WHERE key > $1 ORDER BY key LIMIT $2";
        let after = after.map_or(Vec::new(), Vec::from);
        let values: Values = vec![Box::new(after), Box::new(signed(most as u64))];
        let rows = self.session.query(sql, values).await?;
        let read = |row: &Row| Ok((self.read_key(row)?, reply_of(&self.session, row)?));
        rows.iter().map(read).collect()
    }

    async fn read_totals(&self) -> Result<Vec<Total>, StoreError> {
        let sql = "SELECT purpose, model, count(*), sum(input_tokens)::bigint,
                    sum(output_tokens)::bigint, sum(length(reply))::bigint
             FROM replies GROUP BY purpose, model
             ORDER BY purpose COLLATE \"C\", model COLLATE \"C\"";
        let rows = self.session.query(sql, Values::new()).await?;
        let total = |row: &Row| Total {
            purpose: row.get(0),
            model: row.get(1),
            count: whole(row, 2),
            input_tokens: whole(row, 3),
            output_tokens: whole(row, 4),
            bytes: whole(row, 5),
        };
        Ok(rows.iter().map(total).collect())
    }

    async fn delete(&self, which: &Which) -> Result<usize, StoreError> {
        // Judgements may rest on deleted replies, and it is not known which.
        let sql = "WITH forgotten AS (DELETE FROM judgements)
             DELETE FROM replies WHERE ($1::bigint IS NULL OR kept_at < $1)
                 AND ($2::text IS NULL OR purpose = $2) AND ($3::text IS NULL OR model = $3)
             RETURNING 1";
        let Which { before, purpose, model } = which.clone();
        let values: Values = vec![Box::new(before), Box::new(purpose), Box::new(model)];
        Ok(self.session.query(sql, values).await?.len())
    }
}

impl ReplyStore for SharedReplies {
    fn place(&self) -> String {
        self.session.address.to_string()
    }

    fn news(&self) -> Option<String> {
        self.session.news()
    }

    fn get<'a>(&'a self, key: &'a Key) -> Pending<'a, Result<Option<StoredReply>, StoreError>> {
        Box::pin(self.find(*key))
    }

    fn keep<'a>(
        &'a self,
        key: &'a Key,
        reply: &'a StoredReply,
    ) -> Pending<'a, Result<StoredReply, StoreError>> {
        let sql = "INSERT INTO replies VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
             ON CONFLICT (key) DO NOTHING RETURNING 1";
        Box::pin(async move {
            loop {
                if self.put(sql, *key, reply).await? {
                    return Ok(reply.clone());
                }
                // Another may have deleted it in between.
                if let Some(known) = self.find(*key).await? {
                    return Ok(known);
                }
            }
        })
    }

    fn replace<'a>(
        &'a self,
        key: &'a Key,
        reply: &'a StoredReply,
    ) -> Pending<'a, Result<(), StoreError>> {
        let sql = "INSERT INTO replies VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
             ON CONFLICT (key) DO UPDATE SET purpose = excluded.purpose, model = excluded.model,
                 reply = excluded.reply, declined = excluded.declined,
                 input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
                 kept_at = excluded.kept_at
             RETURNING 1";
        Box::pin(async move { self.put(sql, *key, reply).await.map(drop) })
    }

    fn turn<'a>(&'a self, key: &'a Key) -> Pending<'a, Result<Option<Turn<'a>>, StoreError>> {
        turns::turn(&self.session, self.session.address.lock_number(key))
    }

    fn judgements<'a>(
        &'a self,
        keys: &'a [Key],
    ) -> Pending<'a, Result<Vec<Option<String>>, StoreError>> {
        Box::pin(self.find_judgements(keys))
    }

    fn keep_judgement<'a>(
        &'a self,
        key: &'a Key,
        notes: &'a str,
        kept_at: i64,
    ) -> Pending<'a, Result<(), StoreError>> {
        let sql = "INSERT INTO judgements VALUES ($1, $2, $3)
             ON CONFLICT (key) DO UPDATE SET notes = excluded.notes, kept_at = excluded.kept_at";
        let values: Values =
            vec![Box::new(key.to_vec()), Box::new(notes.as_bytes().to_vec()), Box::new(kept_at)];
        Box::pin(async move { self.session.query(sql, values).await.map(drop) })
    }

    fn import<'a>(
        &'a self,
        replies: &'a [(Key, StoredReply)],
    ) -> Pending<'a, Result<usize, StoreError>> {
        Box::pin(self.import_all(replies))
    }

    fn page(
        &self,
        after: Option<Key>,
        most: usize,
    ) -> Pending<'_, Result<Vec<(Key, StoredReply)>, StoreError>> {
        Box::pin(self.read_page(after, most))
    }

    fn totals(&self) -> Pending<'_, Result<Vec<Total>, StoreError>> {
        Box::pin(self.read_totals())
    }

    fn prune<'a>(&'a self, which: &'a Which) -> Pending<'a, Result<usize, StoreError>> {
        Box::pin(self.delete(which))
    }
}

/// Looks keys up, all together that came while the last statement was on its way.
async fn look_up_all(session: Arc<Session>, mut waiting: mpsc::UnboundedReceiver<LookUp>) {
    let mut together = Vec::with_capacity(BATCH);
    while waiting.recv_many(&mut together, BATCH).await > 0 {
        let keys: Vec<Key> = together.iter().map(|(key, _)| *key).collect();
        let found = look_up(&session, &keys).await;
        for (key, answer) in together.drain(..) {
            let found = found.as_ref().map(|found| found.get(&key).cloned());
            // The caller may have left.
            let _ = answer.send(found.map_err(StoreError::clone));
        }
    }
}

async fn look_up(
    session: &Arc<Session>,
    keys: &[Key],
) -> Result<HashMap<Key, StoredReply>, StoreError> {
    let sql = "SELECT key, purpose, model, reply, declined, input_tokens, output_tokens, kept_at
         FROM replies WHERE key = ANY($1)";
    let rows = session.query(sql, vec![Box::new(bytes_of(keys))]).await?;
    rows.iter().map(|row| Ok((key_of(session, row)?, reply_of(session, row)?))).collect()
}

fn bytes_of(keys: &[Key]) -> Vec<Vec<u8>> {
    keys.iter().map(|key| key.to_vec()).collect()
}

fn values_of(key: &Key, reply: &StoredReply) -> Values {
    vec![
        Box::new(key.to_vec()),
        Box::new(reply.purpose.clone()),
        Box::new(reply.model.clone()),
        Box::new(reply.text.clone().into_bytes()),
        Box::new(reply.is_declined),
        Box::new(signed(reply.input_tokens)),
        Box::new(signed(reply.output_tokens)),
        Box::new(reply.kept_at),
    ]
}

fn key_of(session: &Session, row: &Row) -> Result<Key, StoreError> {
    let bytes: &[u8] = row.get(0);
    bytes.try_into().map_err(|_| unreadable(session))
}

pub(crate) fn text_of(session: &Session, row: &Row, at: usize) -> Result<String, StoreError> {
    String::from_utf8(row.get(at)).map_err(|_| unreadable(session))
}

fn unreadable(session: &Session) -> StoreError {
    trouble(&session.address, "it holds rows that juror did not write", None)
}

fn reply_of(session: &Session, row: &Row) -> Result<StoredReply, StoreError> {
    Ok(StoredReply {
        purpose: row.get(1),
        model: row.get(2),
        text: text_of(session, row, 3)?,
        is_declined: row.get(4),
        input_tokens: whole(row, 5),
        output_tokens: whole(row, 6),
        kept_at: row.get(7),
    })
}

pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(crate) fn whole(row: &Row, at: usize) -> u64 {
    u64::try_from(row.get::<_, i64>(at)).unwrap_or_default()
}
