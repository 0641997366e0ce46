//! How alike an actual step is to an expected one: 0 for unlike, 1 for the same.
//!
//! The kind of the expected step chooses the comparator; each lives in a file of its own.

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
pub(crate) use documents::NotDocuments;
use documents::parse_documents;
pub use documents::{Document, DocumentId};
pub use empty::is_empty_result_text;
use juror_document::Quoted;
use juror_json::{self as json, Object};
use juror_sparql::{CellLimit, MediaType, NotAResult, Prepared, ResultFormat, SparqlResult};
use serde_json::value::RawValue;
pub(crate) use spare::Spare;
pub use sparql::compare_sparql_results;

use crate::exact::Compared;
use crate::kind_names::StepKind;
use crate::limits::{Excess, Limits};
use crate::output::Output;
use crate::profile::{Names, Profile, StepKinds};
use crate::question::ExpectedStep;
use crate::trajectory::Step;

/// Whose step it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Expected,
    Actual,
}

impl Side {
    /// Reads a SPARQL result; an expected one need not list its columns.
    fn parse(
        self,
        text: &str,
        format: ResultFormat,
        limit: CellLimit,
    ) -> Result<SparqlResult<'_>, NotAResult> {
        match self {
            Side::Expected => SparqlResult::parse_reference_within(text, format, limit),
            Side::Actual => SparqlResult::parse_within(text, format, limit),
        }
    }
}

/// A step with its output, read as whatever a comparison needs and at most once.
pub(crate) struct View<'t> {
    pub(crate) name: &'t str,
    pub(crate) fields: &'t Object<'t>,
    output: Option<Output<'t>>,
    media_type: MediaType,
    side: Side,
    limits: Limits,
    /// What outputs of the same side may still take beyond what their texts answer for.
    spare: Option<Rc<Spare>>,
    text: OnceCell<Cow<'t, str>>,
    result: OnceCell<Result<SparqlResult<'t>, NotAResult>>,
    documents: OnceCell<Result<Vec<Document<'t>>, NotDocuments>>,
    /// The output as JSON that is compared, and the arguments.
    json: Compared,
    args: OnceCell<Cow<'t, str>>,
    compared_args: Compared,
}

