//! Which points a program is made to fail at, and what was found.

#![expect(clippy::print_stdout, reason = "tests tell what they tried")]

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use juror_testing::{Fault, Random};

use crate::stage::GROWING;

/// Chooses the same points in every selection.
const SEED: u64 = 22;

/// What a program does until its end, call by call.
pub(crate) struct Points {
    name: &'static str,
    calls: Vec<String>,
    faults: &'static [Fault],
}

impl Points {
    /// All calls of a program, any of which may fail in some ways.
    pub(crate) fn of(name: &'static str, calls: Vec<String>, faults: &'static [Fault]) -> Points {
        assert!(!calls.is_empty(), "{name}: nothing is written");
        Points { name, calls, faults }
    }

    /// Makes the program fail at every point, or at some of them. `check` panics if a promise is broken.
    pub(crate) fn check(&self, n_selected: usize, check: impl Fn(Fault, usize)) {
        let points = if is_thorough() { self.all() } else { self.selection(n_selected) };
        let mut found = Vec::new();
        for &(fault, number) in &points {
            let call = &self.calls[number - 1];
            if let Err(why) = catch_unwind(AssertUnwindSafe(|| check(fault, number))) {
                let text = why.downcast_ref::<String>().cloned();
                let text = text.or(why.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                found.push(format!("{fault} at {number} ({call}): {}", text.unwrap_or_default()));
            }
        }
        let (name, n_calls, n_points) = (self.name, self.calls.len(), points.len());
        println!("{name}: {n_calls} calls, {n_points} points tried, {} findings", found.len());
        assert!(found.is_empty(), "{name}: {} findings\n{}", found.len(), found.join("\n\n"));
    }

    fn all(&self) -> Vec<(Fault, usize)> {
        let numbers = 1..=self.calls.len();
        let of = |number| self.faults.iter().map(move |fault| (*fault, number));
        numbers.flat_map(of).filter(|point| self.is_of_its_own(*point)).collect()
    }

    /// Whether a fault differs from another one: only what is written to a file can be torn, and disks do
    /// not break connections.
    fn is_of_its_own(&self, (fault, number): (Fault, usize)) -> bool {
        let call = &self.calls[number - 1];
        if call.contains("socket:") {
            return fault == Fault::Kill;
        }
        let is_write = call.starts_with("write ") || call.starts_with("pwrite64 ");
        is_write || !matches!(fault, Fault::Tear | Fault::Short | Fault::Part)
    }

    /// The first call of each kind on each file, each with one of the faults; then any others.
    fn selection(&self, n_selected: usize) -> Vec<(Fault, usize)> {
        let mut random = Random::new(SEED);
        let mut all = self.all();
        random.shuffle(&mut all);
        // A line that finds room for its half is the likeliest to be followed by another.
        let is_half_a_line = |(fault, number): &(Fault, usize)| {
            *fault == Fault::Part
                && GROWING.iter().any(|file| self.calls[number - 1].ends_with(file))
        };
        all.sort_by_key(|point| !is_half_a_line(point));
        let mut kinds = BTreeSet::new();
        let (mut first, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(_, number)| kinds.insert(kind_of(&self.calls[number - 1])));
        first.extend(others);
        first.truncate(n_selected);
        first
    }
}

/// A call without the letters that are drawn for temporary names, and numbers of connections.
fn kind_of(call: &str) -> String {
    let call = call.split(".juror-").next().unwrap_or(call);
    call.split("socket:").next().unwrap_or(call).to_owned()
}

/// Whether every point is to be tried.
pub(crate) fn is_thorough() -> bool {
    std::env::var("JUROR_FAULTS").is_ok_and(|value| value == "all")
}
