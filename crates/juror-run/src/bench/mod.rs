//! Benchmarks of tool-using agents: queries, an agent, virtual tools, and what comes of them.

mod agent;
mod journal;
mod pool;
mod queries;
mod recorded;
mod run;
mod score;
mod serving;

pub use agent::{Agent, Chat};
pub use journal::{Attempted, Journal, JournalError, ServedCall};
pub use pool::{Offers, Open};
pub use queries::{QueriesError, Selected, Wanted, select_queries};
pub use recorded::RecordedAnswers;
pub use run::{Bench, Told, run};
pub use score::{answer, answer_text, call_score};
pub use serving::Serving;
