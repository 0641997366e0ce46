//! Finds the actual columns that a required column may be paired with.
//!
//! Most tables have few columns, or columns that differ in the first cells. For these, every cell is
//! looked up in the required column. If that could take long, or more memory than the tables
//! themselves, only the distinct values of a column are looked up, and columns with the same cells
//! only once.

use std::borrow::Cow;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashMap, HashSet};

use crate::column::ReferenceColumn;
use crate::compare::Mode;
use crate::{Cell, Datatype, Solutions};

/// An actual column that a required one may be paired with.
pub(super) struct ColumnCandidate {
    /// The position of the actual column.
    pub(super) at: usize,
    pub(super) values: Values,
    /// A number shared by candidates with the same cells, which are interchangeable.
    pub(super) kind: usize,
}

/// The values of an actual column as ids of a required one.
pub(super) enum Values {
    /// The id of each row.
    Rows(Vec<u32>),
    /// The id of each distinct cell, and the column by its distinct cells.
    Mapped(Arc<[u32]>, Arc<Numbered>),
}

impl Values {
    pub(super) fn rows(&self) -> Cow<'_, [u32]> {
        match self {
            Values::Rows(values) => Cow::Borrowed(values),
            Values::Mapped(map, column) => {
                Cow::Owned(column.ids.iter().map(|id| map[*id as usize]).collect())
            }
        }
    }
}

/// The candidates of all required columns.
pub(super) enum CandidateColumns {
    /// The candidates of each column; never empty.
    Found(Vec<Vec<ColumnCandidate>>),
    /// Some column has no candidate, so the tables differ.
    Impossible,
    /// Finding them would take too long.
    OverBudget,
}

/// Whether looking up every cell takes a reasonable amount of time and memory.
pub(super) fn is_little(n_required: usize, actual: &Solutions<'_>) -> bool {
    const LITTLE: usize = 1 << 22;
    const A_CELL: usize = 4;
    let (n_columns, n_rows) = (actual.columns.len(), actual.n_rows);
    let most = n_required.saturating_mul(n_columns).saturating_mul(n_rows);
    most <= LITTLE + A_CELL * n_rows * (n_required + n_columns)
}

/// How many cells may be looked up one by one before switching to distinct values. Columns that
/// differ early, as most do, need about one lookup per cell.
pub(super) fn most_lookups(n_required: usize, actual: &Solutions<'_>) -> usize {
    const LITTLE: usize = 1 << 18;
    const A_CELL: usize = 2;
    LITTLE + A_CELL * actual.n_rows * (n_required + actual.columns.len())
}

/// Finds the candidates of a column cell by cell, adding the number of cells looked up to
/// `n_lookups`. Returns `None` if there are none.
pub(super) fn candidates_of(
    column: &ReferenceColumn<'_>,
    actual: &Solutions<'_>,
    mode: Mode,
    n_lookups: &mut usize,
) -> Option<Vec<ColumnCandidate>> {
    let counts = column.counts(&column.values);
    let mut candidates: Vec<ColumnCandidate> = Vec::new();
    let mut known = SeenCandidates::default();
    for (at, cells) in actual.columns.iter().enumerate() {
        let Some(values) = column.translate(cells, n_lookups) else { continue };
        let agrees = match mode {
            Mode::Sequence => values == column.values,
            Mode::Multiset => column.counts(&values) == counts,
            Mode::Set => !column.counts(&values).contains(&0),
        };
        if agrees {
            let kind = known.kind_of(cells, &candidates, actual);
            candidates.push(ColumnCandidate { at, values: Values::Rows(values), kind });
        }
    }
    (!candidates.is_empty()).then_some(candidates)
}

/// The candidates found so far, by their cells.
#[derive(Default)]
struct SeenCandidates {
    state: DefaultHashBuilder,
    /// The first candidate of each kind, by the hash of its cells.
    by_hash: HashMap<u64, Vec<usize>>,
    n_hashed: usize,
}

impl SeenCandidates {
    /// Up to this many candidates are compared one by one; most columns have few.
    const FEW: usize = 8;

