//! The `juror` program once more, for the tests of this crate: Cargo tells tests where the binaries
//! of their own crate are, and of no other.

use std::env::{args_os, current_exe};
use std::process::ExitCode;

fn main() -> ExitCode {
    let program = current_exe().unwrap_or_else(|_| "juror".into()).into_os_string();
    ExitCode::from(juror::run(args_os().skip(1).collect(), &[program]))
}
