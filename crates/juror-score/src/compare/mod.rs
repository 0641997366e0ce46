//! Computes the similarity of an actual and an expected step: from 0 for different to 1 for the same.
//!
//! The kind of the expected step decides the comparator (`CompareBy`). Each comparator is in a file
//! of its own.

mod args;
mod data_points;
mod documents;
mod empty;
mod iri;
mod spare;
mod sparql;
mod time;
mod time_series;
mod value;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::rc::Rc;

pub(crate) use args::{Differing, differing};
use documents::parse_documents;
pub use documents::{Document, DocumentId};
pub(crate) use documents::{NotDocuments, k_of};
pub use empty::is_empty_result_text;
use juror_document::Quoted;
use juror_json::{self as json, Object};
use juror_sparql::{CellLimit, MediaType, NotAResult, Prepared, ResultFormat, SparqlResult};
use serde_json::value::RawValue;
pub(crate) use spare::Spare;
pub use sparql::compare_sparql_results;
pub(crate) use time::Instant;

use crate::kind_names::StepKind;
use crate::limits::{Excess, Limits};
use crate::output::Output;
use crate::profile::{NameMatching, Profile, StepKinds};
use crate::question::ExpectedStep;
use crate::trajectory::Step;
use juror_document::ComparedJson;

/// Whether a step is expected or was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StepSide {
    Expected,
    Actual,
}

impl StepSide {
    /// Reads a SPARQL result. An expected one need not list its columns.
    fn parse(
        self,
        text: &str,
        format: ResultFormat,
        limit: CellLimit,
    ) -> Result<SparqlResult<'_>, NotAResult> {
        match self {
            StepSide::Expected => SparqlResult::parse_reference_within(text, format, limit),
            StepSide::Actual => SparqlResult::parse_within(text, format, limit),
        }
    }
}

/// A step as comparators see it. Its output is parsed as a comparison needs it, and at most once.
pub(crate) struct View<'t> {
    pub(crate) name: &'t str,
    pub(crate) fields: &'t Object<'t>,
    output: Option<Output<'t>>,
    media_type: MediaType,
    side: StepSide,
    limits: Limits,
    /// The room that the outputs of this side share.
    spare: Option<Rc<Spare>>,
    text: OnceCell<Cow<'t, str>>,
    result: OnceCell<Result<SparqlResult<'t>, NotAResult>>,
    documents: OnceCell<Result<Vec<Document<'t>>, NotDocuments>>,
    /// The output, prepared for comparison as JSON.
    json: ComparedJson,
    args: OnceCell<Cow<'t, str>>,
    /// The arguments, prepared for comparison as JSON.
    compared_args: ComparedJson,
}

