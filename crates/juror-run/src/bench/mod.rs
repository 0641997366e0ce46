//! Benchmarks of tool-using agents: queries, an agent, virtual tools, and what comes of them.

mod agent;
mod catalog_tools;
mod environment;
mod identity;
mod journal;
mod judge;
mod judged;
mod naming;
mod pool;
mod queries;
mod query_done;
mod recorded;
mod report;
mod run;
mod run_folder;
mod serving;

pub use agent::{Agent, Chat};
pub use environment::{agent_environment, agent_headers, kept_back};
pub use identity::{Provenance, Reach};
pub use journal::{
    Attempted, Journal, JournalError, ServedCall, check as check_run, read_attempts,
};
pub use judge::{JudgeWord, SolveJudge, Verdict};
pub use judged::Judged;
pub(crate) use judged::answer_of;
pub use naming::{Manner, plain, shown_agent};
pub use pool::Pool;
pub use queries::{QueriesError, Selected, Selection, Wanted, select_queries};
pub use recorded::RecordedAnswers;
pub use report::Results;
pub use run::{Bench, Tried, run};
pub use run_folder::{Chosen, PassedOver, choose_folder};
pub use serving::{Serving, ignored_by_server, unused_token, without_tools};
