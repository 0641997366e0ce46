//! Results as rows of a fixed schema, written without a detour through Python's objects.

use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use juror_report::{Columns, Format, text_of_json, write_result};
use juror_run::Plan;
use juror_score::{Ending, ErrorResponses, Level, MetricInfo, QUESTION_METRICS, Record, Scorecard};

/// The most bytes of results in one batch: Arrow's `string` counts them with 31 bits.
const MOST_BYTES: usize = 1 << 30;

/// What rows have: the same columns, whatever the results.
#[derive(Clone, Debug)]
pub(crate) struct RowShape {
    pub(crate) schema: SchemaRef,
    /// The metrics of questions, then those of the user's own.
    of_questions: Vec<String>,
    of_steps: Vec<&'static MetricInfo>,
}

impl RowShape {
    pub(crate) fn of(plan: &Plan) -> RowShape {
        let built_in = QUESTION_METRICS.iter().filter(|info| info.level == Level::Question);
        let built_in = built_in.map(|info| info.name.to_owned());
        let of_questions: Vec<String> =
            built_in.chain(plan.custom_metrics.iter().cloned()).collect();
        let of_steps: Vec<_> =
            QUESTION_METRICS.iter().filter(|info| info.level == Level::Step).collect();
        let text = |name: &str| Field::new(name, DataType::Utf8, true);
        let number = |name: &str| Field::new(name, DataType::Float64, true);
        let mut fields = vec![text("template_id"), text("question_id")];
        fields.push(Field::new("trial", DataType::Int64, true));
        fields.extend([text("status"), text("error")]);
        fields.extend(of_questions.iter().map(|name| number(name)));
        fields.extend(of_steps.iter().map(|info| number(info.name)));
        fields.push(text("result"));
        RowShape { schema: Arc::new(Schema::new(fields)), of_questions, of_steps }
    }

    fn rows(&self) -> Rows {
        Rows {
            n: 0,
            template_ids: Texts::default(),
            question_ids: Texts::default(),
            trials: Vec::new(),
            statuses: Texts::default(),
            errors: Texts::default(),
            numbers: vec![Vec::new(); self.of_questions.len() + self.of_steps.len()],
            results: Texts::default(),
        }
    }
}

/// Rows that are being collected, in as many batches as they need: nearly always one.
pub(crate) struct RowBatches<'s> {
    shape: &'s RowShape,
    full: Vec<Rows>,
    last: Rows,
}

impl<'s> RowBatches<'s> {
    pub(crate) fn new(shape: &'s RowShape) -> RowBatches<'s> {
        RowBatches { shape, full: Vec::new(), last: shape.rows() }
    }

    /// Adds the row of a record.
    pub(crate) fn push(&mut self, record: &Record<'_>, plan: &Plan) {
        if self.last.results.bytes.len() >= MOST_BYTES {
            self.full.push(std::mem::replace(&mut self.last, self.shape.rows()));
        }
        self.last.push(record, self.shape, plan);
    }

    /// Adds rows that were collected elsewhere.
    pub(crate) fn append(&mut self, other: RowBatches<'_>) {
        for rows in other.full.into_iter().chain([other.last]) {
            if self.last.results.bytes.len() + rows.results.bytes.len() <= MOST_BYTES {
                self.last.append(rows);
            } else {
                self.full.push(std::mem::replace(&mut self.last, rows));
            }
        }
    }

    pub(crate) fn into_batches(self) -> Result<Vec<RecordBatch>, ArrowError> {
        let all = self.full.into_iter().chain([self.last]);
        all.map(|rows| rows.into_batch(self.shape)).collect()
    }
}

struct Rows {
    n: usize,
    template_ids: Texts,
    question_ids: Texts,
    trials: Vec<Option<i64>>,
    statuses: Texts,
    errors: Texts,
    /// The values of each metric.
    numbers: Vec<Vec<Option<f64>>>,
    results: Texts,
}

impl Rows {
    fn push(&mut self, record: &Record<'_>, shape: &RowShape, plan: &Plan) {
        let (question, trajectory) = (record.case.question, record.case.trajectory);
        let is_known = |id: &&str| !id.is_empty();
        self.template_ids.push(Some(&*question.template).filter(is_known));
        self.question_ids.push(Some(&*question.id).filter(is_known));
        self.trials.push(trajectory.trial.map(|trial| i64::from(trial.get())));
        let error = match &trajectory.ending {
            Ending::Responded => None,
            Ending::Failed(message) => Some(text_of_json(message)),
            Ending::Missing => Some("no response".into()),
        };
        self.statuses.push(Some(if error.is_some() { "error" } else { "success" }));
        self.errors.push(error.as_deref());
        self.push_numbers(record, shape, plan);
        let out = &mut self.results.bytes;
        write_result(record, &plan.profile, &Columns::default(), Format::JsonLines, self.n, out);
        if out.last() == Some(&b'\n') {
            out.pop();
        }
        self.results.end(true);
        self.n += 1;
    }

