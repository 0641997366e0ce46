//! Reports of one file in a real browser, opened from files as people open them, and the pages of the
//! viewer.
//!
//! The reports that tests make stay in the `tmp` folder beside the build, to be looked at.

mod accessible;
mod calls;
mod hostile;
mod hostile_texts;
mod kept;
mod keys;
mod large;
mod links;
mod quiet;
mod reports;
mod screens;
mod stage;
mod table;
mod tasks;
mod viewer;
mod without_scripts;
