//! The `juror` program: reads arguments, runs a command, ends with a published exit code.

mod cli;
mod environment;
mod exit;
mod progress;
mod talk;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    exit::report_bugs();
    exit::code_of(std::panic::catch_unwind(cli::run))
}
