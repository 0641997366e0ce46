//! Calls of tools by agents in Python.

use std::time::Duration;

use juror_models::{Secret, http_client, innermost};
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
    token: Option<Secret>,
    runtime: Handle,
}

impl Caller {
    /// Calls tools by the threads of a runtime, with the token that their server asks for.
    pub(super) fn new(runtime: Handle, token: Option<Secret>) -> Result<Caller, String> {
        Ok(Caller { client: http_client()?, token, runtime })
    }

    /// Calls a tool, and hands the reply over on another thread.
    ///
    /// When the run is over, `done` is dropped without being called.
    pub(super) fn call(&self, url: &str, body: String, done: impl FnOnce(Reply) + Send + 'static) {
        let mut post = self.client.post(url).header("content-type", "application/json").body(body);
        // Frameworks write 5.0 for 5 and the other way round.
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
