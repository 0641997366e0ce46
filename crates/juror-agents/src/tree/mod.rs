//! What an agent did: the conversation, the tree of its tries, and the search that made it.
//!
//! A [`Search`] turns into an answer to judge (`Answer::from(&search)`) and into the file that the
//! public benchmark writes for it ([`RawAnswer`]), so that the benchmark's own tools can read it.

mod answer;
mod answer_file;
mod message_file;
mod node;
mod prompts;
mod record;
mod search;
mod train;

pub use answer_file::{ChainAnswer, ChainArgs, RawAnswer, Spent, TreeAnswer, TreeArgs};
pub use message_file::Nulls;
pub use node::{INVENTED, Kind, Node, NodeId, Tree};
pub use prompts::Prompts;
pub use search::Search;

#[cfg(test)]
mod tests;
