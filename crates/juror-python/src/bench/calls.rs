//! Calls of tools by agents in Python.

use std::time::Duration;

use juror_judge::{http_client, innermost};
use tokio::runtime::Handle;

/// How long a reply of a tool may take.
const TIMEOUT: Duration = Duration::from_mins(2);

/// The longest reply that is read.
const MOST_BYTES: usize = 64 << 20;

/// What came of a call: the status and the text of the reply, or why there is none.
pub(super) type Reply = Result<(u16, String), String>;

/// Calls tools from any thread.
#[derive(Clone)]
pub(super) struct Caller {
    client: reqwest::Client,
    runtime: Handle,
}

impl Caller {
    /// Calls tools by the threads of a runtime.
    pub(super) fn new(runtime: Handle) -> Result<Caller, String> {
        Ok(Caller { client: http_client()?, runtime })
    }

    /// Calls a tool, and hands the reply over on another thread.
    ///
    /// When the run is over nobody calls any longer: `done` is dropped without a word.
    pub(super) fn call(&self, url: &str, body: String, done: impl FnOnce(Reply) + Send + 'static) {
        let (client, url) = (self.client.clone(), url.to_owned());
        self.runtime.spawn(async move {
            let reply = tokio::time::timeout(TIMEOUT, post(&client, &url, body)).await;
            done(reply.unwrap_or_else(|_| Err(format!("no reply within {} s", TIMEOUT.as_secs()))));
        });
    }
}

async fn post(client: &reqwest::Client, url: &str, body: String) -> Reply {
    let post = client.post(url).header("content-type", "application/json").body(body);
    let mut response = post.send().await.map_err(|error| innermost(&error))?;
    let status = response.status().as_u16();
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| innermost(&error))? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > MOST_BYTES {
            return Err("the reply is too long".into());
        }
    }
    Ok((status, String::from_utf8_lossy(&bytes).into_owned()))
}
