//! Statistics and comparison of small runs.

mod calibration;
mod comparison;
mod planning;
mod statistics;
mod support;
