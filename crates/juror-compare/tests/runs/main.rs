//! Statistics and comparison of small runs.

mod comparison;
mod statistics;
mod support;
