//! Aggregating results read from text.

use juror_document::{Document, Format, Problems};
use juror_read::read_results;
use juror_score::{Aggregator, Profile};

use crate::clock::timed;
use crate::input;

/// Times reading results from memory and aggregating them.
pub(crate) fn run(path: &str) -> anyhow::Result<()> {
    let bytes = input::read(path)?;
    let format = Format::from_name(path).unwrap_or(Format::Json);
    let (n_results, seconds) = timed(|| aggregate(path, bytes, format));
    println!("results: {}", n_results?);
    println!("seconds: {seconds:.6}");
    Ok(())
}

fn aggregate(path: &str, bytes: Vec<u8>, format: Format) -> Result<usize, Problems> {
    let document = Document::new(path, bytes, format)?;
    let mut aggregator = Aggregator::new(&Profile::V6, &[]);
    let (n_results, _) = read_results(&document, &mut aggregator)?;
    std::hint::black_box(aggregator.finish());
    Ok(n_results)
}
