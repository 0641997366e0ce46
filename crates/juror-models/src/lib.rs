//! Asks language and embedding models.
//!
//! A [`ModelSpec`] says which model to ask and how: a row of [`PROVIDERS`] and the user's settings.
//! Each protocol is a file that translates requests and replies and classifies failures
//! ([`ChatModel`], [`Embedder`]).
//!
//! [`Models`] puts the models of a run behind one queue for all calls. It uses kept replies
//! ([`ReplyCache`]), joins equal calls, limits concurrency and rate, retries temporary failures,
//! counts tokens and cost ([`Prices`]), and keeps every reply before its caller sees it, so that no
//! reply is paid for twice.
//!
//! A call is a [`ChatCall`], a prompt with one reply, or a [`Conversation`] of [`Message`]s in which
//! the model can call functions ([`Callable`]). Its key ([`CallKey`]) is made of everything that
//! decides the reply, and of nothing else.
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
//! assert!(!format!("{key:?}").contains("0123456789"), "a secret is never printed");
//! ```
//!
//! You will not find file access, SQL, settings or judgement here, nor a global client: a process can
//! ask different models at once. This crate depends on no other crate of the project; what a reply
//! means is up to the caller.

mod adapt;
mod anthropic;
mod body;
mod cache;
mod call;
mod call_error;
mod callable;
mod conversation;
mod gemini;
mod http;
mod lanes;
mod message;
mod model;
mod models;
mod openai;
mod pace;
mod patient;
mod prices;
mod prompt;
mod protocol;
mod provider;
mod schema;
mod secret;
mod sse;
mod tally;
mod tape;
mod turns;
mod vectors;

pub use adapt::Tell;
pub use cache::{BuyingTurn, CacheMode, Kept, Recorded, RecordedLine, ReplyCache};
pub use call::{CallKey, ChatCall, KeyMaker};
pub use call_error::{CallError, OutsideReason, Stop};
pub use callable::Callable;
pub use conversation::{Conversation, Turn, TurnReply};
pub use http::{http_client, innermost, server_of};
pub use lanes::Width;
pub use message::{Call, Message, Said};
pub use model::{
    ChatModel, ChatRequest, Embedder, Embeddings, ModelError, ModelReply, Outcome, Pending, Usage,
};
pub use models::{Answer, Limits, Models, ModelsSetup};
pub use patient::PatientEndpoint;
pub use prices::{Price, Prices};
pub use prompt::{Part, Prompt};
pub use provider::{CallDefaults, ModelSpec, PROVIDERS, Protocol, Provider};
pub use schema::Schema;
pub use secret::{
    Secret, Secrets, is_secret_name, is_secret_parameter, looks_like_a_key, says_who_asks,
    secrets_of_address,
};
pub use sse::Events;
pub use tally::{Calls, Cost, Count, Tally};
pub use tape::{SHOWN_MARKER, Tape, TapedCall, TapedReply};
