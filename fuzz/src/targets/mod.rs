//! Everything in Juror that reads what others wrote.

mod comparisons;
mod graphs;
mod loopback;
mod protocols;
mod readers;
mod scanners;
mod seeds;
mod shapes;

use std::path::Path;
use std::sync::LazyLock;

use juror_document::{Document, Format};
use juror_score::Limits;

pub(crate) use seeds::Seeds;
pub(crate) use shapes::Shape;

/// Something under test.
#[derive(Clone, Copy)]
pub(crate) struct Target {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) seeds: fn() -> Seeds,
    /// Inputs that are known to be hard for targets of its kind.
    pub(crate) shapes: &'static [Shape],
    /// What the inputs of scanners are made of, besides seeds.
    pub(crate) words: &'static [&'static str],
    /// Reads an input. The folder is for what has to be in files.
    pub(crate) read: fn(&[u8], &Path),
    /// It gets as many inputs as others of its kind, divided by this.
    pub(crate) divisor: u64,
    /// The memory that any input may take, however small.
    pub(crate) constant: usize,
    /// The milliseconds that any input may take.
    pub(crate) milliseconds: u64,
}

/// What a target is, which decides how many inputs it gets and how they are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Reads files, requests and replies.
    Reader,
    /// Walks through bytes by hand, fed directly and with small inputs; compared with a plain way where
    /// there is one.
    Scanner,
    /// Does the same in two ways, which have to agree.
    Comparison,
}

impl Kind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Reader => "reader",
            Kind::Scanner => "scanner",
            Kind::Comparison => "comparison",
        }
    }

    /// How many inputs a target gets before it is the turn of the next.
    pub(crate) fn inputs_a_round(self) -> u64 {
        match self {
            Kind::Reader | Kind::Comparison => 20_000,
            Kind::Scanner => 200_000,
        }
    }
}

impl Target {
    const fn new(name: &'static str, seeds: fn() -> Seeds, read: fn(&[u8], &Path)) -> Target {
        Target {
            name,
            kind: Kind::Reader,
            seeds,
            shapes: &[],
            words: &[],
            read,
            divisor: 1,
            constant: 8 << 20,
            milliseconds: 50,
        }
    }

    const fn hurt_by(mut self, shapes: &'static [Shape]) -> Target {
        self.shapes = shapes;
        self
    }

    const fn within(mut self, milliseconds: u64) -> Target {
        self.milliseconds = milliseconds;
        self
    }

    const fn in_memory(mut self, constant: usize) -> Target {
        self.constant = constant;
        self
    }
}

/// The targets, in the order in which they take turns.
pub(crate) fn targets() -> &'static [Target] {
    static ALL: LazyLock<Vec<Target>> = LazyLock::new(|| {
        let parts =
            [readers::all(), graphs::all(), protocols::all(), comparisons::all(), scanners::all()];
        parts.into_iter().flatten().collect()
    });
    &ALL
}

pub(crate) fn position_of(name: &str) -> Option<usize> {
    targets().iter().position(|target| target.name == name)
}

/// The limits of answers in the soak: part of the default ones, so that an input that reaches a
/// limit differs from one that has none, and leaves time for others.
const LIMITS: Limits = Limits {
    table_cells: 1 << 18,
    documents: 1 << 16,
    step_pairs: 1 << 18,
    pairing_work: 1 << 23,
    word_pairs: 1 << 26,
};

fn document(input: &[u8]) -> Option<Document> {
    let made = Document::new("input", input.to_vec(), Format::from_look(input));
    made.map_err(|problems| std::hint::black_box(problems.to_string())).ok()
}

#[cfg(test)]
mod tests;