    fn push_numbers(&mut self, record: &Record<'_>, shape: &RowShape, plan: &Plan) {
        self.numbers.iter_mut().for_each(|values| values.push(None));
        let is_error = record.case.trajectory.ending.is_error();
        if is_error && plan.profile.steps_of_errors == ErrorResponses::LeftOut {
            return;
        }
        let (of_questions, of_steps) = self.numbers.split_at_mut(shape.of_questions.len());
        Scorecard::of(record).each_number(|name, number| {
            let at = shape.of_questions.iter().position(|known| known == name);
            if let Some(last) = at.and_then(|at| of_questions[at].last_mut()) {
                *last = Some(number.value);
            }
        });
        for (info, values) in shape.of_steps.iter().zip(of_steps) {
            if let Some(last) = values.last_mut() {
                *last = info.of_steps(record.values_of_steps(info.name));
            }
        }
    }

    fn append(&mut self, other: Rows) {
        self.n += other.n;
        self.template_ids.append(&other.template_ids);
        self.question_ids.append(&other.question_ids);
        self.trials.extend(other.trials);
        self.statuses.append(&other.statuses);
        self.errors.append(&other.errors);
        for (own, others) in self.numbers.iter_mut().zip(other.numbers) {
            own.extend(others);
        }
        self.results.append(&other.results);
    }

    fn into_batch(self, shape: &RowShape) -> Result<RecordBatch, ArrowError> {
        let mut arrays: Vec<ArrayRef> = Vec::with_capacity(shape.schema.fields().len());
        arrays.push(self.template_ids.into_array()?);
        arrays.push(self.question_ids.into_array()?);
        arrays.push(Arc::new(Int64Array::from(self.trials)));
        arrays.push(self.statuses.into_array()?);
        arrays.push(self.errors.into_array()?);
        for values in self.numbers {
            arrays.push(Arc::new(Float64Array::from(values)));
        }
        arrays.push(self.results.into_array()?);
        RecordBatch::try_new(Arc::clone(&shape.schema), arrays)
    }
}

/// A column of texts, one after another in memory.
#[derive(Default)]
struct Texts {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    are_set: Vec<bool>,
}

impl Texts {
    fn push(&mut self, text: Option<&str>) {
        self.bytes.extend_from_slice(text.unwrap_or_default().as_bytes());
        self.end(text.is_some());
    }

    fn end(&mut self, is_set: bool) {
        self.ends.push(self.bytes.len());
        self.are_set.push(is_set);
    }

    fn append(&mut self, other: &Texts) {
        let before = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes);
        self.ends.extend(other.ends.iter().map(|end| before + end));
        self.are_set.extend_from_slice(&other.are_set);
    }

    fn into_array(self) -> Result<ArrayRef, ArrowError> {
        let mut offsets = Vec::with_capacity(self.ends.len() + 1);
        offsets.push(0);
        for end in self.ends {
            let too_large = |_| ArrowError::OffsetOverflowError(end);
            offsets.push(i32::try_from(end).map_err(too_large)?);
        }
        let nulls = self.are_set.contains(&false).then(|| NullBuffer::from(self.are_set));
        let array = StringArray::try_new(
            OffsetBuffer::new(offsets.into()),
            Buffer::from_vec(self.bytes),
            nulls,
        )?;
        Ok(Arc::new(array))
    }
}
