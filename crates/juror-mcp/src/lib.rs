//! The Model Context Protocol (MCP): serves tools to agents, and calls tools of other servers.
//!
//! | half | entry | transports |
//! |---|---|---|
//! | server | [`answer`] one message, [`serve_lines`] a stream | HTTP requests, standard input and output |
//! | client | [`Client::connect`] | a command's standard streams, streamable HTTP |
//!
//! Both halves speak the revision without a handshake (2026-07-28), and those with one, down to
//! 2024-11-05. Only tools are covered: no resources, prompts, sampling or subscriptions.
//! [decisions/0009-mcp.md](https://github.com/juror-eval/juror/blob/main/docs/decisions/0009-mcp.md)
//! says why this is written here and not a dependency.
//!
//! ```
//! use juror_mcp::{CallResult, Page, RpcError, ToolHost, Transport, answer};
//! use juror_models::Pending;
//! use serde_json::value::RawValue;
//!
//! struct Echo;
//!
//! impl ToolHost for Echo {
//!     fn page<'a>(&'a self, _: Option<&'a str>) -> Pending<'a, Result<Page, RpcError>> {
//!         let tools = r#"[{"name": "echo", "inputSchema": {"type": "object"}}]"#.to_owned();
//!         Box::pin(async { Ok(Page { tools, next: None }) })
//!     }
//!
//!     fn call<'a>(
//!         &'a self,
//!         _: &'a str,
//!         arguments: &'a RawValue,
//!     ) -> Pending<'a, Result<CallResult, RpcError>> {
//!         let text = arguments.get().to_owned();
//!         Box::pin(async { Ok(CallResult { text, is_error: false }) })
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let call = r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
//!     "params": {"name": "echo", "arguments": {"a": 1}}}"#;
//! let reply = answer(&Echo, Transport::Lines, call).await.body.unwrap();
//! assert!(reply.contains(r#""text":"{\"a\": 1}""#));
//! # }
//! ```
//!
//! You will not find the rules of Juror's tools here, nor HTTP routes.

mod address;
mod bridge;
mod client;
#[cfg(unix)]
mod guard;
mod message;
mod server;
mod version;

pub use address::{Address, BadAddress};
pub use bridge::bridge_lines;
pub use client::{Client, ClientError, ClientSetup, Listing, Outcome};
#[cfg(unix)]
pub use guard::Guard;
pub use message::RpcError;
pub use server::{CallResult, Headers, Page, Reply, ToolHost, Transport, answer, serve_lines};
