//! Asks language and embedding models, and judges nothing.
//!
//! A [`ModelSpec`] says which model is asked and how: a row of [`PROVIDERS`] and what a user set.
//! Each protocol has a file that turns a question into its provider's form and tells failures apart
//! ([`ChatModel`], [`Embedder`]). [`Models`] puts a model behind one queue for all calls of a run.
//! The queue takes replies that are known ([`ReplyCache`]), joins calls that are alike, bounds how
//! many are under way, paces them, retries what may pass, counts tokens and [`Prices`], and keeps
//! every reply before anybody reads it, so that none is paid for twice.
//!
//! What is asked is a [`ChatCall`], a prompt with one reply, or a [`Conversation`] of [`Message`]s
//! in which functions ([`Callable`]) can be called. The key of a call ([`CallKey`]) is made of
//! everything that decides its reply, and of nothing else.
//!
//! ```
//! use juror_models::{Call, Message, Prices, Said, Secret, Usage};
//!
//! let call = Call { id: "c1".into(), name: "weather".into(), arguments: "{}".into() };
//! let said = Message::Assistant(Said { calls: vec![call], ..Said::default() });
//! assert_eq!(said.role(), "assistant");
//!
//! let price = Prices::new([].into()).of("openai/gpt-4o-mini").expect("a published price");
//! assert!(price.of(Usage { input_tokens: 1_000_000, output_tokens: 0 }) > 0.0);
//!
//! let key = Secret::new("sk-0123456789");
//! assert!(!format!("{key:?}").contains("0123456789"), "a secret is never shown");
//! ```
//!
//! You will not find files, SQL or settings here, nor a global client: the same process can ask
//! different models at once. Nor does it know another crate of the project: what replies mean is for
//! those who ask.

mod adapt;
mod anthropic;
mod body;
mod cache;
mod call;
mod callable;
mod conversation;
mod gemini;
mod http;
mod lanes;
mod message;
mod model;
mod openai;
mod pace;
mod prices;
mod prompt;
mod provider;
mod queue;
mod schema;
mod secret;
mod sse;
mod tally;
mod turns;
mod vectors;

pub use adapt::Tell;
pub use cache::{CacheMode, Kept, Recorded, RecordedLine, ReplyCache};
pub use call::{CallKey, ChatCall, KeyMaker};
pub use callable::Callable;
pub use conversation::{Conversation, Turn, TurnReply};
pub use http::{http_client, innermost, server_of};
pub use lanes::Width;
pub use message::{Call, Message, Said};
pub use model::{
    ChatModel, ChatRequest, Embedder, Embeddings, ModelError, ModelReply, Outcome, Pending, Usage,
};
pub use prices::{Price, Prices};
pub use prompt::{Part, Prompt};
pub use provider::{Manners, ModelSpec, PROVIDERS, Protocol, Provider};
pub use queue::{Answer, CallError, Limits, Models, ModelsSetup, OutsideReason, Stop};
pub use schema::Schema;
pub use secret::{
    Secret, Secrets, is_secret_name, is_secret_parameter, looks_like_a_key, says_who_asks,
};
pub use tally::{Calls, Cost, Count, Tally};
