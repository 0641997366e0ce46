//! The files that a benchmark run gets when it is done.

use juror_runs::{RunFile, RunLog, RunLogError};
use juror_toolbench::result::{Report, ResultLine};

use super::attempt::Attempt;
use super::report::Results;

impl Results<'_> {
    /// Writes the results and their summary into the run's folder.
    pub(super) fn keep(
        &self,
        report: &Report<'_>,
        log: &RunLog<Attempt>,
    ) -> Result<(), RunLogError> {
        log.write(RunFile::Results, |out| {
            report.results.iter().try_for_each(|result| {
                serde_json::to_writer(&mut *out, &ResultLine(result))?;
                out.write_all(b"\n")
            })
        })?;
        log.write(RunFile::Aggregates, |out| writeln!(out, "{:#}", self.summary_json(report)))
    }
}
