//! A session with the server: one connection, made again if it breaks.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use juror_store::StoreError;
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::tls::{MakeTlsConnect, TlsConnect};
use tokio_postgres::types::ToSql;
use tokio_postgres::{AsyncMessage, Client, Error, NoTls, Row, Socket, Statement};

use crate::address::{Address, Tls};
use crate::tls::MakeTls;
use crate::trouble::{in_words, is_gone, pooled, silent, trouble};
use crate::turns::{Turns, locked};

/// The channel on which processes tell each other that a turn has ended.
pub(crate) const CHANNEL: &str = "juror";

/// The wait before the first attempt to connect again; each next one is twice as long.
const FIRST_WAIT: Duration = Duration::from_millis(50);
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The values of a statement.
pub(crate) type Values = Vec<Box<dyn ToSql + Send + Sync>>;

/// A session with the server. Its work is done on a thread of its own, so that whoever asks may wait
/// in any way.
pub(crate) struct Session {
    pub(crate) address: Address,
    pub(crate) turns: Arc<Turns>,
    runtime: Handle,
    link: tokio::sync::Mutex<Link>,
    news: Mutex<Option<String>>,
    /// The thread ends when this is dropped.
    _thread: oneshot::Sender<()>,
}

/// The connection, and how it fares.
#[derive(Default)]
struct Link {
    connected: Option<Arc<Connected>>,
    /// When the connection was found broken, until there is another.
    lost_at: Option<Instant>,
}

/// A connection with its prepared statements.
struct Connected {
    client: Client,
    statements: Mutex<HashMap<&'static str, Statement>>,
}

impl Connected {
    async fn query(&self, sql: &'static str, values: &Values) -> Result<Vec<Row>, Error> {
        let known = locked(&self.statements).get(sql).cloned();
        let statement = match known {
            Some(statement) => statement,
            None => {
                let statement = self.client.prepare(sql).await?;
                locked(&self.statements).insert(sql, statement.clone());
                statement
            }
        };
        let values: Vec<&(dyn ToSql + Sync)> =
            values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
        self.client.query(&statement, &values).await
    }
}

impl Session {
    /// Connects, and refuses a pooler that would break locks.
    pub(crate) fn open(address: Address) -> Result<Arc<Session>, StoreError> {
        let (stop, stopped) = oneshot::channel::<()>();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let cannot = |error: std::io::Error| trouble(&address, error.to_string(), None);
        let runtime = runtime.map_err(cannot)?;
        let handle = runtime.handle().clone();
        let work = move || {
            // Ends when the session is dropped.
            let _ = runtime.block_on(stopped);
        };
        std::thread::Builder::new().name("postgres".into()).spawn(work).map_err(cannot)?;
        let session = Arc::new(Session {
            address,
            turns: Arc::default(),
            runtime: handle,
            link: tokio::sync::Mutex::default(),
            news: Mutex::default(),
            _thread: stop,
        });
        let first = session.clone();
        juror_store::wait(session.there(async move { first.begin().await }))?;
        Ok(session)
    }

    async fn begin(&self) -> Result<(), StoreError> {
        let limit = self.address.connect_timeout;
        let begun = timeout(limit, self.begin_now()).await;
        begun.unwrap_or_else(|_| Err(silent(&self.address, limit)))
    }

    async fn begin_now(&self) -> Result<(), StoreError> {
        let words = |error: Error| in_words(&self.address, &error);
        let connected = connect_now(&self.address, &self.turns).await?;
        let pid = "SELECT pg_backend_pid()";
        let own = connected.client.query_one(pid, &[]).await.map_err(words)?;
        let beside = client(&self.address).await?;
        let other = beside.query_one(pid, &[]).await.map_err(words)?;
        // Two connections to a server are two processes of it.
        if own.get::<_, i32>(0) == other.get::<_, i32>(0) {
            return Err(pooled(&self.address));
        }
        self.link.lock().await.connected = Some(Arc::new(connected));
        Ok(())
    }

