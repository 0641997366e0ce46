//! Decides whether two results agree: whether there is an injection of the required columns into the
//! actual columns under which the rows are the same.
//!
//! Columns are paired by their values, not by trying permutations. A required column can only be
//! paired with an actual column that has the same values. The search starts with the column that
//! has the fewest candidates, divides the rows into classes by the values in the columns chosen so
//! far, and backtracks at the first difference. Tables with identical cells are recognised before any
//! search.

use std::borrow::Cow;
use std::cell::Cell;
use std::cmp::Reverse;
use std::sync::OnceLock;
use std::thread;

use hashbrown::HashMap;

use crate::candidates::{
    CandidateColumns, ColumnCandidate, candidates_by_value, candidates_of, is_little, most_lookups,
};
use crate::column::ReferenceColumn;
use crate::rules::Rules;
use crate::verbatim::Verbatim;
use crate::{Solutions, SparqlResult};

/// The most rows the search may visit, and the most values that may be looked up to find
/// candidates. Only contrived tables come near.
const BUDGET: usize = 8_000_000;

/// The cost of trying a column besides visiting its rows, in rows.
const A_TRY: usize = 16;

/// From this many rows on, each column gets a thread.
const MANY_ROWS: usize = 100_000;

/// Maps every column, in parallel if the table is large.
pub(super) fn for_each_column<C: Sync, T: Send>(
    columns: &[C],
    n_rows: usize,
    make: impl Fn(&C) -> T + Sync,
) -> Vec<T> {
    if n_rows < MANY_ROWS || columns.len() < 2 {
        return columns.iter().map(make).collect();
    }
    thread::scope(|scope| {
        let make = &make;
        let threads: Vec<_> =
            columns.iter().map(|column| scope.spawn(move || make(column))).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, T>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    })
}

/// The outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The results agree.
    Same,
    /// The results differ.
    Different,
    /// The search ran out of its budget, which only contrived tables cause; counted as different.
    Undecided,
}

/// How the columns of two tables are paired under which they agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Pairing {
    /// The partner of each required column; empty if the cells do not decide it.
    Same(Vec<usize>),
    Different,
    Undecided,
}

impl Pairing {
    fn comparison(&self) -> Comparison {
        match self {
            Pairing::Same(_) => Comparison::Same,
            Pairing::Different => Comparison::Different,
            Pairing::Undecided => Comparison::Undecided,
        }
    }
}

/// A reference result prepared for comparisons.
pub enum Prepared<'t> {
    /// The result of an ASK query.
    Truth(bool),
    /// The result of a SELECT query.
    Table(PreparedTable<'t>),
}

/// A reference table prepared for comparisons.
pub struct PreparedTable<'t> {
    pub(super) table: &'t Solutions<'t>,
    /// The positions of the required columns; `None` for one that the table lacks, which counts as
    /// a column of unbound cells.
    pub(super) required: Vec<Option<usize>>,
    pub(super) mode: Mode,
    /// For the quick check; `None` if the table lacks a required column. Computed on first use.
    verbatim: OnceLock<Option<Verbatim<'t>>>,
    /// For the search; computed on first use.
    columns: OnceLock<Vec<ReferenceColumn<'t>>>,
}

/// As what the rows of two tables must be equal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    Set,
    Multiset,
    Sequence,
}

