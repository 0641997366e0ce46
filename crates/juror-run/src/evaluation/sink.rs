//! The destination of an evaluation's records.

use juror_score::{Aggregator, Judgement, Record};

use super::{Evaluation, EvaluationError};

/// The destination of an evaluation's records.
///
/// Scoring threads write their records into buffers, a few records each ([`RecordWriter`]). The
/// thread that runs the evaluation passes the buffers to the sink, in the order of the dataset.
pub trait Sink {
    /// A few written records.
    type Buffer: Send;
    /// Writes records into buffers.
    type Writer<'w>: RecordWriter<Buffer = Self::Buffer>
    where
        Self: 'w;
    /// What the sink makes of all records.
    type Product;

    /// Prepares for records. By now all questions have been judged, and none has been scored.
    fn begin<'w>(
        &mut self,
        evaluation: &'w Evaluation<'_>,
        judgements: &[Judgement],
    ) -> Result<Self::Writer<'w>, EvaluationError>
    where
        Self: 'w;

    /// Takes the next records, and leaves the buffer empty for reuse.
    fn take(&mut self, buffer: &mut Self::Buffer) -> Result<(), EvaluationError>;

    /// Returns what takes the records of an evaluation whose judging was interrupted; `None` if
    /// nothing does.
    fn after_interrupt(self) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// Finishes after the last record.
    fn end(self, aggregator: Aggregator) -> Result<Self::Product, EvaluationError>;
}

/// Writes records on the threads that score them.
pub trait RecordWriter: Sync {
    /// A few written records.
    type Buffer: Send;
    /// How many buffers a thread may fill before the first of them is taken.
    const AHEAD: usize;

    /// Creates an empty buffer.
    fn buffer(&self) -> Self::Buffer;

    /// Adds the record of the question at this position to a buffer.
    fn write(&self, record: &Record<'_>, index: usize, buffer: &mut Self::Buffer);
}
