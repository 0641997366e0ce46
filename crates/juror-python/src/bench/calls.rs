//! Tool calls by agents in Python.

use std::time::Duration;

use juror_models::{Secret, http_client, innermost};
use tokio::runtime::Handle;

/// The time limit for a tool's reply.
const TIMEOUT: Duration = Duration::from_mins(2);

/// The maximum size of a reply, in bytes.
const MOST_BYTES: usize = 64 << 20;

/// The outcome of a call: the status and text of the reply, or why there is none.
pub(super) type Reply = Result<(u16, String), String>;

/// Calls tools from any thread.
#[derive(Clone)]
pub(super) struct Caller {
    client: reqwest::Client,
    token: Option<Secret>,
    runtime: Handle,
}

impl Caller {
    /// Creates a caller that uses the threads of a runtime, and the token that the tool server
    /// requires.
    pub(super) fn new(runtime: Handle, token: Option<Secret>) -> Result<Caller, String> {
        Ok(Caller { client: http_client()?, token, runtime })
    }

    /// Calls a tool, and passes the reply to `done` on another thread.
    ///
    /// If the run ends first, `done` is dropped without being called.
    pub(super) fn call(&self, url: &str, body: String, done: impl FnOnce(Reply) + Send + 'static) {
        let mut post = self.client.post(url).header("content-type", "application/json").body(body);
        // Frameworks may write 5 as 5.0, and the other way round.
        post = post.header("juror-match", "numbers");
        if let Some(token) = &self.token {
            post = post.bearer_auth(token.expose());
        }
        self.runtime.spawn(async move {
            let reply = tokio::time::timeout(TIMEOUT, send(post)).await;
            done(reply.unwrap_or_else(|_| Err(format!("no reply within {} s", TIMEOUT.as_secs()))));
        });
    }
}

async fn send(post: reqwest::RequestBuilder) -> Reply {
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
