//! Feeds mutated inputs to every parser of input from outside, and checks that none panics, crashes,
//! or takes more time or memory than the input's size allows.
//!
//! ```sh
//! cargo run --profile soak -p juror-soak -- --inputs 1000000
//! ```
//!
//! A supervisor starts worker processes and restarts those that crash. A worker makes inputs from the
//! recorded cases (`seeds`), by mutation (`mutate`) or in shapes that were once slow to read (`shapes`),
//! feeds them to the parsers in `readers`, and measures CPU time and peak memory (`meter`).
//!
//! An input follows from the seed of the run and its number, so that each can be made again:
//! `--reader NAME --one NUMBER`. Inputs that fail are saved in a folder; `--reader NAME --file FILE`
//! reads one again.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for developers")]

mod meter;
mod mutate;
mod readers;
mod report;
mod seeds;
mod shapes;
mod supervisor;
mod worker;

use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;

use crate::readers::READERS;
use crate::report::Tally;
use crate::worker::Maker;

#[global_allocator]
static MEMORY: meter::Counting = meter::Counting;

/// Feeds mutated inputs to every reader of Juror.
#[derive(Parser)]
struct Soak {
    /// How many inputs are read, by all readers together.
    #[arg(long, default_value_t = 1_000_000)]
    inputs: u64,

    /// What the inputs are made from, besides their seeds.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Processes that read.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=256))]
    jobs: u64,

    /// The one reader that is fed.
    #[arg(long)]
    reader: Option<String>,

    /// Folder for inputs that did what none may.
    #[arg(long, default_value = "target/soak")]
    failures: String,

    /// Reads the input of one number, and says what it cost.
    #[arg(long, requires = "reader")]
    one: Option<u64>,

    /// Reads an input from a file, and says what it cost.
    #[arg(long, requires = "reader")]
    file: Option<String>,

    /// Lists the readers.
    #[arg(long)]
    list: bool,

    #[arg(long, hide = true)]
    worker: Option<String>,

    #[arg(long, hide = true)]
    state: Option<String>,
}

impl Soak {
    fn only_reader(&self) -> Option<usize> {
        let name = self.reader.as_deref()?;
        READERS.iter().position(|reader| reader.name == name)
    }

    /// What a worker has to be told.
    fn arguments(&self) -> Vec<String> {
        let mut arguments: Vec<String> = Vec::new();
        for (name, value) in
            [("--inputs", self.inputs), ("--seed", self.seed), ("--jobs", self.jobs)]
        {
            arguments.extend([name.to_owned(), value.to_string()]);
        }
        if let Some(reader) = &self.reader {
            arguments.extend(["--reader".to_owned(), reader.clone()]);
        }
        arguments
    }
}

fn main() -> anyhow::Result<ExitCode> {
    let soak = Soak::parse();
    if soak.list {
        for reader in READERS {
            println!("{}", reader.name);
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(name), None) = (&soak.reader, soak.only_reader()) {
        anyhow::bail!("there is no reader `{name}`\n  hint: --list lists them");
    }
    if let (Some(worker), Some(state)) = (&soak.worker, &soak.state) {
        worker::work(&soak, worker.parse()?, state.as_ref())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(reader), true) = (soak.only_reader(), soak.one.is_some() || soak.file.is_some()) {
        return read_one(&soak, reader);
    }
    let n_findings = supervisor::supervise(&soak)?;
    Ok(if n_findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read_one(soak: &Soak, reader: usize) -> anyhow::Result<ExitCode> {
    let input = match &soak.file {
        Some(file) => std::fs::read(file).with_context(|| file.clone())?,
        None => Maker::new(soak.seed).input(soak.one.unwrap_or_default(), reader),
    };
    let folder = tempfile::tempdir()?;
    let mut tally = Tally::default();
    let found = worker::try_one(reader, &input, folder.path(), &mut tally, 0);
    println!("{} bytes: {}", input.len(), tally.line(reader));
    Ok(match found {
        None => ExitCode::SUCCESS,
        Some(kind) => {
            println!("{kind:?}");
            ExitCode::FAILURE
        }
    })
}
