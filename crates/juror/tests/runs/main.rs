//! Runs as folders: what is in them, how they are resumed, listed and removed.

mod compare;
mod evaluations;
mod gates;
mod list;
mod prune;
mod stage;
#[cfg(unix)]
mod unfinished;
