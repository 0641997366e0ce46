//! Keeps replies in a file, durably and for several processes at once.
//!
//! ```
//! use juror_store::{Reply, Replies};
//! let folder = tempfile::tempdir().unwrap();
//! let replies = Replies::open(folder.path()).unwrap();
//! let reply = Reply {
//!     purpose: "answer_claims".into(),
//!     model: "openai/gpt-4o-mini".into(),
//!     text: "2\t2\t1\twhy".into(),
//!     is_declined: false,
//!     input_tokens: 310,
//!     output_tokens: 12,
//!     kept_at: 1_760_000_000,
//! };
//! replies.keep(&[7; 32], &reply).unwrap();
//! assert_eq!(replies.get(&[7; 32]).unwrap(), Some(reply));
//! ```
//!
//! [`WholeFile`] is any other file that must not be seen half written, and [`read_plain`] reads
//! what was found in a folder.
//!
//! You will not find scoring here, nor any knowledge of who calls it.

mod database;
mod plain_file;
mod replies;
mod tool_replies;
mod whole_file;

pub use database::StoreError;
pub use plain_file::{read_plain, read_plain_text};
pub use replies::{Replies, Reply, Total};
pub use tool_replies::{KeptReply, NewReply, Origin, ToolReplies, ToolReply, ToolTotal};
pub use whole_file::{WholeFile, collect};
