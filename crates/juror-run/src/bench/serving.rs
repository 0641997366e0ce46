//! Where agents call tools, and which calls were served.

use std::sync::Arc;

use juror_serve::Server;
use serde::Deserialize;

use super::agent::on_one_line;
use super::journal::ServedCall;

/// A server of virtual tools: in this process, or elsewhere.
pub struct Serving {
    /// Its address, such as `http://127.0.0.1:8080`.
    pub address: String,
    /// What this run is called there.
    pub run: String,
    /// The server, if it is in this process.
    pub server: Option<Arc<Server>>,
    /// Asks it, if it is not.
    pub client: reqwest::Client,
}

#[derive(Deserialize)]
struct Calls {
    calls: Vec<ServedCall>,
}

impl Serving {
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
        if let Some(server) = &self.server {
            let calls = server.runs().calls(&self.run, &name(set, id));
            return Ok(calls.into_iter().map(served).collect());
        }
        let url = format!("{}/calls", self.query_url(set, id));
        let response = self.client.get(url).send().await.map_err(|error| error.to_string())?;
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
