//! The messages of workers, and the table at the end.

use std::fmt::{self, Write as _};
use std::time::Duration;

use crate::meter::Measurement;
use crate::targets::targets;

/// Something that no input may do.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    pub(crate) target: usize,
    pub(crate) index: u64,
}

#[derive(Clone, Debug)]
pub(crate) enum FailureKind {
    Panic(String),
    Slow(Measurement),
    Heavy(Measurement),
    /// The process ended: out of stack or memory, or it hung.
    Crash(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (target, index) = (targets()[self.target].name, self.index);
        write!(f, "found {} {index} {target} ", self.kind.name())?;
        match &self.kind {
            FailureKind::Panic(why) | FailureKind::Crash(why) => write!(f, "{why}"),
            FailureKind::Slow(cost) | FailureKind::Heavy(cost) => {
                write!(f, "{} ms, {} KB", cost.nanoseconds / 1_000_000, cost.bytes >> 10)
            }
        }
    }
}

impl FailureKind {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            FailureKind::Panic(_) => "panic",
            FailureKind::Slow(_) => "slow",
            FailureKind::Heavy(_) => "heavy",
            FailureKind::Crash(_) => "crash",
        }
    }
}

/// The highest cost of an input, its size and its number.
type Worst = (u64, u64, u64);

/// The statistics of a target.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Tally {
    pub(crate) n_inputs: u64,
    n_bytes: u64,
    /// How long it all took, making inputs included.
    nanoseconds: u64,
    slowest: Worst,
    heaviest: Worst,
}

impl Tally {
    pub(crate) fn add(&mut self, size: usize, cost: Measurement, index: u64) {
        let size = size as u64;
        self.n_inputs += 1;
        self.n_bytes += size;
        self.slowest = self.slowest.max((cost.nanoseconds, size, index));
        self.heaviest = self.heaviest.max((cost.bytes as u64, size, index));
    }

    pub(crate) fn took(&mut self, time: Duration) {
        self.nanoseconds += u64::try_from(time.as_nanos()).unwrap_or_default();
    }

    pub(crate) fn join(&mut self, other: &Tally) {
        self.n_inputs += other.n_inputs;
        self.n_bytes += other.n_bytes;
        self.nanoseconds += other.nanoseconds;
        self.slowest = self.slowest.max(other.slowest);
        self.heaviest = self.heaviest.max(other.heaviest);
    }

    /// The worker's message.
    pub(crate) fn line(&self, target: usize) -> String {
        let Tally { n_inputs, n_bytes, nanoseconds, slowest, heaviest } = self;
        let worst = |(cost, size, index): &Worst| format!("{cost} {size} {index}");
        let (slowest, heaviest) = (worst(slowest), worst(heaviest));
        format!("tally {target} {n_inputs} {n_bytes} {nanoseconds} {slowest} {heaviest}")
    }

    /// Parses a worker's message: which target, and its statistics.
    pub(crate) fn read(line: &str) -> Option<(usize, Tally)> {
        let numbers = line.strip_prefix("tally ")?.split(' ').map(|number| number.parse().ok());
        let numbers: Vec<u64> = numbers.collect::<Option<_>>()?;
        let &[target, n_inputs, n_bytes, nanoseconds, ref worst @ ..] = numbers.as_slice() else {
            return None;
        };
        let worst_at =
            |at: usize| Some((*worst.get(at)?, *worst.get(at + 1)?, *worst.get(at + 2)?));
        let (slowest, heaviest) = (worst_at(0)?, worst_at(3)?);
        let tally = Tally { n_inputs, n_bytes, nanoseconds, slowest, heaviest };
        Some((usize::try_from(target).ok()?, tally))
    }
}

/// Renders the table of all targets that were fed.
pub(crate) fn table(tallies: &[Tally]) -> String {
    let mut rows = format!(
        "{:<21} {:<10} {:>10} {:>6} {:>9} {:>10} {:>8} {:>10} {:>8}\n",
        "target",
        "kind",
        "inputs",
        "MB",
        "a second",
        "slowest ms",
        "of bytes",
        "highest KB",
        "of bytes"
    );
    let all = tallies.iter().fold(Tally::default(), |mut all, tally| {
        all.join(tally);
        all
    });
    let named = targets().iter().map(|target| (target.name, target.kind.name())).zip(tallies);
    let fed = named.filter(|(_, tally)| tally.n_inputs > 0);
    for ((name, kind), tally) in fed.chain([(("all", ""), &all)]) {
        let (slowest, heaviest) = (tally.slowest, tally.heaviest);
        let _ = writeln!(
            rows,
            "{name:<21} {kind:<10} {:>10} {:>6} {:>9.0} {:>10.1} {:>8} {:>10} {:>8}",
            tally.n_inputs,
            tally.n_bytes >> 20,
            tally.n_inputs as f64 * 1e9 / tally.nanoseconds.max(1) as f64,
            slowest.0 as f64 / 1e6,
            slowest.1,
            heaviest.0 >> 10,
            heaviest.1
        );
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_are_read_as_they_are_said() {
        let mut tally = Tally::default();
        tally.add(7, Measurement { nanoseconds: 5, bytes: 9 }, 3);
        tally.add(8, Measurement { nanoseconds: 4, bytes: 10 }, 4);
        tally.took(Duration::from_secs(1));
        assert_eq!(Tally::read(&tally.line(2)), Some((2, tally)));
        assert_eq!(Tally::read("found panic 1 yaml x"), None);
    }
}
