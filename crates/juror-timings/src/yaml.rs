//! Reading references in YAML.

use juror_read::read_reference;

use crate::clock::timed;
use crate::input;

/// Times reading a reference from its file.
pub(crate) fn run(path: &str) -> anyhow::Result<()> {
    let (n_questions, seconds) = timed(|| count_questions(path));
    println!("questions: {}", n_questions?);
    println!("seconds: {seconds:.6}");
    Ok(())
}

fn count_questions(path: &str) -> anyhow::Result<usize> {
    let document = input::open(path)?;
    Ok(read_reference(&document)?.questions.len())
}
