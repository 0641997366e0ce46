//! Statistics and comparison of small runs.

mod calibration;
mod comparison;
mod statistics;
mod support;
