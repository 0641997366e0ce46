//! Writes results, aggregates and reports to files.

use std::path::Path;

use juror_compare::{GateOutcome, GatedRun, Gates, Statistics};
use juror_document::both;
use juror_report::{
    Columns, Format, ReportFormat, render_aggregates, render_statistics, write_result,
};
use juror_runs::RunFile;
use juror_score::statistics::CONFIDENCE;
use juror_score::{Aggregates, Aggregator, Judgement, Profile, Record};

use super::columns::{has_trials, metrics_of_steps};
use super::partial_file::PartialFile;
use super::reason::reason;
use super::reports::{ReportOptions, Reports, push_reason};
use super::{Evaluation, EvaluationError, RecordWriter, Sink};
use crate::calibration::Calibrating;
use crate::output::{Output, OutputError};

/// The initial capacity of a buffer of results, in bytes.
const BUFFER: usize = 1 << 18;

/// The files that receive results and aggregates.
#[derive(Debug, Default)]
pub struct ResultFiles {
    results: Vec<Output>,
    aggregates: Vec<Output>,
    statistics: Vec<Output>,
    reports: Reports,
    partial: Option<PartialFile>,
    gates: Gates,
    calibrating: Calibrating,
    n_results: usize,
    /// Whether the last file of each kind belongs to the folder of a run.
    is_kept: bool,
}

/// What the files of an evaluation say about all of its questions.
#[derive(Clone, Debug)]
pub struct Totals {
    /// The documented aggregates.
    pub aggregates: Aggregates,
    /// Means with intervals and coverage.
    pub statistics: Statistics,
    /// How the gates came out.
    pub gates: Vec<GateOutcome>,
}

impl Totals {
    /// Computes them from everything that was collected.
    pub fn of(aggregator: &Aggregator, gates: &Gates) -> Totals {
        let scores = aggregator.scores();
        let (aggregates, statistics) =
            both(|| aggregator.finish(), || Statistics::of(scores, CONFIDENCE));
        let gates = gates.check(GatedRun::new(&statistics, scores));
        Totals { aggregates, statistics, gates }
    }
}

impl ResultFiles {
    /// Starts the files; the extension of each name selects the format. Among the results may be
    /// reports.
    pub fn create(
        results: &[String],
        aggregates: &[String],
        statistics: &[String],
    ) -> Result<ResultFiles, OutputError> {
        let mut files = ResultFiles {
            aggregates: create_all(aggregates)?,
            statistics: create_all(statistics)?,
            ..ResultFiles::default()
        };
        for name in results {
            match ReportFormat::from_name(name) {
                Some(format) => files.reports.add(format, name)?,
                None => files.results.push(Output::create(name).map_err(OutputError::or_report)?),
            }
        }
        Ok(files)
    }

    /// Adds a file of results.
    pub fn add(&mut self, results: Output) {
        self.results.push(results);
    }

    /// Adds a file of the numbers, for merging.
    pub fn add_partial(&mut self, partial: PartialFile) {
        self.partial = Some(partial);
    }

    /// Says what reports are to say.
    pub fn report_as(&mut self, options: ReportOptions) {
        self.reports.options = options;
    }

    /// Starts the files of a run, beside those that the user wants. All of them appear before the
    /// run is marked as complete.
    pub fn keep_in(&mut self, folder: &Path) -> Result<(), OutputError> {
        let begin = |file: RunFile, format| Output::begin_at(&file.path_in(folder), format);
        self.results.push(begin(RunFile::Results, Format::JsonLines)?);
        self.aggregates.push(begin(RunFile::Aggregates, Format::Json)?);
        self.statistics.push(begin(RunFile::Statistics, Format::Json)?);
        self.is_kept = true;
        Ok(())
    }
}

fn create_all(names: &[String]) -> Result<Vec<Output>, OutputError> {
    names.iter().map(|name| Output::create(name)).collect()
}

impl Sink for ResultFiles {
    type Buffer = Vec<Vec<u8>>;
    type Writer<'w> = ResultWriter<'w>;
    type Product = Totals;

