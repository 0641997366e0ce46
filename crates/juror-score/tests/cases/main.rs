//! Cases as users write them: read from text, then matched, scored, explained and aligned.

mod alignment;
mod args;
mod build;
mod explain;
mod match_steps;
mod scorecard;
mod stage;
