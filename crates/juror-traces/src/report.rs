//! What an import found, left out and thought odd.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::conversation::{Conversation, Status};
use crate::dialect::Dialect;
use crate::oddity::{Oddities, Oddity};

/// What was recognized in a file.
#[derive(Clone, Debug, Default)]
pub struct FileReport {
    /// The file, as it was named.
    pub name: String,
    /// How many records of each dialect.
    pub dialects: BTreeMap<Dialect, usize>,
    /// How many spans of each convention, where there are spans.
    pub conventions: BTreeMap<&'static str, usize>,
    /// What was odd about its records.
    pub oddities: Oddities,
}

/// What an import made of all files.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The files.
    pub files: Vec<FileReport>,
    /// How many conversations.
    pub n_conversations: usize,
    /// The steps by name: how many, and how many failed.
    pub steps: BTreeMap<String, (usize, usize)>,
    /// What did not become a step, and why.
    pub left_out: BTreeMap<String, usize>,
    /// What was odd.
    pub oddities: Oddities,
}

impl Report {
    pub(crate) fn note(&mut self, conversation: &Conversation) {
        for (what, n) in &conversation.left_out {
            *self.left_out.entry(what.clone()).or_default() += n;
        }
        self.oddities.merge(&conversation.oddities);
        self.n_conversations += 1;
        for step in &conversation.steps {
            let counts = self.steps.entry(step.name.clone()).or_default();
            counts.0 += 1;
            counts.1 += usize::from(step.status == Status::Error);
        }
    }

    pub(crate) fn leave_out(&mut self, what: &str) {
        *self.left_out.entry(what.to_owned()).or_default() += 1;
    }

    /// How many steps there are.
    pub fn n_steps(&self) -> usize {
        self.steps.values().map(|(n, _)| n).sum()
    }

    /// Says what was recognized in each file, on a line each.
    pub fn recognized(&self) -> String {
        let mut text = String::new();
        for file in &self.files {
            let _ = writeln!(text, "{}: {}", file.name, file.recognized());
        }
        text
    }

    /// Explains what became of the files: steps, what was left out, what is odd.
    pub fn explain(&self) -> String {
        let mut text = String::new();
        for (name, (n, n_errors)) in &self.steps {
            let failed = if *n_errors > 0 { format!(", {n_errors} failed") } else { String::new() };
            let _ = writeln!(text, "  {n} × {name}{failed}");
        }
        if !self.left_out.is_empty() {
            text.push_str("left out\n");
            for (what, n) in &self.left_out {
                let _ = writeln!(text, "  {n} × {what}");
            }
        }
        if !self.oddities.is_empty() {
            text.push_str("odd\n");
            for (oddity, found) in self.oddities.iter() {
                let _ =
                    writeln!(text, "  {} × {}; first at {}", found.n, oddity.words(), found.first);
            }
        }
        text
    }

    /// Returns what costs scores, or may: records that are missing, calls whose ends are.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings: Vec<String> = self.files.iter().flat_map(FileReport::warnings).collect();
        // The spans of a call may be in several files.
        let place = match self.files.as_slice() {
            [file] => &file.name,
            _ => "all files",
        };
        warnings.extend(warnings_of(&self.oddities, place, &OF_CALLS));
        warnings
    }

    /// How often something odd was found.
    pub fn count(&self, oddity: Oddity) -> usize {
        self.oddities.count(oddity)
    }
}

/// What to warn of: something odd, and what to say of one and of several.
type Warning = (Oddity, &'static str, &'static str);

const OF_RECORDS: [Warning; 3] = [
    (
        Oddity::CutOff,
        "record is cut off: the rest of it is missing",
        "records are cut off: the rest of them is missing",
    ),
    (
        Oddity::NotJson,
        "record is not JSON, and was left out",
        "records are not JSON, and were left out",
    ),
    (
        Oddity::UnknownRecord,
        "record is of no known dialect, and was left out",
        "records are of no known dialect, and were left out",
    ),
];

const OF_CALLS: [Warning; 2] = [
    (
        Oddity::NoResult,
        "call has no recorded result, and counts as failed",
        "calls have no recorded result, and count as failed",
    ),
    (
        Oddity::NoContent,
        "call has no recorded contents: its step cannot match arguments or outputs",
        "calls have no recorded contents: their steps cannot match arguments or outputs",
    ),
];

fn warnings_of(oddities: &Oddities, place: &str, all: &[Warning]) -> Vec<String> {
    let told = |(oddity, one, several): &Warning| match oddities.count(*oddity) {
        0 => None,
        1 => Some(format!("{place}: 1 {one}")),
        n => Some(format!("{place}: {n} {several}")),
    };
    all.iter().filter_map(told).collect()
}

impl FileReport {
    fn warnings(&self) -> Vec<String> {
        warnings_of(&self.oddities, &self.name, &OF_RECORDS)
    }

    /// Says which dialects a file has.
    pub fn recognized(&self) -> String {
        let all: Vec<String> = self
            .dialects
            .iter()
            .map(|(dialect, n)| {
                let records = if *n == 1 { "1 record".to_owned() } else { format!("{n} records") };
                format!("{} ({records})", dialect.name())
            })
            .collect();
        let mut text = if all.is_empty() { "nothing".to_owned() } else { all.join(", ") };
        if !self.conventions.is_empty() {
            let all: Vec<String> =
                self.conventions.iter().map(|(name, n)| format!("{n} of {name}")).collect();
            let _ = write!(text, "; spans: {}", all.join(", "));
        }
        text
    }
}
