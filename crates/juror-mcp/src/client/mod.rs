//! The client half: connects to servers, lists their tools and calls them.

mod connection;
mod http;
mod outcome;
mod process;

use std::time::Duration;

use juror_json::reason_and_place;
use juror_models::{Secret, Tell};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;
use tokio::sync::Mutex;

pub(crate) use http::encoded;
pub use outcome::Outcome;

use crate::address::Address;
use crate::message::RpcError;
use connection::Connection;
use process::Heard;

/// The most tools of a server.
const MOST_TOOLS: usize = 100_000;

/// The most pages of a list of tools.
const MOST_PAGES: usize = 10_000;

/// The most bytes of a list of tools.
const MOST_LISTED: usize = 256 << 20;

/// How to reach a server.
#[derive(Clone)]
pub struct ClientSetup {
    /// How long the server may take to start, and to answer each request.
    pub timeout: Duration,
    /// The token that is sent to a URL.
    pub token: Option<Secret>,
    /// Environment variables that are withheld from a command.
    pub kept_back: Vec<String>,
    /// Receives what the user should know.
    pub tell: Tell,
}

/// Why a server does not do what it was asked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ClientError {
    /// It cannot be started or reached, has ended, is late, or makes no sense.
    #[error("{0}")]
    Unreachable(String),
    /// It refuses.
    #[error("the server refuses: {0}")]
    Refused(RpcError),
}

/// The tools of a server.
#[derive(Clone, Debug)]
pub struct Listing {
    /// The name that the server gives itself.
    pub server: String,
    /// Its tools, as JSON.
    pub tools: Vec<Box<RawValue>>,
}

/// A server that is connected to when it is first needed, and again when it was lost.
pub struct Client {
    address: Address,
    setup: ClientSetup,
    connection: Mutex<Option<std::sync::Arc<Connection>>>,
    /// What a command said that is no message.
    heard: std::sync::Arc<Heard>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListedPage {
    tools: Vec<Box<RawValue>>,
    #[serde(default)]
    next_cursor: Option<String>,
}

impl Client {
    /// Creates a client that is not connected yet.
    pub fn new(address: Address, setup: ClientSetup) -> Client {
        Client { address, setup, connection: Mutex::default(), heard: std::sync::Arc::default() }
    }

    /// Connects to a server at once, so that one that cannot be reached is noticed.
    pub async fn connect(address: Address, setup: ClientSetup) -> Result<Client, ClientError> {
        let client = Client::new(address, setup);
        client.connection().await?;
        Ok(client)
    }

    /// The address of the server.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Returns the connection, a new one if there is none or the last was lost.
    async fn connection(&self) -> Result<std::sync::Arc<Connection>, ClientError> {
        let mut connection = self.connection.lock().await;
        if let Some(open) = connection.as_ref().filter(|open| open.is_open()) {
            return Ok(open.clone());
        }
        let opening = Connection::open(&self.address, &self.setup, &self.heard);
        let opened = self.in_time(opening).await;
        let opened = std::sync::Arc::new(opened.map_err(|error| self.named(error))?);
        *connection = Some(opened.clone());
        Ok(opened)
    }

    /// Lists all tools, page by page.
    pub async fn list(&self) -> Result<Listing, ClientError> {
        let (mut tools, mut cursor, mut n_bytes) = (Vec::new(), None::<String>, 0);
        for _ in 0..MOST_PAGES {
            let params =
                cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
            let result = self.request("tools/list", None, &params.to_string()).await?;
            n_bytes += result.len();
            let page: ListedPage = serde_json::from_str(&result).map_err(|error| {
                let why = reason_and_place(&error);
                self.named(unreachable(format!("its list of tools cannot be read: {why}")))
            })?;
            let is_stuck = page.next_cursor.is_some() && page.next_cursor == cursor;
            tools.extend(page.tools);
            if tools.len() > MOST_TOOLS || n_bytes > MOST_LISTED || is_stuck {
                break;
            }
            cursor = page.next_cursor.filter(|cursor| !cursor.is_empty());
            if cursor.is_none() {
                let server = self.connection().await?.server_name().to_owned();
                return Ok(Listing { server, tools });
            }
        }
        Err(self.named(unreachable("its list of tools has no end")))
    }

    /// Calls a tool with arguments, an object as JSON.
    pub async fn call(&self, name: &str, arguments: &str) -> Result<Outcome, ClientError> {
        let params = format!(r#"{{"name":{},"arguments":{arguments}}}"#, json!(name));
        let result = self.request("tools/call", Some(name), &params).await?;
        Outcome::read(&result).map_err(|why| self.named(unreachable(why)))
    }

    /// Makes a request; `params` is an object as JSON, and so is the result.
    async fn request(
        &self,
        method: &str,
        name: Option<&str>,
        params: &str,
    ) -> Result<String, ClientError> {
        let connection = self.connection().await?;
        let answered = self.in_time(connection.request(method, name, params)).await;
        if !matches!(answered, Err(ClientError::Unreachable(_))) {
            return answered;
        }
        if connection.was_forgotten() {
            // The server has ended the session without looking at the request.
            *self.connection.lock().await = None;
            let connection = self.connection().await?;
            let again = self.in_time(connection.request(method, name, params)).await;
            return again.map_err(|error| self.named(error));
        }
        answered.map_err(|error| self.named(error))
    }

    async fn in_time<T>(
        &self,
        work: impl Future<Output = Result<T, ClientError>>,
    ) -> Result<T, ClientError> {
        let late = || {
            let seconds = self.setup.timeout.as_secs_f64();
            unreachable(format!("no reply within {seconds} s{}", self.heard.told()))
        };
        tokio::time::timeout(self.setup.timeout, work).await.map_err(|_| late())?
    }

    /// Says which server an error is about.
    fn named(&self, error: ClientError) -> ClientError {
        match error {
            ClientError::Unreachable(why) => {
                unreachable(format!("the MCP server {}: {why}", self.address))
            }
            refused @ ClientError::Refused(_) => refused,
        }
    }
}

pub(crate) fn unreachable(why: impl Into<String>) -> ClientError {
    ClientError::Unreachable(why.into())
}
