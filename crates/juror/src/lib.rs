//! The `juror` program: parses arguments, runs a command, and ends with a published exit code.
//!
//! Each command is a module of `cli`: it turns its arguments into the options of [`juror_run`],
//! shows the events of the run, and prints a summary. What commands share, from groups of options to
//! exit codes, is in [`juror_args`].
//!
//! It is a library so that two programs can share it: the binary of this crate, and the command of
//! the Python package. You will not find rules of judgement here.

mod cli;

use std::ffi::OsString;

use juror_args::{exit, output, progress};

/// Returns the command line of the program: all commands, options and their help. Documents and
/// pages of the manual are made from it.
#[must_use]
pub fn command() -> clap::Command {
    cli::command()
}

/// Runs the command that the arguments select, and returns the exit code for the process.
///
/// This takes over the process: it handles interrupts, the second of which ends the process, and
/// reports panics as bugs. `program` is the command that starts the same program again, such as its
/// path.
#[must_use]
pub fn run(arguments: Vec<OsString>, program: &[OsString]) -> u8 {
    exit::report_bugs();
    let code = exit::code_of(std::panic::catch_unwind(|| cli::run(arguments, program)));
    output::flush();
    code
}
