//! The tables: made once, changed by releases that need other ones, never changed back.

use juror_store::StoreError;
use tokio_postgres::{Client, Error, GenericClient, Transaction};

use crate::address::Address;
use crate::session::client;
use crate::trouble::{in_words, silent, trouble};

/// What each version adds to the one before.
const CHANGES: &[&str] = &[
    include_str!("schema/1-model-replies.sql"),
    include_str!("schema/2-tool-replies.sql"),
    include_str!("schema/3-runs.sql"),
];

/// The lock under which tables are made and changed, by one process at a time.
const LOCK: &[u8] = b"schema";

const OLDER: &str =
    "update the tables with `juror store migrate`, once all who use them have this release";
const NEWER: &str = "use that release here too";

/// What is found at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// The address as people may see it.
    pub place: String,
    /// The release of the server.
    pub server: String,
    /// The version of the tables, if there are any.
    pub version: Option<usize>,
    /// The version that this release uses.
    pub wanted: usize,
}

/// Looks at a server and its tables, without changing anything.
pub fn check(address: &Address) -> Result<Checked, StoreError> {
    let (session, own) = (crate::session::Session::open(address.clone())?, address.clone());
    juror_store::wait(session.there(async move { in_time(&own, look(&own)).await }))
}

async fn look(address: &Address) -> Result<Checked, StoreError> {
    let client = client(address).await?;
    let words = |error: Error| in_words(address, &error);
    let server = client.query_one("SHOW server_version", &[]).await.map_err(words)?.get(0);
    let version = version(&client, address).await.map_err(words)?;
    Ok(Checked { place: address.to_string(), server, version, wanted: CHANGES.len() })
}

/// Waits for a server no longer than its address says.
async fn in_time<T>(
    address: &Address,
    work: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    let done = tokio::time::timeout(address.patience, work).await;
    done.unwrap_or_else(|_| Err(silent(address, address.patience)))
}

/// Makes the tables, or updates them; returns the version that was there before.
pub fn migrate(address: &Address) -> Result<Option<usize>, StoreError> {
    let (session, own) = (crate::session::Session::open(address.clone())?, address.clone());
    juror_store::wait(session.there(async move {
        let mut client = client(&own).await?;
        update(&mut client, &own, CHANGES).await
    }))
}

/// Makes sure that the tables are those of this release. Makes them only if there are none: others
/// may still use older ones.
pub(crate) async fn prepare(address: &Address) -> Result<(), StoreError> {
    let prepare = async {
        let mut client = client(address).await?;
        if !is_ready(&client, address).await? {
            update(&mut client, address, CHANGES).await?;
        }
        Ok(())
    };
    in_time(address, prepare).await
}

/// Returns whether there are tables, and refuses those of another release.
pub(crate) async fn is_there(address: &Address) -> Result<bool, StoreError> {
    in_time(address, async { is_ready(&client(address).await?, address).await }).await
}

async fn is_ready(client: &Client, address: &Address) -> Result<bool, StoreError> {
    let words = |error: Error| in_words(address, &error);
    let encoding = client.query_one("SHOW server_encoding", &[]).await.map_err(words)?;
    let encoding: &str = encoding.get(0);
    if encoding != "UTF8" {
        let problem = format!("the database is encoded in {encoding}, and UTF8 is needed");
        return Err(trouble(
            address,
            problem,
            Some("create another with `createdb -E UTF8 -T template0`"),
        ));
    }
    match version(client, address).await.map_err(words)? {
        None => Ok(false),
        Some(version) => refuse_other(address, version, CHANGES.len()).map(|()| true),
    }
}

fn refuse_other(address: &Address, version: usize, wanted: usize) -> Result<(), StoreError> {
    let (release, hint) = match version.cmp(&wanted) {
        std::cmp::Ordering::Equal => return Ok(()),
        std::cmp::Ordering::Less => ("an older", OLDER),
        std::cmp::Ordering::Greater => ("a newer", NEWER),
    };
    let problem = format!("{address}: made by {release} release of juror");
    Err(StoreError::Address { problem, hint: Some(hint) })
}

async fn version(client: &impl GenericClient, address: &Address) -> Result<Option<usize>, Error> {
    // Names alone would be looked up in a cache that may not know yet what another process made.
    let found = "SELECT 1 FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
         WHERE nspname = $1 AND relname = 'juror_version'";
    if client.query_opt(found, &[&address.schema]).await?.is_none() {
        return Ok(None);
    }
    let table = format!("{}.juror_version", address.schema);
    let row = client.query_one(&format!("SELECT max(version) FROM {table}"), &[]).await?;
    let version = row.get::<_, Option<i32>>(0).unwrap_or_default();
    Ok(Some(usize::try_from(version).unwrap_or_default()))
}

/// Applies all changes that are missing, or none. Returns the version that was there before.
async fn update(
    client: &mut Client,
    address: &Address,
    changes: &[&str],
) -> Result<Option<usize>, StoreError> {
    let words = |error: Error| in_words(address, &error);
    let transaction = client.transaction().await.map_err(words)?;
    let lock = address.lock_number(LOCK);
    transaction.query("SELECT pg_advisory_xact_lock($1)", &[&lock]).await.map_err(words)?;
    let before = version(&transaction, address).await.map_err(words)?;
    let done = before.unwrap_or_default();
    if done > changes.len() {
        refuse_other(address, done, changes.len())?;
    }
    apply(&transaction, &address.schema, before, changes).await.map_err(words)?;
    transaction.commit().await.map_err(words)?;
    Ok(before)
}

async fn apply(
    transaction: &Transaction<'_>,
    schema: &str,
    before: Option<usize>,
    changes: &[&str],
) -> Result<(), Error> {
    // Whoever may not create schemas may still use one that is there.
    let known = "SELECT 1 FROM pg_namespace WHERE nspname = $1";
    if transaction.query_opt(known, &[&schema]).await?.is_none() {
        transaction.batch_execute(&format!("CREATE SCHEMA {schema}")).await?;
    }
    transaction.batch_execute(&format!("SET LOCAL search_path TO {schema}")).await?;
    if before.is_none() {
        let table = "CREATE TABLE juror_version (version int NOT NULL)";
        transaction.batch_execute(table).await?;
    }
    for (number, change) in (1_i32..).zip(changes).skip(before.unwrap_or_default()) {
        transaction.batch_execute(change).await?;
        transaction.execute("INSERT INTO juror_version VALUES ($1)", &[&number]).await?;
    }
    Ok(())
}
