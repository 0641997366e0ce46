//! Runs as folders: what is in them, how they are resumed, listed and removed.

mod compare;
mod damaged;
mod evaluations;
mod gates;
mod list;
mod outputs;
mod prune;
mod stage;
mod trials;
#[cfg(unix)]
mod unfinished;