impl<'t> Prepared<'t> {
    /// Prepares a reference. A required column it lacks counts as a column of unbound cells.
    pub fn new(reference: &'t SparqlResult<'t>, rules: &Rules<'_>) -> Prepared<'t> {
        let table = match reference {
            SparqlResult::Truth(truth) => return Prepared::Truth(*truth),
            SparqlResult::Table(table) => table,
        };
        let required: Vec<Option<usize>> = match &rules.required_columns {
            None => (0..table.names.len()).map(Some).collect(),
            Some(required) => required
                .iter()
                .map(|name| table.names.iter().position(|known| known == name))
                .collect(),
        };
        let mode = match (rules.ordered, rules.ignore_duplicates) {
            (true, _) => Mode::Sequence,
            (false, true) => Mode::Set,
            (false, false) => Mode::Multiset,
        };
        let (verbatim, columns) = (OnceLock::new(), OnceLock::new());
        Prepared::Table(PreparedTable { table, required, mode, verbatim, columns })
    }

    /// Compares an actual result with this reference.
    pub fn compare(&self, actual: &SparqlResult<'_>) -> Comparison {
        let same = match (self, actual) {
            (Prepared::Truth(expected), SparqlResult::Truth(actual)) => expected == actual,
            (Prepared::Table(expected), SparqlResult::Table(actual)) => {
                return expected.pair_columns(actual).comparison();
            }
            _ => false,
        };
        if same { Comparison::Same } else { Comparison::Different }
    }
}

impl<'t> PreparedTable<'t> {
    /// Finds a pairing of columns under which the rows are the same.
    pub(super) fn pair_columns(&self, actual: &Solutions<'_>) -> Pairing {
        let n_rows = self.table.n_rows;
        let enough_columns = actual.names.len() >= self.required.len();
        match (n_rows, actual.n_rows) {
            (0, 0) if enough_columns => return Pairing::Same(Vec::new()),
            (0, _) | (_, 0) => return Pairing::Different,
            _ => {}
        }
        if !enough_columns {
            return Pairing::Different;
        }
        if self.required.is_empty() {
            return Pairing::Same(Vec::new());
        }
        if self.mode != Mode::Set && n_rows != actual.n_rows {
            return Pairing::Different;
        }
        match self.verbatim_partners(actual) {
            Some(partners) => Pairing::Same(partners),
            None => self.search(actual),
        }
    }

    /// Pairs the columns of a table with identical cells, as far as the quick check can tell.
    fn verbatim_partners(&self, actual: &Solutions<'_>) -> Option<Vec<usize>> {
        let table = self.table;
        if table.n_rows != actual.n_rows {
            return None;
        }
        let prepare = || {
            let columns = self.required.iter().map(|at| Some(table.columns[(*at)?].as_slice()));
            Some(Verbatim::new(columns.collect::<Option<_>>()?, table.n_rows))
        };
        let verbatim = self.verbatim.get_or_init(prepare).as_ref()?;
        match self.mode {
            Mode::Sequence => verbatim.find_in_order(actual),
            Mode::Set | Mode::Multiset => verbatim.find_rows(actual),
        }
    }

    fn search(&self, actual: &Solutions<'_>) -> Pairing {
        self.search_among(self.candidates(actual), actual)
    }

    fn search_among(&self, candidates: CandidateColumns, actual: &Solutions<'_>) -> Pairing {
        let candidates = match candidates {
            CandidateColumns::Impossible => return Pairing::Different,
            CandidateColumns::OverBudget => return Pairing::Undecided,
            CandidateColumns::Found(candidates) => candidates,
        };
        let search = ColumnSearch::new(self, actual.n_rows, candidates);
        let mut used = vec![false; actual.columns.len()];
        let mut partners = vec![0; self.required.len()];
        match search.descend(0, &[], &mut used, &mut partners) {
            Comparison::Same => Pairing::Same(partners),
            Comparison::Different => Pairing::Different,
            Comparison::Undecided => Pairing::Undecided,
        }
    }

    /// The required columns, prepared for the search.
    pub(super) fn columns(&self) -> &[ReferenceColumn<'t>] {
        let (table, n_rows) = (self.table, self.table.n_rows);
        let column_at = |at: &Option<usize>| match at {
            Some(at) => ReferenceColumn::new(&table.columns[*at]),
            None => ReferenceColumn::unbound(n_rows),
        };
        self.columns.get_or_init(|| for_each_column(&self.required, n_rows, column_at))
    }

