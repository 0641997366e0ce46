//! Numbers the distinct values of a reference column, and translates actual cells into these numbers.
//!
//! Equality of cells is not transitive: a plain `05` equals a typed `05`, which equals a typed `5`,
//! which equals a plain `5`, and yet plain `05` is not plain `5`. So cells have no common normal form
//! that could be hashed across tables. Instead, each actual cell is looked up in the reference column
//! it may be paired with, and is represented by the number of the value it equals from then on. The
//! number depends on the pair of columns, never on the table as a whole.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::OnceLock;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::{Cell, Datatype};

/// The largest difference between two equal numbers.
const TOLERANCE: f64 = 1e-8;

/// 2⁵³: up to here every integer is an exact `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// The number of rows from which to guess whether most values of a column are distinct.
const SAMPLE: usize = 1024;

/// The value of a cell in a form that can be hashed.
#[derive(Clone, PartialEq, Debug)]
enum CellValue<'t> {
    Unbound,
    Text(&'t str),
    Truth(bool),
    /// The bits of a number; all zeros are the same, and so are all NaNs.
    Number(u64),
    /// The digits of an integer too large for an exact `f64`.
    Large(Cow<'t, str>),
}

/// A reference column: its cells as ids of values, and the means to find the id of an actual cell.
pub(super) struct ReferenceColumn<'t> {
    /// The id of each row's value, below `n_values`.
    pub(super) values: Vec<u32>,
    /// The number of distinct values.
    pub(super) n_values: u32,
    cells: Cow<'t, [Cell<'t>]>,
    ids: ValueIds,
    /// The types of typed cells, each once.
    datatypes: Vec<Datatype>,
    /// The finite numbers of the column, sorted, to find the nearest one; computed on first use.
    numbers: OnceLock<Vec<(f64, u32)>>,
    /// The ids of typed cells by type and text, for plain actual cells; computed on first use.
    written: OnceLock<HashMap<(Datatype, String), u32>>,
}

/// Whether typed cells share the id of a plain cell with the same text.
#[derive(Clone, Copy)]
enum Joining {
    Nothing,
    PlainTexts,
}

