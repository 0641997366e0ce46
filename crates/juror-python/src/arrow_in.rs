//! Tables of other libraries, taken over through Arrow's C interface.
//!
//! A producer lends its memory in a capsule: the pointer to a struct of C, whose layout is the same
//! everywhere. Reading through such a pointer is the one thing here that the compiler cannot check.

use std::ffi::CStr;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi};
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::{
    Array, ArrayRef, LargeStringArray, RecordBatch, RecordBatchReader, StringArray,
    StringViewArray, StructArray,
};
use arrow_schema::{ArrowError, DataType, SchemaRef};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::to_json::type_name;

/// Batches of a table, as they are asked for.
pub(crate) enum Batches {
    Stream(RecordBatchStreamReader),
    One(SchemaRef, Option<RecordBatch>),
}

impl Batches {
    /// Takes over an object that has `__arrow_c_stream__` or `__arrow_c_array__`.
    pub(crate) fn of(table: &Bound<'_, PyAny>) -> PyResult<Batches> {
        if table.hasattr("__arrow_c_stream__")? {
            let capsule = table.call_method0("__arrow_c_stream__")?;
            let stream = taken_stream(&capsule)?;
            return RecordBatchStreamReader::try_new(stream).map(Batches::Stream).map_err(failed);
        }
        if table.hasattr("__arrow_c_array__")? {
            let capsules = table.call_method0("__arrow_c_array__")?;
            let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = capsules.extract()?;
            let batch = taken_array(&schema, &array)?;
            return Ok(Batches::One(batch.schema(), Some(batch)));
        }
        let name = type_name(table);
        let words = format!(
            "`{name}` is no table that Arrow's C interface can hand over\n  hint: give one of \
             pyarrow, polars, pandas or another library with `__arrow_c_stream__`"
        );
        Err(PyTypeError::new_err(words))
    }

    pub(crate) fn schema(&self) -> SchemaRef {
        match self {
            Batches::Stream(reader) => reader.schema(),
            Batches::One(schema, _) => schema.clone(),
        }
    }

    /// Returns the next batch. The producer may need Python for it.
    pub(crate) fn next(&mut self) -> Option<Result<RecordBatch, ArrowError>> {
        match self {
            Batches::Stream(reader) => reader.next(),
            Batches::One(_, batch) => batch.take().map(Ok),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "used where errors are mapped")]
pub(crate) fn failed(error: ArrowError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn taken_stream(capsule: &Bound<'_, PyAny>) -> PyResult<FFI_ArrowArrayStream> {
    let stream = pointer::<FFI_ArrowArrayStream>(capsule, c"arrow_array_stream")?;
    #[expect(unsafe_code, reason = "a capsule of this name holds this struct, by Arrow's protocol")]
    Ok(unsafe { FFI_ArrowArrayStream::from_raw(stream) })
}

fn taken_array(schema: &Bound<'_, PyAny>, array: &Bound<'_, PyAny>) -> PyResult<RecordBatch> {
    let schema = pointer::<FFI_ArrowSchema>(schema, c"arrow_schema")?;
    let array = pointer::<FFI_ArrowArray>(array, c"arrow_array")?;
    #[expect(
        unsafe_code,
        reason = "capsules of these names hold these structs, by Arrow's protocol"
    )]
    let data = unsafe {
        let (schema, array) = (FFI_ArrowSchema::from_raw(schema), FFI_ArrowArray::from_raw(array));
        from_ffi(array, &schema)
    };
    let data = data.map_err(failed)?;
    if !matches!(data.data_type(), DataType::Struct(_)) {
        let words =
            format!("an array of {} is no table: give a batch with columns", data.data_type());
        return Err(PyTypeError::new_err(words));
    }
    Ok(RecordBatch::from(StructArray::from(data)))
}

/// Returns the pointer of a capsule that has this name.
fn pointer<T>(capsule: &Bound<'_, PyAny>, name: &CStr) -> PyResult<*mut T> {
    let capsule = capsule.cast::<PyCapsule>()?;
    Ok(capsule.pointer_checked(Some(name))?.as_ptr().cast())
}

/// A column of texts, of whichever type.
#[derive(Clone, Copy)]
pub(crate) enum TextColumn<'b> {
    Short(&'b StringArray),
    Long(&'b LargeStringArray),
    View(&'b StringViewArray),
    /// Without any text.
    Null,
}

impl<'b> TextColumn<'b> {
    /// Returns a column as texts; `None` if it has another type.
    pub(crate) fn of(array: &'b ArrayRef) -> Option<TextColumn<'b>> {
        let any = array.as_any();
        match array.data_type() {
            DataType::Utf8 => any.downcast_ref().map(TextColumn::Short),
            DataType::LargeUtf8 => any.downcast_ref().map(TextColumn::Long),
            DataType::Utf8View => any.downcast_ref().map(TextColumn::View),
            DataType::Null => Some(TextColumn::Null),
            _ => None,
        }
    }

    pub(crate) fn get(self, row: usize) -> Option<&'b str> {
        match self {
            TextColumn::Short(array) => array.is_valid(row).then(|| array.value(row)),
            TextColumn::Long(array) => array.is_valid(row).then(|| array.value(row)),
            TextColumn::View(array) => array.is_valid(row).then(|| array.value(row)),
            TextColumn::Null => None,
        }
    }
}
