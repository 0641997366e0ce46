//! Aggregating records in memory.

use std::panic::resume_unwind;
use std::thread;

use juror_read::{read_reference, read_responses};
use juror_score::{Aggregates, Aggregator, Case, Profile, Record, score};

use crate::clock::timed;
use crate::input;

/// Scores the questions of two files once, then times aggregating their records `times` times.
pub(crate) fn run(reference: &str, responses: &str, times: usize) -> anyhow::Result<()> {
    let (reference, responses) = (input::open(reference)?, input::open(responses)?);
    let dataset = read_reference(&reference)?;
    let responses = read_responses(&responses)?;
    let records: Vec<Record> = dataset
        .questions
        .iter()
        .map(|question| Case { question, trajectory: responses.of(question) })
        .map(|case| score(&case, &Profile::V6))
        .collect();
    let (aggregates, seconds) = timed(|| aggregate(&records, times));
    println!("results: {}", records.len() * times);
    println!("templates: {}", aggregates.per_template.len());
    println!("seconds: {seconds:.6}");
    Ok(())
}

/// Aggregates on all cores as an evaluation does: each thread has its own part of the records, and
/// the parts are merged in order.
fn aggregate(records: &[Record<'_>], times: usize) -> Aggregates {
    let n_threads = thread::available_parallelism().map_or(1, usize::from).min(times.max(1));
    let shares =
        (0..n_threads).map(|thread| times * (thread + 1) / n_threads - times * thread / n_threads);
    thread::scope(|scope| {
        let parts: Vec<_> =
            shares.map(|share| scope.spawn(move || collect(records, share))).collect();
        let mut whole = Aggregator::new(&Profile::V6, &[]);
        for part in parts {
            whole.merge(part.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        whole.finish()
    })
}

fn collect(records: &[Record<'_>], times: usize) -> Aggregator {
    let mut aggregator = Aggregator::new(&Profile::V6, &[]);
    for _ in 0..times {
        for record in records {
            aggregator.add(record);
        }
    }
    aggregator
}
