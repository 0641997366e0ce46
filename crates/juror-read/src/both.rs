//! Reads a reference and the responses to it in parallel.

use std::thread;

use juror_document::{Document, Problems};

use crate::reference::{Dataset, read_reference};
use crate::responses::{RepeatedIds, ResponseParts, Responses, read_responses_as};

/// How a reference and the responses to it are read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// How many threads may be used; 0 and 1 are one.
    pub n_threads: usize,
    /// What several responses with the same id are.
    pub repeated_ids: RepeatedIds,
    /// Files of lines of at least this many bytes are not kept in memory; `None` keeps all files.
    /// Only [`read_inputs`](crate::read_inputs) goes by it.
    pub kept_below: Option<usize>,
}

/// Reads a reference and responses on several threads.
pub fn read_both<'a>(
    reference: &'a Document,
    responses: &'a Document,
    options: ReadOptions,
) -> (Result<Dataset<'a>, Problems>, Result<Responses<'a>, Problems>) {
    let ReadOptions { n_threads, repeated_ids, .. } = options;
    if n_threads < 2 {
        return (read_reference(reference), read_responses_as(responses, repeated_ids));
    }
    let Some(parts) = ResponseParts::of(responses, repeated_ids) else {
        return thread::scope(|scope| {
            let answers = scope.spawn(|| read_responses_as(responses, repeated_ids));
            let dataset = read_reference(reference);
            (dataset, answers.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
        });
    };
    let dataset = thread::scope(|scope| {
        for _ in 1..n_threads.min(parts.len()) {
            scope.spawn(|| parts.read());
        }
        // This thread starts with the reference, which cannot be divided, and then helps with the
        // responses. Everything waits for the reference in the end, so no more threads are started
        // than the caller allows.
        let dataset = read_reference(reference);
        parts.read();
        dataset
    });
    (dataset, parts.into_responses())
}
