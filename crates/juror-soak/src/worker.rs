//! A process that reads one input after another, and measures them.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::Soak;
use crate::meter::{Measurement, metered};
use crate::mutate;
use crate::readers::{READERS, reader_of};
use crate::report::{Failure, FailureKind, Tally};
use crate::seeds::Seeds;
use juror_testing::Random;

/// How often a worker reports its progress.
const EVERY: Duration = Duration::from_secs(1);

/// An input that takes longer than this has hung.
const HUNG: Duration = Duration::from_mins(2);

/// Makes inputs.
pub(crate) struct Maker {
    seed: u64,
    seeds: Vec<Seeds>,
}

impl Maker {
    pub(crate) fn new(seed: u64) -> Maker {
        Maker { seed, seeds: READERS.iter().map(|reader| (reader.seeds)()).collect() }
    }

    /// Makes an input from its number: the same seed gives the same inputs.
    pub(crate) fn input(&self, index: u64, reader: usize) -> Vec<u8> {
        let mut random = Random::of_input(self.seed, index);
        mutate::input(&mut random, &self.seeds[reader], READERS[reader].shapes)
    }
}

/// Reads every input of a job, starting with `from`, and reports to standard output.
pub(crate) fn work(soak: &Soak, from: u64, state: &Path) -> anyhow::Result<()> {
    let maker = Maker::new(soak.seed);
    let folder = tempfile::tempdir()?;
    let state = File::create(state)?;
    let mut tallies = vec![Tally::default(); READERS.len()];
    watch();
    std::panic::set_hook(Box::new(|_| ()));
    let mut told = Instant::now();
    let mut index = from;
    while index < soak.inputs {
        let reader = soak.only_reader().unwrap_or_else(|| reader_of(index));
        let input = maker.input(index, reader);
        // After a crash, this says which input it was.
        state.write_all_at(&index.to_le_bytes(), 0)?;
        BEATS.fetch_add(1, Relaxed);
        let finding = try_one(reader, &input, folder.path(), &mut tallies[reader], index);
        if let Some(kind) = finding {
            tell(&format!("{}\n", Failure { kind, reader, index }))?;
        }
        index += soak.jobs;
        if told.elapsed() > EVERY || index >= soak.inputs {
            told = Instant::now();
            let lines = tallies.iter().enumerate().filter(|(_, tally)| tally.n_inputs > 0);
            let lines: Vec<String> = lines.map(|(n, tally)| tally.line(n)).collect();
            tell(&format!("{}\n", lines.join("\n")))?;
        }
    }
    Ok(())
}

fn tell(lines: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(lines.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Reads one input and measures it.
pub(crate) fn try_one(
    reader: usize,
    input: &[u8],
    folder: &Path,
    tally: &mut Tally,
    index: u64,
) -> Option<FailureKind> {
    let read = READERS[reader].read;
    let (outcome, cost) = metered(|| catch_unwind(AssertUnwindSafe(|| read(input, folder))));
    tally.add(input.len(), cost, index);
    let Measurement { nanoseconds, bytes } = cost;
    if let Err(panic) = outcome {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no words");
        return Some(FailureKind::Panic(text.lines().next().unwrap_or_default().to_owned()));
    }
    // A microsecond per byte, and what any input may take.
    let most = READERS[reader].milliseconds * 1_000_000 + 1_000 * input.len() as u64;
    if nanoseconds > most {
        return Some(FailureKind::Slow(cost));
    }
    let most = READERS[reader].constant + 20 * input.len();
    (bytes > most).then_some(FailureKind::Heavy(cost))
}

static BEATS: AtomicU64 = AtomicU64::new(0);

/// Ends the process when an input hangs.
fn watch() {
    std::thread::spawn(|| {
        let mut last = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let beats = BEATS.load(Relaxed);
            if beats != last.0 {
                last = (beats, Instant::now());
            } else if last.1.elapsed() > HUNG {
                std::process::exit(HUNG_CODE);
            }
        }
    });
}

/// The exit code after an input has hung.
pub(crate) const HUNG_CODE: i32 = 9;
