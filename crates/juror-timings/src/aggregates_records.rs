//! Aggregating records in memory.

use juror_score::read::{read_reference, read_responses};
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

fn aggregate(records: &[Record<'_>], times: usize) -> Aggregates {
    let mut aggregator = Aggregator::new(&Profile::V6, &[]);
    for _ in 0..times {
        for record in records {
            aggregator.add(record);
        }
    }
    aggregator.finish()
}
