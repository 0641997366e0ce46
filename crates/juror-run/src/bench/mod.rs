//! Benchmarks of tool-using agents: queries, an agent, virtual tools, and what comes of them.

mod agent;
mod attempt;
mod catalog_tools;
mod environment;
mod identity;
mod judge;
mod judged;
mod line;
mod naming;
mod pool;
mod queries;
mod recorded;
mod report;
mod run;
mod serving;
mod warnings;

pub use agent::{Agent, Chat};
pub use attempt::{Attempt, ServedCall};
pub use environment::{agent_environment, agent_headers, kept_back};
pub use identity::{Provenance, Reach};
pub use judge::{JudgeWord, SolveJudge, Solves};
pub use judged::Judged;
pub use line::query_line;
pub use naming::{Manner, plain, shown_agent};
pub use pool::Pool;
pub use queries::{QueriesError, Selected, Selection, Wanted, select_queries};
pub use recorded::RecordedAnswers;
pub use report::Results;
pub use run::{Bench, Told, run};
pub use serving::{Serving, UNUSED_TOKEN, ignored_by_server, without_tools};
