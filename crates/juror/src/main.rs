//! The binary of the `juror` program.

use std::env::{args_os, current_exe};
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let program = current_exe().unwrap_or_else(|_| "juror".into()).into_os_string();
    ExitCode::from(juror::run(args_os().skip(1).collect(), &[program]))
}