impl<'t> View<'t> {
    pub(crate) fn of_actual(step: &'t Step<'t>) -> View<'t> {
        let written = step.fields.get_set("output_media_type").and_then(json::text_of);
        let media_type = written.map_or(MediaType::Other, |written| MediaType::of(&written));
        View::new(&step.name, &step.fields, step.output, media_type, StepSide::Actual)
    }

    pub(crate) fn of_expected(step: &'t ExpectedStep<'t>) -> View<'t> {
        let media_type = step.media_type.as_deref().map_or(MediaType::Other, MediaType::of);
        View::new(&step.name, &step.fields, step.output, media_type, StepSide::Expected)
    }

    fn new(
        name: &'t str,
        fields: &'t Object<'t>,
        output: Option<Output<'t>>,
        media_type: MediaType,
        side: StepSide,
    ) -> View<'t> {
        View {
            name,
            fields,
            output,
            media_type,
            side,
            limits: Limits::DEFAULT,
            spare: None,
            text: OnceCell::new(),
            result: OnceCell::new(),
            documents: OnceCell::new(),
            json: ComparedJson::default(),
            args: OnceCell::new(),
            compared_args: ComparedJson::default(),
        }
    }

    /// Applies a profile: the usual name of the step's kind, and the limits.
    pub(crate) fn under(mut self, profile: &Profile) -> View<'t> {
        self.name = profile.kind_names.meant_by(self.name);
        self.limits = profile.limits;
        self
    }

    /// Makes the step share its room with others of its side, so that many steps cannot take many
    /// times as much.
    pub(crate) fn sharing(mut self, spare: &Rc<Spare>) -> View<'t> {
        self.spare = Some(Rc::clone(spare));
        self
    }

    /// Returns the views of an answer's steps under a profile.
    pub(crate) fn of_answer(steps: &'t [Step<'t>], profile: &Profile) -> Vec<View<'t>> {
        let spare = Rc::new(Spare::new(&profile.limits));
        let view = |step| View::of_actual(step).under(profile).sharing(&spare);
        steps.iter().map(view).collect()
    }

    /// Sets the limits.
    pub(crate) fn within(mut self, limits: &Limits) -> View<'t> {
        self.limits = *limits;
        self
    }

    /// The limits for reading the output.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What the step returned.
    pub(crate) fn output(&self) -> Option<Output<'t>> {
        self.output
    }

    /// Whether the step has an output.
    pub(crate) fn has_output(&self) -> bool {
        self.output.is_some()
    }

    /// Returns the text of the output, or its JSON if it is not a text.
    pub(crate) fn text(&self) -> Option<&str> {
        let output = self.output?;
        Some(self.text.get_or_init(|| output.text()))
    }

    /// Whether the text of the output contains `piece`.
    pub(crate) fn contains(&self, piece: &str) -> bool {
        self.output.is_some_and(|output| output.contains(piece))
    }

    /// Returns all parts of the step except its id. Steps with equal parts compare equally.
    pub(crate) fn written(&self) -> Vec<&'t str> {
        let (form, output) = match self.output {
            None => ("nothing", ""),
            Some(Output::Json(value)) => ("JSON", value.get()),
            Some(Output::Text(text)) => ("text", text),
        };
        let fields = self.fields.iter_raw().filter(|(key, _)| key.get() != "\"id\"");
        let fields = fields.flat_map(|(key, value)| [key.get(), value.get()]);
        [self.name, form, output].into_iter().chain(fields).collect()
    }

    /// Whether any row of the output contains an IRI, or `None` if the output is not a SPARQL result
    /// as servers write it.
    pub(crate) fn served_has_iri(&self, iri: &str) -> Option<bool> {
        self.output?.served_has_iri(iri)
    }

    /// Whether two outputs are written identically.
    pub(crate) fn is_written_like(&self, other: &View<'_>) -> bool {
        match (self.output, other.output) {
            (Some(output), Some(other)) => output.is_written_like(other),
            _ => false,
        }
    }

    /// Whether the output is a SPARQL result without rows.
    pub(crate) fn is_empty_result(&self) -> bool {
        let Some(output) = self.output else { return false };
        let has_rows = |result: &SparqlResult| match result {
            SparqlResult::Table(table) => table.n_rows > 0,
            SparqlResult::Truth(_) => false,
        };
        let format = self.own_format();
        // If it was already read as JSON, the result has the answer.
        let is_json = format.is_none_or(|format| format == ResultFormat::Json);
        if is_json && self.result.get().is_some_and(|read| read.as_ref().is_ok_and(has_rows)) {
            return false;
        }
        empty::is_empty_output(output, format)
    }

    /// Returns the output as a SPARQL result, in the format of its own media type, or else as it
    /// looks, or else in the format of the other side.
    pub(crate) fn result(&self, other: ResultFormat) -> Option<&SparqlResult<'t>> {
        self.read(other).as_ref().ok()
    }

    fn read(&self, other: ResultFormat) -> &Result<SparqlResult<'t>, NotAResult> {
        self.result.get_or_init(|| {
            let read = self.read_result(other);
            if let Some(spare) = &self.spare {
                match &read {
                    Ok(SparqlResult::Table(table)) => {
                        let n_cells = table.columns.len() * table.n_rows;
                        spare.take_cells(n_cells, self.length_for(n_cells));
                    }
                    Err(NotAResult::TooLarge | NotAResult::TooWide) => spare.refuse_cells(),
                    Ok(SparqlResult::Truth(_)) | Err(NotAResult::Other(_)) => {}
                }
            }
            read
        })
    }

    /// Returns the length of the text that a table was read from. A text that is long enough in any
    /// case is not unescaped for this.
    fn length_for(&self, n_cells: usize) -> usize {
        let written = self.output.map_or(0, Output::written_length);
        if self.least_length() / CellLimit::BYTES_A_CELL >= n_cells {
            return written;
        }
        self.text().map_or(0, str::len)
    }

    /// Returns a lower bound of the text's length: in JSON, up to six bytes may stand for one.
    fn least_length(&self) -> usize {
        match self.output {
            Some(Output::Text(text)) => text.len(),
            Some(output) => output.written_length().saturating_sub(2) / 6,
            None => 0,
        }
    }

    /// Returns the output as a SPARQL result if it was compared as one, or if its media type or the
    /// kind of the step says that it is one.
    pub(crate) fn shown_result(&self) -> Option<&SparqlResult<'t>> {
        let is_query = self.name == StepKind::SparqlQuery.name();
        let format = self.own_format().or(is_query.then_some(ResultFormat::Json));
        match (self.result.get(), format) {
            (Some(read), _) => read.as_ref().ok(),
            (None, Some(format)) => self.result(format),
            (None, None) => None,
        }
    }

    /// Returns the limit of cells for a text of this length.
    fn cell_limit(&self, text_length: usize) -> CellLimit {
        let spare = self.spare.as_ref();
        spare.map_or(self.limits.of_tables(), |spare| spare.cells_for(text_length))
    }

    /// Returns the limit that the output exceeded when it was read.
    pub(crate) fn excess(&self) -> Option<Excess> {
        match (self.result.get(), self.documents.get()) {
            (Some(Err(NotAResult::TooLarge)), _) => Some(Excess::TableCells),
            (Some(Err(NotAResult::TooWide)), _) => Some(Excess::TableColumns),
            (_, Some(Err(NotDocuments::TooMany))) => Some(Excess::Documents),
            _ => None,
        }
    }

    /// Marks the output as exceeding a limit, before it is read.
    pub(crate) fn known_to_exceed(self, excess: Excess) -> View<'t> {
        let is_new = match excess {
            Excess::TableCells => self.result.set(Err(NotAResult::TooLarge)).is_ok(),
            Excess::TableColumns => self.result.set(Err(NotAResult::TooWide)).is_ok(),
            Excess::Documents => self.documents.set(Err(NotDocuments::TooMany)).is_ok(),
            Excess::Pairing => true,
        };
        debug_assert!(is_new, "the output was not read before");
        self
    }

    fn own_format(&self) -> Option<ResultFormat> {
        self.media_type.result_format()
    }

    fn read_result(&self, other: ResultFormat) -> Result<SparqlResult<'t>, NotAResult> {
        let output = self.output.ok_or_else(NotAResult::nothing)?;
        let own = self.own_format();
        let format = own.unwrap_or(other);
        if let Some(json) = output.other_json() {
            return self.side.parse(json, ResultFormat::Json, self.cell_limit(json.len()));
        }
        if format == ResultFormat::Json
            && let Some(result) = output.served_result(self.cell_limit(self.least_length()))
            && (self.side == StepSide::Actual || result.has_columns())
        {
            return Ok(result);
        }
        let text = self.text().unwrap_or_default();
        let look = match text.trim_start().as_bytes().first() {
            Some(b'{') => ResultFormat::Json,
            Some(b'<') if format != ResultFormat::Tsv => ResultFormat::Xml,
            _ => format,
        };
        let format = if own.is_some() { format } else { look };
        let limit = self.cell_limit(text.len());
        self.side.parse(text, format, limit).map(SparqlResult::into_owned)
    }

    /// Returns the output as a list of documents.
    pub(crate) fn documents(&self) -> Result<&[Document<'t>], NotDocuments> {
        let read = || {
            let text = self.text().ok_or(NotDocuments::Other)?;
            let owned = |documents: Vec<Document<'_>>| {
                documents.into_iter().map(Document::into_owned).collect::<Vec<_>>()
            };
            let spare = self.spare.as_ref();
            let of_limits = || self.limits.documents_of(text.len());
            let most = spare.map_or_else(of_limits, |spare| spare.documents_for(text.len()));
            let read = match parse_documents(text, most) {
                Ok(documents) => Ok(owned(documents)),
                Err(NotDocuments::TooMany) => Err(NotDocuments::TooMany),
                // Scores of documents may be `NaN`, which is not JSON.
                Err(NotDocuments::Other) => {
                    let quoted = Quoted::of(text, false).ok_or(NotDocuments::Other)?;
                    parse_documents(&quoted.text, most).map(owned)
                }
            };
            match (&read, spare) {
                (Ok(documents), Some(spare)) => spare.take_documents(documents.len(), text.len()),
                (Err(NotDocuments::TooMany), Some(spare)) => spare.refuse_documents(),
                _ => {}
            }
            read
        };
        self.documents.get_or_init(read).as_deref().map_err(|why| *why)
    }

    /// Returns an argument, as JSON.
    pub(crate) fn arg(&self, name: &str) -> Option<&'t RawValue> {
        crate::trajectory::argument(self.fields, name)
    }
}

