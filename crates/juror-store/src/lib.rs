//! Keeps replies, durably and for several processes at once.
//!
//! Replies cost money, so a reply that was kept must survive a crash. A [`ReplyStore`] keeps those of
//! models by the key of their call, a [`ToolStore`] those of tools by API and arguments. [`Replies`]
//! and [`ToolReplies`] are `SQLite` files in a folder. A file that is not ours, damaged or too new is
//! refused and left alone; a file that is deleted while in use is made again. A [`RunStore`] keeps
//! runs with their files. `contract`, for tests, says what holds for every store.
//!
//! ```
//! use juror_store::{Replies, ReplyStore, StoredReply, wait};
//! let folder = tempfile::tempdir().unwrap();
//! let replies = Replies::open(folder.path()).unwrap();
//! let reply = StoredReply {
//!     purpose: "answer_claims".into(),
//!     model: "openai/gpt-4o-mini".into(),
//!     text: "2\t2\t1\twhy".into(),
//!     is_declined: false,
//!     input_tokens: 310,
//!     output_tokens: 12,
//!     kept_at: 1_760_000_000,
//! };
//! wait(replies.keep(&[7; 32], &reply)).unwrap();
//! assert_eq!(wait(replies.get(&[7; 32])).unwrap(), Some(reply));
//! ```
//!
//! You will not find scoring here, nor anything about who asks and why.

#[cfg(feature = "contract")]
pub mod contract;
mod database;
mod replies;
mod runs;
mod store;
mod tool_replies;

pub use database::StoreError;
pub use replies::{Replies, StoredReply, Total};
pub use runs::{HeldRun, RunChange, RunStore};
pub use store::{Key, Pending, ReplyStore, ToolStore, Turn, Which, wait};
pub use tool_replies::{KeptReply, NewReply, Origin, ToolReplies, ToolReply, ToolTotal};
