//! Feeds mutated inputs to everything in Juror that reads, and checks that nothing panics, hangs, or takes more
//! time or memory than the size of an input allows.
//!
//! `fuzz/soak` builds and runs it; `README.md` says how.
//!
//! A supervisor starts worker processes and restarts those that crash. A worker makes inputs for one target
//! after another (`mutate`), from seeds (`targets/seeds`), of words, or in shapes that were once slow to read
//! (`targets/shapes`), feeds them to the target, and measures time and peak memory (`meter`).
//!
//! An input follows from the seed of the run, the target and a number, so that each can be made again:
//! `--target NAME --one NUMBER`. Inputs that fail are saved in a folder; `--target NAME --file FILE` reads one
//! again.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a tool for developers")]

mod meter;
mod mutate;
mod report;
mod supervisor;
mod targets;
mod worker;

use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;

use crate::report::Tally;
use crate::targets::{Kind, Target, position_of, targets};
use crate::worker::Maker;

#[global_allocator]
static MEMORY: meter::Counting = meter::Counting;

/// Feeds mutated inputs to everything in Juror that reads.
#[derive(Clone, Debug, Parser)]
struct Soak {
    /// Inputs for each reader.
    #[arg(long, default_value_t = 10_000)]
    inputs_per_reader: u64,

    /// Inputs for each scanner.
    #[arg(long, default_value_t = 100_000)]
    inputs_per_scanner: u64,

    /// Inputs for each comparison of two ways to the same; as many as for a reader if not given.
    #[arg(long)]
    inputs_per_comparison: Option<u64>,

    /// Goes on for this many hours, however many inputs that takes.
    #[arg(long)]
    hours: Option<f64>,

    /// Seed of the random generator.
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Processes that read.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=256))]
    jobs: u64,

    /// The one target that is fed.
    #[arg(long)]
    target: Option<String>,

    /// Folder for inputs that failed.
    #[arg(long, default_value = "target/fuzz")]
    failures: String,

    /// Reads the input of one number, and says what it cost.
    #[arg(long, requires = "target")]
    one: Option<u64>,

    /// Reads an input from a file, and says what it cost.
    #[arg(long, requires = "target")]
    file: Option<String>,

    /// Lists the targets.
    #[arg(long)]
    list: bool,

    /// Where a worker begins: a round, a target and a number.
    #[arg(long, hide = true, num_args = 3)]
    worker: Option<Vec<u64>>,

    #[arg(long, hide = true)]
    state: Option<String>,

    /// The seconds that a worker has.
    #[arg(long, hide = true)]
    seconds: Option<u64>,
}

impl Soak {
    fn only_target(&self) -> Option<usize> {
        position_of(self.target.as_deref()?)
    }

    /// How many inputs a target gets, all workers together.
    fn inputs_for(&self, target: &Target) -> u64 {
        if self.hours.is_some() || self.seconds.is_some() {
            return u64::MAX;
        }
        let n_inputs = match target.kind {
            Kind::Reader => self.inputs_per_reader,
            Kind::Scanner => self.inputs_per_scanner,
            Kind::Comparison => self.inputs_per_comparison.unwrap_or(self.inputs_per_reader),
        };
        n_inputs / target.divisor
    }

    /// What a worker has to be told.
    fn arguments(&self) -> Vec<String> {
        let mut arguments: Vec<String> = Vec::new();
        let numbers = [
            ("--inputs-per-reader", Some(self.inputs_per_reader)),
            ("--inputs-per-scanner", Some(self.inputs_per_scanner)),
            ("--inputs-per-comparison", self.inputs_per_comparison),
            ("--seed", Some(self.seed)),
            ("--jobs", Some(self.jobs)),
        ];
        for (name, number) in numbers {
            arguments.extend(number.iter().flat_map(|n| [name.to_owned(), n.to_string()]));
        }
        arguments.extend(self.target.iter().flat_map(|name| ["--target".to_owned(), name.clone()]));
        arguments
    }
}

fn main() -> anyhow::Result<ExitCode> {
    let soak = Soak::parse();
    if soak.list {
        for target in targets() {
            println!("{:<11} {}", target.kind.name(), target.name);
        }
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(name), None) = (&soak.target, soak.only_target()) {
        anyhow::bail!("there is no target `{name}`\n  hint: --list lists them");
    }
    if let (Some(from), Some(state)) = (&soak.worker, &soak.state) {
        worker::work(&soak, worker::Place::of(from)?, state.as_ref())?;
        return Ok(ExitCode::SUCCESS);
    }
    if let (Some(target), true) = (soak.only_target(), soak.one.is_some() || soak.file.is_some()) {
        return read_one(&soak, target);
    }
    let n_findings = supervisor::supervise(&soak)?;
    Ok(if n_findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn read_one(soak: &Soak, target: usize) -> anyhow::Result<ExitCode> {
    let input = match &soak.file {
        Some(file) => std::fs::read(file).with_context(|| file.clone())?,
        None => Maker::new(soak.seed).input(soak.one.unwrap_or_default(), target),
    };
    let folder = tempfile::tempdir()?;
    let mut tally = Tally::default();
    worker::listen_for_panics();
    let found = worker::try_one(target, &input, folder.path(), &mut tally, 0);
    println!("{} bytes: {}", input.len(), tally.line(target));
    Ok(match found {
        None => ExitCode::SUCCESS,
        Some(kind) => {
            println!("{kind:?}");
            ExitCode::FAILURE
        }
    })
}
