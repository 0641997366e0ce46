//! `juror ask` and `juror eval --agent` as their users meet them: live agents of every kind.

mod a2a;
mod agents;
mod chat;
mod endpoint;
mod evaluating;
mod openai;
mod python;
mod resuming;
mod stage;
