//! Reports of one HTML file, from runs and files of results.
//!
//! A run that is stored needs nothing else to be shown: [`RunPages`] reads runs or files of results,
//! and makes the page of one run ([`RunPages::of_run`]) or of a comparison
//! ([`RunPages::of_comparison`]). `juror-report` draws it; this crate collects what it is drawn from:
//! the numbers, the text of each result, the calls of agents, and what the manifest says about the
//! run.
//!
//! You will not find HTML, scoring or printing here.

mod about;
mod answers;
mod run_pages;

pub use run_pages::RunPages;
