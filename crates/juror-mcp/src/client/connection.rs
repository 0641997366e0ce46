//! A connection to a server, and the revision that both speak.

use std::sync::Arc;

use juror_json::reason_and_place;
use serde::Deserialize;
use serde_json::{Value, json};

use super::http::HttpServer;
use super::process::{Heard, Process};
use super::{ClientError, ClientSetup};
use crate::address::Address;
use crate::version::{META_CAPABILITIES, META_CLIENT, META_VERSION, STATELESS, WITH_HANDSHAKE};

/// A connection to a server.
pub(super) struct Connection {
    transport: Transport,
    /// The revision that a handshake agreed on; `None` without a handshake.
    agreed: Option<String>,
    server_name: String,
}

enum Transport {
    Process(Box<Process>),
    Http(HttpServer),
}

/// What a request over HTTP repeats in headers.
#[derive(Clone, Copy)]
pub(super) struct RequestHead<'h> {
    pub(super) method: &'h str,
    pub(super) name: Option<&'h str>,
    /// The revision, once it is known.
    pub(super) version: Option<&'h str>,
    /// Whether there was no handshake, so that headers repeat the method.
    pub(super) is_stateless: bool,
}

/// What a server says about itself.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Introduction {
    #[serde(default)]
    protocol_version: Option<String>,
    #[serde(default)]
    server_info: Option<Value>,
    #[serde(default)]
    supported_versions: Vec<String>,
}

impl Connection {
    /// Connects. A handshake comes first: servers that know none refuse it at once, while old
    /// servers may never answer anything that comes before it.
    pub(super) async fn open(
        address: &Address,
        setup: &ClientSetup,
        heard: &Arc<Heard>,
    ) -> Result<Connection, ClientError> {
        let transport = match address {
            Address::Command(words) => {
                Transport::Process(Box::new(Process::start(words, setup, heard.clone())?))
            }
            Address::Http(url) => Transport::Http(HttpServer::new(url, setup)?),
        };
        let server_name = address.short_name();
        let mut connection = Connection { transport, agreed: None, server_name };
        match connection.shake_hands().await {
            Ok(()) => Ok(connection),
            Err(first) => match connection.discover().await {
                Ok(()) => Ok(connection),
                // The handshake is what most servers know: its failure says more.
                Err(_) => Err(first),
            },
        }
    }

    async fn shake_hands(&mut self) -> Result<(), ClientError> {
        let params = json!({"protocolVersion": WITH_HANDSHAKE[0], "capabilities": {},
            "clientInfo": client_info()});
        let head =
            RequestHead { method: "initialize", name: None, version: None, is_stateless: false };
        let result = self.send(head, &params.to_string()).await?;
        let introduced = read_introduction(&result)?;
        self.name_server(&introduced);
        let version = introduced.protocol_version.unwrap_or_else(|| WITH_HANDSHAKE[0].to_owned());
        self.agreed = Some(version);
        self.notify("notifications/initialized").await
    }

    async fn discover(&mut self) -> Result<(), ClientError> {
        self.agreed = None;
        let result = self.request("server/discover", None, "{}").await?;
        let introduced = read_introduction(&result)?;
        if !introduced.supported_versions.iter().any(|version| version == STATELESS) {
            let why = format!("it speaks none of the revisions that Juror knows ({STATELESS})");
            return Err(super::unreachable(why));
        }
        self.name_server(&introduced);
        Ok(())
    }

    fn name_server(&mut self, introduced: &Introduction) {
        let name = introduced.server_info.as_ref().and_then(|info| info["name"].as_str());
        if let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) {
            self.server_name = name.chars().take(100).collect();
        }
    }

    /// The name that the server gives itself.
    pub(super) fn server_name(&self) -> &str {
        &self.server_name
    }

    /// Whether the server is still there, as far as is known.
    pub(super) fn is_open(&self) -> bool {
        match &self.transport {
            Transport::Process(process) => process.is_open(),
            Transport::Http(_) => true,
        }
    }

    /// Whether the server has forgotten the session.
    pub(super) fn was_forgotten(&self) -> bool {
        matches!(&self.transport, Transport::Http(server) if server.was_forgotten())
    }

    /// Makes a request; `params` is an object as JSON.
    pub(super) async fn request(
        &self,
        method: &str,
        name: Option<&str>,
        params: &str,
    ) -> Result<String, ClientError> {
        let is_stateless = self.agreed.is_none();
        let version = Some(self.agreed.as_deref().unwrap_or(STATELESS));
        let head = RequestHead { method, name, version, is_stateless };
        if is_stateless {
            return self.send(head, &with_meta(params)).await;
        }
        self.send(head, params).await
    }

    async fn send(&self, head: RequestHead<'_>, params: &str) -> Result<String, ClientError> {
        match &self.transport {
            Transport::Process(process) => process.request(head.method, params).await,
            Transport::Http(server) => server.request(head, params).await,
        }
    }

    async fn notify(&self, method: &str) -> Result<(), ClientError> {
        match &self.transport {
            Transport::Process(process) => process.notify(method, "{}").await,
            Transport::Http(server) => {
                let version = self.agreed.as_deref();
                server
                    .notify(RequestHead { method, name: None, version, is_stateless: false })
                    .await
            }
        }
    }
}

fn read_introduction(result: &str) -> Result<Introduction, ClientError> {
    serde_json::from_str(result).map_err(|error| {
        let why = reason_and_place(&error);
        super::unreachable(format!("its introduction cannot be read: {why}"))
    })
}

fn client_info() -> Value {
    json!({"name": "juror", "version": env!("CARGO_PKG_VERSION")})
}

/// Adds to parameters what a request without a handshake says.
fn with_meta(params: &str) -> String {
    let meta = json!({META_VERSION: STATELESS, META_CAPABILITIES: {}, META_CLIENT: client_info()});
    match params.trim().strip_suffix('}') {
        Some("{") => format!("{{\"_meta\":{meta}}}"),
        Some(open) => format!("{open},\"_meta\":{meta}}}"),
        None => params.to_owned(),
    }
}
