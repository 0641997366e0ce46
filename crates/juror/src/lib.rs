//! The `juror` program: reads arguments, runs a command, ends with a published exit code.
//!
//! It is a library so that it can be brought along: by the binary of this crate, and by the Python
//! package, whose command it is too.

mod cli;
mod exit;
mod output;
mod progress;

use std::ffi::OsString;

/// Runs the command that the arguments ask for, and returns the exit code for the process.
///
/// The process is taken for the program's own: interrupts are listened to, a second one ends it, and
/// what panics is told as a bug. `program` is how the same program is begun anew, such as its path.
#[must_use]
pub fn run(arguments: Vec<OsString>, program: &[OsString]) -> u8 {
    exit::report_bugs();
    let code = exit::code_of(std::panic::catch_unwind(|| cli::run(arguments, program)));
    output::flush();
    code
}
