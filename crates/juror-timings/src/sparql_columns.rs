//! Comparing SPARQL results of many columns, whose pairing has to be found.

use juror_score::Rules;
use juror_sparql::{Cell, Comparison, Prepared, Solutions, SparqlResult};

use crate::clock::seconds_a_call;
use juror_testing::Random;

const N_ROWS: usize = 100;
/// The number of columns in actual results besides the required ones.
const N_EXTRA: usize = 2;
/// The number of pairs of tables per measurement.
const N_TABLES: u32 = 5;
/// The number of required columns for which there is a time budget.
const IN_BUDGET: usize = 8;

/// The contents of a table's columns.
struct TableKind {
    name: &'static str,
    /// The number of values in a column.
    n_values: usize,
    /// Whether all columns have the same values, so that any could be paired with any.
    shared: bool,
    ignore_duplicates: bool,
}

/// From easy to hard: the fewer values a column has, the later a wrong pairing shows.
const KINDS: [TableKind; 6] = [
    TableKind { name: "own values", n_values: N_ROWS, shared: false, ignore_duplicates: true },
    TableKind { name: "same 100", n_values: N_ROWS, shared: true, ignore_duplicates: true },
    TableKind { name: "same 10", n_values: 10, shared: true, ignore_duplicates: true },
    TableKind { name: "same 3", n_values: 3, shared: true, ignore_duplicates: true },
    TableKind { name: "same 2", n_values: 2, shared: true, ignore_duplicates: true },
    TableKind { name: "same 2 counted", n_values: 2, shared: true, ignore_duplicates: false },
];

/// Prints the time of one comparison by the number of required columns.
pub(crate) fn run() {
    println!("Microseconds a comparison; {N_ROWS} rows, {N_EXTRA} actual columns too many.");
    println!("= some tables agree by chance, ? some comparison was given up.\n");
    print!("{:<10}", "required");
    for kind in &KINDS {
        print!("{:>16}", kind.name);
    }
    println!();
    let mut in_budget = Vec::new();
    for n_required in 2..=12 {
        let times: Vec<MeanTime> = KINDS.iter().map(|kind| measure(kind, n_required)).collect();
        print!("{n_required:<10}");
        for time in &times {
            print!("{:>16}", time.text());
        }
        println!();
        if n_required == IN_BUDGET {
            in_budget = times;
        }
    }
    println!();
    for (kind, time) in KINDS.iter().zip(&in_budget) {
        println!("seconds, {IN_BUDGET} required, {}: {:.9}", kind.name, time.seconds);
    }
}

/// The mean time of some comparisons, and their outcomes.
#[derive(Default)]
struct MeanTime {
    seconds: f64,
    any_same: bool,
    any_undecided: bool,
}

impl MeanTime {
    fn text(&self) -> String {
        let same = if self.any_same { "=" } else { "" };
        let undecided = if self.any_undecided { "?" } else { "" };
        format!("{same}{undecided} {:.1}", self.seconds * 1e6)
    }
}

fn measure(kind: &TableKind, n_required: usize) -> MeanTime {
    let rules = Rules { ignore_duplicates: kind.ignore_duplicates, ..Rules::default() };
    let mut time = MeanTime::default();
    for seed in 0..N_TABLES {
        let (reference, actual) = tables(kind, n_required, u64::from(seed));
        let mut found = Comparison::Different;
        time.seconds +=
            seconds_a_call(|| found = Prepared::new(&reference, &rules).compare(&actual))
                / f64::from(N_TABLES);
        time.any_same |= found == Comparison::Same;
        time.any_undecided |= found == Comparison::Undecided;
    }
    time
}

/// Returns a reference, and a result with more columns and another order of rows and columns, in which
/// two cells of a column are swapped, so that each column still has the same values.
fn tables(
    kind: &TableKind,
    n_required: usize,
    seed: u64,
) -> (SparqlResult<'static>, SparqlResult<'static>) {
    let mut random = Random::new(seed);
    let mut columns: Vec<Vec<String>> =
        (0..n_required + N_EXTRA).map(|at| column(kind, at, &mut random)).collect();
    let mut order: Vec<usize> = (0..N_ROWS).collect();
    let reference = table(&columns[..n_required], &order);
    swap_two_cells(&mut columns[0]);
    random.shuffle(&mut columns);
    random.shuffle(&mut order);
    (reference, table(&columns, &order))
}

fn column(kind: &TableKind, at: usize, random: &mut Random) -> Vec<String> {
    let mut values: Vec<usize> = (0..N_ROWS).map(|row| row % kind.n_values).collect();
    random.shuffle(&mut values);
    let owner = if kind.shared { 0 } else { at };
    values.iter().map(|value| format!("urn:example:{owner}:{value}")).collect()
}

fn swap_two_cells(cells: &mut [String]) {
    let other = (1..cells.len()).find(|&row| cells[row] != cells[0]);
    if let Some(other) = other {
        cells.swap(0, other);
    }
}

fn table(columns: &[Vec<String>], order: &[usize]) -> SparqlResult<'static> {
    let cells = |column: &Vec<String>| {
        order.iter().map(|&row| Cell::Text(column[row].clone().into())).collect()
    };
    SparqlResult::Table(Solutions {
        names: (0..columns.len()).map(|at| format!("c{at}").into()).collect(),
        columns: columns.iter().map(cells).collect(),
        n_rows: order.len(),
    })
}
