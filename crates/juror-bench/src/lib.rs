//! Benchmarks of tool-using agents: queries, an agent, virtual tools, and results.
//!
//! [`BenchOptions`] are what the user wants, and resolve to a [`BenchPlan`]. [`Benchmark::open`]
//! opens the tools, the run log and the agent; [`Benchmark::run`] has the agent make an [`Attempt`]
//! at every query, and judges it. The [`Outcome`] holds the [`Results`] to write.

mod agent;
mod agent_choice;
mod answers;
mod attempt;
mod benchmark;
mod catalog_tools;
mod environment;
mod equipped;
mod identity;
mod items;
mod judge;
mod judged;
mod known_replies;
mod merge;
mod naming;
mod plan;
mod pool;
mod queries;
mod query_done;
mod query_hash;
mod recorded;
mod report;
mod run;
mod run_files;
mod run_state;
mod serving;
mod tools;
mod warnings;

pub use agent::{Agent, Chat};
pub use agent_choice::{AgentChoice, ChatChoice};
pub use answers::{AnswerFiles, AnswersError, log_files};
pub use attempt::{Attempt, ServedCall};
pub use benchmark::{BenchError, Benchmark, Outcome, Prepared};
pub use equipped::EquippedAgent;
pub use identity::Provenance;
pub use items::{Count, Item, ItemsError, items, n_judged_queries, n_queries};
pub use judge::{JudgeWord, SolveJudge, Solves};
pub use judged::Judged;
pub use known_replies::{ReplyPlace, has_anything};
pub use merge::{MergeRunsError, MergedRun, merge_runs};
pub use naming::shown_agent;
pub use plan::{AgentOptions, BenchOptions, BenchPlan};
pub use pool::Pool;
pub use queries::{QueriesError, QuerySelection, Selected, Selection, select_queries, tried};
pub use recorded::RecordedAnswers;
pub use report::{BenchTotals, Results};
pub use run::{Tried, in_order_of_trials};
pub use run_state::{RunState, look_at_run};
pub use serving::Serving;
pub use tools::{Tools, open_tools};
