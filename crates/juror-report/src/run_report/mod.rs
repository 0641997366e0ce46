//! Reports of single runs: for pull requests and for pipelines.

mod low;
mod markdown;

use juror_compare::{GateOutcome, Kind, Statistics};
use juror_score::ScoreTable;

use crate::comparison::GATES;
use crate::junit::{Cases, Threshold, gate_suite, write};
pub use markdown::run_markdown;

/// What a report of a run is made from.
#[derive(Clone, Copy, Debug)]
pub struct RunReport<'r> {
    /// The name of what was judged.
    pub name: &'r str,
    /// Its numbers.
    pub scores: &'r ScoreTable,
    /// What follows from them.
    pub statistics: &'r Statistics,
    /// How its gates came out.
    pub gates: &'r [GateOutcome],
    /// The score that a question needs to pass: the full score of the headline metric, if it is
    /// `None`.
    pub threshold: Option<&'r Threshold>,
    /// Why each row failed or has its score. Texts are empty, or there are none, if that is not known.
    pub reasons: &'r [String],
    /// How the expected results of each row have moved with the graph. Texts are empty, or there are none, if
    /// they have not.
    pub moved: &'r [String],
}

/// The format of a report of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    /// Markdown for people, of less than 60,000 characters.
    Markdown,
    /// A `JUnit` file for pipelines.
    Junit,
}

impl ReportFormat {
    /// The supported extensions, for messages.
    pub const ENDINGS: &str = ".md, .junit.xml, .html";

    /// Returns the format for a file name's extension.
    pub fn from_name(name: &str) -> Option<ReportFormat> {
        match name.rsplit_once('.')?.1.to_ascii_lowercase().as_str() {
            "md" | "markdown" => Some(ReportFormat::Markdown),
            "xml" => Some(ReportFormat::Junit),
            _ => None,
        }
    }
}

/// Renders the report of a run.
pub fn render_run(report: &RunReport<'_>, format: ReportFormat) -> Vec<u8> {
    match format {
        ReportFormat::Markdown => run_markdown(report).into_bytes(),
        ReportFormat::Junit => run_junit(report),
    }
}

/// Renders a run as a `JUnit` file: a suite for each template or set, a case for each question, and a
/// suite for the gates.
pub fn run_junit(report: &RunReport<'_>) -> Vec<u8> {
    let threshold = report.threshold();
    let cases = Cases {
        scores: report.scores,
        baseline: None,
        gates: report.gates,
        threshold: threshold.as_ref(),
        is_asked: true,
        reasons: report.reasons,
        moved: report.moved,
    };
    let gates = gate_suite(GATES, report.gates).into_iter();
    write(report.name, &gates.chain(cases.suites()).collect::<Vec<_>>())
}

impl RunReport<'_> {
    fn threshold(&self) -> Option<Threshold> {
        self.threshold.cloned().or_else(|| Threshold::of_run(self.statistics))
    }

    fn kind(&self) -> Kind {
        self.statistics.kind
    }
}