/// An expected step, prepared to be compared with many actual ones.
pub(crate) struct Expectation<'v> {
    pub(crate) view: &'v View<'v>,
    pub(crate) step: &'v ExpectedStep<'v>,
    prepared: OnceCell<Option<Prepared<'v>>>,
}

/// The rule for comparing an expected and an actual step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CompareBy {
    Sparql(ResultFormat),
    Retrieval,
    TimeSeries,
    DataPoints,
    Iri,
    Args,
    Json,
    Plain,
    /// The steps cannot match, for example because their names must agree and do not.
    Never,
}

impl CompareBy {
    /// Returns the rule for a pair of steps.
    pub(crate) fn of(
        expected: &Expectation<'_>,
        actual: &View<'_>,
        profile: &Profile,
    ) -> CompareBy {
        let (step, expected) = (expected.step, expected.view);
        let same_name = expected.name == actual.name;
        if step.matches_by_args(profile) {
            // Arguments mean nothing without the name of the tool.
            return if same_name { CompareBy::Args } else { CompareBy::Never };
        }
        if !actual.has_output() || (profile.names == NameMatching::MustAgree && !same_name) {
            return CompareBy::Never;
        }
        CompareBy::by_output(expected, same_name, profile)
    }

    /// Returns the rule for an expected step that is not matched by its arguments and an actual one
    /// that has an output.
    pub(crate) fn by_output(expected: &View<'_>, same_name: bool, profile: &Profile) -> CompareBy {
        let all_kinds = profile.kinds == StepKinds::All;
        let has = |kind| all_kinds || profile.kind_names.has(kind);
        let both = |name: &str| same_name && expected.name == name;
        match expected.media_type {
            MediaType::Result(format) if !all_kinds || both("sparql_query") => {
                return CompareBy::Sparql(format);
            }
            _ => {}
        }
        if both("retrieval") && expected.output.is_some_and(|output| !output.is_empty_text()) {
            return CompareBy::Retrieval;
        }
        if both("retrieve_time_series") && has(StepKind::RetrieveTimeSeries) {
            return CompareBy::TimeSeries;
        }
        if both("retrieve_data_points") && has(StepKind::RetrieveDataPoints) {
            return CompareBy::DataPoints;
        }
        if expected.name == "iri_discovery" && has(StepKind::IriDiscovery) {
            return CompareBy::Iri;
        }
        if same_name && expected.media_type == MediaType::Json {
            CompareBy::Json
        } else {
            CompareBy::Plain
        }
    }
}

