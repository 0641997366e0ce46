//! Passes messages of a stream on to a server behind a URL.

use std::io;
use std::sync::Arc;

use juror_models::{http_client, innermost};
use reqwest::Url;
use reqwest::header::{ACCEPT, CONTENT_TYPE};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use crate::message::{INTERNAL_ERROR, Message, RpcError};
use crate::server::{next_line, write_line};
use crate::version::META_VERSION;

#[derive(Default, Deserialize)]
struct Parameters {
    #[serde(default)]
    name: Option<String>,
    #[serde(default, rename = "_meta")]
    meta: serde_json::Value,
}

/// Passes the messages of a stream on to a server that answers with JSON, such as Juror's, until
/// the stream ends.
pub async fn bridge_lines(
    url: Url,
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> io::Result<()> {
    let client = http_client().map_err(io::Error::other)?;
    let output = Arc::new(Mutex::new(output));
    let mut input = BufReader::new(input);
    let mut tasks = JoinSet::new();
    while let Some(line) = next_line(&mut input).await? {
        let (client, url, output) = (client.clone(), url.clone(), output.clone());
        tasks.spawn(async move {
            if let Some(reply) = pass_on(&client, url, &line).await {
                // A client that has left needs no reply.
                let _ = write_line(&mut *output.lock().await, &reply).await;
            }
        });
        while tasks.try_join_next().is_some() {}
    }
    while tasks.join_next().await.is_some() {}
    Ok(())
}

/// Returns the reply to a message, if there is one.
async fn pass_on(client: &reqwest::Client, url: Url, line: &str) -> Option<String> {
    let mut request = client.post(url);
    request = request.header(CONTENT_TYPE, "application/json");
    request = request.header(ACCEPT, "application/json, text/event-stream");
    let message = Message::read(line).ok();
    for (name, value) in message.iter().flat_map(headers_of) {
        request = request.header(name, value);
    }
    let replied = match request.body(line.to_owned()).send().await {
        Ok(response) => response.text().await.map_err(|error| innermost(&error)),
        Err(error) => Err(innermost(&error)),
    };
    let id = message.and_then(|message| message.id);
    match replied {
        Ok(text) if Message::read(&text).is_ok_and(|reply| reply.id.is_some()) => Some(text),
        Ok(text) => id.map(|id| unanswered(id, &format!("The server says: {text}"))),
        Err(why) => id.map(|id| unanswered(id, &format!("The server cannot be reached: {why}"))),
    }
}

fn unanswered(id: &RawValue, why: &str) -> String {
    let why: String = why.chars().take(400).collect();
    RpcError::new(INTERNAL_ERROR, why).reply(Some(id))
}

/// The headers that repeat parts of a message without a handshake.
fn headers_of(message: &Message<'_>) -> Vec<(&'static str, String)> {
    let parameters = message.params.and_then(|params| serde_json::from_str(params.get()).ok());
    let Parameters { name, meta } = parameters.unwrap_or_default();
    let Some(version) = meta[META_VERSION].as_str() else { return Vec::new() };
    let mut headers = vec![("mcp-protocol-version", version.to_owned())];
    headers.extend(message.method.as_ref().map(|method| ("mcp-method", method.to_string())));
    headers.extend(name.map(|name| ("mcp-name", crate::client::encoded(&name))));
    headers
}
