//! Where agents call tools, and which calls were served.

use std::io;
use std::sync::Arc;

use juror_judge::http_client;
use juror_serve::{Event, Limits, Listing, Server, ServerSetup, StatusCode};
use serde::Deserialize;
use tokio::net::TcpListener;

use super::agent::on_one_line;
use super::journal::ServedCall;
use crate::tools::{TellTrouble, Tools};

/// A server of virtual tools: in this process, or elsewhere.
pub struct Serving {
    /// Such as `http://127.0.0.1:8080`.
    address: String,
    /// What this run is called there.
    run: String,
    place: Place,
}

enum Place {
    /// In this process.
    Here(Arc<Server>),
    /// Elsewhere, and asked by this client.
    Elsewhere(reqwest::Client),
}

#[derive(Deserialize)]
struct Calls {
    calls: Vec<ServedCall>,
}

impl Serving {
    /// A server of tools in this process, on a free port; `run` is what the run is called there.
    pub async fn start(tools: &Tools, run: String, tell: TellTrouble) -> io::Result<Serving> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("http://{}", listener.local_addr()?);
        let log = Arc::new(move |event: &Event<'_>| {
            if let Event::Trouble(text) = event {
                tell(text);
            }
        });
        let server = Server::new(ServerSetup {
            tools: tools.virtual_tools.clone(),
            unknown: if tools.replays { StatusCode::NOT_FOUND } else { StatusCode::OK },
            listing: Listing::new(tools.documentation.clone()),
            token: None,
            limits: Limits::default(),
            log,
        });
        tokio::spawn(server.clone().serve(listener, std::future::pending()));
        Ok(Serving { address, run, place: Place::Here(server) })
    }

    /// A server that runs already.
    pub fn elsewhere(address: &str, run: String) -> Result<Serving, String> {
        let address = address.trim_end_matches('/').to_owned();
        Ok(Serving { address, run, place: Place::Elsewhere(http_client()?) })
    }

    /// Where all APIs are listed.
    pub fn tools_url(&self) -> String {
        format!("{}/tools", self.address)
    }

    /// Where an agent calls tools for a query.
    pub fn virtual_url(&self, set: &str, id: &str) -> String {
        format!("{}/virtual", self.query_url(set, id))
    }

    fn query_url(&self, set: &str, id: &str) -> String {
        format!("{}/runs/{}/{}", self.address, escaped(&self.run), escaped(&name(set, id)))
    }

    /// The calls that were served for a query.
    pub async fn calls(&self, set: &str, id: &str) -> Result<Vec<ServedCall>, String> {
        let client = match &self.place {
            Place::Here(server) => {
                let calls = server.runs().calls(&self.run, &name(set, id));
                return Ok(calls.into_iter().map(served).collect());
            }
            Place::Elsewhere(client) => client,
        };
        let url = format!("{}/calls", self.query_url(set, id));
        let response = client.get(url).send().await.map_err(|error| error.to_string())?;
        let bytes = response.bytes().await.map_err(|error| error.to_string())?;
        let calls: Calls = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
        Ok(calls.calls)
    }
}

fn served(call: juror_serve::RecordedCall) -> ServedCall {
    ServedCall {
        category: call.category,
        tool_name: call.tool_name,
        api_name: call.api_name,
        tool_input: on_one_line(call.tool_input.get()),
        reply: on_one_line(&String::from_utf8_lossy(&call.reply)),
        source: call.source.to_owned(),
    }
}

/// Queries of several sets may have the same id.
fn name(set: &str, id: &str) -> String {
    format!("{set}.{id}")
}

fn escaped(part: &str) -> String {
    part.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = std::fmt::Write::write_fmt(&mut out, format_args!("%{byte:02X}"));
        }
        out
    })
}
