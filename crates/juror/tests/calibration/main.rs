//! Labels of people, calibrated judges, and plans: what the commands print, write and refuse.
//!
//! `INSTA_UPDATE=always cargo test -p juror --test calibration` accepts new snapshots.

mod applied;
mod calibrating;
mod labelling;
mod planning;
mod stage;