    /// Returns the index of the first candidate with the same cells, or else of the next candidate.
    fn kind_of(
        &mut self,
        cells: &[Cell<'_>],
        candidates: &[ColumnCandidate],
        actual: &Solutions<'_>,
    ) -> usize {
        let has_cells = |at: &usize| actual.columns[candidates[*at].at] == *cells;
        if candidates.len() <= SeenCandidates::FEW {
            return (0..candidates.len()).find(has_cells).unwrap_or(candidates.len());
        }
        for (at, candidate) in candidates.iter().enumerate().skip(self.n_hashed) {
            if candidate.kind == at {
                let hash = hash_of(&actual.columns[candidate.at], &self.state);
                self.by_hash.entry(hash).or_default().push(at);
            }
        }
        self.n_hashed = candidates.len();
        let alike = self.by_hash.get(&hash_of(cells, &self.state));
        let first = alike.and_then(|alike| alike.iter().copied().find(has_cells));
        first.unwrap_or(candidates.len())
    }
}

/// Maps of so few values are shared: hashing a long one takes longer than it saves.
const FEW_VALUES: usize = 64;

/// Finds the candidates of all columns by looking up distinct values, within `most_steps` lookups.
pub(super) fn candidates_by_value(
    columns: &[ReferenceColumn<'_>],
    actual: &Solutions<'_>,
    mode: Mode,
    most_steps: usize,
) -> CandidateColumns {
    let kinds = kinds_of(actual);
    let mut n_steps = 0;
    let mut all = Vec::with_capacity(columns.len());
    for column in columns {
        let counts = column.counts(&column.values);
        let mut candidates = Vec::new();
        // A thousand columns of two values have few maps between them.
        let mut maps: HashSet<Arc<[u32]>> = HashSet::new();
        for (kind, ColumnKind { places, numbered }) in kinds.iter().enumerate() {
            let cells = &actual.columns[places[0]];
            let map = numbered.in_terms_of(column, cells, &mut n_steps);
            n_steps += map.as_ref().map_or(0, |_| column.n_values as usize);
            if let Some(map) = map.filter(|map| numbered.agrees(map, column, &counts, mode)) {
                let map = if map.len() <= FEW_VALUES {
                    Arc::clone(maps.get_or_insert_with(&*map, |map| map.into()))
                } else {
                    map.into()
                };
                candidates.extend(places.iter().map(|&at| {
                    let values = Values::Mapped(Arc::clone(&map), Arc::clone(numbered));
                    ColumnCandidate { at, values, kind }
                }));
            }
            if n_steps > most_steps {
                return CandidateColumns::OverBudget;
            }
        }
        if candidates.is_empty() {
            return CandidateColumns::Impossible;
        }
        all.push(candidates);
    }
    CandidateColumns::Found(all)
}

/// Actual columns with the same cells.
struct ColumnKind {
    places: Vec<usize>,
    numbered: Arc<Numbered>,
}

fn kinds_of(actual: &Solutions<'_>) -> Vec<ColumnKind> {
    let state = DefaultHashBuilder::default();
    let mut by_hash: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut kinds: Vec<ColumnKind> = Vec::new();
    for (at, cells) in actual.columns.iter().enumerate() {
        let alike = by_hash.entry(hash_of(cells, &state)).or_default();
        let is_it = |kind: &&usize| actual.columns[kinds[**kind].places[0]] == *cells;
        if let Some(&kind) = alike.iter().find(is_it) {
            kinds[kind].places.push(at);
            continue;
        }
        alike.push(kinds.len());
        kinds.push(ColumnKind { places: vec![at], numbered: Arc::new(Numbered::of(cells)) });
    }
    kinds
}

fn hash_of(cells: &[Cell<'_>], state: &DefaultHashBuilder) -> u64 {
    let mut hasher = state.build_hasher();
    for cell in cells {
        identity_of(cell).hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns what distinguishes a cell from others.
pub(super) fn identity_of<'c>(cell: &'c Cell<'_>) -> Option<(Option<Datatype>, &'c str)> {
    match cell {
        Cell::Unbound => None,
        Cell::Text(text) => Some((None, text)),
        Cell::Typed(datatype, text) => Some((Some(*datatype), text)),
    }
}

/// A column whose distinct cells are numbered.
pub(super) struct Numbered {
    /// The number of each row's cell.
    ids: Vec<u32>,
    /// How often each number occurs.
    counts: Vec<u32>,
    /// The row where each number first occurs.
    firsts: Vec<usize>,
}

impl Numbered {
    fn of(cells: &[Cell<'_>]) -> Numbered {
        let mut known = HashMap::new();
        let (mut counts, mut firsts) = (Vec::new(), Vec::new());
        let number = |(row, cell): (usize, _)| {
            let id = *known.entry(identity_of(cell)).or_insert_with(|| {
                firsts.push(row);
                counts.push(0);
                counts.len() - 1
            });
            counts[id] += 1;
            u32::try_from(id).unwrap_or(u32::MAX)
        };
        let ids = cells.iter().enumerate().map(number).collect();
        Numbered { ids, counts, firsts }
    }

    /// Translates each number into an id of a required column. Returns `None` as soon as a cell has
    /// no equal there.
    fn in_terms_of(
        &self,
        column: &ReferenceColumn<'_>,
        cells: &[Cell<'_>],
        n_steps: &mut usize,
    ) -> Option<Vec<u32>> {
        let find = |row: &usize| {
            *n_steps += 1;
            column.find(&cells[*row])
        };
        self.firsts.iter().map(find).collect()
    }

    /// Whether the column has the same values as a required one.
    fn agrees(
        &self,
        map: &[u32],
        column: &ReferenceColumn<'_>,
        wanted: &[u32],
        mode: Mode,
    ) -> bool {
        if mode == Mode::Sequence {
            let mut rows = self.ids.iter().zip(&column.values);
            return rows.all(|(id, value)| map[*id as usize] == *value);
        }
        let mut counts = vec![0; column.n_values as usize];
        for (value, count) in map.iter().zip(&self.counts) {
            counts[*value as usize] += count;
        }
        match mode {
            Mode::Set => !counts.contains(&0),
            Mode::Multiset | Mode::Sequence => counts == wanted,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SparqlResult;
    use crate::compare::Prepared;
    use crate::rules::Rules;

    fn column(number: usize) -> Vec<Cell<'static>> {
        let bit = |row: usize| if row < 10 { row & 1 } else { number >> (row - 10) & 1 };
        (0..20).map(|row| Cell::Text(bit(row).to_string().into())).collect()
    }

    fn table(columns: Vec<Vec<Cell<'static>>>) -> Solutions<'static> {
        let names = (0..columns.len()).map(|name| name.to_string().into()).collect();
        Solutions { names, columns, n_rows: 20 }
    }

    #[test]
    fn columns_with_the_same_cells_are_of_a_kind() {
        let expected = SparqlResult::Table(table(vec![column(0)]));
        let rules = Rules::default();
        let prepared = Prepared::new(&expected, &rules);
        let Prepared::Table(expected) = &prepared else { panic!("a table") };
        // Each column comes twice, the second time after all the others.
        let actual = table((0..1024).map(|number| column(number % 512)).collect());
        let found =
            candidates_of(&expected.columns()[0], &actual, Mode::Set, &mut 0).expect("candidates");
        let kinds: Vec<usize> = found.iter().map(|candidate| candidate.kind).collect();
        assert_eq!(kinds, (0..1024).map(|number| number % 512).collect::<Vec<_>>());
    }

    #[test]
    fn cells_of_columns_that_are_alike_are_not_all_looked_up_for_each() {
        let columns = vec![vec![Cell::Unbound; 16_000]; 20];
        let names = (0..20).map(|name: usize| name.to_string().into()).collect();
        let empty = SparqlResult::Table(Solutions { names, columns, n_rows: 16_000 });
        let rules = Rules::default();
        let prepared = Prepared::new(&empty, &rules);
        let (Prepared::Table(expected), SparqlResult::Table(actual)) = (&prepared, &empty) else {
            panic!("a table");
        };
        assert!(is_little(20, actual));
        let CandidateColumns::Found(found) = expected.candidates(actual) else {
            panic!("candidates")
        };
        let is_mapped = |found: &ColumnCandidate| matches!(found.values, Values::Mapped(..));
        assert!(found.iter().all(|found| found.len() == 20 && found.iter().all(is_mapped)));
        assert_eq!(prepared.compare(&empty), crate::Comparison::Same);
    }

    #[test]
    fn a_thousand_columns_that_are_alike_have_partners() {
        let wide = |cell: &str| {
            let columns = vec![vec![Cell::Text(cell.to_owned().into()); 2]; 1_024];
            let names = (0..1_024).map(|name: usize| name.to_string().into()).collect();
            SparqlResult::Table(Solutions { names, columns, n_rows: 2 })
        };
        let (one, other) = (wide("a"), wide("b"));
        let rules = Rules::default();
        let prepared = Prepared::new(&one, &rules);
        assert_eq!(prepared.compare(&one), crate::Comparison::Same);
        assert_eq!(prepared.compare(&other), crate::Comparison::Different);
    }
}
