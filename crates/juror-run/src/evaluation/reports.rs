//! Files about a whole evaluation, for people and pipelines: Markdown and `JUnit`.

use juror_report::{ReportFormat, RunReport, Threshold, render_run};
use juror_score::ScoreTable;

use super::files::Totals;
use crate::output::{Output, OutputError};

/// Ends each text in a buffer.
const END: char = '\0';

/// What reports of an evaluation say beside its scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReportOptions {
    /// The name of what was judged.
    pub name: String,
    /// The score that a question needs to pass; the full score of the headline metric by default.
    pub threshold: Option<Threshold>,
}

/// Reports, which are written when all scores are known.
#[derive(Debug, Default)]
pub(super) struct Reports {
    files: Vec<(ReportFormat, Output)>,
    pub(super) options: ReportOptions,
    /// Why each question failed or lost score; empty if it did not.
    reasons: Vec<String>,
    /// How the expected results of each question have moved with the graph; empty if they have not.
    moved: Vec<String>,
}

impl Reports {
    pub(super) fn add(&mut self, format: ReportFormat, name: &str) -> Result<(), OutputError> {
        self.files.push((format, Output::create_text(name)?));
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Takes what is told of the next questions, and leaves the buffer empty.
    pub(super) fn take(&mut self, buffer: &mut Vec<u8>) {
        let text = String::from_utf8_lossy(buffer);
        let mut texts = text.split_terminator(END).map(str::to_owned);
        while let (Some(reason), Some(moved)) = (texts.next(), texts.next()) {
            self.reasons.push(reason);
            self.moved.push(moved);
        }
        buffer.clear();
    }

    /// Writes all reports, and returns the files to finish.
    pub(super) fn write(
        self,
        scores: &ScoreTable,
        totals: &Totals,
    ) -> Result<Vec<Output>, OutputError> {
        let report = RunReport {
            name: &self.options.name,
            scores,
            statistics: &totals.statistics,
            gates: &totals.gates,
            threshold: self.options.threshold.as_ref(),
            reasons: &self.reasons,
            moved: &self.moved,
        };
        let write = |(format, mut file): (ReportFormat, Output)| {
            file.write(&render_run(&report, format))?;
            Ok(file)
        };
        self.files.into_iter().map(write).collect()
    }
}

/// Adds to a buffer why a question failed or lost score, and how its expected results have moved.
pub(super) fn push_reason(reason: &str, moved: &str, buffer: &mut Vec<u8>) {
    for text in [reason, moved] {
        buffer.extend_from_slice(text.replace(END, "\u{fffd}").as_bytes());
        buffer.push(END as u8);
    }
}