impl<'t> ReferenceColumn<'t> {
    pub(super) fn new(cells: &'t [Cell<'t>]) -> ReferenceColumn<'t> {
        ReferenceColumn::of(Cow::Borrowed(cells))
    }

    /// A column of unbound cells.
    pub(super) fn unbound(n_rows: usize) -> ReferenceColumn<'t> {
        ReferenceColumn::of(Cow::Owned(vec![Cell::Unbound; n_rows]))
    }

    fn of(cells: Cow<'t, [Cell<'t>]>) -> ReferenceColumn<'t> {
        let is_typed = |cell: &Cell| matches!(cell, Cell::Typed(..));
        let mut datatypes = Vec::new();
        for cell in cells.iter() {
            if let Cell::Typed(datatype, _) = cell
                && !datatypes.contains(datatype)
            {
                datatypes.push(*datatype);
            }
        }
        let any_text = || cells.iter().any(|cell| matches!(cell, Cell::Text(_)));
        let mixed = !datatypes.is_empty() && any_text();
        let mut column = ReferenceColumn {
            values: vec![0; cells.len()],
            n_values: 0,
            cells,
            ids: ValueIds::default(),
            datatypes,
            numbers: OnceLock::new(),
            written: OnceLock::new(),
        };
        if mixed {
            // Plain cells first, so that typed cells with the same text can share their ids.
            column.intern_where(|cell| !is_typed(cell), Joining::Nothing);
            column.intern_where(is_typed, Joining::PlainTexts);
        } else {
            column.intern_where(|_| true, Joining::Nothing);
        }
        column
    }

    fn intern_where(&mut self, chosen: impl Fn(&Cell<'t>) -> bool, joining: Joining) {
        for (row, cell) in self.cells.iter().enumerate().filter(|(_, cell)| chosen(cell)) {
            let value = value_of(cell);
            let joined = match (cell, joining) {
                (Cell::Typed(datatype, text), Joining::PlainTexts) => {
                    self.ids.of_plain(*datatype, text, &value)
                }
                _ => None,
            };
            let id = self.ids.get_or_insert(&value, joined.unwrap_or(self.n_values));
            self.values[row] = id;
            self.n_values = self.n_values.max(id + 1);
            if row == 0 && matches!(cell, Cell::Text(_)) {
                self.ids.texts.reserve(self.cells.len().min(SAMPLE) - 1);
            }
            // A column whose first values are distinct will likely go on like that.
            if row == SAMPLE && self.n_values as usize > SAMPLE * 9 / 10 {
                self.ids.texts.reserve(self.cells.len() - row);
            }
        }
    }

    /// Returns the id of an actual cell, or `None` if it equals no cell of this column.
    ///
    /// Tries the rules of equality in this order: the same value; for a number, the nearest one
    /// within the tolerance; and a plain and a typed cell with the same text, as written or in
    /// canonical form.
    pub(super) fn find(&self, cell: &Cell<'_>) -> Option<u32> {
        let value = value_of(cell);
        if let Some(id) = self.ids.get(&value) {
            return Some(id);
        }
        match cell {
            Cell::Unbound => None,
            Cell::Text(text) => self.typed_id_of(text),
            Cell::Typed(datatype, text) => {
                let nearest = number_in(&value).and_then(|number| self.nearest(number));
                nearest.or_else(|| self.ids.of_plain(*datatype, text, &value))
            }
        }
    }

    /// Returns the id of the nearest number, if it is within the tolerance. Only the two neighbours
    /// in sorted order can be the nearest.
    fn nearest(&self, number: f64) -> Option<u32> {
        let numbers = self.numbers.get_or_init(|| self.ids.numbers_in_order());
        let after = numbers.partition_point(|(known, _)| *known < number);
        let neighbours = &numbers[after.saturating_sub(1)..(after + 1).min(numbers.len())];
        neighbours
            .iter()
            .map(|(known, id)| ((known - number).abs(), *id))
            .filter(|(distance, _)| *distance <= TOLERANCE)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, id)| id)
    }

    /// Returns the id of a typed cell whose text, as written or in canonical form, is this text.
    fn typed_id_of(&self, text: &str) -> Option<u32> {
        self.datatypes.iter().copied().find_map(|datatype| {
            let value = typed_value(datatype, text);
            let id = self.ids.get(&value).filter(|_| !matches!(value, CellValue::Text(_)))?;
            let forms = canonical_forms(datatype, &value);
            let is_it =
                forms.iter().any(|form| form == text) || self.is_written(datatype, text, id);
            is_it.then_some(id)
        })
    }

    /// Whether some cell of this type and value has exactly this text.
    fn is_written(&self, datatype: Datatype, text: &str, id: u32) -> bool {
        let written = self.written.get_or_init(|| {
            let typed = self.cells.iter().zip(&self.values).filter_map(|(cell, id)| match cell {
                Cell::Typed(datatype, text) => Some(((*datatype, text.to_string()), *id)),
                _ => None,
            });
            typed.collect()
        });
        written.get(&(datatype, text.to_owned())) == Some(&id)
    }

    /// Translates an actual column into ids of this one. Returns `None` as soon as a cell has no
    /// equal here, and adds the number of cells looked up to `n_lookups`.
    pub(super) fn translate(&self, actual: &[Cell<'_>], n_lookups: &mut usize) -> Option<Vec<u32>> {
        *n_lookups += 1;
        let first = self.find(actual.first()?)?;
        let mut values = Vec::with_capacity(actual.len());
        values.push(first);
        for cell in &actual[1..] {
            let Some(value) = self.find(cell) else {
                *n_lookups += values.len();
                return None;
            };
            values.push(value);
        }
        *n_lookups += actual.len() - 1;
        Some(values)
    }

    /// Counts how often each value occurs.
    pub(super) fn counts(&self, values: &[u32]) -> Vec<u32> {
        let mut counts = vec![0; self.n_values as usize];
        for &value in values {
            counts[value as usize] += 1;
        }
        counts
    }
}

