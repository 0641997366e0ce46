//! What an agent did: what was said, the tree of its tries, and the search that made it.
//!
//! A [`Search`] becomes an answer that is judged (`Answer::from(&search)`), and the file that the
//! public benchmark has for it ([`RawAnswer`]), so that its readers can be used on it.

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
