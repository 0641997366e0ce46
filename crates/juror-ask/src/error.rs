//! Why an agent cannot be asked, or asking did not finish.

use std::fmt;
use std::io;
use std::path::PathBuf;

use juror_bench::BenchError;
use juror_document::{Notice, option, phrase};
use juror_runs::RunLogError;

/// Why an agent cannot be asked, or asking did not finish.
#[derive(Debug)]
#[non_exhaustive]
pub enum AskError {
    /// The agent or its tools cannot be made ready.
    Agent(BenchError),
    /// The file of responses cannot be read or written.
    Log(RunLogError),
    /// A response cannot be written.
    Write(io::Error),
    /// All questions are answered already, and the responses must not pass for new ones.
    Finished {
        /// The file of responses.
        file: PathBuf,
    },
    /// The responses are those of another agent, or to other questions.
    Changed {
        /// The file of responses.
        file: PathBuf,
        /// The differences.
        differences: Vec<String>,
    },
    /// The file has lines, and nothing beside it says that Juror wrote it.
    NotOurs {
        /// The file.
        file: PathBuf,
    },
}

impl AskError {
    /// Returns whether something external failed, as opposed to the request being wrong.
    pub fn is_outside(&self) -> bool {
        match self {
            AskError::Agent(error) => error.is_outside(),
            AskError::Write(_) => true,
            AskError::Log(error) => matches!(error, RunLogError::Io { .. }) || error.is_outside(),
            AskError::Finished { .. } | AskError::Changed { .. } | AskError::NotOurs { .. } => {
                false
            }
        }
    }

    /// Returns the problem and its hint.
    pub fn notice(&self) -> Notice {
        match self {
            AskError::Agent(error) => error.to_string().into(),
            AskError::Log(error) => error.problem().into(),
            AskError::Write(error) => format!("cannot write responses: {error}").into(),
            AskError::Finished { file } => {
                Notice::new(format!("{}: all questions are answered", file.display())).hint(
                    phrase![
                        option("fresh"),
                        " asks them again, ",
                        option("retry-errors"),
                        " asks again what ended with an error; or choose another file with ",
                        option("output")
                    ],
                )
            }
            AskError::Changed { file, differences } => Notice::new(format!(
                "{}: these responses are of another agent, or to other questions: {} changed",
                file.display(),
                differences.join(", ")
            ))
            .hint(phrase![
                "choose another file with ",
                option("output"),
                ", replace the responses with ",
                option("fresh"),
                ", or resume anyway with ",
                option("resume-changed")
            ]),
            AskError::NotOurs { file } => {
                Notice::new(format!("{}: juror ask did not write this file", file.display()))
                    .hint(phrase!["choose another file with ", option("output")])
            }
        }
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.notice().fmt(f)
    }
}

impl std::error::Error for AskError {}

impl From<BenchError> for AskError {
    fn from(error: BenchError) -> AskError {
        AskError::Agent(error)
    }
}

impl From<RunLogError> for AskError {
    fn from(error: RunLogError) -> AskError {
        AskError::Log(error)
    }
}
