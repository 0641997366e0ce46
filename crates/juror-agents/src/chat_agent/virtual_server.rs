//! Tools behind a virtual tool server.

use std::time::Duration;

use juror_models::{Pending, Secret, innermost};
use serde::Serialize;

use super::agent_tools::Tools;
use crate::environment::{ToolCall, ToolReply};

/// The longest reply to read; agents see far less of it.
const MOST_BYTES: usize = 16 << 20;

/// A server that answers calls at one address.
pub struct VirtualServer {
    client: reqwest::Client,
    setup: VirtualServerSetup,
}

/// The address and settings of a server.
#[derive(Clone, Debug)]
pub struct VirtualServerSetup {
    /// The full address, such as `http://127.0.0.1:8080/virtual`.
    pub url: String,
    /// The key that servers of real tools require; others ignore it.
    pub key: String,
    /// The server's access token, if it requires one.
    pub token: Option<Secret>,
    /// How the server should shorten replies, if it does.
    pub strip: String,
    /// How long to wait for a reply.
    pub timeout: Duration,
}

impl VirtualServerSetup {
    /// Settings for a private server: no key, nothing shortened.
    pub fn new(url: impl Into<String>) -> VirtualServerSetup {
        let (key, strip) = ("EMPTY".to_owned(), String::new());
        let timeout = Duration::from_mins(2);
        VirtualServerSetup { url: url.into(), key, token: None, strip, timeout }
    }
}

#[derive(Serialize)]
struct Request<'a> {
    category: &'a str,
    tool_name: &'a str,
    api_name: &'a str,
    tool_input: &'a str,
    strip: &'a str,
    toolbench_key: &'a str,
}

impl VirtualServer {
    /// Creates a server that is called through `client`.
    pub fn new(setup: VirtualServerSetup, client: reqwest::Client) -> VirtualServer {
        VirtualServer { client, setup }
    }

    async fn post(&self, call: &ToolCall) -> Result<ToolReply, reqwest::Error> {
        let request = Request {
            category: &call.target.category,
            tool_name: &call.target.standard_tool,
            api_name: &call.target.standard_api,
            tool_input: &call.arguments,
            strip: &self.setup.strip,
            toolbench_key: &self.setup.key,
        };
        let mut post = self.client.post(&self.setup.url).header("toolbench_key", &self.setup.key);
        // Models write 5.0 for 5 and vice versa; other servers ignore the header.
        post = post.header("juror-match", "numbers");
        if let Some(token) = &self.setup.token {
            post = post.bearer_auth(token.expose());
        }
        let mut response = post.json(&request).send().await?;
        let status = response.status().as_u16();
        let mut bytes = Vec::new();
        while let Some(piece) = response.chunk().await? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > MOST_BYTES {
                return Ok(ToolReply::Failed("the reply is too long".to_owned()));
            }
        }
        let body = String::from_utf8_lossy(&bytes).into_owned();
        Ok(ToolReply::Answered { status, body })
    }
}

impl Tools for VirtualServer {
    fn call<'a>(&'a self, call: &'a ToolCall) -> Pending<'a, ToolReply> {
        Box::pin(async move {
            match tokio::time::timeout(self.setup.timeout, self.post(call)).await {
                Err(_) => ToolReply::TimedOut,
                Ok(Ok(reply)) => reply,
                // The address may contain a key, so report only the cause.
                Ok(Err(error)) => ToolReply::Failed(innermost(&error)),
            }
        })
    }
}