    /// Runs something on the session's thread.
    pub(crate) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(work);
    }

    /// Runs something on the session's thread, and returns what came of it.
    pub(crate) async fn there<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
    ) -> Result<T, StoreError> {
        let (sender, receiver) = oneshot::channel();
        self.spawn(async move {
            // The caller may have left.
            let _ = sender.send(work.await);
        });
        receiver.await.unwrap_or_else(|_| Err(self.ended()))
    }

    /// Runs a statement, again if the connection breaks meanwhile.
    pub(crate) async fn query(
        self: &Arc<Session>,
        sql: &'static str,
        values: Values,
    ) -> Result<Vec<Row>, StoreError> {
        let session = self.clone();
        self.there(async move { session.query_here(sql, &values).await }).await
    }

    async fn query_here(&self, sql: &'static str, values: &Values) -> Result<Vec<Row>, StoreError> {
        let mut until = None;
        loop {
            let connected = self.connected().await?;
            let patience = self.address.patience;
            // A server that says nothing is not there, though the connection may stand.
            let (error, may_pass) = match timeout(patience, connected.query(sql, values)).await {
                Ok(Ok(rows)) => return Ok(rows),
                Ok(Err(error)) => (in_words(&self.address, &error), is_gone(&error)),
                Err(_) => (silent(&self.address, patience), true),
            };
            let now = Instant::now();
            let until = *until.get_or_insert(now + patience);
            if !may_pass || now > until {
                return Err(error);
            }
            self.lose(&connected).await;
        }
    }

    /// Notes that a connection is broken.
    async fn lose(&self, broken: &Arc<Connected>) {
        let mut link = self.link.lock().await;
        if link.connected.as_ref().is_some_and(|current| Arc::ptr_eq(current, broken)) {
            link.connected = None;
        }
    }

    /// Returns the connection. If it is broken, waits for the server to come back, all callers
    /// together no longer than the address says.
    async fn connected(&self) -> Result<Arc<Connected>, StoreError> {
        let mut link = self.link.lock().await;
        if let Some(connected) = &link.connected
            && !connected.client.is_closed()
        {
            return Ok(connected.clone());
        }
        link.connected = None;
        let lost_at = *link.lost_at.get_or_insert_with(Instant::now);
        let mut wait = FIRST_WAIT;
        loop {
            match connect(&self.address, &self.turns).await {
                Ok(connected) => {
                    let connected = Arc::new(connected);
                    *link = Link { connected: Some(connected.clone()), lost_at: None };
                    self.tell("the server went away and came back; nothing kept is lost");
                    return Ok(connected);
                }
                Err(error) if lost_at.elapsed() + wait > self.address.patience => {
                    return Err(error);
                }
                Err(_) => sleep(wait).await,
            }
            wait = (wait * 2).min(LONGEST_WAIT);
        }
    }

    /// Takes a lock of the session, if it is free.
    pub(crate) async fn try_lock(&self, number: i64) -> Result<bool, StoreError> {
        let values: Values = vec![Box::new(number)];
        Ok(self.query_here("SELECT pg_try_advisory_lock($1)", &values).await?[0].get(0))
    }

    /// Frees a lock and tells who waits for it; returns whether it was held.
    pub(crate) async fn unlock(&self, number: i64) -> Result<bool, StoreError> {
        let sql = "SELECT pg_advisory_unlock($1), pg_notify($2, $3)";
        let values: Values =
            vec![Box::new(number), Box::new(CHANNEL), Box::new(number.to_string())];
        Ok(self.query_here(sql, &values).await?[0].get(0))
    }

    /// Says, once, that a lock was not there any more when it was to be freed.
    pub(crate) fn doubt_locks(&self) {
        self.tell(&pooled(&self.address).to_string());
    }

    fn tell(&self, news: &str) {
        locked(&self.news).get_or_insert_with(|| format!("{}: {news}", self.address));
    }

    /// Returns a message for the user, once, if something happened to the connection.
    pub(crate) fn news(&self) -> Option<String> {
        locked(&self.news).take()
    }

    /// The error of a session whose thread has ended.
    pub(crate) fn ended(&self) -> StoreError {
        trouble(&self.address, "the thread of the connection has ended", None)
    }
}

/// Connects for a session, in the time that the address gives.
async fn connect(address: &Address, turns: &Arc<Turns>) -> Result<Connected, StoreError> {
    let limit = address.connect_timeout;
    let connected = timeout(limit, connect_now(address, turns)).await;
    connected.unwrap_or_else(|_| Err(silent(address, limit)))
}

/// Connects for a session: with the schema in its path, listening, and with the locks that it held
/// before.
async fn connect_now(address: &Address, turns: &Arc<Turns>) -> Result<Connected, StoreError> {
    let client = open(address, Some(turns.clone())).await?;
    let words = |error: Error| in_words(address, &error);
    // The server too notices a machine that vanishes, and lets others have its locks.
    let begin = format!(
        "SET search_path TO {}; SET tcp_keepalives_idle = 30; SET tcp_keepalives_interval = 10;
         SET tcp_keepalives_count = 3; LISTEN {CHANNEL}",
        address.schema
    );
    client.batch_execute(&begin).await.map_err(words)?;
    for number in turns.own() {
        // One that another process took meanwhile may be bought twice.
        client.query("SELECT pg_try_advisory_lock($1)", &[&number]).await.map_err(words)?;
    }
    Ok(Connected { client, statements: Mutex::default() })
}

/// Connects for a while, outside of a session.
pub(crate) async fn client(address: &Address) -> Result<Client, StoreError> {
    let limit = address.connect_timeout;
    let opened = timeout(limit, open(address, None)).await;
    opened.unwrap_or_else(|_| Err(silent(address, limit)))
}

async fn open(address: &Address, turns: Option<Arc<Turns>>) -> Result<Client, StoreError> {
    match &address.tls {
        Tls::Off => open_with(address, NoTls, turns).await,
        Tls::VerifyFull { roots } => {
            let tls = MakeTls::new(roots.as_deref());
            let tls = tls.map_err(|problem| StoreError::Address { problem, hint: None })?;
            open_with(address, tls, turns).await
        }
    }
}

async fn open_with<T>(
    address: &Address,
    tls: T,
    turns: Option<Arc<Turns>>,
) -> Result<Client, StoreError>
where
    T: MakeTlsConnect<Socket> + Send,
    T::TlsConnect: Send,
    <T::TlsConnect as TlsConnect<Socket>>::Future: Send,
    T::Stream: Send + 'static,
{
    let opened = address.config().connect(tls).await;
    let (client, mut connection) = opened.map_err(|error| in_words(address, &error))?;
    tokio::spawn(async move {
        // Ends with the connection, which whoever asks next notices.
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if let (AsyncMessage::Notification(told), Some(turns)) = (message, &turns)
                && let Ok(number) = told.payload().parse()
            {
                turns.wake(number);
            }
        }
    });
    Ok(client)
}
