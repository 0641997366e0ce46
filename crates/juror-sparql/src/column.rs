//! The values of a reference column as small integers, and the values of an actual column in terms
//! of them.
//!
//! Equality of cells is not transitive (a plain `05` equals a typed `05`, which equals a typed `5`,
//! which equals a plain `5`), so no value is hashed across tables: each actual cell is looked up in
//! the reference column it may stand for, and is an integer after that.

use std::borrow::Cow;
use std::hash::BuildHasher;
use std::sync::OnceLock;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use crate::{Cell, Datatype};

/// How far apart two numbers may be and still be equal.
const TOLERANCE: f64 = 1e-8;

/// The largest whole number below which every whole number is an exact `f64`.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// How many rows tell whether most values of a column are distinct.
const SAMPLE: usize = 1024;

/// A value that can be compared by identity.
#[derive(Clone, PartialEq, Debug)]
enum Value<'t> {
    Unbound,
    Text(&'t str),
    Truth(bool),
    /// The bits of a number, with one zero and one NaN.
    Number(u64),
    /// The digits of a whole number too large for an exact `f64`.
    Large(Cow<'t, str>),
}

/// A reference column: its cells as integers, and how to find the integer of an actual cell.
pub(super) struct ReferenceColumn<'t> {
    /// The value of each row, from 0 to `n_values`.
    pub(super) values: Vec<u32>,
    /// How many distinct values there are.
    pub(super) n_values: u32,
    cells: Cow<'t, [Cell<'t>]>,
    ids: Ids,
    /// The types of its typed cells, each once.
    datatypes: Vec<Datatype>,
    /// The numbers of the column in order, for finding the nearest one; made when first needed.
    numbers: OnceLock<Vec<(f64, u32)>>,
    /// Typed cells by how they are written, for plain actual cells; made when first needed.
    written: OnceLock<HashMap<(Datatype, String), u32>>,
}

/// Whether typed cells become one with plain texts that are written alike.
#[derive(Clone, Copy)]
enum Joining {
    Nothing,
    PlainTexts,
}

impl<'t> ReferenceColumn<'t> {
    pub(super) fn new(cells: &'t [Cell<'t>]) -> ReferenceColumn<'t> {
        ReferenceColumn::of(Cow::Borrowed(cells))
    }

    /// A column without values.
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
            ids: Ids::default(),
            datatypes,
            numbers: OnceLock::new(),
            written: OnceLock::new(),
        };
        if mixed {
            // Plain texts come first, so that typed cells written alike can join them.
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
            // A column that begins with distinct values will likely go on so.
            if row == SAMPLE && self.n_values as usize > SAMPLE * 9 / 10 {
                self.ids.texts.reserve(self.cells.len() - row);
            }
        }
    }

    /// The integer of an actual cell, if it equals some cell of this column.
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

    /// The nearest number of the column, if it is near enough.
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

    /// The integer of a typed literal that is written as this plain text, as given or canonically.
    fn typed_id_of(&self, text: &str) -> Option<u32> {
        self.datatypes.iter().copied().find_map(|datatype| {
            let value = typed_value(datatype, text);
            let id = self.ids.get(&value).filter(|_| !matches!(value, Value::Text(_)))?;
            let forms = canonical_forms(datatype, &value);
            let is_it =
                forms.iter().any(|form| form == text) || self.is_written(datatype, text, id);
            is_it.then_some(id)
        })
    }

    /// Whether a cell of this type and value is written exactly so.
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

    /// An actual column in terms of this one; `None` as soon as a cell has no equal here.
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

    /// How often each value stands in the column.
    pub(super) fn counts(&self, values: &[u32]) -> Vec<u32> {
        let mut counts = vec![0; self.n_values as usize];
        for &value in values {
            counts[value as usize] += 1;
        }
        counts
    }
}

/// The integers of values.
#[derive(Default)]
struct Ids {
    unbound: Option<u32>,
    truths: [Option<u32>; 2],
    numbers: HashMap<u64, u32>,
    texts: Texts,
    large: Texts,
}

impl Ids {
    fn get(&self, value: &Value<'_>) -> Option<u32> {
        match value {
            Value::Unbound => self.unbound,
            Value::Truth(truth) => self.truths[usize::from(*truth)],
            Value::Number(bits) => self.numbers.get(bits).copied(),
            Value::Text(text) => self.texts.get(text),
            Value::Large(digits) => self.large.get(digits),
        }
    }

    fn get_or_insert(&mut self, value: &Value<'_>, new: u32) -> u32 {
        match value {
            Value::Unbound => *self.unbound.get_or_insert(new),
            Value::Truth(truth) => *self.truths[usize::from(*truth)].get_or_insert(new),
            Value::Number(bits) => *self.numbers.entry(*bits).or_insert(new),
            Value::Text(text) => self.texts.get_or_insert(text, new),
            Value::Large(digits) => self.large.get_or_insert(digits, new),
        }
    }

