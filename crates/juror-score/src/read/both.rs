//! A reference and the responses to it, read side by side.

use std::thread;

use juror_document::{Document, Problems};

use super::reference::{Dataset, read_reference};
use super::responses::{Parts, Responses, read_responses};

/// Reads a reference and responses on at most so many threads.
pub fn read_both<'a>(
    reference: &'a Document,
    responses: &'a Document,
    n_threads: usize,
) -> (Result<Dataset<'a>, Problems>, Result<Responses<'a>, Problems>) {
    if n_threads < 2 {
        return (read_reference(reference), read_responses(responses));
    }
    let Some(parts) = Parts::of(responses) else {
        return thread::scope(|scope| {
            let answers = scope.spawn(|| read_responses(responses));
            let dataset = read_reference(reference);
            (dataset, answers.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
    };
    let dataset = thread::scope(|scope| {
        for _ in 1..n_threads.min(parts.len()) {
            scope.spawn(|| parts.read());
        }
        // This thread begins with the reference, which cannot be shared out. In the end all wait for
        // it, so it is not slowed down by more helpers than there are threads to use.
        let dataset = read_reference(reference);
        parts.read();
        dataset
    });
    (dataset, parts.into_responses())
}
