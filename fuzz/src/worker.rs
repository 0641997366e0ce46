//! A process that reads one input after another, and measures them.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::Soak;
use crate::meter::{Measurement, metered, processor_time};
use crate::mutate;
use crate::report::{Failure, FailureKind, Tally};
use crate::targets::{Kind, Seeds, Target, targets};
use juror_testing::Random;

/// How often a worker reports its progress.
const EVERY: Duration = Duration::from_secs(1);

/// An input that works for longer than this has hung.
const HUNG: Duration = Duration::from_secs(10);

/// How many seconds an input may wait without working.
const MOST_LOOKS: u32 = 30;

/// Makes inputs.
pub(crate) struct Maker {
    seed: u64,
    seeds: Vec<Seeds>,
}

impl Maker {
    pub(crate) fn new(seed: u64) -> Maker {
        Maker { seed, seeds: targets().iter().map(|target| (target.seeds)()).collect() }
    }

    /// Makes an input from its number: the same seed gives the same inputs.
    pub(crate) fn input(&self, index: u64, target: usize) -> Vec<u8> {
        let mut random = Random::of_input(self.seed, index);
        let (own, seeds) = (&targets()[target], &self.seeds[target]);
        match own.kind {
            Kind::Scanner => mutate::small(&mut random, seeds, own.words),
            Kind::Reader | Kind::Comparison => mutate::input(&mut random, seeds, own.shapes),
        }
    }
}

/// How far a worker is. Targets take turns, so that a run that is cut short has fed them all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    round: u64,
    pub(crate) target: usize,
    pub(crate) index: u64,
}

impl Place {
    pub(crate) fn first(job: u64) -> Place {
        Place { index: job, ..Place::default() }
    }

    /// Reads what [`Place::numbers`] gives.
    pub(crate) fn of(numbers: &[u64]) -> anyhow::Result<Place> {
        let &[round, target, index] = numbers else { anyhow::bail!("a place has three numbers") };
        Ok(Place { round, target: usize::try_from(target)?, index })
    }

    pub(crate) fn numbers(self) -> [u64; 3] {
        [self.round, self.target as u64, self.index]
    }

    /// Reads what a worker wrote down before it crashed.
    pub(crate) fn read(state: &Path) -> anyhow::Result<Place> {
        let bytes = std::fs::read(state)?;
        let numbers = bytes.as_chunks::<8>().0.iter().map(|own| u64::from_le_bytes(*own));
        Place::of(&numbers.collect::<Vec<u64>>()).context("a worker's state")
    }

    /// The next input of a job.
    pub(crate) fn after(self, jobs: u64) -> Place {
        Place { index: self.index + jobs, ..self }
    }

    /// Where the round of this target ends.
    fn end(self, own: &Target, n_inputs: u64) -> u64 {
        (self.round + 1).saturating_mul(own.kind.inputs_a_round() / own.divisor).min(n_inputs)
    }
}

/// Reads every input of a job from a place on, and reports to standard output.
pub(crate) fn work(soak: &Soak, from: Place, state: &Path) -> anyhow::Result<()> {
    let mut worker = Worker {
        soak,
        maker: Maker::new(soak.seed),
        folder: tempfile::tempdir()?,
        state: File::create(state)?,
        tallies: vec![Tally::default(); targets().len()],
        told: Instant::now(),
        until: soak.seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds)),
    };
    watch();
    listen_for_panics();
    worker.run(from)?;
    worker.report()
}

struct Worker<'s> {
    soak: &'s Soak,
    maker: Maker,
    folder: tempfile::TempDir,
    state: File,
    tallies: Vec<Tally>,
    told: Instant,
    until: Option<Instant>,
}

