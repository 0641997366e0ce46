//! Runs evaluations: turns inputs and settings into judged records, in order and on all cores.
//!
//! [`Settings`] are what users write in `juror.yaml`; [`Settings::plan`] resolves them to a
//! [`Plan`], in which every choice is made. An [`Evaluation`] reads a reference and recorded
//! responses, asks the [`Judges`] about every question, scores it, and passes the records to a
//! [`Sink`], such as [`ResultFiles`].
//!
//! Benchmarks of agents, in `juror-bench`, use the same settings, models and events. Both kinds of
//! run report every [`Event`] as it happens; they end in good order when an [`Interrupt`] is set; and
//! they append each finished item to a [`RunLog`](juror_runs::RunLog), so that a run that was cut off
//! resumes where it stopped. A [`Manifest`](juror_runs::Manifest) holds the identity of the run,
//! everything that affects its outcome, and thus decides which log it may resume.
//!
//! ```
//! use juror_document::{Document, Format};
//! use juror_run::{Evaluation, Inputs, Interrupt, Judging, Plan, ResultFiles};
//! use juror_score::Profile;
//!
//! let json = |name: &str, text: &str| Document::new(name, text.into(), Format::Json).unwrap();
//! let question = r#"{"id": "q1", "question_text": "?", "reference_steps": []}"#;
//! let reference = format!(r#"[{{"template_id": "t", "questions": [{question}]}}]"#);
//! let (reference, responses) = (json("reference.json", &reference), json("responses.json", "{}"));
//!
//! let plan = Plan::new(Profile::V5);
//! let inputs = Inputs { reference: &reference, responses: &responses };
//! let evaluation = Evaluation::open(&plan, inputs).unwrap();
//! let (judging, files) = (Judging::default(), ResultFiles::default());
//! let outcome = evaluation.run(judging, files, &Interrupt::default(), |_event| {}).unwrap();
//! assert_eq!(outcome.questions.len(), 1);
//! ```
//!
//! You will not find argument parsing, progress display or the rules of scoring here.

mod asking;
mod calibration;
mod environment;
mod evaluation;
mod event;
mod interrupt;
mod models;
mod output;
mod partials;
mod plan;
mod reference_index;
mod reply_store;
mod roles;
mod row;
mod settings;
mod setup_error;
mod tool_settings;

pub use asking::{Asking, Watch, ask_each, ticks};
pub use calibration::{Calibrating, judge_id, load_calibrations, read_calibration};
pub use environment::Environment;
pub use evaluation::{
    Evaluation, EvaluationError, Inputs, JudgedLine, Judgements, Judging, KnownJudgement,
    ModelFailures, Outcome, PartialFile, QuestionSummary, RecordWriter, ReportOptions, ResultFiles,
    RunOptions, Sink, SubjectIdentity, Totals, Unreadable, Warning,
};
pub use event::{Event, Listener, QueryDone, warner};
pub use interrupt::{Interrupt, StopSignals};
pub use juror_postgres::{StoreUse, is_database, open_reply_store, open_tool_store, shown_place};
pub use models::{
    AskOptions, DEFAULT_CACHE, Judges, agent_identity, check_judges, correctness,
    final_answer_judge, from_environment, judges, may_ask, model_identity, models_for, no_model,
    own_prices, pass_rate_judge, preference_judge, resolve_model,
};
pub use output::{Output, OutputError};
pub use partials::{PartialsError, merge_partials, missing};
pub use plan::{Plan, UnknownMetric};
pub use reference_index::{IndexedQuestion, ReferenceIndex};
pub use reply_store::{kept_of, reply_of};
pub use roles::{BenchModels, Needed, bench_models};
pub use row::{Asked, ReadRow, Reread, Row};
pub use settings::{
    AggregateSettings, AnswerCorrectness, AnswerOverlap, AnswerRelevance, BoundWord, CacheRule,
    CustomEvaluation, GateSettings, InconclusiveWord, JudgeSettings, LevelWord, LimitWord,
    MarginWord, ModelSettings, ModelsSettings, ProfileNumber, RunsSettings, Settings, StepSettings,
    Switch, reserved_key, rules_name, scoring_rules, settings_schema,
};
pub use setup_error::SetupError;
pub use tool_settings::{
    AcceptWord, ArgumentsWord, DEFAULT_TOOL_STORE, FormWord, MissWord, NumbersWord, PublicConfig,
    RealSettings, SimulatorSettings, SourceWord, ToolsSettings,
};