    /// The integer of the plain text that a typed literal is written as, as given or canonically.
    fn of_plain(&self, datatype: Datatype, text: &str, value: &Value<'_>) -> Option<u32> {
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

/// The integers of texts. The texts are copied side by side: looked up where they stand in a large
/// document, each would be a page of its own, and finding pages takes longer than all the rest.
#[derive(Default)]
struct Texts {
    joined: String,
    table: HashTable<Entry>,
    hasher: DefaultHashBuilder,
}

/// Where a text stands among the joined ones, a piece of its hash, and its integer.
struct Entry {
    start: usize,
    length: u32,
    hash: u32,
    id: u32,
}

impl Texts {
    fn get(&self, text: &str) -> Option<u32> {
        self.find(self.hasher.hash_one(text), text)
    }

    fn get_or_insert(&mut self, text: &str, new: u32) -> u32 {
        let hash = self.hasher.hash_one(text);
        if let Some(id) = self.find(hash, text) {
            return id;
        }
        let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
        let entry = Entry { start: self.joined.len(), length, hash: piece(hash), id: new };
        self.joined.push_str(text);
        let rehash = |entry: &Entry| self.hasher.hash_one(entry.text_in(&self.joined));
        self.table.insert_unique(hash, entry, rehash);
        new
    }

    fn find(&self, hash: u64, text: &str) -> Option<u32> {
        let is_it =
            |entry: &Entry| entry.hash == piece(hash) && entry.text_in(&self.joined) == text;
        self.table.find(hash, is_it).map(|entry| entry.id)
    }

    /// Makes room for as many texts more, as long as those there are.
    fn reserve(&mut self, n_texts: usize) {
        let length = self.joined.len() / self.table.len().max(1);
        let rehash = |entry: &Entry| self.hasher.hash_one(entry.text_in(&self.joined));
        self.table.reserve(n_texts, rehash);
        self.joined.reserve(length * n_texts);
    }
}

impl Entry {
    fn text_in<'j>(&self, joined: &'j str) -> &'j str {
        &joined[self.start..self.start + self.length as usize]
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a piece is what is asked for")]
fn piece(hash: u64) -> u32 {
    (hash >> 16) as u32
}

fn value_of<'t>(cell: &'t Cell<'_>) -> Value<'t> {
    match cell {
        Cell::Unbound => Value::Unbound,
        Cell::Text(text) => Value::Text(text),
        Cell::Typed(datatype, text) => typed_value(*datatype, text),
    }
}

/// The value of a typed literal; one that its type does not allow compares by its text.
fn typed_value(datatype: Datatype, text: &str) -> Value<'_> {
    let trimmed = text.trim_ascii();
    let value = match datatype {
        Datatype::Boolean => truth_of(trimmed).map(Value::Truth),
        Datatype::Integer => whole_value(trimmed),
        Datatype::Decimal | Datatype::Double => real_value(datatype, trimmed),
    };
    value.unwrap_or(Value::Text(text))
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

/// A whole number: as an exact `f64` where there is one, else by its digits.
fn whole_value(text: &str) -> Option<Value<'_>> {
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
    Some(Value::Large(if negative { format!("-{digits}").into() } else { digits.into() }))
}

fn real_value(datatype: Datatype, text: &str) -> Option<Value<'_>> {
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
    // Beyond 2^53 every `f64` is whole: by its digits it can equal an integer. A decimal has the
    // digits it is written with, a double those of the number it stands for.
    let digits = || Some(Value::Large(format!("{value:.0}").into()));
    if datatype == Datatype::Double {
        return digits();
    }
    let written = text.split_once('.').map_or(text, |(whole, fraction)| {
        if fraction.bytes().all(|byte| byte == b'0') { whole } else { text }
    });
    whole_value(written).or_else(digits)
}

fn number<'t>(value: f64) -> Value<'t> {
    Value::Number(if value.is_nan() {
        f64::NAN.to_bits()
    } else if value == 0.0 {
        0
    } else {
        value.to_bits()
    })
}

/// The finite number of a value.
fn number_in(value: &Value) -> Option<f64> {
    match value {
        Value::Number(bits) => Some(f64::from_bits(*bits)).filter(|number| number.is_finite()),
        _ => None,
    }
}

/// The canonical ways to write a value of a type.
fn canonical_forms(datatype: Datatype, value: &Value) -> Vec<String> {
    match (datatype, value) {
        (_, Value::Truth(truth)) => vec![truth.to_string()],
        (_, Value::Large(digits)) => vec![digits.to_string()],
        (Datatype::Integer, Value::Number(bits)) => vec![f64::from_bits(*bits).to_string()],
        (Datatype::Decimal | Datatype::Double, Value::Number(bits)) => {
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
