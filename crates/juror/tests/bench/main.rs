//! `juror bench` as its users meet it: an agent in a process of its own, files, exit codes.

#![expect(clippy::print_stderr, reason = "tests tell what they skipped")]

mod agents;
#[cfg(unix)]
mod bounds;
mod elsewhere;
mod forging;
mod many;
mod reports;
mod roles;
mod runs;
mod said;
#[cfg(unix)]
mod shards;
mod stage;
mod trials;
