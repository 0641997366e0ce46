//! Where the records of an evaluation go.

use juror_score::{Aggregator, Judgement, Record};

use super::{Evaluation, EvaluationError};

/// Where the records of an evaluation go.
///
/// Threads that score write their records into buffers, a few records each ([`RecordWriter`]). The
/// thread that runs the evaluation gives these to the sink, in the order of the dataset.
pub trait Sink {
    /// A few records, as they are written.
    type Buffer: Send;
    /// Writes records into buffers.
    type Writer<'w>: RecordWriter<Buffer = Self::Buffer>
    where
        Self: 'w;
    /// What becomes of all records.
    type Product;

    /// Makes ready for records. All questions have been judged by now, and none is scored.
    fn begin<'w>(
        &mut self,
        evaluation: &'w Evaluation<'_>,
        judgements: &[Judgement],
    ) -> Result<Self::Writer<'w>, EvaluationError>
    where
        Self: 'w;

    /// Takes the next records, and leaves the buffer empty, to be filled again.
    fn take(&mut self, buffer: &mut Self::Buffer) -> Result<(), EvaluationError>;

    /// Ends after the last record.
    fn end(self, aggregator: Aggregator) -> Result<Self::Product, EvaluationError>;
}

/// Writes records on the threads that score them.
pub trait RecordWriter: Sync {
    /// A few records, as they are written.
    type Buffer: Send;
    /// How many buffers a thread may fill before the first of them is taken.
    const AHEAD: usize;

    /// An empty buffer.
    fn buffer(&self) -> Self::Buffer;

    /// Adds a record, whose question has this position, to a buffer.
    fn write(&self, record: &Record<'_>, index: usize, buffer: &mut Self::Buffer);
}