/// The ids of values.
#[derive(Default)]
struct ValueIds {
    unbound: Option<u32>,
    truths: [Option<u32>; 2],
    numbers: HashMap<u64, u32>,
    texts: TextIds,
    large: TextIds,
}

impl ValueIds {
    fn get(&self, value: &CellValue<'_>) -> Option<u32> {
        match value {
            CellValue::Unbound => self.unbound,
            CellValue::Truth(truth) => self.truths[usize::from(*truth)],
            CellValue::Number(bits) => self.numbers.get(bits).copied(),
            CellValue::Text(text) => self.texts.get(text),
            CellValue::Large(digits) => self.large.get(digits),
        }
    }

    fn get_or_insert(&mut self, value: &CellValue<'_>, new: u32) -> u32 {
        match value {
            CellValue::Unbound => *self.unbound.get_or_insert(new),
            CellValue::Truth(truth) => *self.truths[usize::from(*truth)].get_or_insert(new),
            CellValue::Number(bits) => *self.numbers.entry(*bits).or_insert(new),
            CellValue::Text(text) => self.texts.get_or_insert(text, new),
            CellValue::Large(digits) => self.large.get_or_insert(digits, new),
        }
    }

    /// Returns the id of the plain cell whose text is that of a typed one, as written or in
    /// canonical form.
    fn of_plain(&self, datatype: Datatype, text: &str, value: &CellValue<'_>) -> Option<u32> {
        let canonical = || canonical_forms(datatype, value);
        let plain = |text: &str| self.texts.get(text);
        plain(text).or_else(|| canonical().iter().find_map(|form| plain(form)))
    }

    fn numbers_in_order(&self) -> Vec<(f64, u32)> {
        let finite = |(bits, id): (&u64, &u32)| {
            Some((f64::from_bits(*bits), *id)).filter(|(number, _)| number.is_finite())
        };
        let mut numbers: Vec<(f64, u32)> = self.numbers.iter().filter_map(finite).collect();
        numbers.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        numbers
    }
}

/// The ids of texts. The texts are copied into one buffer: compared in place, in a large document,
/// each would be on a memory page of its own, and loading pages takes longer than everything else.
#[derive(Default)]
struct TextIds {
    joined: String,
    table: HashTable<TextEntry>,
    hasher: DefaultHashBuilder,
}

/// A text's range in the buffer, part of its hash, and its id.
struct TextEntry {
    start: usize,
    length: u32,
    hash: u32,
    id: u32,
}

impl TextIds {
    fn get(&self, text: &str) -> Option<u32> {
        self.find(self.hasher.hash_one(text), text)
    }

    fn get_or_insert(&mut self, text: &str, new: u32) -> u32 {
        let hash = self.hasher.hash_one(text);
        if let Some(id) = self.find(hash, text) {
            return id;
        }
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let entry = TextEntry { start: self.joined.len(), length, hash: piece(hash), id: new };
        self.joined.push_str(text);
        let rehash = |entry: &TextEntry| self.hasher.hash_one(entry.text_in(&self.joined));
        self.table.insert_unique(hash, entry, rehash);
        new
    }

    fn find(&self, hash: u64, text: &str) -> Option<u32> {
        let is_it =
            |entry: &TextEntry| entry.hash == piece(hash) && entry.text_in(&self.joined) == text;
        self.table.find(hash, is_it).map(|entry| entry.id)
    }

    /// Makes room for `n_texts` more texts of the average length.
    fn reserve(&mut self, n_texts: usize) {
        let length = self.joined.len() / self.table.len().max(1);
        let rehash = |entry: &TextEntry| self.hasher.hash_one(entry.text_in(&self.joined));
        self.table.reserve(n_texts, rehash);
        self.joined.reserve(length * n_texts);
    }
}

