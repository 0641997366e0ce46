//! What an agent did: what was said, the tree of its tries, and the file that keeps both.
//!
//! The files are those of the public benchmark, so that its readers can be used on them.

mod answer_file;
mod message_file;
mod node;
mod prompts;
mod record;
mod train;

pub use answer_file::{ChainAnswer, ChainArgs, RawAnswer, Spent, TreeAnswer, TreeArgs};
pub use message_file::Nulls;
pub use node::{INVENTED, Kind, Node, NodeId, Tree};
pub use prompts::Prompts;

#[cfg(test)]
mod tests;
