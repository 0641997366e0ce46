//! Judging answers: whether they solve their query, which of two is better, and the resulting
//! rates.
//!
//! Nothing here asks a model. [`begin`] says what to ask about an answer, and [`go_on`] what
//! follows from a reply; [`Round`] does the same for two answers.

mod asking;
mod file;
mod final_answer;
mod heuristic;
mod pass_rate;
mod preference;
mod status;

pub use asking::{Ask, Basis, GiveUp, Outcome, Progress, begin, begin_with, go_on};
pub use file::{Judgement, read_judgements, write_judgements, write_judgements_csv};
pub use final_answer::{final_answer_rate, labelled_verdicts, read_final_verdict, text_to_judge};
pub use heuristic::guess_status;
pub use pass_rate::{PassRate, Said};
pub use preference::{
    Compared, Contest, Points, Round, Side, Vote, WinRate, first_shown, read_points, write_points,
    write_preferences_csv,
};
pub use status::{Pass, Solvability, Status, majority, passes};
