//! Starts workers, restarts them after a crash, and collects their messages.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::Soak;
use crate::report::{Failure, FailureKind, Tally, table};
use crate::targets::{position_of, targets};
use crate::worker::{HUNG_CODE, Maker, Place};

/// How many inputs are saved for each kind of failure and target.
const MOST_WRITTEN: usize = 20;

/// How often it is told how far the run is.
const TELL_EVERY: Duration = Duration::from_secs(30);

struct Gathered {
    /// For each job, the last message of its worker, and the sum of those of earlier workers.
    now: Vec<Vec<Tally>>,
    before: Vec<Tally>,
    n_findings: Vec<(String, usize)>,
    told: Instant,
}

/// Runs all jobs. Returns the number of failures.
pub(crate) fn supervise(soak: &Soak) -> anyhow::Result<usize> {
    std::fs::create_dir_all(&soak.failures).with_context(|| soak.failures.clone())?;
    let folder = tempfile::tempdir()?;
    let jobs = usize::try_from(soak.jobs)?;
    let gathered = Mutex::new(Gathered {
        now: vec![vec![Tally::default(); targets().len()]; jobs],
        before: vec![Tally::default(); targets().len()],
        n_findings: Vec::new(),
        told: Instant::now(),
    });
    let maker = Maker::new(soak.seed);
    // If one job fails, the others go on, and what they found is reported.
    let ended: Vec<anyhow::Result<()>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..soak.jobs)
            .map(|job| {
                let (gathered, maker) = (&gathered, &maker);
                let state = folder.path().join(job.to_string());
                scope.spawn(move || run_job(soak, job, &state, maker, gathered))
            })
            .collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    let gathered = gathered.into_inner().unwrap_or_else(PoisonError::into_inner);
    println!("{}", table(&gathered.all()));
    for (what, n) in &gathered.n_findings {
        println!("{n} inputs: {what}");
    }
    ended.into_iter().collect::<anyhow::Result<()>>()?;
    Ok(gathered.n_findings.iter().map(|(_, n)| n).sum())
}

fn run_job(
    soak: &Soak,
    job: u64,
    state: &Path,
    maker: &Maker,
    gathered: &Mutex<Gathered>,
) -> anyhow::Result<()> {
    let until = soak.hours.map(|hours| Instant::now() + Duration::from_secs_f64(hours * 3600.0));
    let mut from = Place::first(job);
    loop {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(soak.arguments()).arg("--worker");
        command.args(from.numbers().map(|number| number.to_string()));
        if let Some(until) = until {
            let left = until.saturating_duration_since(Instant::now());
            command.args(["--seconds", &left.as_secs().to_string()]);
        }
        command.arg("--state").arg(state).stdout(Stdio::piped());
        let mut worker = command.spawn()?;
        let said = worker.stdout.take().context("a worker has an output")?;
        for line in BufReader::new(said).lines() {
            hear(soak, &line?, job, maker, gathered)?;
        }
        let ended = worker.wait()?;
        locked(gathered).sum_up(job);
        if ended.success() {
            return Ok(());
        }
        let Place { target, index, .. } = Place::read(state)?;
        let found = Failure { kind: FailureKind::Crash(words(ended)), target, index };
        note(soak, &found.to_string(), maker, gathered)?;
        from = Place::read(state)?.after(soak.jobs);
    }
}

fn words(ended: ExitStatus) -> String {
    if ended.code() == Some(HUNG_CODE) { "it hung".into() } else { ended.to_string() }
}

fn locked(gathered: &Mutex<Gathered>) -> std::sync::MutexGuard<'_, Gathered> {
    gathered.lock().unwrap_or_else(PoisonError::into_inner)
}

fn hear(
    soak: &Soak,
    line: &str,
    job: u64,
    maker: &Maker,
    gathered: &Mutex<Gathered>,
) -> anyhow::Result<()> {
    if line.starts_with("found ") {
        return note(soak, line, maker, gathered);
    }
    let Some((target, tally)) = Tally::read(line) else { return Ok(()) };
    let mut gathered = locked(gathered);
    gathered.now[usize::try_from(job)?][target] = tally;
    if gathered.told.elapsed() > TELL_EVERY {
        gathered.told = Instant::now();
        let n_inputs: u64 = gathered.all().iter().map(|tally| tally.n_inputs).sum();
        eprintln!("{n_inputs} inputs, now {}", targets()[target].name);
    }
    Ok(())
}

/// Saves an input and counts it: `found KIND INDEX TARGET …`.
fn note(soak: &Soak, line: &str, maker: &Maker, gathered: &Mutex<Gathered>) -> anyhow::Result<()> {
    let mut words = line.split(' ').skip(1);
    let (kind, index) = (words.next().context("a kind")?, words.next().context("a number")?);
    let name = words.next().context("a target")?;
    let what = format!("{kind} of {name}");
    let n_before = locked(gathered).count(&what);
    if n_before < MOST_WRITTEN {
        println!("{}", line.trim_start_matches("found "));
        let target = position_of(name).context("a target")?;
        let path =
            PathBuf::from(&soak.failures).join(format!("{name}-{kind}-{}-{index}", soak.seed));
        std::fs::write(path, maker.input(index.parse()?, target))?;
    }
    Ok(())
}

impl Gathered {
    fn all(&self) -> Vec<Tally> {
        let mut all = self.before.clone();
        for job in &self.now {
            all.iter_mut().zip(job).for_each(|(all, own)| all.join(own));
        }
        all
    }

    /// Adds up the statistics of a worker that has ended; the next one starts from zero.
    fn sum_up(&mut self, job: u64) {
        let Some(now) = usize::try_from(job).ok().and_then(|job| self.now.get_mut(job)) else {
            return;
        };
        let ended = std::mem::replace(now, vec![Tally::default(); targets().len()]);
        self.before.iter_mut().zip(&ended).for_each(|(all, own)| all.join(own));
    }

    /// Counts a kind of failure. Returns how many there were before.
    fn count(&mut self, what: &str) -> usize {
        match self.n_findings.iter_mut().find(|(known, _)| known == what) {
            Some((_, n)) => {
                *n += 1;
                *n - 1
            }
            None => {
                self.n_findings.push((what.to_owned(), 1));
                0
            }
        }
    }
}
