//! The files that a benchmark run gets when it is done.

use juror_compare::Statistics;
use juror_report::{Format, render_statistics};
use juror_runs::{RunFile, RunLog, RunLogError};
use juror_toolbench::result::{Report, ResultLine};

use crate::attempt::Attempt;
use crate::report::Results;

impl Results<'_> {
    /// Writes the results, their summary and their statistics into the run's folder.
    pub(super) fn keep(
        &self,
        report: &Report<'_>,
        statistics: &Statistics,
        log: &RunLog<Attempt>,
    ) -> Result<(), RunLogError> {
        let rendered = render_statistics(statistics, Format::Json);
        log.write(RunFile::Statistics, |out| out.write_all(&rendered))?;
        log.write(RunFile::Results, |out| {
            report.results.iter().try_for_each(|result| {
                serde_json::to_writer(&mut *out, &ResultLine(result))?;
                out.write_all(b"\n")
            })
        })?;
        log.write(RunFile::Aggregates, |out| writeln!(out, "{:#}", self.summary_json(report)))
    }
}