impl<'v> Expectation<'v> {
    pub(crate) fn new(step: &'v ExpectedStep<'v>, view: &'v View<'v>) -> Expectation<'v> {
        Expectation { view, step, prepared: OnceCell::new() }
    }

    /// Returns the similarity of an actual step, from 0 to 1.
    pub(crate) fn similarity(&self, actual: &View<'_>, profile: &Profile) -> f64 {
        let expected = self.view;
        let same = match CompareBy::of(self, actual, profile) {
            CompareBy::Never => false,
            CompareBy::Sparql(format) => sparql::matches(self, actual, format),
            CompareBy::Retrieval => return documents::recall(expected, actual),
            CompareBy::TimeSeries => time_series::matches(expected, actual),
            CompareBy::DataPoints => data_points::matches(expected, actual),
            CompareBy::Iri => iri::matches(expected, actual),
            CompareBy::Args => args::matches(expected, actual),
            CompareBy::Json => value::same_json_output(expected, actual),
            CompareBy::Plain => value::same_output(expected, actual),
        };
        f64::from(u8::from(same))
    }

    /// Returns the expected SPARQL result, prepared for comparisons.
    pub(crate) fn prepared(&self, format: ResultFormat) -> Option<&Prepared<'v>> {
        let prepare = || Some(Prepared::new(self.view.result(format)?, &self.step.rules));
        self.prepared.get_or_init(prepare).as_ref()
    }
}
