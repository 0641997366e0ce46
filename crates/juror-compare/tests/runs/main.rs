//! Statistics and comparison of small runs.

mod calibration;
mod comparison;
mod gates;
mod planning;
mod statistics;
mod support;