impl TextEntry {
    fn text_in<'j>(&self, joined: &'j str) -> &'j str {
        &joined[self.start..self.start + self.length as usize]
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a part of the hash is enough")]
fn piece(hash: u64) -> u32 {
    (hash >> 16) as u32
}

fn value_of<'t>(cell: &'t Cell<'_>) -> CellValue<'t> {
    match cell {
        Cell::Unbound => CellValue::Unbound,
        Cell::Text(text) => CellValue::Text(text),
        Cell::Typed(datatype, text) => typed_value(*datatype, text),
    }
}

/// Returns the value of a typed literal. One that is not valid for its type compares by its text.
fn typed_value(datatype: Datatype, text: &str) -> CellValue<'_> {
    let trimmed = text.trim_ascii();
    let value = match datatype {
        Datatype::Boolean => truth_of(trimmed).map(CellValue::Truth),
        Datatype::Integer => whole_value(trimmed),
        Datatype::Decimal | Datatype::Double => real_value(datatype, trimmed),
    };
    value.unwrap_or(CellValue::Text(text))
}

fn truth_of(text: &str) -> Option<bool> {
    if text == "1" || text.eq_ignore_ascii_case("true") {
        Some(true)
    } else if text == "0" || text.eq_ignore_ascii_case("false") {
        Some(false)
    } else {
        None
    }
}

/// Reads an integer: an exact `f64` if possible, otherwise its digits.
fn whole_value(text: &str) -> Option<CellValue<'_>> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    let magnitude =
        digits.bytes().take(17).fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0'));
    if digits.len() <= 16 && magnitude < 1 << 53 {
        let magnitude = magnitude as f64;
        return Some(number(if negative { -magnitude } else { magnitude }));
    }
    Some(CellValue::Large(if negative { format!("-{digits}").into() } else { digits.into() }))
}

fn real_value(datatype: Datatype, text: &str) -> Option<CellValue<'_>> {
    match text {
        "INF" | "+INF" => return Some(number(f64::INFINITY)),
        "-INF" => return Some(number(f64::NEG_INFINITY)),
        "NaN" => return Some(number(f64::NAN)),
        _ => {}
    }
    if !text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E')) {
        return None;
    }
    let value: f64 = text.parse().ok()?;
    if value.abs() < EXACT || value.is_infinite() {
        return Some(number(value));
    }
    // From 2⁵³ on every `f64` is an integer and is compared by its digits, like large integers. A
    // decimal has the digits that are written, a double those of its exact value.
    let digits = || Some(CellValue::Large(format!("{value:.0}").into()));
    if datatype == Datatype::Double {
        return digits();
    }
    let written = text.split_once('.').map_or(text, |(whole, fraction)| {
        if fraction.bytes().all(|byte| byte == b'0') { whole } else { text }
    });
    whole_value(written).or_else(digits)
}

fn number<'t>(value: f64) -> CellValue<'t> {
    CellValue::Number(if value.is_nan() {
        f64::NAN.to_bits()
    } else if value == 0.0 {
        0
    } else {
        value.to_bits()
    })
}

/// Returns the number of a value if it is finite.
fn number_in(value: &CellValue) -> Option<f64> {
    match value {
        CellValue::Number(bits) => Some(f64::from_bits(*bits)).filter(|number| number.is_finite()),
        _ => None,
    }
}

/// Returns the canonical texts of a value of a type.
fn canonical_forms(datatype: Datatype, value: &CellValue) -> Vec<String> {
    match (datatype, value) {
        (_, CellValue::Truth(truth)) => vec![truth.to_string()],
        (_, CellValue::Large(digits)) => vec![digits.to_string()],
        (Datatype::Integer, CellValue::Number(bits)) => vec![f64::from_bits(*bits).to_string()],
        (Datatype::Decimal | Datatype::Double, CellValue::Number(bits)) => {
            real_forms(f64::from_bits(*bits))
        }
        _ => Vec::new(),
    }
}

