//! What is odd about a trace. Nothing of it ends an import, and all of it is counted and told.

use std::collections::BTreeMap;

/// Something about a trace that a reader should know of.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub enum Oddity {
    /// The file or a record ends in the middle.
    CutOff,
    /// A record that is not JSON.
    NotJson,
    /// A record of another dialect than the others.
    MixedDialects,
    /// A record that nothing is known about.
    UnknownRecord,
    /// Spans or results that come before what they belong to.
    OutOfOrder,
    /// A call or result that was recorded before.
    RepeatedHistory,
    /// A call without a result.
    NoResult,
    /// Arguments that are not JSON.
    InvalidArgs,
    /// An id that two different calls have.
    IdTwice,
    /// Another result of a call that has one.
    SecondResult,
    /// A result of a call that is not recorded.
    ResultWithoutCall,
    /// An output or arguments in Python's spelling, read as JSON.
    PythonText,
    /// Two spans of one call.
    MergedSpans,
    /// A text about several calls, which could not be told apart.
    SharedOutput,
    /// Branches of a search that led nowhere.
    OtherBranches,
    /// A trace without any text: its steps have neither arguments nor outputs.
    NoContent,
}

impl Oddity {
    /// Says what is odd, for a number of occurrences.
    pub fn words(self) -> &'static str {
        match self {
            Oddity::CutOff => "cut off: a record ends in the middle",
            Oddity::NotJson => "not JSON: a record was left out",
            Oddity::MixedDialects => "mixed dialects: a record of another dialect",
            Oddity::UnknownRecord => "unknown record: nothing in it was recognized",
            Oddity::OutOfOrder => "out of order: recorded before what it belongs to",
            Oddity::RepeatedHistory => "repeated history: recorded before, counted once",
            Oddity::NoResult => "call without a result: an error, `no result recorded`",
            Oddity::InvalidArgs => "arguments that are not JSON: kept in `args_raw`",
            Oddity::IdTwice => "id used twice: by calls that differ, which stay apart",
            Oddity::SecondResult => "second result of a call: the first counts",
            Oddity::ResultWithoutCall => "result without a call: left out",
            Oddity::PythonText => "Python's spelling: read as JSON, kept in `output_raw`",
            Oddity::MergedSpans => "two spans of one call: one step",
            Oddity::SharedOutput => "one text for several calls: split by lines or given to each",
            Oddity::OtherBranches => "branch that led nowhere: its calls are left out",
            Oddity::NoContent => "trace without contents: calls have neither arguments nor outputs",
        }
    }
}

/// How often something odd was found, and where first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// How often.
    pub n: usize,
    /// The first place: a line or a JSON pointer.
    pub first: String,
}

/// Everything odd about a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Oddities(BTreeMap<Oddity, Found>);

impl Oddities {
    /// Counts something odd at a place.
    pub(crate) fn add(&mut self, oddity: Oddity, place: &str) {
        self.add_all(oddity, &Found { n: 1, first: place.to_owned() });
    }

    pub(crate) fn add_all(&mut self, oddity: Oddity, found: &Found) {
        let known = self.0.entry(oddity);
        let known = known.or_insert_with(|| Found { n: 0, first: found.first.clone() });
        known.n += found.n;
    }

    /// Adds those of another part.
    pub(crate) fn merge(&mut self, other: &Oddities) {
        other.0.iter().for_each(|(oddity, found)| self.add_all(*oddity, found));
    }

    /// Iterates over all kinds that were found.
    pub fn iter(&self) -> impl Iterator<Item = (Oddity, &Found)> {
        self.0.iter().map(|(oddity, found)| (*oddity, found))
    }

    /// How often something was found.
    pub fn count(&self, oddity: Oddity) -> usize {
        self.0.get(&oddity).map_or(0, |found| found.n)
    }

    /// Whether nothing was found.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