    /// Finds for each required column the actual columns it may be paired with.
    pub(super) fn candidates(&self, actual: &Solutions<'_>) -> CandidateColumns {
        let columns = self.columns();
        let n_cells = actual.columns.len() * actual.n_rows + columns.len() * self.table.n_rows;
        let by_value = || candidates_by_value(columns, actual, self.mode, BUDGET.max(4 * n_cells));
        if !is_little(columns.len(), actual) {
            return by_value();
        }
        if self.table.n_rows.max(actual.n_rows) >= MANY_ROWS {
            let of = |column: &_| candidates_of(column, actual, self.mode, &mut 0);
            let found: Option<_> =
                for_each_column(columns, actual.n_rows, of).into_iter().collect();
            return found.map_or(CandidateColumns::Impossible, CandidateColumns::Found);
        }
        let (mut n_lookups, most_lookups) = (0, most_lookups(columns.len(), actual));
        let mut found = Vec::with_capacity(columns.len());
        for column in columns {
            match candidates_of(column, actual, self.mode, &mut n_lookups) {
                Some(candidates) => found.push(candidates),
                None => return CandidateColumns::Impossible,
            }
            if n_lookups > most_lookups {
                return by_value();
            }
        }
        CandidateColumns::Found(found)
    }
}

/// One level of the search: a required column, and how its values split the reference rows.
struct SearchLevel {
    /// Which of the required columns it is.
    column: usize,
    candidates: Vec<ColumnCandidate>,
    split: Split,
    /// The number of reference rows in each class after this level, in a set each distinct row
    /// once.
    class_sizes: Vec<u32>,
}

/// How the class of a row and its value in the next column give its next class.
enum Split {
    /// The value is the class: the first level.
    ByValue,
    /// Every class has a single value in this column, so the classes stay as they are.
    Fixed(Vec<u32>),
    /// Some class splits; few enough combinations for a dense table.
    Table { n_values: usize, next: Vec<u32> },
    /// Some class splits.
    Pairs(HashMap<(u32, u32), u32>),
}

/// A backtracking search for an injection of the required columns into the actual ones.
///
/// After `d` levels, the class of a row stands for its values in the first `d` chosen columns. Both
/// tables use the same class numbers, those of the reference, so the search needs no hashing of rows
/// and can compare class by class:
///
/// - An actual row whose combination of values the reference lacks has no class, and the choice is
///   wrong.
/// - More columns only ever split classes. So in a multiset the sizes of the classes must be equal
///   after every level, not only after the last; and in a set each class needs at least as many
///   actual rows as it has distinct reference rows. Either check prunes early and never wrongly.
/// - After the last level these checks are sufficient: equal sizes of all classes are equal
///   multisets; and if every actual row has a class and every class has a row, the sets are equal.
/// - In a sequence, candidates already agree row by row, so any injection will do.
struct ColumnSearch {
    levels: Vec<SearchLevel>,
    mode: Mode,
    /// The number of actual rows.
    n_rows: usize,
    /// The cost so far, in rows.
    visited: Cell<usize>,
}

impl ColumnSearch {
    /// Orders the columns: those with few candidates first, and among them those with many values,
    /// since both make the search fail early.
    fn new(
        reference: &PreparedTable<'_>,
        n_rows: usize,
        candidates: Vec<Vec<ColumnCandidate>>,
    ) -> ColumnSearch {
        let mut columns: Vec<_> = reference.columns().iter().zip(candidates).enumerate().collect();
        columns
            .sort_by_key(|(_, (column, candidates))| (candidates.len(), Reverse(column.n_values)));
        let splits = splits(columns.iter().map(|(_, (column, _))| *column), reference.mode);
        let levels = columns.into_iter().zip(splits).map(|((column, (_, candidates)), split)| {
            let (split, class_sizes) = split;
            SearchLevel { column, candidates, split, class_sizes }
        });
        let levels = levels.collect();
        ColumnSearch { levels, mode: reference.mode, n_rows, visited: Cell::new(0) }
    }

    /// Tries the candidates of a level. Actual columns with the same cells (of the same kind) are
    /// interchangeable, so one of each kind is enough. If the rows are the same in the end,
    /// `partners` has the chosen column for each required one.
    fn descend(
        &self,
        depth: usize,
        classes: &[u32],
        used: &mut [bool],
        partners: &mut [usize],
    ) -> Comparison {
        let Some(level) = self.levels.get(depth) else { return Comparison::Same };
        let mut tried = vec![false; used.len()];
        for candidate in &level.candidates {
            if used[candidate.at] || std::mem::replace(&mut tried[candidate.kind], true) {
                continue;
            }
            self.visited.set(self.visited.get() + self.n_rows + A_TRY);
            if self.visited.get() > BUDGET.max((self.n_rows + A_TRY) * self.levels.len() * 4) {
                return Comparison::Undecided;
            }
            let values = candidate.values.rows();
            let Some(next) = self.refine(level, classes, &values) else { continue };
            used[candidate.at] = true;
            partners[level.column] = candidate.at;
            let found = self.descend(depth + 1, &next, used, partners);
            used[candidate.at] = false;
            if found != Comparison::Different {
                return found;
            }
        }
        Comparison::Different
    }