fn real_forms(number: f64) -> Vec<String> {
    if number.is_nan() {
        return vec!["NaN".into()];
    }
    if number.is_infinite() {
        return vec![if number > 0.0 { "INF" } else { "-INF" }.into()];
    }
    let scientific = format!("{number:E}");
    let scientific = match scientific.split_once('E') {
        Some((mantissa, exponent)) if !mantissa.contains('.') => format!("{mantissa}.0E{exponent}"),
        _ => scientific,
    };
    vec![number.to_string(), format!("{number:?}"), scientific]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(written: &str) -> Cell<'_> {
        match written.split_once("^^") {
            None if written == "-" => Cell::Unbound,
            None => Cell::Text(written.into()),
            Some((text, kind)) => {
                let iri = format!("http://www.w3.org/2001/XMLSchema#{kind}");
                Cell::literal(Cow::Borrowed(text), Some(&iri))
            }
        }
    }

    fn check(reference: &str, actual: &str, equal: bool) {
        let cells = [cell(reference)];
        let found = ReferenceColumn::new(&cells).translate(&[cell(actual)], &mut 0).is_some();
        assert_eq!(found, equal, "{reference} against {actual}");
    }

    #[test]
    fn cells_compare_by_their_rules() {
        for (a, b, equal) in [
            ("5^^integer", "5.0^^decimal", true),
            ("5^^integer", "5e0^^double", true),
            ("-05^^negativeInteger", "-5^^int", true),
            ("0.1^^decimal", "0.10000000999^^float", true),
            ("0.1^^decimal", "0.1000001^^float", false),
            ("INF^^double", "INF^^float", true),
            ("INF^^double", "-INF^^float", false),
            ("NaN^^double", "NaN^^float", true),
            ("NaN^^double", "nan", false),
            ("true^^boolean", "1^^boolean", true),
            ("true^^boolean", "true", true),
            ("true^^boolean", "True", false),
            ("true^^boolean", "1^^integer", false),
            ("05^^integer", "05", true),
            ("05^^integer", "5", true),
            ("05", "5", false),
            ("2.50^^decimal", "2.5", true),
            ("5^^decimal", "5.0", true),
            ("PT60S^^duration", "PT1M^^duration", false),
            ("PT60S^^duration", "PT60S", true),
            ("abc^^integer", "abc", true),
            ("5.0^^integer", "5^^integer", false),
            ("-", "None", false),
            ("-", "-", true),
            ("", "-", false),
            ("123456789012345678901^^integer", "123456789012345678902^^integer", false),
            ("123456789012345678901^^integer", "123456789012345678901.0^^decimal", true),
            ("-0.0^^double", "0^^integer", true),
            ("1234567890123456^^integer", "1234567890123456.0^^decimal", true),
            ("1E15^^double", "1000000000000000^^integer", true),
            ("100000000000000000000^^integer", "1e20^^double", true),
            ("-100000000000000000000.0^^decimal", "-1E20^^double", true),
            ("1e400^^double", "INF^^double", true),
            ("12345678901234567890^^double", "1.2345678901234568E19^^double", true),
            ("5^^integer", "5.0", false),
        ] {
            check(a, b, equal);
            check(b, a, equal);
        }
    }

    #[test]
    fn nearness_does_not_chain() {
        let cells = [cell("1.0^^double"), cell("1.00000001^^double")];
        let column = ReferenceColumn::new(&cells);
        assert_eq!(column.n_values, 2);
        let actual = [cell("1.000000004^^double"), cell("1.000000009^^double")];
        assert_eq!(column.translate(&actual, &mut 0), Some(vec![0, 1]));
    }

    #[test]
    fn a_plain_and_a_typed_cell_written_alike_are_one_value() {
        let cells = [cell("5^^integer"), cell("5"), cell("-")];
        let column = ReferenceColumn::new(&cells);
        assert_eq!(column.values[0], column.values[1]);
    }
}
