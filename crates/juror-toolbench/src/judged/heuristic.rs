//! A guess at whether an answer solves its query, for when no model can be asked.

use super::status::Status;

/// Words that mark a refusal.
const REFUSALS: [&str; 3] = ["sorry", "cannot", "can't"];

/// Answers shorter than `SHORT` say too little; answers longer than `LONG` say something.
const SHORT: usize = 20;
const LONG: usize = 50;

/// Guesses a status from the length and words of an answer and from the APIs that were called. It
/// ignores the query, so it is only good for trying things out.
pub fn guess_status(final_answer: &str, has_finish: bool, api_call_score: f64) -> Status {
    let lower = final_answer.to_lowercase();
    let length = final_answer.chars().count();
    let is_blank = final_answer.trim().is_empty();
    if is_blank || length < SHORT || REFUSALS.iter().any(|word| lower.contains(word)) {
        return Status::Unsolved;
    }
    match api_call_score {
        score if has_finish && length > LONG && score >= 0.8 => Status::Solved,
        score if has_finish && score > 0.0 => match score {
            ..0.3 => Status::Unsolved,
            ..0.7 => Status::Unsure,
            _ => Status::Solved,
        },
        _ => Status::Unsure,
    }
}
