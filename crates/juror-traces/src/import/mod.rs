//! Imports files: what they are is recognized by their content.

mod file;
mod sniff;

use std::io::{self, Read};

use crate::conversation::Conversation;
use crate::dialect::Dialect;
use crate::report::{FileReport, Report};
use crate::rules::Rules;
use crate::spans::{Gatherer, Spill};
use file::FileImport;
use juror_files::zip::ZipError;
pub(crate) use sniff::is_envelope;
pub use sniff::is_trace;

/// Why a file cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It cannot be read, or what is held cannot be moved aside.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// Its dialect is not known.
    #[error("this is not a trace of a known dialect: {found}\n  looked for:\n{}", looked_for())]
    NotRecognized {
        /// What is there.
        found: String,
    },
    /// It is a broken ZIP file.
    #[error(transparent)]
    Zip(#[from] ZipError),
}

fn looked_for() -> String {
    let rows = Dialect::looked_for().map(|(name, mark)| format!("    {name}: {mark}"));
    rows.collect::<Vec<_>>().join("\n")
}

/// What receives conversations.
pub type Each<'e> = &'e mut dyn FnMut(Conversation);

/// Imports files one after another. Conversations come out when they are complete: those of spans
/// when all files are read, since their spans may be anywhere.
pub struct Importer {
    rules: Rules,
    gatherer: Gatherer,
    report: Report,
}

impl Importer {
    /// Starts an import. Without a place aside, all open traces are held in memory.
    pub fn new(rules: Rules, spill: Option<Box<dyn Spill>>) -> Importer {
        Importer { rules, gatherer: Gatherer::new(spill), report: Report::default() }
    }

    /// Reads a file.
    pub fn read(
        &mut self,
        name: &str,
        source: &mut dyn Read,
        each: Each<'_>,
    ) -> Result<(), ImportError> {
        self.report.files.push(FileReport { name: name.to_owned(), ..FileReport::default() });
        let mut file = FileImport::of(self, name, each);
        file.read(source)?;
        file.finish()
    }

    /// Puts the gathered traces together, and returns what was found.
    pub fn finish(self, each: Each<'_>) -> Result<Report, ImportError> {
        let Importer { rules, gatherer, mut report } = self;
        gatherer.finish(&rules, &mut |conversation| emit(&mut report, conversation, each))?;
        Ok(report)
    }
}

/// Passes a conversation on, unless there is nothing in it.
fn emit(report: &mut Report, conversation: Conversation, each: Each<'_>) {
    if conversation.is_empty() {
        report.oddities.merge(&conversation.oddities);
        return report.leave_out("conversation without steps, answer or error");
    }
    report.note(&conversation);
    each(conversation);
}