impl Worker<'_> {
    fn run(&mut self, from: Place) -> anyhow::Result<()> {
        let job = from.index % self.soak.jobs;
        let mut nexts: Vec<u64> = targets()
            .iter()
            .enumerate()
            .map(|(n, own)| {
                // Earlier targets are done with this round, later ones with the last.
                let rounds = from.round + u64::from(n < from.target);
                let begin = rounds * (own.kind.inputs_a_round() / own.divisor);
                begin + (job + self.soak.jobs - begin % self.soak.jobs) % self.soak.jobs
            })
            .collect();
        nexts[from.target] = from.index;
        let mut place = from;
        loop {
            let mut is_done = true;
            for (target, next) in nexts.iter_mut().enumerate().skip(place.target) {
                let own = &targets()[target];
                let n_inputs = self.soak.inputs_for(own);
                if self.soak.only_target().is_some_and(|only| only != target) {
                    continue;
                }
                place = Place { target, index: *next, ..place };
                let end = place.end(own, n_inputs);
                if !self.feed(&mut place, end)? {
                    return Ok(());
                }
                *next = place.index;
                is_done &= place.index >= n_inputs;
            }
            if is_done {
                return Ok(());
            }
            place = Place { round: place.round + 1, target: 0, index: nexts[0] };
        }
    }

    /// Feeds inputs to one target. Returns false when the time is up.
    fn feed(&mut self, place: &mut Place, end: u64) -> anyhow::Result<bool> {
        let began = Instant::now();
        let target = place.target;
        let mut is_in_time = true;
        while place.index < end && is_in_time {
            let input = self.maker.input(place.index, target);
            // After a crash, this says which input it was.
            let numbers = place.numbers().map(u64::to_le_bytes);
            self.state.write_all_at(numbers.as_flattened(), 0)?;
            BEATS.fetch_add(1, Relaxed);
            let tally = &mut self.tallies[target];
            if let Some(kind) = try_one(target, &input, self.folder.path(), tally, place.index) {
                tell(&format!("{}\n", Failure { kind, target, index: place.index }))?;
            }
            *place = place.after(self.soak.jobs);
            if self.told.elapsed() > EVERY {
                self.report()?;
                is_in_time = self.until.is_none_or(|until| Instant::now() < until);
            }
        }
        self.tallies[target].took(began.elapsed());
        Ok(is_in_time)
    }

    fn report(&mut self) -> anyhow::Result<()> {
        self.told = Instant::now();
        let lines = self.tallies.iter().enumerate().filter(|(_, tally)| tally.n_inputs > 0);
        let lines: Vec<String> = lines.map(|(n, tally)| tally.line(n)).collect();
        tell(&format!("{}\n", lines.join("\n")))
    }
}

fn tell(lines: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(lines.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Reads one input and measures it.
pub(crate) fn try_one(
    target: usize,
    input: &[u8],
    folder: &Path,
    tally: &mut Tally,
    index: u64,
) -> Option<FailureKind> {
    let own = &targets()[target];
    let read = || catch_unwind(AssertUnwindSafe(|| (own.read)(input, folder)));
    let n_panics = PANICS.load(Relaxed);
    let (outcome, mut cost) = metered(read);
    // Servers go on after a panic of one of their threads.
    if outcome.is_err() || PANICS.load(Relaxed) != n_panics {
        tally.add(input.len(), cost, index);
        return Some(FailureKind::Panic(last_panic().replace('\n', " ")));
    }
    // A microsecond per byte, and what any input may take.
    let most = own.milliseconds * 1_000_000 + 1_000 * input.len() as u64;
    if cost.nanoseconds > most {
        // Others may have had the processor in the meantime: only its own time counts.
        let began = processor_time();
        let _ = read();
        cost.nanoseconds = processor_time() - began;
    }
    tally.add(input.len(), cost, index);
    let Measurement { nanoseconds, bytes } = cost;
    if nanoseconds > most {
        return Some(FailureKind::Slow(cost));
    }
    let most = own.constant + 20 * input.len();
    (bytes > most).then_some(FailureKind::Heavy(cost))
}

static PANICS: AtomicU64 = AtomicU64::new(0);
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());

/// Counts panics of any thread, but those of the YAML parser that are expected and caught.
pub(crate) fn listen_for_panics() {
    std::panic::set_hook(Box::new(|panic: &PanicHookInfo<'_>| {
        if !juror_document::is_caught() {
            *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
            PANICS.fetch_add(1, Relaxed);
        }
    }));
}

fn last_panic() -> String {
    LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

static BEATS: AtomicU64 = AtomicU64::new(0);

/// Ends the process when an input hangs: it works or waits for longer than any input may.
fn watch() {
    std::thread::spawn(|| {
        let mut last = (0, processor_time(), 0);
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let beats = BEATS.load(Relaxed);
            if beats != last.0 {
                last = (beats, processor_time(), 0);
                continue;
            }
            // Looks are counted, because the process may have been stopped in between.
            last.2 += 1;
            let worked = Duration::from_nanos(processor_time() - last.1);
            if worked > HUNG || last.2 > MOST_LOOKS {
                std::process::exit(HUNG_CODE);
            }
        }
    });
}

/// The exit code after an input has hung.
pub(crate) const HUNG_CODE: i32 = 9;
