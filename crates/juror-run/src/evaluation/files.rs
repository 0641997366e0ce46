//! Writes results and aggregates to files.

use juror_report::{Columns, Format, render_aggregates, write_result};
use juror_score::{Aggregates, Aggregator, Judgement, Profile, Record};

use super::columns::metrics_of_steps;
use super::{Evaluation, EvaluationError, RecordWriter, Sink};
use crate::output::{Output, OutputError};

/// The initial capacity of a buffer of results, in bytes.
const BUFFER: usize = 1 << 18;

/// The files that receive results and aggregates.
#[derive(Debug, Default)]
pub struct ResultFiles {
    results: Vec<Output>,
    aggregates: Vec<Output>,
    n_questions: usize,
}

impl ResultFiles {
    /// Starts the files; the extension of each name selects the format.
    pub fn create(results: &[String], aggregates: &[String]) -> Result<ResultFiles, OutputError> {
        Ok(ResultFiles {
            results: create_all(results)?,
            aggregates: create_all(aggregates)?,
            n_questions: 0,
        })
    }
}

fn create_all(names: &[String]) -> Result<Vec<Output>, OutputError> {
    names.iter().map(|name| Output::create(name)).collect()
}

impl Sink for ResultFiles {
    type Buffer = Vec<Vec<u8>>;
    type Writer<'w> = ResultWriter<'w>;
    type Product = Aggregates;

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
        let mut columns = Columns { custom: plan.custom_metrics.clone(), of_steps: Vec::new() };
        if formats.contains(&Format::Tsv) {
            columns.of_steps = metrics_of_steps(evaluation, judgements);
        }
        for output in &mut self.results {
            output.write(&output.format.opening(&columns))?;
        }
        self.n_questions = evaluation.dataset.questions.len();
        Ok(ResultWriter { profile: &plan.profile, formats, columns })
    }

    fn take(&mut self, buffers: &mut Vec<Vec<u8>>) -> Result<(), EvaluationError> {
        for (output, bytes) in self.results.iter_mut().zip(buffers) {
            output.write(bytes)?;
            bytes.clear();
        }
        Ok(())
    }

    /// Writes everything before any file takes its place, so that a failure never leaves a mixture
    /// of old and new files.
    fn end(mut self, aggregator: Aggregator) -> Result<Aggregates, EvaluationError> {
        let aggregates = aggregator.finish();
        for output in &mut self.results {
            output.write(output.format.closing(self.n_questions))?;
        }
        for output in &mut self.aggregates {
            output.write(&render_aggregates(&aggregates, output.format))?;
        }
        let mut all: Vec<Output> = self.results.into_iter().chain(self.aggregates).collect();
        all.iter_mut().try_for_each(Output::flush)?;
        all.into_iter().try_for_each(Output::finish)?;
        Ok(aggregates)
    }
}

/// Writes records in the formats of all result files.
#[derive(Debug)]
pub struct ResultWriter<'w> {
    profile: &'w Profile,
    formats: Vec<Format>,
    columns: Columns,
}

impl RecordWriter for ResultWriter<'_> {
    type Buffer = Vec<Vec<u8>>;
    /// Waiting results take as much memory as their questions.
    const AHEAD: usize = 2;

    fn buffer(&self) -> Vec<Vec<u8>> {
        self.formats.iter().map(|_| Vec::with_capacity(BUFFER)).collect()
    }

    fn write(&self, record: &Record<'_>, index: usize, buffers: &mut Vec<Vec<u8>>) {
        for (format, out) in self.formats.iter().zip(buffers) {
            write_result(record, self.profile, &self.columns, *format, index, out);
        }
    }
}
