//! What an agent did: what was said, the tree of its tries, and the file that keeps both.
//!
//! The files are those of the public benchmark, so that its readers can be used on them.

mod message;
mod prompts;
mod raw;
mod record;
mod train;
mod tree;
mod written;

pub use message::{Call, INVENTED, Message, Nulls, Said};
pub use prompts::Prompts;
pub use raw::{ChainAnswer, ChainArgs, RawAnswer, Spent, TreeAnswer, TreeArgs};
pub use tree::{Kind, Node, NodeId, Tree};
pub use written::{WrittenCalls, written_calls};

#[cfg(test)]
mod tests;
