//! The least time an evaluation can take: reading and parsing its inputs, and writing its outputs.

use std::fs::File;
use std::io::Write;

use anyhow::Context;
use juror_document::Document;
use juror_read::{read_reference, read_responses};

use crate::clock::{processor_seconds, timed};
use crate::input;

/// Times reading and parsing both files, each on a thread of its own like the program, and writing
/// their texts. Results repeat most of the input, so this is about as much as they contain.
pub(crate) fn run(reference: &str, responses: &str, out: &str) -> anyhow::Result<()> {
    let (done, seconds) = timed(|| read_and_write(reference, responses, out));
    let (n_questions, n_bytes) = done?;
    println!("questions: {n_questions}");
    println!("bytes: {n_bytes}");
    println!("seconds: {seconds:.6}");
    if let Some(seconds) = processor_seconds() {
        println!("processor seconds: {seconds:.2}");
    }
    Ok(())
}

fn read_and_write(reference: &str, responses: &str, out: &str) -> anyhow::Result<(usize, usize)> {
    std::thread::scope(|scope| {
        let responses = scope.spawn(|| read_responses_of(responses));
        let reference = input::open(reference)?;
        let dataset = read_reference(&reference)?;
        let responses = responses.join().map_err(|_| anyhow::anyhow!("a reader panicked"))??;
        let n_bytes = write(&[&reference, &responses], out)?;
        Ok((dataset.questions.len(), n_bytes))
    })
}

fn read_responses_of(path: &str) -> anyhow::Result<Document> {
    let document = input::open(path)?;
    std::hint::black_box(read_responses(&document)?);
    Ok(document)
}

fn write(documents: &[&Document], path: &str) -> anyhow::Result<usize> {
    let problem = || format!("`{path}` cannot be written");
    let mut file = File::create(path).with_context(problem)?;
    for document in documents {
        file.write_all(document.json().as_bytes()).with_context(problem)?;
    }
    Ok(documents.iter().map(|document| document.json().len()).sum())
}