    fn begin<'w>(
        &mut self,
        evaluation: &'w Evaluation<'_>,
        judgements: &[Judgement],
    ) -> Result<ResultWriter<'w>, EvaluationError>
    where
        Self: 'w,
    {
        let plan = evaluation.plan;
        let formats: Vec<Format> = self.results.iter().map(|output| output.format).collect();
        let mut columns = Columns { custom: plan.custom_metrics.clone(), ..Columns::default() };
        if formats.contains(&Format::Tsv) {
            columns.has_trials = has_trials(evaluation);
            columns.has_optional = plan.profile.answer_overlap;
            columns.of_steps = metrics_of_steps(evaluation, judgements);
        }
        for output in &mut self.results {
            output.write(&output.format.opening(&columns))?;
        }
        self.n_results = evaluation.n_cases();
        self.gates = plan.gates.clone();
        self.calibrating = Calibrating::by_judgements(&plan.calibrations, judgements);
        let explains = !self.reports.is_empty();
        Ok(ResultWriter { profile: &plan.profile, formats, columns, explains })
    }

    fn take(&mut self, buffers: &mut Vec<Vec<u8>>) -> Result<(), EvaluationError> {
        for (output, bytes) in self.results.iter_mut().zip(&mut *buffers) {
            output.write(bytes)?;
            bytes.clear();
        }
        buffers.iter_mut().skip(self.results.len()).for_each(|bytes| self.reports.take(bytes));
        Ok(())
    }

    /// The user's files stay as they were. Those of the run tell how far it came.
    fn after_interrupt(self) -> Option<ResultFiles> {
        let last = |mut files: Vec<Output>| files.pop().into_iter().collect();
        self.is_kept.then(|| ResultFiles {
            results: last(self.results),
            aggregates: last(self.aggregates),
            statistics: last(self.statistics),
            ..ResultFiles::default()
        })
    }

    /// Writes everything before any file takes its place, so that a failure never leaves a mixture
    /// of old and new files.
    fn end(mut self, aggregator: Aggregator) -> Result<Totals, EvaluationError> {
        let mut totals = Totals::of(&aggregator, &self.gates);
        self.calibrating.apply(&mut totals.statistics, aggregator.scores());
        for output in &mut self.results {
            output.write(output.format.closing(self.n_results))?;
        }
        for output in &mut self.aggregates {
            output.write(&render_aggregates(&totals.aggregates, output.format))?;
        }
        for output in &mut self.statistics {
            output.write(&render_statistics(&totals.statistics, output.format))?;
        }
        let reports = self.reports.write(aggregator.scores(), &totals)?;
        let partial = self.partial.map(|partial| partial.write(&aggregator)).transpose()?;
        let files = self.results.into_iter().chain(self.aggregates).chain(self.statistics);
        let mut all: Vec<Output> = files.chain(reports).chain(partial).collect();
        all.iter_mut().try_for_each(Output::flush)?;
        all.into_iter().try_for_each(Output::finish)?;
        Ok(totals)
    }
}

/// Writes records in the formats of all result files.
#[derive(Debug)]
pub struct ResultWriter<'w> {
    profile: &'w Profile,
    formats: Vec<Format>,
    columns: Columns,
    /// Whether reports need to know why questions lost score.
    explains: bool,
}

impl RecordWriter for ResultWriter<'_> {
    type Buffer = Vec<Vec<u8>>;
    /// Waiting results take as much memory as their questions. With fewer, threads wait for each other
    /// whenever the one that writes has no core.
    const AHEAD: usize = 8;

    fn buffer(&self) -> Vec<Vec<u8>> {
        let reasons = self.explains.then(Vec::new);
        self.formats.iter().map(|_| Vec::with_capacity(BUFFER)).chain(reasons).collect()
    }

    fn write(&self, record: &Record<'_>, index: usize, buffers: &mut Vec<Vec<u8>>) {
        for (format, out) in self.formats.iter().zip(&mut *buffers) {
            write_result(record, self.profile, &self.columns, *format, index, out);
        }
        if let Some(reasons) = buffers.get_mut(self.formats.len()) {
            let moved = record.case.question.moved_in_words();
            push_reason(&reason(record, self.profile), &moved, reasons);
        }
    }
}