    /// Returns the classes of the actual rows after one more column, or `None` if they do not agree
    /// with those of the reference.
    fn refine<'c>(
        &self,
        level: &SearchLevel,
        classes: &'c [u32],
        values: &'c [u32],
    ) -> Option<Cow<'c, [u32]>> {
        match &level.split {
            // Candidates are equal sequences already.
            Split::ByValue if self.mode == Mode::Sequence => Some(Cow::Borrowed(values)),
            Split::ByValue => {
                let mut sizes = vec![0_u32; level.class_sizes.len()];
                for &value in values {
                    sizes[value as usize] += 1;
                }
                self.sizes_agree(level, &sizes).then_some(Cow::Borrowed(values))
            }
            Split::Fixed(expected) => {
                let mut rows = classes.iter().zip(values);
                let same = rows.all(|(&class, &value)| expected[class as usize] == value);
                same.then_some(Cow::Borrowed(classes))
            }
            Split::Table { n_values, next } => {
                self.split(level, classes, values, |class, value| {
                    let at = class as usize * n_values + value as usize;
                    Some(next[at]).filter(|next| *next != NONE)
                })
            }
            Split::Pairs(pairs) => self
                .split(level, classes, values, |class, value| pairs.get(&(class, value)).copied()),
        }
    }

    fn sizes_agree(&self, level: &SearchLevel, sizes: &[u32]) -> bool {
        match self.mode {
            // Actual rows may be repeated, but each distinct reference row needs one of its own.
            Mode::Set => sizes.iter().zip(&level.class_sizes).all(|(has, needs)| has >= needs),
            _ => sizes == level.class_sizes,
        }
    }

    /// Returns the next class of every row, or `None` if the reference lacks one of them.
    fn split(
        &self,
        level: &SearchLevel,
        classes: &[u32],
        values: &[u32],
        next: impl Fn(u32, u32) -> Option<u32>,
    ) -> Option<Cow<'static, [u32]>> {
        let mut sizes = vec![0_u32; level.class_sizes.len()];
        let mut found = Vec::with_capacity(classes.len());
        for (&class, &value) in classes.iter().zip(values) {
            let class = next(class, value)?;
            sizes[class as usize] += 1;
            found.push(class);
        }
        self.sizes_agree(level, &sizes).then_some(Cow::Owned(found))
    }
}

/// No class: the reference has no row with this class and value.
const NONE: u32 = u32::MAX;

/// Splits the reference rows level by level, as [`ColumnSearch`] will split the actual ones, and
/// counts the rows of each class. Independent of the actual table.
///
/// Two passes, because in a set a repeated row counts once at every level, and which rows are
/// repeated is known only after the last level: those that share their final class with an earlier
/// row.
fn splits<'c, 't: 'c>(
    columns: impl Iterator<Item = &'c ReferenceColumn<'t>>,
    mode: Mode,
) -> Vec<(Split, Vec<u32>)> {
    let mut splits = Vec::new();
    let mut levels: Vec<(Vec<u32>, usize)> = Vec::new();
    let mut classes: Vec<u32> = Vec::new();
    let mut n_classes = 0_usize;
    for (depth, column) in columns.enumerate() {
        if mode == Mode::Sequence {
            splits.push((Split::ByValue, Vec::new()));
            continue;
        }
        let split = if depth == 0 {
            classes.clone_from(&column.values);
            n_classes = column.n_values as usize;
            Split::ByValue
        } else if let Some(fixed) = fixed_values(&classes, n_classes, &column.values) {
            Split::Fixed(fixed)
        } else {
            let mut pairs = HashMap::new();
            for (class, &value) in classes.iter_mut().zip(&column.values) {
                let next = u32::try_from(pairs.len()).unwrap_or(u32::MAX);
                *class = *pairs.entry((*class, value)).or_insert(next);
            }
            let n_values = column.n_values as usize;
            let n_before = n_classes;
            n_classes = pairs.len();
            if n_before * n_values <= 4 * classes.len() {
                let mut next = vec![NONE; n_before * n_values];
                for ((class, value), id) in pairs {
                    next[class as usize * n_values + value as usize] = id;
                }
                Split::Table { n_values, next }
            } else {
                Split::Pairs(pairs)
            }
        };
        levels.push((classes.clone(), n_classes));
        splits.push((split, Vec::new()));
    }
    // In a set, rows that are the same in all columns count once.
    let mut seen = vec![false; n_classes];
    let counts: Vec<bool> = classes
        .iter()
        .map(|&class| mode != Mode::Set || !std::mem::replace(&mut seen[class as usize], true))
        .collect();
    for ((_, sizes), (classes, n_classes)) in splits.iter_mut().zip(levels) {
        *sizes = vec![0_u32; n_classes];
        for (&class, _) in classes.iter().zip(&counts).filter(|(_, counts)| **counts) {
            sizes[class as usize] += 1;
        }
    }
    splits
}

