//! Turns inputs and settings into judged records, in order and on all cores.
//!
//! [`load`] brings a file into memory, [`Settings`] become a [`Plan`], [`evaluate`] judges every
//! question of a dataset and writes results as they are made.
//!
//! You will not find argument parsing or rendering for people here.

mod evaluate;
mod input;
mod mapped;
mod output;
mod plan;
mod settings;

pub use evaluate::{Event, Judged, Outcome, evaluate};
pub use input::{LoadError, load, load_settings};
pub use output::{Output, OutputError};
pub use plan::Plan;
pub use settings::{
    AggregateSettings, AnswerCorrectness, AnswerRelevance, CustomEvaluation, ModelSettings, Models,
    ProfileNumber, Settings, StepSettings, settings_schema,
};
