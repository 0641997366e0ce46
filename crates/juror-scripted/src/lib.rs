//! A model server that follows a script.
//!
//! It speaks the protocols of model providers on loopback, so that clients are tested and timed as
//! they will run: with sockets, status codes and streams, but without keys, costs or chance. A
//! [`Script`] says how long replies take, what they say, and what goes wrong. A [`Server`] follows it
//! and records each request as [`Seen`].
//!
//! | provider | path |
//! |---|---|
//! | `OpenAI` | `/v1/chat/completions`, `/v1/embeddings`, both without `/v1` too |
//! | Azure | `/openai/deployments/{model}/chat/completions?api-version=…`, `…/embeddings?…` |
//! | Anthropic | `/v1/messages` |
//! | Gemini | `/v1beta/models/{model}:generateContent`, `…:streamGenerateContent` |
//! | | `/v1beta/models/{model}:batchEmbedContents` |
//!
//! Each request has a purpose: the name of the schema it asks for, else of the tool it forces, else
//! `functions` if it offers any, else `text`; for embeddings, `embeddings`. Its reply is looked up in
//! `faults`, then `matching`, then `replies`. If none is found, the reply is automatic: plausible, and
//! the same for the same prompt.
//!
//! ```
//! use juror_scripted::{Script, Server};
//!
//! let script: Script = serde_json::from_str(r#"{
//!     "latency_ms": 20,
//!     "key": "sk-right",
//!     "replies": {
//!         "answer_claims": [
//!             {"json": {"reference_claims": 2, "actual_claims": 3, "matching_claims": 1}},
//!             {"refusal": "I cannot judge this"},
//!             "hang"
//!         ],
//!         "functions": [{"calls": {"calls": [{"name": "get_x", "arguments": {"id": 1}}]}}]
//!     },
//!     "matching": [{"contains": "Oslo", "reply": {"text": "2\t2\t2\tboth say Oslo"}}],
//!     "embeddings": {"Where is Oslo?": [0.6, 0.8]},
//!     "usage": {"prompt_tokens": 100, "completion_tokens": 10},
//!     "faults": [{"calls": [3], "reply": {"status": {"status": 429, "retry_after": "1"}}}],
//!     "refuses": ["json_schema"]
//! }"#)?;
//! let server = Server::start(script);
//! assert!(server.address().starts_with("http://127.0.0.1:"));
//! assert!(server.seen().is_empty());
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! You will not find anything here that the program needs.

mod answer;
mod anthropic;
mod ask;
mod automatic;
mod connection;
mod conversation;
mod delivery;
mod embedding;
mod endpoint;
mod gemini;
mod handler;
mod marker;
mod openai;
mod pieces;
mod play;
mod problem;
mod schema;
mod script;
mod seen;
mod server;
mod stage;
mod traffic;

pub use script::{Fault, FunctionCall, Matching, Reply, Script, Usage};
pub use seen::{Protocol, RequestKind, Seen};
pub use server::Server;
