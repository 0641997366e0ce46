//! Turns inputs and settings into judged records, in order and on all cores.
//!
//! [`load`] brings a file into memory, [`Settings`] become a [`Plan`], an [`Evaluation`] judges every
//! question of a dataset and writes results as they are made. [`bench`](mod@bench) has agents answer queries
//! with tools that Juror serves, and judges what they did.
//!
//! You will not find argument parsing or rendering for people here.

mod address;
mod answers;
mod asking;
pub mod bench;
mod dotenv;
mod environment;
mod evaluation;
mod event;
mod fingerprint;
mod hidden;
mod interrupt;
mod known_replies;
mod manifest;
mod models;
mod output;
mod places;
mod plan;
mod reply_store;
mod run_log;
mod settings;
mod setup_error;
mod tool_settings;
mod tools;

pub use answers::{AnswerFiles, AnswersError, log_files};
pub use asking::{Asking, Watch, ask_each, ticks};
pub use environment::Environment;
pub use evaluation::{
    Evaluation, EvaluationError, Inputs, JudgedLine, Judgements, Judging, KnownJudgement,
    ModelFailures, Outcome, QuestionSummary, RecordWriter, ResultFiles, Sink, Unreadable, Warning,
};
pub use event::{Event, Listener, QueryDone};
pub use interrupt::{Interrupt, StopSignals};
pub use known_replies::{DEFAULT_TOOL_STORE, ReplyPlace};
pub use manifest::{Manifest, Resume, RunKind};
pub use models::{
    AskOptions, DEFAULT_CACHE, Judges, chat_identity, check_judges, correctness,
    final_answer_judge, judges, may_ask, models_for, models_if_any, no_model, pass_rate_judge,
    preference_judge,
};
pub use output::{Output, OutputError};
pub use places::{Place, Places, UnclearSet};
pub use plan::{Plan, UnknownMetric};
pub use reply_store::{kept_of, reply_of};
pub use run_log::{Entry, RunLog, RunLogError, RunState, look_at_run};
pub use settings::{
    AggregateSettings, AnswerCorrectness, AnswerRelevance, CacheRule, CustomEvaluation,
    JudgeSettings, ModelSettings, ModelsSettings, ProfileNumber, Settings, StepSettings, Switch,
    reserved_key, settings_schema,
};
pub use setup_error::SetupError;
pub use tool_settings::{
    AcceptWord, ArgumentsWord, FormWord, MissWord, NumbersWord, PublicConfig, RealSettings,
    SimulatorSettings, SourceWord, ToolsSettings,
};
pub use tools::{Tools, open_tools};