impl<'t> View<'t> {
    pub(crate) fn of_actual(step: &'t Step<'t>) -> View<'t> {
        let written = step.fields.get_set("output_media_type").and_then(json::text_of);
        let media_type = written.map_or(MediaType::Other, |written| MediaType::of(&written));
        View::new(&step.name, &step.fields, step.output, media_type, Side::Actual)
    }

    pub(crate) fn of_expected(step: &'t ExpectedStep<'t>) -> View<'t> {
        let media_type = step.media_type.as_deref().map_or(MediaType::Other, MediaType::of);
        View::new(&step.name, &step.fields, step.output, media_type, Side::Expected)
    }

    fn new(
        name: &'t str,
        fields: &'t Object<'t>,
        output: Option<Output<'t>>,
        media_type: MediaType,
        side: Side,
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
            json: Compared::default(),
            args: OnceCell::new(),
            compared_args: Compared::default(),
        }
    }

    /// The same step as a profile sees it: called by what its name stands for, and read within
    /// limits.
    pub(crate) fn under(mut self, profile: &Profile) -> View<'t> {
        self.name = profile.kind_names.meant_by(self.name);
        self.limits = profile.limits;
        self
    }

    /// The same step among others of its side: they share what they may take beyond their texts, so
    /// that many do not take many times as much.
    pub(crate) fn sharing(mut self, spare: &Rc<Spare>) -> View<'t> {
        self.spare = Some(Rc::clone(spare));
        self
    }

    /// The steps of an answer as a profile sees them.
    pub(crate) fn of_answer(steps: &'t [Step<'t>], profile: &Profile) -> Vec<View<'t>> {
        let spare = Rc::new(Spare::new(&profile.limits));
        let view = |step| View::of_actual(step).under(profile).sharing(&spare);
        steps.iter().map(view).collect()
    }

    /// The same step, read within limits.
    pub(crate) fn within(mut self, limits: &Limits) -> View<'t> {
        self.limits = *limits;
        self
    }

    /// The limits that the output is read within.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What the step returned.
    pub(crate) fn output(&self) -> Option<Output<'t>> {
        self.output
    }

    /// Whether the step returned something.
    pub(crate) fn has_output(&self) -> bool {
        self.output.is_some()
    }

    /// The text of the output, or its JSON if it is not a text.
    pub(crate) fn text(&self) -> Option<&str> {
        let output = self.output?;
        Some(self.text.get_or_init(|| output.text()))
    }

    /// Whether the text of the output contains a piece of text.
    pub(crate) fn contains(&self, piece: &str) -> bool {
        self.output.is_some_and(|output| output.contains(piece))
    }

    /// The step as it is written, but for its id; two that are written alike compare alike.
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

    /// Whether a row of the output lists an IRI, where the output is a SPARQL result as servers
    /// write them; nothing otherwise.
    pub(crate) fn served_has_iri(&self, iri: &str) -> Option<bool> {
        self.output?.served_has_iri(iri)
    }

    /// Whether two outputs are written the same, to the letter.
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
        // Where it was read as JSON, that tells.
        let is_json = format.is_none_or(|format| format == ResultFormat::Json);
        if is_json && self.result.get().is_some_and(|read| read.as_ref().is_ok_and(has_rows)) {
            return false;
        }
        empty::is_empty_output(output, format)
    }

    /// The output as a SPARQL result: by its own media type, else by its look, else as the other
    /// side is written.
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

    /// The length of the text that a table was read from. One that is long enough in any case is
    /// not unescaped for it.
    fn length_for(&self, n_cells: usize) -> usize {
        let written = self.output.map_or(0, Output::written_length);
        if self.least_length() / CellLimit::BYTES_A_CELL >= n_cells {
            return written;
        }
        self.text().map_or(0, str::len)
    }

    /// How long the text is at least: in JSON a byte may be written as six.
    fn least_length(&self) -> usize {
        match self.output {
            Some(Output::Text(text)) => text.len(),
            Some(output) => output.written_length().saturating_sub(2) / 6,
            None => 0,
        }
    }

    /// The cells that the table of a text may have beyond those that its text answers for.
    fn cell_limit(&self, text_length: usize) -> CellLimit {
        let spare = self.spare.as_ref();
        spare.map_or(self.limits.of_tables(), |spare| spare.cells_for(text_length))
    }

    /// What the output has too much of, if anybody tried to read it.
    pub(crate) fn excess(&self) -> Option<Excess> {
        match (self.result.get(), self.documents.get()) {
            (Some(Err(NotAResult::TooLarge)), _) => Some(Excess::TableCells),
            (Some(Err(NotAResult::TooWide)), _) => Some(Excess::TableColumns),
            (_, Some(Err(NotDocuments::TooMany))) => Some(Excess::Documents),
            _ => None,
        }
    }

    /// The same step, whose output is known to have too much of something.
    pub(crate) fn known_to_exceed(self, excess: Excess) -> View<'t> {
        let is_new = match excess {
            Excess::TableCells => self.result.set(Err(NotAResult::TooLarge)).is_ok(),
            Excess::TableColumns => self.result.set(Err(NotAResult::TooWide)).is_ok(),
            Excess::Documents => self.documents.set(Err(NotDocuments::TooMany)).is_ok(),
            Excess::Pairing => true,
        };
        debug_assert!(is_new, "nobody read it before");
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
            && (self.side == Side::Actual || result.has_columns())
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

    /// The output as a list of documents.
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
                // Scores of documents may be `NaN`, for which JSON has no number.
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

    /// An argument, as it is written.
    pub(crate) fn arg(&self, name: &str) -> Option<&'t RawValue> {
        crate::trajectory::argument(self.fields, name)
    }
}

