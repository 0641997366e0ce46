//! Disks that fill, networks that fail, clocks that jump, and programs that are killed at every write:
//! nothing is lost, nothing is half-written, and every answer that was given is kept.
//!
//! A selection of the points at which a program can fail is tried, the same each time. `JUROR_FAULTS=all`
//! tries every one: `crates/juror/test-faults`.
#![cfg(target_os = "linux")]

mod bench;
mod clock;
mod disk;
mod eval;
mod http;
mod network;
mod points;
mod postgres;
mod serve;
mod stage;
mod view;
