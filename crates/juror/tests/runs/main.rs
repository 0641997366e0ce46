//! Runs as folders: what is in them, how they are resumed, listed and removed.

mod evaluations;
mod list;
mod prune;
mod stage;