/// Returns the value of each class in a column, or `None` if a class has more than one.
fn fixed_values(classes: &[u32], n_classes: usize, values: &[u32]) -> Option<Vec<u32>> {
    let mut fixed = vec![NONE; n_classes];
    for (&class, &value) in classes.iter().zip(values) {
        let known = &mut fixed[class as usize];
        if *known == NONE {
            *known = value;
        } else if *known != value {
            return None;
        }
    }
    Some(fixed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Cell, Datatype};
    use proptest::prelude::*;

    fn cell() -> impl Strategy<Value = Cell<'static>> {
        let text = prop::sample::select(vec!["5", "05", "5.0", "a", ""]);
        let datatype = prop::sample::select(vec![
            None,
            Some(Datatype::Integer),
            Some(Datatype::Double),
            Some(Datatype::Boolean),
        ]);
        prop_oneof![
            1 => Just(Cell::Unbound),
            9 => (text, datatype).prop_map(|(text, datatype)| match datatype {
                Some(datatype) => Cell::Typed(datatype, text.into()),
                None => Cell::Text(text.into()),
            }),
        ]
    }

    fn table(rows: &[Vec<Cell<'static>>]) -> SparqlResult<'static> {
        let n_columns = rows.first().map_or(0, Vec::len);
        let column = |at: usize| rows.iter().map(|row| row[at].clone()).collect();
        SparqlResult::Table(Solutions {
            names: (0..n_columns).map(|at| at.to_string().into()).collect(),
            columns: (0..n_columns).map(column).collect(),
            n_rows: rows.len(),
        })
    }

    /// Returns the result of the quick check, and asserts that the search agrees if it is positive.
    fn is_verbatim(one: &SparqlResult<'_>, other: &SparqlResult<'_>, rules: &Rules<'_>) -> bool {
        let prepared = Prepared::new(one, rules);
        let (Prepared::Table(expected), SparqlResult::Table(actual)) = (&prepared, other) else {
            panic!("two tables")
        };
        let is_verbatim = expected.verbatim_partners(actual).is_some();
        if is_verbatim {
            let found = expected.search(actual).comparison();
            assert_eq!(found, Comparison::Same, "{one:?} {other:?}");
        }
        is_verbatim
    }

    fn rules() -> impl Strategy<Value = Rules<'static>> {
        any::<(bool, bool)>().prop_map(|(ordered, ignore_duplicates)| Rules {
            ordered,
            ignore_duplicates,
            ..Rules::default()
        })
    }

    /// Compares two tables of the same size whose cells are given by a function.
    fn compared(
        n_rows: usize,
        n_columns: usize,
        rules: &Rules<'_>,
        cell: impl Fn(bool, usize, usize) -> u64,
    ) -> Comparison {
        let table = |is_expected: bool| {
            let column = |at: usize| {
                let cell = |row: usize| Cell::Text(cell(is_expected, row, at).to_string().into());
                (0..n_rows).map(cell).collect()
            };
            SparqlResult::Table(Solutions {
                names: (0..n_columns).map(|at| at.to_string().into()).collect(),
                columns: (0..n_columns).map(column).collect(),
                n_rows,
            })
        };
        Prepared::new(&table(true), rules).compare(&table(false))
    }

    /// Returns a pseudorandom number.
    fn scrambled(number: usize) -> u64 {
        let number = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number ^ (number >> 27)
    }

    #[test]
    fn tables_of_random_bits_do_not_take_forever() {
        let set = Rules { ignore_duplicates: true, ..Rules::default() };
        let bag = Rules { ignore_duplicates: false, ..Rules::default() };
        for (n_rows, n_columns) in [(1000, 20), (20, 1000), (200, 200), (3, 1024)] {
            let bit = |is_expected: bool, row: usize, column: usize| {
                scrambled((usize::from(is_expected) << 40) + row * n_columns + column) >> 40 & 1
            };
            for rules in [&set, &bag] {
                let found = compared(n_rows, n_columns, rules, bit);
                assert_ne!(found, Comparison::Same, "{n_rows} x {n_columns}");
            }
        }
    }

    #[test]
    fn wide_tables_of_the_same_columns_are_told() {
        let rules = Rules::default();
        let turned = |_: bool, row: usize, column: usize| (row as u64 + 7 * column as u64) % 1500;
        // Every column has the same values in another order, so each has all others as candidates.
        assert_ne!(compared(1500, 600, &rules, turned), Comparison::Different);
        let same = |is_expected: bool, row: usize, column: usize| {
            let column = if is_expected { column } else { 599 - column };
            scrambled(row * 600 + column) % 50 * 1000 + column as u64
        };
        assert_eq!(compared(1500, 600, &rules, same), Comparison::Same);
        let one = |_: bool, row: usize, _: usize| row as u64;
        assert_eq!(compared(1500, 1000, &rules, one), Comparison::Same);
    }

    proptest! {
        #[test]
        fn values_are_found_as_cells_are(
            rows in prop::collection::vec(prop::collection::vec(cell(), 3), 1..6),
            others in prop::collection::vec(prop::collection::vec(cell(), 4), 1..6),
            is_shuffled: bool,
            rules in rules(),
        ) {
            let others = if is_shuffled {
                rows.iter().map(|row| row.iter().rev().chain(&row[..1]).cloned().collect()).collect()
            } else {
                others
            };
            let (one, other) = (table(&rows), table(&others));
            let prepared = Prepared::new(&one, &rules);
            let (Prepared::Table(expected), SparqlResult::Table(actual)) = (&prepared, &other)
            else {
                panic!("two tables")
            };
            if expected.mode == Mode::Set || rows.len() == others.len() {
                let by_value =
                    candidates_by_value(expected.columns(), actual, expected.mode, usize::MAX);
                let found = expected.search_among(by_value, actual);
                prop_assert_eq!(found.comparison(), expected.search(actual).comparison());
            }
        }

        #[test]
        fn what_is_told_quickly_the_search_tells_too(
            (rows, mut others) in prop::collection::vec(prop::collection::vec(cell(), 2), 1..6)
                .prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
            is_shuffled: bool,
            is_turned: bool,
            extra in cell(),
            change in prop::option::of((0..5_usize, 0..3_usize, cell())),
            rules in rules(),
        ) {
            if !is_shuffled {
                others.clone_from(&rows);
            }
            for row in &mut others {
                row.push(extra.clone());
                if is_turned {
                    row.reverse();
                }
            }
            if let Some((row, column, cell)) = change {
                let n_rows = others.len();
                others[row % n_rows][column] = cell;
            }
            is_verbatim(&table(&rows), &table(&others), &rules);
        }
    }

    #[test]
    fn the_order_of_rows_and_columns_does_not_hide_what_is_the_same() {
        let text = |text: String| Cell::Text(text.into());
        let number = |number: usize| Cell::Typed(Datatype::Integer, number.to_string().into());
        let row = |at: usize| vec![text(format!("urn:{at}")), number(at / 2), Cell::Unbound];
        let turned =
            |at: usize| vec![text("x".into()), Cell::Unbound, number(at / 2), row(at)[0].clone()];
        let rows: Vec<_> = (0..20).map(row).collect();
        let same_order: Vec<_> = (0..20).map(turned).collect();
        let other_order: Vec<_> = (0..20).rev().map(turned).collect();
        let mut others = other_order.clone();
        others[3].swap(2, 3);
        let told = |rows: &[Vec<Cell<'static>>], others: &[Vec<Cell<'static>>], ordered: bool| {
            let rules = Rules { ordered, ..Rules::default() };
            is_verbatim(&table(rows), &table(others), &rules)
        };
        assert!(told(&rows, &same_order, true));
        assert!(told(&rows, &other_order, false));
        assert!(!told(&rows, &other_order, true));
        assert!(!told(&rows, &others, false));
        assert!(!told(&rows, &other_order[1..], false));
    }
}
