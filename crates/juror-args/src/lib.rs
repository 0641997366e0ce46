//! What commands share: options that several of them take, and how they speak and end.
//!
//! A group of options is a struct that commands flatten into their own, in a file of its name: the
//! [rules of judgement](RuleArgs), [models](model_args), [tools](tool_args), [agents](agent_args),
//! [traces](trace_args), [gates](gate), [reports](page). A group knows what its options mean: it
//! returns the options, settings or plans of the crates that do the work, and refuses what contradicts
//! itself, with a hint. So an option has one name, one help and one variable of the environment
//! wherever it is taken.
//!
//! Only [`output`] prints, data to standard output and everything else to standard error;
//! [`progress`] shows the events of a run; and [`exit`] maps every outcome to a published exit code.
//!
//! ```
//! use clap::Parser;
//! use juror_args::{RuleArgs, check_outputs, count};
//! use juror_score::Profile;
//!
//! #[derive(Parser)]
//! struct ShowRules {
//!     #[command(flatten)]
//!     rules: RuleArgs,
//! }
//!
//! let args = ShowRules::parse_from(["show-rules", "--profile", "6"]);
//! assert!(args.rules.plan()?.profile.scores_like(&Profile::V6));
//!
//! let (input, output) = ("Cargo.toml".to_owned(), "./Cargo.toml".to_owned());
//! let refused = check_outputs([&input], [&output], false).unwrap_err();
//! assert_eq!(refused.to_string(), "./Cargo.toml: the output is also an input");
//! assert_eq!(count(2, "question"), "2 questions");
//! # Ok::<(), anyhow::Error>(())
//! ```
//!
//! You will not find commands here, nor rules of judgement.

pub mod agent_args;
pub mod environment;
pub mod exit;
pub mod gate;
pub mod junit;
pub mod live_args;
pub mod model_args;
pub mod output;
mod outputs;
pub mod page;
pub mod progress;
mod response_args;
mod rule_args;
pub mod tool_args;
pub mod trace_args;

use std::fmt::Display;

pub use outputs::{check_is_lines, check_outputs, is_stream};
pub use response_args::ResponseArgs;
pub use rule_args::RuleArgs;

/// Parses `1`, `true`, `yes`, `on` and their opposites, for flags set by the environment.
pub fn boolish() -> clap::builder::BoolishValueParser {
    clap::builder::BoolishValueParser::new()
}

/// `1 question`, `2 questions`.
pub fn count<N: Copy + Display + PartialEq + From<u8>>(n: N, noun: &str) -> String {
    if n == N::from(1) { format!("1 {noun}") } else { format!("{n} {noun}s") }
}