/// An expected step made ready to be compared with many actual ones.
pub(crate) struct Expectation<'v> {
    pub(crate) view: &'v View<'v>,
    pub(crate) step: &'v ExpectedStep<'v>,
    prepared: OnceCell<Option<Prepared<'v>>>,
}

/// The rule by which an expected and an actual step are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Sparql(ResultFormat),
    Retrieval,
    TimeSeries,
    DataPoints,
    Iri,
    Args,
    Json,
    Plain,
    /// Steps that cannot match, such as steps whose names must agree and do not.
    Never,
}

impl Kind {
    /// The rule for a pair of steps.
    pub(crate) fn of(expected: &Expectation<'_>, actual: &View<'_>, profile: &Profile) -> Kind {
        let (step, expected) = (expected.step, expected.view);
        let same_name = expected.name == actual.name;
        if step.matches_by_args(profile) {
            // Arguments mean nothing without what they were given to.
            return if same_name { Kind::Args } else { Kind::Never };
        }
        if !actual.has_output() || (profile.names == Names::MustAgree && !same_name) {
            return Kind::Never;
        }
        Kind::by_output(expected, same_name, profile)
    }

    /// The rule for an expected step that does not match by its arguments, and an actual one that
    /// has an output.
    pub(crate) fn by_output(expected: &View<'_>, same_name: bool, profile: &Profile) -> Kind {
        let all_kinds = profile.kinds == StepKinds::All;
        let has = |kind| all_kinds || profile.kind_names.has(kind);
        let both = |name: &str| same_name && expected.name == name;
        match expected.media_type {
            MediaType::Result(format) if !all_kinds || both("sparql_query") => {
                return Kind::Sparql(format);
            }
            _ => {}
        }
        if both("retrieval") && expected.output.is_some_and(|output| !output.is_empty_text()) {
            return Kind::Retrieval;
        }
        if both("retrieve_time_series") && has(StepKind::RetrieveTimeSeries) {
            return Kind::TimeSeries;
        }
        if both("retrieve_data_points") && has(StepKind::RetrieveDataPoints) {
            return Kind::DataPoints;
        }
        if expected.name == "iri_discovery" && has(StepKind::IriDiscovery) {
            return Kind::Iri;
        }
        if same_name && expected.media_type == MediaType::Json { Kind::Json } else { Kind::Plain }
    }
}

impl<'v> Expectation<'v> {
    pub(crate) fn new(step: &'v ExpectedStep<'v>, view: &'v View<'v>) -> Expectation<'v> {
        Expectation { view, step, prepared: OnceCell::new() }
    }

    /// How alike an actual step is to this one, from 0 to 1.
    pub(crate) fn similarity(&self, actual: &View<'_>, profile: &Profile) -> f64 {
        let expected = self.view;
        let same = match Kind::of(self, actual, profile) {
            Kind::Never => false,
            Kind::Sparql(format) => sparql::matches(self, actual, format),
            Kind::Retrieval => return documents::recall(expected, actual),
            Kind::TimeSeries => time_series::matches(expected, actual),
            Kind::DataPoints => data_points::matches(expected, actual),
            Kind::Iri => iri::matches(expected, actual),
            Kind::Args => args::matches(expected, actual),
            Kind::Json => value::same_json_output(expected, actual),
            Kind::Plain => value::same_output(expected, actual),
        };
        f64::from(u8::from(same))
    }

    /// The expected SPARQL result, ready for comparisons.
    pub(crate) fn prepared(&self, format: ResultFormat) -> Option<&Prepared<'v>> {
        let prepare = || Some(Prepared::new(self.view.result(format)?, &self.step.rules));
        self.prepared.get_or_init(prepare).as_ref()
    }
}
